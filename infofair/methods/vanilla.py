"""Vanilla: the classifier without fairness. J = T = E[−log ỹ[y]]

Feature extractor and target predictor of InfoFair and nothing else, so the sensitive attributes
play no part: one model per seed is evaluated in every setting. The paper does not print its
learning rate; params.yaml gives it InfoFair's.
"""

from infofair.methods.base import Classifier, knob


class Vanilla(Classifier):
    learning_rate: float = knob(1e-4, gt=0, source="of Adam; not printed, InfoFair's")

    uses_alpha = False
    uses_groups = False

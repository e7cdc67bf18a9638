"""Vanilla: the classifier without fairness. J = T = E[−log ỹ[y]]

Feature extractor and target predictor of InfoFair and nothing else, so the sensitive attributes
play no part: one model per seed is evaluated in every setting. The paper does not print its
learning rate; at 0.001 its row comes out as printed, at InfoFair's 0.0001 that of MinDiff does.
"""

from infofair.methods.base import Classifier, knob


class Vanilla(Classifier):
    learning_rate: float = knob(1e-3, gt=0, source="of Adam; not printed, found by its row")

    uses_alpha = False
    uses_groups = False

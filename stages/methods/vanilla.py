"""Vanilla: the classifier without fairness. J = T = E[−log ỹ[y]]

Feature extractor and target predictor of InfoFair and nothing else, so the sensitive attributes
play no part: one model per seed is evaluated in every setting. The paper does not print its
learning rate; params.yaml gives it InfoFair's.
"""

from pydantic import Field

from stages.methods import Classifier
from stages.params import Strict


class Knobs(Strict):
    learning_rate: float = Field(gt=0)


class Vanilla(Classifier):
    uses_alpha = False
    uses_groups = False


METHOD = Vanilla()

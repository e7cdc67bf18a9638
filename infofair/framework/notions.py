"""On which rows z is to tell nothing of s: the notions of fairness, as conditions.

    statistical parity    I(z; s)            all rows
    equal opportunity     I(z; s | y = 1)    the rows of the positive class
    equalized odds        I(z; s | y)        Σ p(y) I(z; s | y = y), every class by itself

Every condition has critics of its own. The paper's objective for equal opportunity has E[log q]
over all rows; its derivation two lines above asks for the positives in both expectations, which is
what is done here.
"""

import torch
from torch import Tensor

PARITY, OPPORTUNITY, ODDS = NOTIONS = ("statistical_parity", "equal_opportunity", "equalized_odds")


def conditions(fair: str, y: Tensor, classes: int, positive: int) -> Tensor:
    """Which rows are of which condition: 1 or 0, (conditions, B)."""
    if fair == PARITY:
        return torch.ones_like(y, dtype=torch.float32)[None]
    if fair == OPPORTUNITY:
        return (y == positive).float()[None]
    return (y == torch.arange(classes, device=y.device)[:, None]).float()


def weights(fair: str, y: Tensor, classes: int) -> Tensor:
    """What each condition counts for; p(y) of the training rows for equalized odds."""
    if fair != ODDS:
        return torch.ones(1, device=y.device)
    return torch.bincount(y, minlength=classes) / len(y)


def mean(values: Tensor, rows: Tensor) -> Tensor:
    """E[values] over the rows of a condition, 0 if there are none; (B,) each."""
    return (values * rows).sum() / rows.sum().clamp_min(1)

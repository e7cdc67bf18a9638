"""What z is: that of which the sensitive attributes are to tell nothing.

Functions of one model's minibatch, with gradient. Parity of decisions asks for less than fair
scores, and they for less than a fair representation, of which every later use is fair.
"""

from functools import cache

import torch
from torch import Tensor

THRESHOLDS = (-4.0, -8 / 3, -4 / 3, 0.0, 4 / 3, 8 / 3, 4.0)  # of log-odds


@cache
def _thresholds(dtype: torch.dtype, device: torch.device) -> Tensor:
    """Kept there: else every step would send them to the device."""
    return torch.tensor(THRESHOLDS, dtype=dtype, device=device)


def log_odds(logits: Tensor) -> Tensor:
    """Of two classes the second's, (B, 1); of several, each one's against all others, (B, C)."""
    if logits.shape[1] == 2:
        return logits[:, 1:] - logits[:, :1]
    own = torch.eye(logits.shape[1], dtype=torch.bool, device=logits.device)
    others = logits[:, None].expand(-1, logits.shape[1], -1).masked_fill(own, -torch.inf)
    return logits - others.logsumexp(2)


def decision(logits: Tensor, sharpness: float) -> Tensor:
    """tanh(κ o / 2) with o the log-odds; of several classes 2 softmax(κ logits) − 1.

    For two classes they are the same. The larger κ, the more z is the decision itself.
    """
    if logits.shape[1] == 2:
        return (log_odds(logits) * (sharpness / 2)).tanh()
    return 2 * (logits * sharpness).softmax(1) - 1


def score(logits: Tensor) -> Tensor:
    """tanh(o − t) for several thresholds t: what any of them would decide.

    One smooth decision is flat, and its critics blind, far from its own threshold; of these one is
    steep wherever the score is.
    """
    o = log_odds(logits)
    return (o[:, :, None] - _thresholds(o.dtype, o.device)).tanh().flatten(1)


def prediction(value: Tensor) -> Tensor:
    """A predicted number, standardised within the minibatch.

    With gradient: otherwise predictions hide from the critics by shrinking.
    """
    centred = value - value.mean(0)
    return centred / (centred.square().mean(0) + 1e-8).sqrt()


def kl(mean: Tensor, scale: Tensor) -> Tensor:
    """KL(N(μ, σ²) ‖ N(0, 1)) in nats, summed over dimensions, (B,)."""
    return 0.5 * (mean.square() + scale.square() - 1 - 2 * scale.log()).sum(1)

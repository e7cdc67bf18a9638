"""What users would try first, in place of the critics: a penalty on the same z."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from infofair.framework import notions
from infofair.framework.plan import Penalty
from infofair.framework.sensitive import Part
from infofair.methods.dp_gap import ParityGap

POINTS = torch.linspace(-3, 4, 36)  # of s, standardised, where a kernel is put; ages reach far up


def parity_gap(parts: Sequence[Part]) -> Penalty:
    """The squared gaps of z's means between groups, unbiased (infofair/methods/dp_gap.py).

    Of every dimension of z, part of s and condition: rows of the positive class, say.
    """
    own = ParityGap()

    def penalty(predicted: Any, z: Tensor, s: list[tuple[Tensor, Tensor]], rows: Tensor) -> Tensor:
        total = z.new_zeros(())
        for (g, _), part in zip(s, parts, strict=True):
            member = one_hot(g, part.groups).to(z.dtype)  # (B, groups)
            for of in rows:
                for value in z.unbind(1):
                    total = total + own.penalty(value, value, member * of[:, None])
        return total

    return penalty


def kernel_gap(parts: Sequence[Part]) -> Penalty:
    """GDP for numbers: how far E[z|s] is from E[z], on average over s.

    Jiang, Han, Fan, Yang, Mostafavi and Hu, "Generalized Demographic Parity for Group Fairness",
    ICLR 2022. With a Gaussian kernel K in s, of their width (3n/4)^(−1/5), and points t that are
    weighted by the density Σ_n K(t − s_n) there, no quotient is left:

        Σ_t |Σ_n K(t − s_n) (z_n − E[z])| / Σ_t Σ_n K(t − s_n).

    Of groups and a number: each group's own E[z|s, g].
    """

    def penalty(predicted: Any, z: Tensor, s: list[tuple[Tensor, Tensor]], rows: Tensor) -> Tensor:
        total = z.new_zeros(())
        width = (0.75 * len(z)) ** -0.2
        for (g, c), part in zip(s, parts, strict=True):
            member = one_hot(g, part.groups).to(z.dtype)  # (B, groups)
            near = (-((POINTS.to(z.device) - c[:, :1]) / width).square() / 2).exp()  # (B, points)
            for of in rows:
                known = near * of[:, None]
                for value in z.unbind(1):
                    apart = (value - notions.mean(value, of))[:, None] * member  # (B, groups)
                    total = total + (known.T @ apart).abs().sum() / known.sum()
        return total

    return penalty


def squared_correlation(predicted: Any, z: Tensor, s: Any, rows: Tensor) -> Tensor:
    """corr(z, s)² of every number of s: all there is to take where they are jointly normal."""
    total = z.new_zeros(())
    for _, c in s:
        for of in rows:
            u, v = (own - (own * of[:, None]).sum(0) / of.sum().clamp_min(1) for own in (z, c))
            u, v = u * of[:, None], v * of[:, None]
            scales = u.square().sum(0)[:, None] * v.square().sum(0)
            total = total + ((u.T @ v).square() / scales.clamp_min(1e-8)).sum()
    return total

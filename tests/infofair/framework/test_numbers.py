"""Generalisation D, continuous s: the mixture, its draws, and the information of Gaussians."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from infofair.framework.modules import Density, MixturePredictor, NumberRatio
from infofair.framework.players import Pair


def density(seed: int = 0, rows: int = 6, groups: int = 3, numbers: int = 2) -> Density:
    torch.manual_seed(seed)
    predictor = MixturePredictor(1, groups, numbers)
    torch.nn.init.normal_(predictor.out.weight)
    return predictor(torch.randn(rows, 1))


def test_the_mixture_is_torchs() -> None:
    own, c = density(), torch.randn(6, 2)
    normal = torch.distributions.Independent(torch.distributions.Normal(own.means, own.scales), 1)
    weights = torch.distributions.Categorical(logits=own.weights)
    mixture = torch.distributions.MixtureSameFamily(weights, normal)
    expected = own.groups.log_softmax(1) + mixture.log_prob(c[:, None].expand(-1, 3, -1))
    torch.testing.assert_close(own.log_prob(c), expected)


def test_draws_have_the_mixtures_moments() -> None:
    own = density(rows=1)
    noise = torch.randn(40_000, 3, 3, generator=torch.Generator().manual_seed(1))
    many = Density(*(part.expand(40_000, *part.shape[1:]) for part in own))
    drawn = many.draw(noise)
    weights = own.weights[0].softmax(1)[..., None]  # groups × components × 1
    mean = (weights * own.means[0]).sum(1)
    variance = (weights * (own.means[0].square() + own.scales[0].square())).sum(1) - mean**2
    torch.testing.assert_close(drawn.mean(0), mean, atol=0.03, rtol=0.02)
    torch.testing.assert_close(drawn.var(0), variance, atol=0.05, rtol=0.03)
    assert not drawn.requires_grad


def test_the_ratio_of_drawn_pairs_is_each_groups_own() -> None:
    torch.manual_seed(0)
    ratio = NumberRatio(2, 3, 1)
    for parameter in ratio.parameters():
        torch.nn.init.normal_(parameter)
    pair = Pair(MixturePredictor(2, 3, 1), ratio, 1)
    z, c = torch.randn(5, 2), torch.randn(5, 3, 1)
    found = pair._of_drawn(z, c)
    for g in range(3):
        torch.testing.assert_close(found[:, g], ratio(z, c[:, g])[:, g])


def estimated(rho: float, steps: int) -> float:
    """H(s) + E[log q] + E[f] of a bivariate normal, in nats, on rows the critics have not seen."""
    torch.manual_seed(0)
    pair = Pair(MixturePredictor(1, 1, 1), NumberRatio(1, 1, 1), 1)
    adam = torch.optim.Adam(pair.parameters(), lr=0.02)
    fade = torch.optim.lr_scheduler.CosineAnnealingLR(adam, steps)
    generator = torch.Generator().manual_seed(1)

    def pairs(rows: int) -> tuple[Tensor, ...]:
        z, other = torch.randn(2, rows, 1, generator=generator)
        s = rho * z + math.sqrt(1 - rho**2) * other
        noise = torch.randn(rows, 1, 2, generator=generator)
        return z, torch.zeros(rows, dtype=torch.int64), s, noise, torch.ones(rows)

    for _ in range(steps):
        adam.zero_grad()
        pair(*pairs(512)).loss.backward()
        adam.step()
        fade.step()
    with torch.no_grad():
        judged = pair(*pairs(50_000))
    return 0.5 * math.log(2 * math.pi * math.e) + float(judged.log_q + judged.log_ratio)


@pytest.mark.parametrize(
    ("rho", "steps"),
    [
        (0.6, 150),
        *(pytest.param(rho, 1500, marks=pytest.mark.slow) for rho in (0.0, 0.3, 0.6, 0.9)),
    ],
)
def test_the_estimate_is_the_information_of_a_bivariate_normal(rho: float, steps: int) -> None:
    expected = -0.5 * math.log(1 - rho**2)
    assert estimated(rho, steps) == pytest.approx(expected, abs=0.02)


def test_far_numbers_shake_nobody() -> None:
    pair = Pair(MixturePredictor(1, 1, 1), NumberRatio(1, 1, 1), 1)
    z, s = torch.zeros(3, 1), torch.tensor([[0.0], [50.0], [-1e4]])
    none = torch.zeros(3, dtype=torch.int64)
    judged = pair(z, none, s, torch.randn(3, 1, 2), torch.ones(3))
    judged.loss.backward()
    for parameter in pair.parameters():
        assert parameter.grad is not None
        assert np.isfinite(parameter.grad.numpy()).all()

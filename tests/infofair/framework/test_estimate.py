"""The held-out estimate: near the truth where there is something to find, else not above it."""

import numpy as np
import pytest

from infofair.framework import estimate, notions
from infofair.framework.sensitive import parts, read
from tests.infofair.framework.plans import plug_in

RNG = np.random.default_rng(0)


def drawn(n: int, apart: float) -> tuple[np.ndarray, np.ndarray]:
    s = RNG.integers(0, 2, n)
    return RNG.normal(size=n) + apart * s, s


def truth(apart: float) -> float:
    """I(z; s) of two Gaussians at this distance, in bits, by integration."""
    z = np.linspace(-9, 9 + apart, 4001)
    p = np.exp(-0.5 * (z - np.array([[0], [apart]])) ** 2)
    p /= p.sum(1, keepdims=True)
    return float((p * np.log2(p / p.mean(0))).sum(1).mean())


@pytest.mark.parametrize(("dimensions", "apart"), [(1, 1.0), (1, 2.0), (3, 1.0)])
def test_it_is_within_a_third_of_the_truth(dimensions: int, apart: float) -> None:
    z, s = drawn(4000, apart)
    noise = RNG.normal(size=(4000, dimensions - 1))
    found = estimate.bits(np.column_stack([z, noise]), s)
    assert found == pytest.approx(truth(apart), rel=1 / 3)


@pytest.mark.parametrize(("dimensions", "groups"), [(1, 10), (8, 3)])  # a tree for each group
def test_nothing_is_found_where_nothing_is(dimensions: int, groups: int) -> None:
    z, s = RNG.normal(size=(4000, dimensions)), RNG.integers(0, groups, 4000)
    assert -0.15 < estimate.bits(z, s) < 0.01


def test_conditions_are_those_of_the_notions() -> None:
    n = 4000
    s, y = RNG.integers(0, 2, n), RNG.integers(0, 2, n)
    z = (RNG.random(n) < 0.2 + 0.6 * s * y).astype(float)[:, None]  # only positives are told apart
    whole = z[:, 0].astype(int)
    positive = y == 1
    expected = plug_in(whole[positive], s[positive]) / np.log(2)
    found = estimate.conditional(z, s, y, notions.OPPORTUNITY, 1)
    assert found == pytest.approx(expected, rel=0.1)
    odds = estimate.conditional(z, s, y, notions.ODDS)
    assert odds == pytest.approx(positive.mean() * expected, rel=0.15)
    assert abs(estimate.conditional(z, s, y, notions.OPPORTUNITY, 0)) < 0.01


def test_few_rows_tell_nothing() -> None:
    assert np.isnan(estimate.bits(np.zeros((39, 1)), np.zeros(39, int)))


def test_numbers_are_cut_at_their_quantiles() -> None:
    (part,) = parts(read(RNG.normal(size=800), 800), "intersection")
    cells = estimate.cells(part)
    assert np.bincount(cells).tolist() == [100] * 8
    (part,) = parts(read(RNG.normal(size=(800, 2)), 800), "intersection")
    assert estimate.cells(part).max() == 8  # 3 × 3

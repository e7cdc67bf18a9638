"""Rivals' penalties against naive loops and closed forms."""

import math

import numpy as np
import pytest
import torch

from infofair.framework.sensitive import Part
from study.general.penalties import POINTS, kernel_gap, squared_correlation


def naive_gap(z: np.ndarray, g: np.ndarray, c: np.ndarray) -> float:
    """Σ_t p(t) |E[z|t] − E[z]| / Σ_t p(t), row by row; a group's points count for themselves."""
    width, mean = (0.75 * len(z)) ** -0.2, z.mean()
    weighted = total = 0.0
    for group in np.unique(g):
        for t in POINTS.tolist():
            density = average = 0.0
            for value, own, s in zip(z, g, c, strict=True):
                if own == group:
                    near = math.exp(-(((t - s) / width) ** 2) / 2)
                    density += near
                    average += near * value
            if density:
                weighted += density * abs(average / density - mean)
                total += density
    return weighted / total


@pytest.mark.parametrize("groups", [1, 3])
def test_gdp_is_the_mean_over_s_of_how_far_its_mean_is_off(groups: int) -> None:
    rng = np.random.default_rng(0)
    z, c, g = rng.normal(size=64), rng.normal(size=64), rng.integers(0, groups, 64)
    part = Part("s", groups, g, c[:, None])
    s = [(torch.from_numpy(g), torch.from_numpy(c)[:, None])]
    found = kernel_gap([part])(None, torch.from_numpy(z)[:, None], s, torch.ones(1, 64))
    assert float(found) == pytest.approx(naive_gap(z, g, c), rel=1e-5)


def test_gdp_sees_only_the_rows_of_a_condition() -> None:
    rng = np.random.default_rng(1)
    z, c = rng.normal(size=(2, 64, 1))
    rows = torch.from_numpy((np.arange(64) < 40).astype(float))[None]
    part = Part("s", 1, np.zeros(64, int), c)
    changed = np.where(np.arange(64)[:, None] < 40, z, 9.0)

    def found(z: np.ndarray) -> float:
        s = [(torch.zeros(64, dtype=torch.int64), torch.from_numpy(c))]
        return float(kernel_gap([part])(None, torch.from_numpy(z), s, rows))

    assert found(z) == pytest.approx(found(changed))


def test_the_penalty_of_numbers_is_their_squared_correlation() -> None:
    rng = np.random.default_rng(2)
    z, c = rng.normal(size=(2, 100))
    s = [(None, torch.from_numpy(c)[:, None])]
    found = squared_correlation(None, torch.from_numpy(z)[:, None], s, torch.ones(1, 100))
    assert float(found) == pytest.approx(np.corrcoef(z, c)[0, 1] ** 2)
    half = torch.from_numpy((np.arange(100) < 50).astype(float))[None]
    found = squared_correlation(None, torch.from_numpy(z)[:, None], s, half)
    assert float(found) == pytest.approx(np.corrcoef(z[:50], c[:50])[0, 1] ** 2)

"""Bootstrap intervals and noise floors."""

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from infofair import metrics, uncertainty
from infofair.uncertainty import bootstrap, interval, noise_floor, resamples

# -- the noise floor ----------------------------------------------------------------------------

SHARES = st.integers(0, 1000).map(lambda selected: selected / 1000)  # of rows that are selected


@given(st.integers(1, 40), st.integers(1, 40), SHARES)
def test_the_floor_of_two_groups_is_the_binomial_sum(n: int, m: int, rate: float) -> None:
    a, b = np.arange(n + 1), np.arange(m + 1)
    chance = np.outer(binom.pmf(a, n, rate), binom.pmf(b, m, rate))
    expected = np.sum(chance * np.abs(a[:, None] / n - b[None, :] / m))
    floor, released = noise_floor(rate, np.array([n, m]))
    assert floor == pytest.approx(expected, abs=1e-12)
    assert released == pytest.approx(expected / 3, abs=1e-12)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4).filter(any), SHARES)
def test_the_floor_is_the_mean_imparity_over_everything_chance_can_do(
    sizes: list[int], rate: float
) -> None:
    group = np.repeat(np.arange(len(sizes)), sizes)
    expected = np.zeros(2)
    for selected in product(*(range(n + 1) for n in sizes)):
        chance = prod(binom.pmf(c, n, rate) for c, n in zip(selected, sizes, strict=True))
        bits = [[1] * c + [0] * (n - c) for c, n in zip(selected, sizes, strict=True)]
        case = np.concatenate(bits).astype(int), group, len(sizes)
        expected += chance * np.array([metrics.imparity(*case), metrics.imparity_released(*case)])
    assert noise_floor(rate, np.array(sizes)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("rate", [0.1, 0.458, 0.5])
def test_the_floor_agrees_with_a_long_simulation(rate: float) -> None:
    sizes = np.array([60, 3756, 1899, 327])  # Dutch, marital status, test rows
    rates = np.random.default_rng(3).binomial(sizes, rate, (200_000, 4)) / sizes
    first, second = np.triu_indices(4)  # the pairs of the released form, self-pairs included
    drawn = np.abs(rates[:, first] - rates[:, second]).mean(axis=1)
    floor, released = noise_floor(rate, sizes)
    assert released == pytest.approx(drawn.mean(), abs=4 * drawn.std() / np.sqrt(len(drawn)))
    assert floor == pytest.approx(released * 5 / 3)
    assert released < 0.022


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_a_constant_predictor_has_no_noise(rate: float) -> None:
    assert noise_floor(rate, np.array([7, 5, 900])) == pytest.approx((0, 0), abs=1e-12)


# -- the bootstrap ------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uncertainty, "REPLICATES", 60)


def case(rows: int = 80, models: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Predictions of several models, labels, and five groups: one row in one, none in another."""
    rng = np.random.default_rng(5)
    group = rng.integers(0, 3, rows)
    group[0] = 3
    return rng.integers(0, 2, (models, rows)), rng.integers(0, 2, rows), group, 5


def test_the_bootstrap_is_what_a_loop_over_resampled_rows_gives(quick: None) -> None:
    predicted, y, group, groups = case()
    found = bootstrap(predicted, y, group, groups)
    missed = 0
    for b, counts in enumerate(np.concatenate(list(resamples(len(y))))):
        rows = np.repeat(np.arange(len(y)), counts.astype(int))
        assert len(rows) == len(y)
        missed += 0 not in rows  # and so the group of that one row is empty
        for m, of_model in enumerate(predicted):
            drawn = of_model[rows], group[rows], groups
            assert found["micro_f1"][b, m] == pytest.approx(np.mean(of_model[rows] == y[rows]))
            assert found["imparity"][b, m] == pytest.approx(metrics.imparity(*drawn))
            released = metrics.imparity_released(*drawn)
            assert found["imparity_released"][b, m] == pytest.approx(released)
    assert 0 < missed < b


def test_the_chunks_and_the_other_models_change_no_number(
    quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    predicted, *rest = case()
    together = bootstrap(predicted, *rest)
    monkeypatch.setattr(uncertainty, "CHUNK", 7)
    alone = bootstrap(predicted[2:3], *rest)
    for metric, values in together.items():
        np.testing.assert_array_equal(values[:, 2], alone[metric][:, 0])


def test_every_row_is_drawn_once_on_average() -> None:
    counts = np.concatenate(list(resamples(50)))
    assert counts.shape == (uncertainty.REPLICATES, 50)
    assert np.abs(counts.mean(axis=0) - 1).max() < 5 / np.sqrt(uncertainty.REPLICATES)
    assert counts.var() == pytest.approx(1 - 1 / 50, abs=0.05)  # binomial


def test_intervals_are_as_wide_as_the_normal_approximation_has_them() -> None:
    rng = np.random.default_rng(1)
    y, group = np.ones(4000, int), np.repeat([0, 1], [1000, 3000])
    predicted = (rng.random(4000) < np.where(group == 0, 0.2, 0.5)).astype(int)
    found = bootstrap(predicted[None], y, group, 2)
    rates = metrics.selection_rates(predicted, group, 2)
    share, gap = predicted.mean(), metrics.imparity(predicted, group, 2)
    errors = {
        "micro_f1": (share, np.sqrt(share * (1 - share) / 4000)),
        "imparity": (gap, np.sqrt(np.sum(rates * (1 - rates) / [1000, 3000]))),
    }
    for metric, (value, error) in errors.items():
        expected = value - 1.96 * error, value + 1.96 * error
        assert interval(found[metric][:, 0]) == pytest.approx(expected, abs=0.2 * error)

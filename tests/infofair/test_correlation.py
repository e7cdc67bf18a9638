"""Maximal correlation against closed forms and by hand."""

import numpy as np
import pytest

from infofair.correlation import cells, maximal


@pytest.mark.parametrize("rho", [-0.9, -0.3, 0.6])
def test_of_normal_numbers_it_is_their_correlation(rho: float) -> None:
    x, other = np.random.default_rng(0).normal(size=(2, 100_000))
    y = rho * x + np.sqrt(1 - rho**2) * other
    assert maximal(x, y) == pytest.approx(abs(rho), abs=0.03)
    assert maximal(x, np.exp(y)) == maximal(x, y)  # whatever is rising


def test_it_sees_what_correlation_does_not() -> None:
    x = np.random.default_rng(0).normal(size=20_000)
    assert abs(np.corrcoef(x, x**2)[0, 1]) < 0.05
    assert maximal(x, x**2) > 0.95


def test_of_two_values_each_it_is_their_correlation() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, 500)
    y = np.where(rng.random(500) < 0.3, x, rng.integers(0, 2, 500))
    assert maximal(x, y) == pytest.approx(abs(np.corrcoef(x, y)[0, 1]))


def test_of_independent_numbers_it_is_noise_that_rows_take_away() -> None:
    rng = np.random.default_rng(0)
    few, many = (maximal(*rng.normal(size=(2, rows))) for rows in (300, 30_000))
    assert 0.05 < few < 0.35
    assert many < 0.06


def test_numbers_that_are_all_the_same_tell_nothing() -> None:
    assert maximal(np.zeros(100), np.arange(100)) == 0


def test_cells_have_as_many_rows_each_where_they_can() -> None:
    assert np.bincount(cells(np.random.default_rng(0).normal(size=600), 6)).tolist() == [100] * 6
    assert np.bincount(cells(np.array([0, 0, 0, 0, 0, 1]), 3)).tolist() == [5, 1]

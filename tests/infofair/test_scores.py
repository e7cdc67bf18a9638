"""Metrics of scores against scikit-learn, scipy and the imparity of every threshold."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp, wasserstein_distance
from sklearn.metrics import roc_auc_score

from infofair.metrics import imparity, largest_gap
from infofair.scores import abcc, auc, distributions, ks

CASES = st.tuples(st.integers(0, 10_000), st.integers(2, 80), st.sampled_from([1, 2, 9]))


def case(seed: int, rows: int, digits: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Scores with more or fewer ties, labels, and groups of which the last is empty."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 4, rows)
    y = rng.integers(0, 2, rows)
    score = np.clip(rng.normal(0.3 + 0.2 * y + 0.1 * group, 0.3), 0, 1).round(digits)
    return score, y, group, 5


def pairs(score: np.ndarray, group: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return list(combinations([score[group == g] for g in np.unique(group)], 2))


@given(CASES)
def test_auc_is_scikit_learns(drawn: tuple[int, int, int]) -> None:
    score, y, *_ = case(*drawn)
    if len(np.unique(y)) < 2:
        assert math.isnan(auc(score, y))
    else:
        assert auc(score, y) == pytest.approx(roc_auc_score(y, score), abs=1e-12)


def test_auc_by_hand() -> None:
    assert auc(np.array([0.1, 0.2, 0.9]), np.array([0, 1, 1])) == 1
    assert auc(np.array([0.9, 0.2, 0.1]), np.array([0, 1, 1])) == 0
    assert auc(np.full(4, 0.3), np.array([0, 1, 1, 0])) == 0.5
    assert math.isnan(auc(np.array([0.1, 0.2]), np.array([1, 1])))


@given(CASES)
@settings(deadline=None)
def test_ks_is_scipys_of_the_worst_pair(drawn: tuple[int, int, int]) -> None:
    score, _, group, groups = case(*drawn)
    both = pairs(score, group)
    with np.errstate(all="ignore"):  # its p overflows, which nobody asked for
        expected = max((ks_2samp(a, b, method="asymp").statistic for a, b in both), default=0)
    assert ks(score, group, groups) == pytest.approx(expected, abs=1e-12)


@given(CASES)
@settings(deadline=None)
def test_abcc_is_the_mean_wasserstein_distance(drawn: tuple[int, int, int]) -> None:
    score, _, group, groups = case(*drawn)
    both = pairs(score, group)
    expected = np.mean([wasserstein_distance(a, b) for a, b in both]) if both else 0
    assert abcc(score, group, groups) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("digits", [1, 2, 9])
def test_they_are_the_mean_and_the_worst_over_all_thresholds(digits: int) -> None:
    score, _, group, groups = case(7, 500, digits)
    tried = (np.arange(20_000) + 0.5) / 20_000
    found = [imparity((score > t).astype(int), group, groups) for t in tried]
    assert abcc(score, group, groups) == pytest.approx(np.mean(found), abs=1e-4)
    at_scores = [largest_gap((score > t).astype(int), group, groups) for t in np.unique(score)]
    assert ks(score, group, groups) == pytest.approx(max(at_scores))


def test_the_curves_are_shares_of_the_rows_up_to_a_score() -> None:
    score, _, group, groups = case(3, 60, 1)
    t, curves = distributions(score, group, groups)
    assert curves.shape == (4, len(np.unique(score)))
    for g in range(4):
        np.testing.assert_allclose(curves[g], [np.mean(score[group == g] <= at) for at in t])


def test_fewer_than_two_groups_are_no_distance_apart() -> None:
    score = np.array([0.1, 0.5, 0.9])
    for group in (np.zeros(3, int), np.full(3, 2)):
        assert ks(score, group, 4) == abcc(score, group, 4) == 0
    assert ks(np.empty(0), np.empty(0, int), 2) == abcc(np.empty(0), np.empty(0, int), 2) == 0


def test_groups_that_are_apart_altogether() -> None:
    score, group = np.array([0.0, 0.0, 1.0]), np.array([0, 0, 1])
    assert ks(score, group, 2) == abcc(score, group, 2) == 1

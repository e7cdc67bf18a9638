"""Fair scores against sorted means, optimal transport by brute force, and their properties."""

from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp, wasserstein_distance

from infofair.barycentre import Barycentre
from infofair.errors import Problem
from infofair.scores import abcc, ks

Case = tuple[np.ndarray, np.ndarray]


def case(seed: int, sizes: tuple[int, ...], digits: int = 12) -> Case:
    """Scores that are higher in later groups, in a random order."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rng.beta(1 + group, 2).round(digits), group


def squared_w2(a: np.ndarray, b: np.ndarray) -> float:
    """W₂² of as many points each, by trying every matching."""
    return min(float(np.mean((a - np.array(order)) ** 2)) for order in permutations(b))


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 4))
def test_of_groups_of_one_size_it_is_the_mean_of_the_sorted_scores(
    seed: int, size: int, groups: int
) -> None:
    scores, group = case(seed, (size,) * groups)
    fair = Barycentre.of(scores, group, groups).transform(scores, group)
    expected = np.mean([np.sort(scores[group == g]) for g in range(groups)], axis=0)
    for g in range(groups):
        own = group == g
        np.testing.assert_allclose(fair[own][np.argsort(scores[own])], expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_no_other_distribution_costs_less(seed: int) -> None:
    """All distributions of three points on a grid, and small changes of the one found."""
    scores, group = case(seed, (3, 3))
    fair = Barycentre.of(scores, group, 2).transform(scores, group)
    parts = [scores[group == g] for g in range(2)]
    own = np.sort(fair[group == 0])
    np.testing.assert_allclose(own, np.sort(fair[group == 1]), atol=1e-12)

    def cost(points: np.ndarray) -> float:
        return float(np.mean([squared_w2(points, part) for part in parts]))

    assert np.mean((fair - scores) ** 2) == pytest.approx(cost(own))  # the transport is optimal
    for points in product(np.linspace(0, 1, 13), repeat=3):
        assert cost(np.array(points)) >= cost(own) - 1e-12
    for step in product((-0.01, 0, 0.01), repeat=3):
        assert cost(own + step) >= cost(own) - 1e-12


def test_of_groups_of_many_sizes_it_is_near_the_mean_of_their_quantiles() -> None:
    scores, group = case(4, (4000, 1500, 300))
    fair = Barycentre.of(scores, group, 3).transform(scores, group)
    ranks = (np.arange(20_000) + 0.5) / 20_000
    quantiles = [np.quantile(scores[group == g], ranks, method="inverted_cdf") for g in range(3)]
    expected = np.average(quantiles, axis=0, weights=np.bincount(group))
    for g in range(3):
        assert wasserstein_distance(fair[group == g], expected) < 0.002
    assert np.average(fair) == pytest.approx(np.average(expected), abs=0.002)
    assert np.average(fair) == pytest.approx(scores.mean(), abs=0.002)  # as large as it was


@given(
    st.integers(0, 10_000),
    st.lists(st.integers(1, 60), min_size=2, max_size=4),
    st.sampled_from([1, 2, 12]),
)
@settings(deadline=None)
def test_on_the_fitted_rows_groups_differ_by_a_row(
    seed: int, sizes: list[int], digits: int
) -> None:
    scores, group = case(seed, tuple(sizes), digits)
    fair = Barycentre.of(scores, group, len(sizes)).transform(scores, group).round(12)
    # what a row is, where rows share a score: the most common score's share of the group
    row = [np.unique(scores[group == g], return_counts=True)[1].max() / n
           for g, n in enumerate(sizes)]  # fmt: skip
    for g, h in pairwise(range(len(sizes))):
        with np.errstate(all="ignore"):  # its p overflows, which nobody asked for
            found = ks_2samp(fair[group == g], fair[group == h], method="asymp").statistic
        assert found <= (row[g] + row[h]) / 2 + 1e-9
    assert ks(fair, group, len(sizes)) <= max(row) + 1e-9


@given(st.integers(0, 10_000), st.integers(2, 60), st.sampled_from([1, 2, 12]), st.floats(0, 1))
def test_the_order_within_a_group_stays(seed: int, rows: int, digits: int, amount: float) -> None:
    scores, group = case(seed, (rows, 7, 3), digits)
    new = np.sort(np.random.default_rng(seed).random(50).round(digits))
    for g in range(3):
        moved = Barycentre.of(scores, group, 3).transform(new, np.full(50, g), amount)
        assert (np.diff(moved) >= 0).all()
        assert (np.diff(moved)[np.diff(new) == 0] == 0).all()  # equal scores stay equal
        assert ((moved >= 0) & (moved <= 1)).all()


def test_nothing_is_lost_of_the_order_of_new_scores() -> None:
    scores, group = case(1, (50, 3))
    new = np.linspace(0, 1, 101)
    for g in range(2):
        moved = Barycentre.of(scores, group, 2).transform(new, np.full(101, g))
        assert (np.diff(moved) > 0).all()
        assert (moved[0], moved[-1]) == pytest.approx((0, 1))


def test_the_amount_is_how_much_closer_groups_are() -> None:
    scores, group = case(2, (200, 200))
    centre = Barycentre.of(scores, group, 2)
    np.testing.assert_array_equal(centre.transform(scores, group, 0.0), scores)
    np.testing.assert_array_equal(
        centre.transform(scores, group), centre.transform(scores, group, 1.0)
    )
    before = abcc(scores, group, 2)
    for amount in (0.25, 0.5, 1.0):
        after = abcc(centre.transform(scores, group, amount), group, 2)
        assert after == pytest.approx((1 - amount) * before, abs=1e-9)


def test_groups_that_are_alike_are_left_alone() -> None:
    rng = np.random.default_rng(0)
    own, new = rng.random(40).round(1), rng.random(200)  # with ties, and an end or two
    scores, group = np.tile(own, 3), np.repeat([0, 1, 2], 40)
    inside = new[(new > own.min()) & (new < own.max())]
    moved = Barycentre.of(scores, group, 3).transform(inside, np.ones(len(inside), int))
    np.testing.assert_allclose(moved, inside, atol=1e-12)


def test_of_gaussian_groups_it_is_the_gaussian_of_their_mean_moments() -> None:
    """fair(v) = Σ p_h μ_h + Σ p_h σ_h (v − μ_g) / σ_g, of scores that are no probabilities."""
    rng = np.random.default_rng(0)
    means, scales, shares = np.array([-2.0, 0.5, 3.0]), np.array([0.5, 1.0, 2.0]), [0.2, 0.5, 0.3]
    group = rng.choice(3, 60_000, p=shares)
    scores = rng.normal(means[group], scales[group])
    centre = Barycentre.of(scores, group, 3, between=(-8.0, 14.0))
    for g in range(3):
        asked = means[g] + scales[g] * np.linspace(-2, 2, 9)
        expected = means @ shares + (scales @ shares) * np.linspace(-2, 2, 9)
        np.testing.assert_allclose(centre.transform(asked, np.full(9, g)), expected, atol=0.06)
    half = centre.transform(scores, group, 0.5)
    gaps = [np.ptp([own[group == g].mean() for g in range(3)]) for own in (scores, half)]
    assert gaps[1] == pytest.approx(gaps[0] / 2, abs=0.02)


@given(st.integers(0, 10_000), st.lists(st.integers(1, 60), min_size=2, max_size=4))
def test_another_unit_of_the_scores_changes_nothing(seed: int, sizes: list[int]) -> None:
    scores, group = case(seed, tuple(sizes))
    fair = Barycentre.of(scores, group, len(sizes)).transform(scores, group)
    other = Barycentre.of(8 * scores - 3, group, len(sizes), between=(-3, 5))
    np.testing.assert_allclose(other.transform(8 * scores - 3, group), 8 * fair - 3, atol=1e-9)


def test_new_rows_of_the_groups_are_made_fair() -> None:
    scores, group = case(5, (4000, 2000))
    new, of = case(6, (4000, 2000))
    assert ks(new, of, 2) > 0.2
    assert ks(Barycentre.of(scores, group, 2).transform(new, of), of, 2) < 0.05


def test_a_group_that_was_not_seen_keeps_its_scores() -> None:
    scores, group = case(3, (20, 0, 30))
    centre = Barycentre.of(scores, group, 4)
    given, of = np.array([0.2, 0.7, 0.4]), np.array([1, 3, 0])
    moved = centre.transform(given, of)
    np.testing.assert_array_equal(moved[:2], given[:2])
    assert moved[2] != given[2]
    np.testing.assert_array_equal(Barycentre.of(given[:0], of[:0], 4).transform(given, of), given)


def test_what_is_asked_for_wrongly_is_said() -> None:
    scores, group = case(0, (5, 5))
    with pytest.raises(Problem, match=r"amount = 1\.2: expected a number between 0 and 1"):
        Barycentre.of(scores, group, 2).transform(scores, group, 1.2)
    with pytest.raises(Problem, match="scores: expected numbers between 0 and 1, found"):
        Barycentre.of(10 * scores, group, 2)
    with pytest.raises(Problem, match=r"scores: expected numbers between -1 and 0\.5, found"):
        Barycentre.of(10 * scores, group, 2, between=(-1, 0.5))

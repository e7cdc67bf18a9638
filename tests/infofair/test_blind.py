"""Blind thresholds against all rules on small data, against known groups, and by their promise."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from infofair import blind, metrics
from infofair.errors import Problem
from infofair.thresholds import NOTIONS, Curves

SLACK = 4 * blind.JITTER  # of expected accuracy, per row


def case(seed: int, rows: int = 300, groups: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Scores and posteriors that tell of one another."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1.2, (rows, groups)) + rng.normal(0, 1, groups)
    odds = logits @ np.linspace(-1, 1, groups) + rng.normal(0, 1, rows)
    by_label = [np.exp(logits + c * rng.normal(0, 0.7, groups)) for c in (0, 1)]
    posterior = np.stack([of / of.sum(1, keepdims=True) for of in by_label], axis=2)
    return 1 / (1 + np.exp(-odds)), posterior


def copies(seed: int, times: int, kinds: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Few distinct rows, of which there are many each, in a random order."""
    score, posterior = case(seed, kinds, groups=2)
    order = np.random.default_rng(seed).permutation(np.repeat(np.arange(kinds), times))
    return score[order], posterior[order]


def accuracy(h: np.ndarray, score: np.ndarray) -> float:
    """Expected share of correct rows."""
    return float(np.mean(h * score + (1 - h) * (1 - score)))


def gap(h: np.ndarray, score: np.ndarray, posterior: np.ndarray, notion: str) -> float:
    """By a loop over groups with plain sums; the worst moment's."""
    found: dict[str, list[float]] = {name: [] for name in NOTIONS[notion]}
    for name, values in found.items():
        for g in range(posterior.shape[1]):
            of = [(1 - score) * posterior[:, g, 0], score * posterior[:, g, 1]]
            w = {"rate": of[0] + of[1], "tpr": of[1], "fpr": of[0]}[name]
            if w.sum() > 0:
                values.append((h * w).sum() / w.sum())
    return float(max(np.ptp(values) if values else 0.0 for values in found.values()))


def resolution(score: np.ndarray, posterior: np.ndarray, notion: str) -> float:
    """Half a row for each moment of a group, on either of two groups' moments."""
    names = NOTIONS[notion]
    heaviest = [
        np.max(w.max(0)[w.sum(0) > 0] / w.sum(0)[w.sum(0) > 0], initial=0.0)
        for w in (blind.weights(score, posterior, name) for name in names)
    ]
    return max(heaviest) * len(names) * posterior.shape[1]


def best_random(score: np.ndarray, posterior: np.ndarray, notion: str, tolerance: float) -> float:
    """The highest accuracy of all rules of few rows, random ones too: every pair's gap bounded."""
    limits = []
    for name in NOTIONS[notion]:
        w = blind.weights(score, posterior, name)
        shares = (w / w.sum(0)).T
        limits += [a - b for a, b in product(shares, repeat=2)]
    found = linprog(1 - 2 * score, A_ub=limits, b_ub=[tolerance] * len(limits), bounds=(0, 1))
    return accuracy(found.x, score)


@given(st.integers(0, 10_000), st.sampled_from(sorted(NOTIONS)), st.sampled_from([0.0, 0.05, 0.3]))
@settings(max_examples=40, deadline=None)
def test_it_is_the_best_of_all_rules_on_few_distinct_rows(
    seed: int, notion: str, tolerance: float
) -> None:
    score, posterior = case(seed, rows=5, groups=2)
    best = best_random(score, posterior, notion, tolerance)
    for h in product((0, 1), repeat=5):  # no rule without chance is better than the oracle's
        if gap(np.array(h), score, posterior, notion) <= tolerance:
            assert accuracy(np.array(h), score) <= best + 1e-9
    times = 400
    score, posterior = copies(seed, times)
    rule = blind.fit(score, posterior, notion, tolerance)
    chosen = rule.decide(score, posterior)
    rows = len(NOTIONS[notion]) * 2 / len(score)  # may be on the boundary
    if rule.given_up:  # it costs less
        assert accuracy(chosen, score) >= best - rows - SLACK
        return
    assert accuracy(chosen, score) == pytest.approx(best, abs=rows + SLACK)
    assert gap(chosen, score, posterior, notion) <= tolerance + resolution(score, posterior, notion)


@given(
    st.integers(0, 10_000),
    st.integers(1, 5),
    st.integers(1, 300),
    st.sampled_from(sorted(NOTIONS)),
    st.floats(0, 1),
)
@settings(max_examples=60, deadline=None)
def test_groups_differ_by_no_more_than_the_tolerance_and_the_resolution(
    seed: int, groups: int, rows: int, notion: str, tolerance: float
) -> None:
    score, posterior = case(seed, rows, groups)
    rule = blind.fit(score, posterior, notion, tolerance)
    chosen = rule.decide(score, posterior)
    assert chosen.dtype == np.int8
    most = tolerance + resolution(score, posterior, notion)
    assert gap(chosen, score, posterior, notion) <= most + 1e-9 or rule.given_up


@pytest.mark.parametrize("notion", NOTIONS)
def test_with_many_rows_the_resolution_is_fine(notion: str) -> None:
    score, posterior = case(3, rows=6000, groups=4)
    for tolerance in (0.0, 0.02, 0.1):
        rule = blind.fit(score, posterior, notion, tolerance)
        chosen = rule.decide(score, posterior)
        assert gap(chosen, score, posterior, notion) <= tolerance + 0.003
        assert not rule.given_up
    found = blind.moments(chosen, score, posterior, notion)
    assert list(found) == list(NOTIONS[notion])
    assert max(np.ptp(of) for of in found.values()) == pytest.approx(
        gap(chosen, score, posterior, notion)
    )


@given(st.integers(0, 10_000), st.sampled_from(sorted(NOTIONS)))
@settings(max_examples=30, deadline=None)
def test_more_tolerance_costs_less_up_to_the_bayes_rule(seed: int, notion: str) -> None:
    rows, groups = 250, 3
    score, posterior = case(seed, rows, groups)
    tried = [blind.fit(score, posterior, notion, t) for t in (0.0, 0.03, 0.1, 0.3, 0.6, 1.0)]
    found = [accuracy(rule.decide(score, posterior), score) for rule in tried]
    few = len(NOTIONS[notion]) * groups / rows  # rows on the boundary, of all
    assert all(after >= before - few - SLACK for before, after in pairwise(found))
    assert found[-1] == max(found)
    np.testing.assert_array_equal(tried[-1].decide(score, posterior), score > 0.5)
    assert not tried[-1].nu.any()


def test_scores_of_a_half_are_refused_by_the_bayes_rule() -> None:
    score, posterior = np.full(50, 0.5), np.full((50, 2, 2), 0.5)
    for notion in NOTIONS:
        assert not blind.fit(score, posterior, notion, 0.0).decide(score, posterior).any()


@pytest.mark.parametrize("tolerance", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_where_the_group_is_known_it_is_the_group_thresholds(seed: int, tolerance: float) -> None:
    """Calibrated to the row: of 40 rows of a group with score v, 40 v are positive."""
    rng = np.random.default_rng(seed)
    cells = [(g, v) for g in range(3) for v in rng.choice(41, 12, replace=False) + 0]
    group = np.repeat([g for g, _ in cells], 40)
    score = np.repeat([v / 40 for _, v in cells], 40)
    y = np.concatenate([np.arange(40) < v for _, v in cells]).astype(int)
    posterior = np.repeat(np.eye(3)[group][:, :, None], 2, axis=2)
    chosen = blind.fit(score, posterior, "parity", tolerance).decide(score, posterior)
    known = Curves.of(score, y, group, 3).rule("parity", tolerance)
    chance = known.probability(score, group)
    assert accuracy(chosen, score) == pytest.approx(np.mean(chance * y + (1 - chance) * (1 - y)),
                                                    abs=3 / len(y) + SLACK)  # fmt: skip
    assert metrics.largest_gap(chosen, group, 3) <= tolerance + 1 / 480 + 1e-9
    rates = metrics.selection_rates(chosen, group, 3)
    np.testing.assert_allclose(rates, metrics.selection_rates(chance, group, 3), atol=0.003)


def test_a_rule_is_for_rows_that_it_has_not_seen() -> None:
    score, posterior = case(8, rows=20_000, groups=3)
    half = slice(0, 10_000), slice(10_000, 20_000)
    rule = blind.fit(score[half[0]], posterior[half[0]], "parity", 0.05)
    bayes = score[half[1]] > 0.5
    chosen = rule.decide(score[half[1]], posterior[half[1]])
    assert gap(bayes, score[half[1]], posterior[half[1]], "parity") > 0.15
    assert gap(chosen, score[half[1]], posterior[half[1]], "parity") < 0.05 + 0.02


@pytest.mark.parametrize("notion", NOTIONS)
def test_a_fit_repeats_and_a_row_is_decided_whatever_rows_follow(notion: str) -> None:
    score, posterior = copies(4, times=100)
    first, second = (blind.fit(score, posterior, notion, 0.01) for _ in range(2))
    np.testing.assert_array_equal(first.nu, second.nu)
    np.testing.assert_array_equal(
        first.decide(score, posterior)[:60], first.decide(score[:60], posterior[:60])
    )


@pytest.mark.parametrize("notion", NOTIONS)
def test_rounding_does_not_decide_the_fitted_rows(notion: str) -> None:
    score, posterior = case(6, rows=1000, groups=4)
    rule = blind.fit(score, posterior, notion, 0.0)
    assert np.abs(rule.margin(score, posterior)).min() > 1e-12


@pytest.mark.parametrize("notion", NOTIONS)
def test_a_group_without_mass_changes_nothing(notion: str) -> None:
    score, posterior = case(2)
    wider = np.insert(posterior, 1, 0.0, axis=1)
    found, expected = (
        blind.fit(score, wider, notion, 0.02),
        blind.fit(score, posterior, notion, 0.02),
    )
    np.testing.assert_array_equal(np.delete(found.nu, 1, axis=1), expected.nu)
    assert not found.nu[:, 1].any()
    assert all(np.isnan(of[1]) for of in blind.moments(score, score, wider, notion).values())


@pytest.mark.parametrize("notion", NOTIONS)
def test_a_group_of_hardly_a_row_cannot_cost_more_than_its_price(notion: str) -> None:
    score, posterior = case(2, rows=2000)
    without = accuracy(blind.fit(score, posterior, notion, 0.0).decide(score, posterior), score)
    share = np.where(score > 0.9, 1e-6, 0.0)[:, None, None]  # all of it where the score is high
    wider = np.concatenate([posterior * (1 - share), np.tile(share, (1, 1, 2))], axis=1)
    rule = blind.fit(score, wider, notion, 0.0)
    assert rule.given_up
    costs = without - accuracy(rule.decide(score, wider), score)
    assert costs <= blind.PRICE * share.sum() / len(score) + 0.002


@pytest.mark.parametrize("notion", NOTIONS)
def test_a_less_exact_solver_decides_the_same(notion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    score, posterior = case(9, rows=500)
    exact = blind.fit(score, posterior, notion, 0.01).decide(score, posterior)
    monkeypatch.setattr(blind, "SOLVERS", blind.SOLVERS[1:])
    np.testing.assert_array_equal(
        blind.fit(score, posterior, notion, 0.01).decide(score, posterior), exact
    )


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_scores_of_one_class_are_no_trouble(value: float) -> None:
    _, posterior = case(1)
    score = np.full(len(posterior), value)
    for notion in NOTIONS:
        chosen = blind.fit(score, posterior, notion, 0.0).decide(score, posterior)
        np.testing.assert_array_equal(chosen, score)


def test_what_is_asked_for_wrongly_is_said() -> None:
    score, posterior = case(0)
    with pytest.raises(Problem, match="no notion 'luck'; there are parity, opportunity, odds"):
        blind.fit(score, posterior, "luck", 0.1)
    with pytest.raises(Problem, match=r"tolerance = 1\.5: expected a number between 0 and 1"):
        blind.fit(score, posterior, "parity", 1.5)
    with pytest.raises(Problem, match=r"posterior \(300, 3\): expected \(rows,\) and \(rows, gro"):
        blind.fit(score, posterior[:, :, 0], "parity", 0.1)
    with pytest.raises(Problem, match=r"score: expected probabilities, found -2\.0 to"):
        blind.fit(np.full(300, -2), posterior, "parity", 0.1)
    with pytest.raises(Problem, match="posterior: 2 groups, the rule's 3"):
        blind.fit(score, posterior, "parity", 0.0).decide(score, posterior[:, :2])

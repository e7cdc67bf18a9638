"""Group thresholds against fairlearn, against all rules on small data, and by their guarantee."""

import warnings
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.metrics import roc_curve

from infofair.errors import Problem
from infofair.thresholds import NOTIONS, Curve, Curves, Rule

FAIRLEARN = {
    "parity": "demographic_parity",
    "opportunity": "true_positive_rate_parity",
    "odds": "equalized_odds",
}
Case = tuple[np.ndarray, np.ndarray, np.ndarray, int]


def case(seed: int, rows: int = 400, groups: int = 3, digits: int = 2) -> Case:
    """Scores with ties that tell of y and of the group."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, rows)
    y = (rng.random(rows) < 0.2 + 0.5 * group / groups).astype(int)
    scores = np.clip(0.3 + 0.3 * y + 0.1 * group + rng.normal(0, 0.25, rows), 0, 1).round(digits)
    return scores, y, group, groups


def moments(rule: Rule, scores: np.ndarray, y: np.ndarray, group: np.ndarray) -> dict[str, list]:
    """Of every group that has such rows, by plain means of the probabilities."""
    chance = rule.probability(scores, group)
    of = {"rate": y >= 0, "tpr": y == 1, "fpr": y == 0}
    return {
        name: [chance[rows & (group == g)].mean() for g in np.unique(group[rows])]
        for name, rows in of.items()
    }


def accuracy(rule: Rule, scores: np.ndarray, y: np.ndarray, group: np.ndarray) -> float:
    chance = rule.probability(scores, group)
    return float(np.where(y == 1, chance, 1 - chance).mean())


def gap(values: list) -> float:
    return float(np.ptp(values)) if len(values) else 0.0


class Given(BaseEstimator):
    """A model that says the scores it is given."""

    fitted_ = True

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Given":
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X[:, 0]


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("seed", range(4))
def test_without_tolerance_it_is_as_accurate_as_fairlearns(notion: str, seed: int) -> None:
    scores, y, group, groups = case(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = ThresholdOptimizer(
            estimator=Given(), constraints=FAIRLEARN[notion], objective="accuracy_score",
            prefit=True, predict_method="predict", grid_size=5000,
        )  # fmt: skip
        theirs.fit(scores[:, None], y, sensitive_features=group)
        chance = theirs._pmf_predict(scores[:, None], sensitive_features=group)[:, 1]
    expected = np.where(y == 1, chance, 1 - chance).mean()
    rule = Curves.of(scores, y, group, groups).rule(notion, 0)
    assert accuracy(rule, scores, y, group) == pytest.approx(expected, abs=0.002)  # their grid
    assert accuracy(rule, scores, y, group) >= expected - 1e-6


@given(st.integers(0, 10_000), st.sampled_from(sorted(NOTIONS)), st.sampled_from([0.0, 0.1, 0.4]))
@settings(max_examples=30, deadline=None)
def test_no_rule_without_chance_is_better(seed: int, notion: str, tolerance: float) -> None:
    """All rules of two small groups with one threshold each."""
    scores, y, group, _ = case(seed, rows=12, groups=2, digits=1)
    rule = Curves.of(scores, y, group, 2).rule(notion, tolerance)
    tried = [-0.05, *(np.arange(0, 1, 0.1) + 0.05), 1.05]
    for pair in product(tried, repeat=2):
        plain = Rule([np.array([t]) for t in pair], [np.ones(1)] * 2)
        found = moments(plain, scores, y, group)
        if all(gap(found[name]) <= tolerance for name in NOTIONS[notion]):
            better = accuracy(rule, scores, y, group) - accuracy(plain, scores, y, group)
            assert better >= -1e-9


@given(st.integers(0, 10_000), st.integers(1, 5), st.sampled_from(sorted(NOTIONS)), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_groups_differ_by_no_more_than_the_tolerance(
    seed: int, groups: int, notion: str, tolerance: float
) -> None:
    rows = int(np.random.default_rng(seed).integers(1, 60))
    scores, y, group, _ = case(seed, rows, groups, digits=1)
    rule = Curves.of(scores, y, group, groups).rule(notion, tolerance)
    found = moments(rule, scores, y, group)
    assert all(gap(found[name]) <= tolerance + 1e-6 for name in NOTIONS[notion])
    assert all(w.sum() == pytest.approx(1) for w in rule.weights if len(w))


@pytest.mark.parametrize("notion", NOTIONS)
def test_more_tolerance_costs_less_up_to_the_best_thresholds(notion: str) -> None:
    scores, y, group, groups = case(5)
    found = [
        accuracy(Curves.of(scores, y, group, groups).rule(notion, t), scores, y, group)
        for t in (0.0, 0.02, 0.05, 0.1, 0.3, 1.0)
    ]
    assert all(after >= before - 1e-9 for before, after in pairwise(found))
    free = sum(
        max(np.sum((scores > t)[group == g] == y[group == g]) for t in [-1, *np.unique(scores)])
        for g in range(groups)
    )
    assert found[-1] == pytest.approx(free / len(y))


def test_the_corners_are_on_scikit_learns_curve_and_above_all_of_it() -> None:
    scores, y, *_ = case(3)
    own = Curve.of(scores, y)
    fpr, tpr, _ = roc_curve(y, scores, drop_intermediate=False)
    found, expected = (
        {*zip(f.round(9), p.round(9), strict=True)} for f, p in ((own.fpr, own.tpr), (fpr, tpr))
    )
    assert found == expected
    for t, f, p in zip(own.thresholds, own.fpr, own.tpr, strict=True):
        assert ((scores > t)[y == 0].mean(), (scores > t)[y == 1].mean()) == pytest.approx((f, p))
    corners = np.column_stack([own.fpr, own.tpr])[own.corners]
    above = corners[corners[:, 1] >= corners[:, 0]]
    assert (tpr <= np.interp(fpr, above[:, 0], above[:, 1]) + 1e-9).all()


@pytest.mark.parametrize("notion", ["parity", "opportunity"])
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_without_chance_it_is_off_by_a_row_or_two(notion: str, tolerance: float) -> None:
    scores, y, group, groups = case(4, rows=2000, digits=6)  # no ties
    curves = Curves.of(scores, y, group, groups)
    drawn, plain = curves.rule(notion, tolerance), curves.rule(notion, tolerance, random=False)
    assert not plain.random
    chance = plain.probability(scores, group)
    assert set(np.unique(chance)) == {0.0, 1.0}
    (name,) = NOTIONS[notion]
    rows = np.bincount(group[y == 1] if name == "tpr" else group).min()
    assert gap(moments(plain, scores, y, group)[name]) <= tolerance + 1 / rows + 1e-9
    costs = accuracy(drawn, scores, y, group) - accuracy(plain, scores, y, group)
    assert abs(costs) < 0.01


def test_a_decision_is_drawn_with_its_probability_and_a_seed_decides_it() -> None:
    scores, y, group, groups = case(1, rows=300)
    rule = Curves.of(scores, y, group, groups).rule("odds", 0)
    assert rule.random
    chance = rule.probability(scores, group)
    drawn = np.stack([rule.decide(scores, group, seed) for seed in range(500)])
    np.testing.assert_array_equal(drawn[7], rule.decide(scores, group, 7))
    np.testing.assert_allclose(drawn.mean(0), chance, atol=0.12)  # five standard deviations
    sure = (chance == 0) | (chance == 1)
    np.testing.assert_array_equal(drawn[:, sure], np.tile(chance[sure], (500, 1)))


def test_a_group_that_was_not_seen_has_the_usual_threshold() -> None:
    scores, y, group, _ = case(2)
    rule = Curves.of(scores, y, group, 5).rule("parity", 0.1)
    np.testing.assert_array_equal(
        rule.probability(np.array([0.4, 0.6]), np.array([4, 4])), [0.0, 1.0]
    )


def test_one_class_or_one_score_is_no_trouble() -> None:
    group = np.array([0, 0, 1, 1])
    for y in (np.zeros(4, int), np.ones(4, int), np.array([0, 1, 0, 1])):
        for notion in NOTIONS:
            rule = Curves.of(np.full(4, 0.3), y, group, 2).rule(notion, 0)
            assert accuracy(rule, np.full(4, 0.3), y, group) >= 0.5


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"notion": "calibration"}, "no notion 'calibration'; there are parity, opportunity, odds"),
        ({"notion": "odds", "random": False}, "odds: groups that differ by 0.1 take a random rule"),
        ({"tolerance": -0.1}, "tolerance = -0.1: expected a number between 0 and 1"),
    ],
)
def test_what_is_asked_for_wrongly_is_said(wrong: dict, said: str) -> None:
    asked: dict[str, Any] = {"notion": "parity", "tolerance": 0.1} | wrong
    with pytest.raises(Problem, match=said):
        Curves.of(*case(0)).rule(**asked)

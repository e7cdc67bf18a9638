"""Exponentiated gradient against fairlearn's own predictions, scikit-learn and its guarantee."""

import dataclasses
import warnings
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from fairlearn.metrics import demographic_parity_difference
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.errors import Pandas4Warning
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from infofair.data.prepared import Prepared
from infofair.methods.base import Fit, Task
from infofair.methods.expgrad import ExpGrad, Mixture, learner
from infofair.metrics import selection_rates
from infofair.training.solve import drawn, solve, task_of
from tests.simulated import prepared

FREE = 1.0  # a bound that binds nobody
SETTINGS = ["gender", "race", "intersection"]
# a fit takes a third of a second: the default run has the setting with most groups
slow_but_for_the_last = [
    pytest.param(s, marks=[pytest.mark.slow] * (s != SETTINGS[-1])) for s in SETTINGS
]


def expgrad(difference: float, rounds: int = 30) -> ExpGrad:
    return ExpGrad(difference=difference, rounds=rounds)


def simulated(setting: str = "gender", rows: int = 700) -> Task:
    return task_of(prepared(rows), setting)


@cache
def fitted(setting: str, difference: float) -> Fit:
    return expgrad(difference).fit(simulated(setting), 0)


def draws(probability: np.ndarray, count: int = 400) -> np.ndarray:
    """Seeds × rows."""
    return np.stack([drawn({"test": probability}, seed)["test"] for seed in range(count)])


# -- the learner --------------------------------------------------------------------------------


def test_the_learner_is_scikit_learns() -> None:
    task, rng = simulated(), np.random.default_rng(0)
    X, y, w = task.X["train"], task.y["train"], rng.random(len(task.y["train"]))
    ours = learner(X).fit(X, y, sample_weight=w)
    theirs = LogisticRegression(solver="lbfgs", tol=1e-9, max_iter=10_000).fit(X, y, w)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_rows_that_are_alike_count_as_often_as_they_are_there() -> None:
    rng = np.random.default_rng(0)
    X, y, w = rng.integers(0, 2, (300, 4)).astype(float), rng.integers(0, 2, 300), rng.random(300)
    fits = learner(X)
    for labels in (y, 1 - y, X[:, 0].astype(int)):  # also where all of a kind have one label
        ours = clone(fits).fit(X, labels, sample_weight=w)
        theirs = LogisticRegression(solver="newton-cholesky", tol=1e-9).fit(X, labels, w)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("setting", slow_but_for_the_last)
def test_without_a_bound_it_is_logistic_regression(setting: str) -> None:
    task = simulated(setting)
    X, y = task.X["train"], task.y["train"]
    plain = LogisticRegression(solver="newton-cholesky").fit(X, y).predict(X)
    first = expgrad(FREE, rounds=1).fit(task, 0)
    np.testing.assert_allclose(first.predict(X), plain, atol=1e-12)
    # later rounds have other multipliers, and may by chance find one with fewer errors
    fit = fitted(setting, FREE)
    assert fit.log[0]["error"] <= (plain != y).mean()
    assert (draws(fit.predict(X), 1)[0] == plain).mean() > 0.97


# -- the constraint -----------------------------------------------------------------------------


@pytest.mark.parametrize("setting", slow_but_for_the_last)
@pytest.mark.parametrize(
    "difference", [0.005, *(pytest.param(d, marks=pytest.mark.slow) for d in (0.02, 0.1))]
)
def test_the_draws_meet_the_bound(setting: str, difference: float) -> None:
    task = simulated(setting)
    y, s = task.y["train"], task.s["train"]
    fit = fitted(setting, difference)
    assert fit.log[0]["difference"] <= difference + 0.002
    # Two groups that differ from all by ε each differ by 2 ε. A group here has 90 rows at least, of
    # which 400 draws each give a rate to within 0.5 / √36000 = 0.003.
    decisions = draws(fit.predict(task.X["train"]))
    y, s = (np.tile(column, len(decisions)) for column in (y, s))
    found = demographic_parity_difference(y, decisions.ravel(), sensitive_features=s)
    assert found <= 2 * difference + 0.015


def test_a_looser_bound_costs_less() -> None:
    errors = [
        fitted("intersection", bound).log[0]["error"] for bound in (0.0, 0.02, 0.05, 0.1, FREE)
    ]
    assert all(after < before + 0.01 for before, after in pairwise(errors))
    assert errors[-1] < errors[0] - 0.05


def test_features_that_tell_the_group_and_nothing_else_are_of_no_use_under_the_bound() -> None:
    # the best answer is then the more common class for all
    task = simulated("race")
    own = {part: np.eye(3)[s] for part, s in task.s.items()}
    fit = expgrad(0.0).fit(dataclasses.replace(task, X=own), 0)
    common = max(task.y["train"].mean(), 1 - task.y["train"].mean())
    assert fit.log[0]["error"] >= 1 - common - 0.002
    assert fit.log[0]["difference"] <= 0.002


def test_groups_without_training_rows_give_no_constraint() -> None:
    task = simulated("race")
    renamed = dataclasses.replace(task, s={part: 2 * s + 1 for part, s in task.s.items()}, groups=7)
    one, other = (expgrad(0.02).fit(t, 0) for t in (task, renamed))
    assert one.log == other.log
    np.testing.assert_array_equal(one.predict(task.X["test"]), other.predict(task.X["test"]))


@given(st.integers(0, 10_000), st.integers(1, 5), st.sampled_from([0.0, 0.01, 0.3]))
@settings(max_examples=10, deadline=None)
def test_any_data_give_probabilities(seed: int, groups: int, difference: float) -> None:
    # few rows: separable classes, a single class, groups of one row or none
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(4, 40))
    X = {"train": rng.random((rows, int(rng.integers(1, 6)))).round(1)}
    y, s = {"train": rng.integers(0, 2, rows)}, {"train": rng.integers(0, groups, rows)}
    fit = expgrad(difference, rounds=3).fit(Task(X, y, s, groups, {}), seed)
    probability = fit.predict(X["train"])
    assert probability.min() >= 0 and probability.max() <= 1 + 1e-12


# -- the draws ----------------------------------------------------------------------------------


def test_the_mixture_is_fairlearns() -> None:
    task = simulated("intersection")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Pandas4Warning)
        theirs = ExponentiatedGradient(
            LogisticRegression(solver="newton-cholesky"),
            DemographicParity(difference_bound=0.02),
            max_iter=30,
        )
        theirs.fit(task.X["train"], task.y["train"], sensitive_features=task.s["train"])
    expected = theirs._pmf_predict(task.X["test"])[:, 1]
    np.testing.assert_allclose(Mixture(theirs).probability(task.X["test"]), expected, atol=1e-12)
    assert len(np.unique(expected.round(6))) > 2  # a mixture indeed
    np.testing.assert_allclose(
        fitted("intersection", 0.02).predict(task.X["test"]), expected, atol=1e-12
    )
    # 400 draws: a standard deviation of 0.025 at most
    decisions = draws(expected)
    assert set(decisions.ravel()) == {0.0, 1.0}
    np.testing.assert_allclose(decisions.mean(0), expected, atol=0.125)
    assert decisions.mean() == pytest.approx(expected.mean(), abs=0.01)


def test_a_seed_decides_the_draws_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")
    data = prepared()
    solved = solve(expgrad(0.02, rounds=5), data, [], [0, 1, 2], "expgrad")
    found = {(model.setting, model.seed): model.best for model in solved}
    assert set(found) == {(setting, seed) for setting in SETTINGS for seed in (0, 1, 2)}
    for setting in SETTINGS:
        models = [found[setting, seed] for seed in (0, 1, 2)]
        assert models[0].log == models[1].log == models[2].log  # fitted once
        task = task_of(data, setting)
        probability = expgrad(0.02, rounds=5).fit(task, 7).predict(task.X["test"])
        for seed, model in enumerate(models):
            expected = drawn({"test": probability}, seed)["test"]
            np.testing.assert_array_equal(model.probabilities["test"], expected)
    decisions = [found["intersection", seed].probabilities["test"] for seed in (0, 1)]
    assert (decisions[0] != decisions[1]).any()


@pytest.mark.parametrize("setting", slow_but_for_the_last)
def test_a_fit_says_what_it_did(setting: str) -> None:
    task = simulated(setting)
    fit = fitted(setting, 0.02)
    (row,) = fit.log
    assert list(row) == ["rounds", "classifiers", "duality_gap", "error", "difference"]
    mean = draws(fit.predict(task.X["train"])).mean(0)
    assert row["error"] == pytest.approx(np.abs(mean - task.y["train"]).mean(), abs=0.005)
    rates = selection_rates(mean, task.s["train"], task.groups)
    assert row["difference"] == pytest.approx(np.abs(rates - mean.mean()).max(), abs=0.01)
    assert expgrad(0.02, rounds=3).fit(task, 0).log[0]["rounds"] == 3


# -- the real data ------------------------------------------------------------------------------


@pytest.mark.real
@pytest.mark.slow
def test_the_real_data_give_the_known_figures(real_data: Callable[[str], Prepared]) -> None:
    task = task_of(real_data("adult"), "gender")
    fit = expgrad(0.01).fit(task, 0)
    predicted = draws(fit.predict(task.X["test"]), 1)[0]
    assert (predicted == task.y["test"]).mean() == pytest.approx(0.825, abs=0.005)
    rates = selection_rates(predicted, task.s["test"], 2)
    assert np.ptp(rates) / 3 == pytest.approx(0.007, abs=0.005)  # imparity as released

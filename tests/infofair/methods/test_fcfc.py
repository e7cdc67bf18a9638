"""FCFC against scikit-learn, closed forms and the conditions of a constrained minimum."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, nnls
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from infofair.data.prepared import Prepared
from infofair.errors import Problem
from infofair.methods import fcfc
from infofair.methods.base import Task
from infofair.methods.fcfc import FCFC, constraints, loss, minimise, with_intercept
from infofair.training.solve import task_of
from tests.infofair.methods.figures import figures
from tests.simulated import prepared

FREE = 1e9  # a bound that binds nobody
SETTINGS = ["gender", "race", "intersection"]
Parts = tuple[np.ndarray, np.ndarray, np.ndarray]  # X with its intercept, y in {−1, +1}, A


def parts(task: Task) -> Parts:
    X = with_intercept(task.X["train"])
    return X, 2 * task.y["train"] - 1, constraints(X, task.s["train"])


def simulated(setting: str = "intersection", rows: int = 700) -> Parts:
    return parts(task_of(prepared(rows), setting))


def covariance(X: np.ndarray, s: np.ndarray, w: np.ndarray) -> float:
    """The largest |cov(group, Xw)|, by numpy's own."""
    score = X @ w
    return max(abs(np.cov(s == group, score, bias=True)[0, 1]) for group in np.unique(s))


# -- the unconstrained minimum ------------------------------------------------------------------


def sklearn_loss(X: np.ndarray, y: np.ndarray) -> float:
    fitted = LogisticRegression(C=np.inf, solver="newton-cg", max_iter=200).fit(X[:, :-1], y)
    return loss(np.append(fitted.coef_[0], fitted.intercept_), X, y)[0]


def test_without_a_bound_it_is_logistic_regression() -> None:
    X, y, A = simulated()
    assert minimise(X, y, A, FREE).loss == pytest.approx(sklearn_loss(X, y), abs=1e-6)


@pytest.mark.real
def test_without_a_bound_it_is_logistic_regression_on_compas(
    real_data: Callable[[str], Prepared],
) -> None:
    X, y, A = parts(task_of(real_data("compas"), "intersection"))
    assert minimise(X, y, A, FREE).loss == pytest.approx(sklearn_loss(X, y), abs=1e-4)


@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_the_gradient_agrees_with_finite_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y, w = rng.normal(size=(9, 4)), rng.choice([-1, 1], 9), rng.normal(0, 3, 4)
    expected = approx_fprime(w, lambda w: loss(w, X, y)[0])
    np.testing.assert_allclose(loss(w, X, y)[1], expected, atol=1e-6)


def test_far_from_the_boundary_the_loss_is_the_distance_and_nothing_overflows() -> None:
    value, gradient = loss(np.array([1e6]), np.array([[1.0], [-1.0]]), np.array([1, 1]))
    assert value == pytest.approx(1e6 / 2)
    assert gradient == pytest.approx([1 / 2])


# -- the constraint -----------------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("c", [0.0, 1e-6, 1e-3, 0.01, 0.1])
def test_no_covariance_exceeds_the_bound(setting: str, c: float) -> None:
    task = task_of(prepared(), setting)
    X, y, A = parts(task)
    w = minimise(X, y, A, c).w
    assert covariance(X, task.s["train"], w) <= c + 1e-8
    assert np.abs(A @ w).max() == pytest.approx(covariance(X, task.s["train"], w), abs=1e-12)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_looser_bound_costs_less(setting: str) -> None:
    X, y, A = simulated(setting)
    found = [minimise(X, y, A, c).loss for c in (0, 1e-6, 1e-3, 0.01, 0.03, 0.1, FREE)]
    assert all(after < before + 1e-7 for before, after in pairwise(found))
    assert found[-1] < found[0] - 0.01


def test_the_bound_is_continuous_at_zero() -> None:
    X, y, A = simulated()
    exact, nearly = minimise(X, y, A, 0.0), minimise(X, y, A, 1e-9)
    np.testing.assert_allclose(expit(X @ exact.w), expit(X @ nearly.w), atol=1e-4)


@pytest.mark.parametrize("c", [0.0, 0.003, 0.01, 0.03])
def test_only_binding_constraints_hold_the_gradient_up(c: float) -> None:
    # Karush, Kuhn and Tucker: −∇loss is a combination, with weights ≥ 0, of the outward normals
    X, y, A = simulated()
    w = minimise(X, y, A, c).w
    outward = np.vstack([A, -A])
    binding = outward[outward @ w > c - 1e-6]
    _, gradient = loss(w, X, y)
    assert len(binding) > 0
    _, left = nnls(binding.T, -gradient)
    assert left < 1e-3 < np.linalg.norm(gradient)


def test_features_that_tell_the_group_and_nothing_else_leave_the_base_rate() -> None:
    task = task_of(prepared(), "race")
    s, y = task.s["train"], task.y["train"]
    X = with_intercept(np.eye(3)[s])
    found = minimise(X, 2 * y - 1, constraints(X, s), 0.0)
    rate = y.mean()
    np.testing.assert_allclose(expit(X @ found.w), rate, atol=1e-4)
    entropy = -rate * np.log(rate) - (1 - rate) * np.log(1 - rate)
    assert found.loss == pytest.approx(entropy, abs=1e-8)


@given(st.integers(0, 10_000), st.integers(2, 6), st.sampled_from([0.0, 1e-4, 0.05, 1.0]))
@settings(max_examples=60)
def test_any_data_give_a_model_that_meets_the_bound(seed: int, groups: int, c: float) -> None:
    # few rows: separable classes, groups of one row or none, fewer features than groups
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(4, 40))
    X = with_intercept(rng.random((rows, int(rng.integers(1, 6)))).round(1))
    y, s = rng.choice([-1, 1], rows), rng.integers(0, groups, rows)
    found = minimise(X, y, constraints(X, s), c)
    assert covariance(X, s, found.w) <= c + 1e-8
    assert found.loss == pytest.approx(loss(found.w, X, y)[0], abs=1e-9)
    assert found.loss <= np.log(2) + 1e-12  # which w = 0 has, and it meets every bound


# -- what must not matter -----------------------------------------------------------------------


@pytest.mark.parametrize("c", [0.0, 0.01])
def test_the_order_of_rows_does_not_matter(c: float) -> None:
    X, y, A = simulated()
    task = task_of(prepared(), "intersection")
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = constraints(X[order], task.s["train"][order])
    np.testing.assert_allclose(shuffled, A, atol=1e-14)
    one, other = minimise(X, y, A, c), minimise(X[order], y[order], shuffled, c)
    np.testing.assert_allclose(expit(X @ one.w), expit(X @ other.w), atol=1e-4)


@pytest.mark.parametrize("dropped", range(6))
def test_at_zero_any_one_indicator_may_be_dropped(dropped: int) -> None:
    X, y, A = simulated()
    all_of_them, fewer = minimise(X, y, A, 0.0), minimise(X, y, np.delete(A, dropped, 0), 0.0)
    np.testing.assert_allclose(expit(X @ fewer.w), expit(X @ all_of_them.w), atol=1e-6)


def test_above_zero_a_dropped_group_would_exceed_the_bound() -> None:
    X, y, A = simulated()
    excess = [
        np.abs(A @ minimise(X, y, np.delete(A, dropped, 0), 0.01).w).max() for dropped in range(6)
    ]
    assert max(excess) > 0.011


def test_groups_without_training_rows_give_no_constraint() -> None:
    task = task_of(prepared(), "race")
    X, s = with_intercept(task.X["train"]), task.s["train"]
    np.testing.assert_array_equal(constraints(X, s), constraints(X, 2 * s + 1))


# -- the method ---------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("c", [0.0, 0.02])
def test_a_fit_gives_probabilities_and_says_what_it_did(setting: str, c: float) -> None:
    task = task_of(prepared(), setting)
    fit = FCFC(covariance=c).fit(task, 0)
    probability = fit.predict(task.X["train"])
    X, y, A = parts(task)
    found = minimise(X, y, A, c)
    np.testing.assert_array_equal(probability, expit(X @ found.w))
    (row,) = fit.log
    assert list(row) == ["iterations", "loss", "covariance"]
    assert row["covariance"] <= c + 1e-8
    likelihood = np.where(task.y["train"] == 1, probability, 1 - probability)
    assert row["loss"] == pytest.approx(-np.log(likelihood).mean())


def test_a_minimum_that_is_not_reached_is_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcfc, "MAX_ITERATIONS", 2)
    with pytest.raises(Problem, match="fcfc: no minimum after 2 iterations"):
        minimise(*simulated(), 0.0)


# -- the real data ------------------------------------------------------------------------------

# (those of the larger datasets are looked at in the committed results: tests/whole/test_committed)
FIGURES = [  # micro F1, imparity as released
    ("gender", 0.972, 0.050),
    ("race", 0.972, 0.181),
    ("intersection", 0.882, 0.247),
]


@pytest.mark.real
@pytest.mark.parametrize(("setting", "micro", "gap"), FIGURES)
def test_compas_gives_the_known_figures(
    setting: str, micro: float, gap: float, real_data: Callable[[str], Prepared]
) -> None:
    data = real_data("compas")
    task = task_of(data, setting)
    fit = FCFC(covariance=0.0).fit(task, 0)
    found = figures(data, setting, fit.predict(task.X["test"]))
    assert found["micro_f1"] == pytest.approx(micro, abs=0.01)
    assert found["imparity_released"] == pytest.approx(gap, abs=0.01)
    assert fit.log[0]["covariance"] < 1e-8

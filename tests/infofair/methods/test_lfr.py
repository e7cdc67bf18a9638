"""LFR against AIF360's objective, finite differences, autograd, and known figures on real data."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from fairlearn.metrics import demographic_parity_difference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import OptimizeResult
from sklearn.metrics import accuracy_score

from infofair.data.prepared import Prepared
from infofair.methods import lfr
from infofair.methods.lfr import LFR, Point, Rows, loss
from infofair.training.solve import task_of
from tests.infofair.methods.figures import figures
from tests.simulated import prepared

Sample = tuple[np.ndarray, np.ndarray, np.ndarray]  # X, y, s
seeds = st.integers(0, 1000)


def sample(seed: int, rows: int = 30) -> Sample:
    """Rows of numbers and one-hot columns, many of them twice or more, with any label and group."""
    rng = np.random.default_rng(seed)
    X = np.hstack([rng.random((rows, 2)).round(1), np.eye(3)[rng.integers(0, 3, rows)]])
    y, s = rng.integers(0, 2, rows), rng.integers(0, 2, rows)
    again = rng.integers(0, rows, 2 * rows)
    X, y, s = X[again], y[again], s[again]
    s[:2] = 0, 1
    return X, y, s


def point(seed: int) -> tuple[Point, np.ndarray]:
    """Weights of the loss and a vector of parameters."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 7))
    A_x, A_y, A_z = rng.uniform(0, 10, 3)
    w, V = rng.random(K), rng.normal(0.5, 0.5, (K, 5))
    return Point(A_x, A_y, A_z, K), np.concatenate([w, V.ravel()])


# -- the loss -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def objective() -> Callable[..., float]:
    """AIF360's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("aif360", reason="the extra `oracles` is not installed")
        from aif360.algorithms.preprocessing.lfr_helpers import helpers
    helpers.LFR_optim_objective.steps = 0
    return helpers.LFR_optim_objective


def official(
    objective: Callable[..., float], data: Sample, where: Point, parameters: np.ndarray
) -> float:
    X, y, s = data
    return objective(
        parameters, X[s == 0], X[s == 1], y[s == 0], y[s == 1],
        k=where.K, A_x=where.A_x, A_y=where.A_y, A_z=where.A_z, verbose=0,
    )  # fmt: skip


@given(seed=seeds)
@settings(max_examples=40)
def test_the_loss_is_aif360s(objective: Callable[..., float], seed: int) -> None:
    data, (where, parameters) = sample(seed), point(seed)
    expected = official(objective, data, where, parameters)
    found, _ = loss(parameters, Rows.of(*data, np.float64), where)
    assert found == pytest.approx(expected, rel=1e-10)
    single, _ = loss(parameters, Rows.of(*data), where)
    assert single == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("certain", [0.0, 1.0])
def test_predictions_are_kept_from_0_and_1_as_aif360s(
    certain: float, objective: Callable[..., float]
) -> None:
    data, (where, parameters) = sample(0), point(0)
    parameters[: where.K] = certain
    found, _ = loss(parameters, Rows.of(*data, np.float64), where)
    assert found == pytest.approx(official(objective, data, where, parameters), rel=1e-10)


def naive(parameters: torch.Tensor, data: Sample, where: Point) -> torch.Tensor:
    """The docstring's formulas over all rows, with nothing put together or expanded."""
    X, y, s = (torch.from_numpy(column) for column in data)
    w, V = parameters[: where.K], parameters[where.K :].reshape(where.K, -1)
    M = torch.softmax(-torch.linalg.vector_norm(X[:, None] - V[None], dim=2), 1)
    square = ((X - M @ V) ** 2).mean(1)
    prediction = M @ w
    L_x = sum(square[s == group].mean() for group in (0, 1))
    L_y = torch.nn.functional.binary_cross_entropy(prediction, y.double())
    L_z = (M[s == 0].mean(0) - M[s == 1].mean(0)).abs().mean()
    return where.A_x * L_x + where.A_y * L_y + where.A_z * L_z


@given(seeds)
@settings(max_examples=25)
def test_the_gradient_is_autograds(seed: int) -> None:
    data, (where, parameters) = sample(seed), point(seed)
    leaf = torch.from_numpy(parameters).requires_grad_()
    expected = naive(leaf, data, where)
    expected.backward()
    value, gradient = loss(parameters, Rows.of(*data, np.float64), where)
    assert value == pytest.approx(float(expected.detach()), rel=1e-10)
    np.testing.assert_allclose(gradient, leaf.grad, rtol=1e-7, atol=1e-9)
    _, single = loss(parameters, Rows.of(*data), where)
    np.testing.assert_allclose(single, leaf.grad, rtol=1e-3, atol=1e-4)


@given(seeds)
@settings(max_examples=25)
def test_the_gradient_agrees_with_finite_differences(seed: int) -> None:
    rows, (where, parameters) = Rows.of(*sample(seed), np.float64), point(seed)
    _, gradient = loss(parameters, rows, where)
    step = 1e-6
    for i in range(len(parameters)):
        moved = np.zeros_like(parameters)
        moved[i] = step
        up, down = (loss(parameters + sign * moved, rows, where)[0] for sign in (1, -1))
        assert gradient[i] == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-6)


def test_rows_that_are_alike_are_put_together() -> None:
    X, y, s = sample(0)
    rows = Rows.of(X, y, s)
    assert rows.X.shape[0] == len({(*x, a, b) for x, a, b in zip(X.tolist(), y, s, strict=True)})
    assert rows.X.shape[0] < len(X)
    assert float(rows.mean.sum()) == pytest.approx(1)


def test_a_prototype_on_top_of_a_row_has_a_finite_gradient() -> None:
    data, (where, parameters) = sample(0), point(0)
    parameters[where.K : where.K + 5] = data[0][0]
    for kind in (np.float32, np.float64):
        value, gradient = loss(parameters, Rows.of(*data, kind), where)
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


# -- a fit --------------------------------------------------------------------------------------


def shared() -> Rows:
    return SMALL.prepare(task_of(prepared(), "gender"))


def solver(where: Point, iterations: int = 100) -> LFR:
    """With these weights alone."""
    return LFR(
        prototypes=where.K,
        reconstruction=where.A_x,
        prediction=(where.A_y,),
        parity=(where.A_z,),
        iterations=iterations,
    )


WEIGHTS = Point(A_x=0.01, A_y=1.0, A_z=0.5, K=4)
SMALL = solver(WEIGHTS, iterations=30)


def test_a_fit_lowers_the_loss_and_keeps_w_between_0_and_1(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[tuple[np.ndarray, Any]] = []
    minimise = lfr.minimize

    def recording(function: Any, start: np.ndarray, *more: Any, **options: Any) -> Any:
        found = minimise(function, start, *more, **options)
        calls.append((start, found))
        return found

    monkeypatch.setattr(lfr, "minimize", recording)
    rows = shared()
    for seed in range(3):
        fit = SMALL.fit(rows, seed)
        start, found = calls[-1]
        assert ((start >= 0) & (start < 1)).all()
        assert loss(found.x, rows, WEIGHTS)[0] < loss(start, rows, WEIGHTS)[0] - 0.05
        w = found.x[: WEIGHTS.K]
        assert ((w >= 0) & (w <= 1)).all()
        [log] = fit.log
        assert (log["A_y"], log["A_z"]) == (WEIGHTS.A_y, WEIGHTS.A_z)
        assert log["loss"] == pytest.approx(loss(found.x, rows, WEIGHTS)[0], rel=1e-6)
        assert 10 < log["iterations"] <= SMALL.iterations


def test_predictions_are_the_mixtures_of_the_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, s = sample(0)
    where, parameters = point(0)
    result = OptimizeResult(x=parameters, nit=1, fun=0.0)
    monkeypatch.setattr(lfr, "minimize", lambda *_, **__: result)
    found = solver(where).fit(Rows.of(X, y, s), 0).predict(X)
    w, V = parameters[: where.K], parameters[where.K :].reshape(where.K, -1)
    for x, probability in zip(X, found, strict=True):
        closeness = np.exp([-np.sqrt(((x - v) ** 2).sum()) for v in V])
        assert probability == pytest.approx(w @ closeness / closeness.sum(), rel=1e-9)


def test_the_same_seed_gives_the_same_bits_and_another_seed_others() -> None:
    rows, X = shared(), task_of(prepared(), "gender").X["test"]
    first, again, other = (SMALL.fit(rows, seed).predict(X) for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


# -- the choice ---------------------------------------------------------------------------------


@given(seeds)
@settings(max_examples=25)
def test_the_score_is_accuracy_less_the_gap_of_selection_rates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    probability, y, s = rng.random(40), rng.integers(0, 2, 40), rng.integers(0, 2, 40)
    predicted = probability > 0.5
    gap = demographic_parity_difference(y, predicted, sensitive_features=s)
    expected = accuracy_score(y, predicted) - gap
    assert SMALL.score(probability, y, s) == pytest.approx(expected, abs=1e-12)


def test_without_validation_rows_of_a_group_the_score_is_accuracy() -> None:
    probability, y = np.array([0.9, 0.2, 0.7, 0.5]), np.array([1, 0, 0, 1])
    assert SMALL.score(probability, y, np.ones(4, int)) == 0.5


def test_the_grid_is_every_pair_of_weights_in_the_order_of_params() -> None:
    asked = LFR(prototypes=3, prediction=(5.0, 1.0), parity=(0.1, 2.0), iterations=7)
    pairs = [(5.0, 0.1), (5.0, 2.0), (1.0, 0.1), (1.0, 2.0)]
    assert asked.grid() == [solver(Point(0.01, A_y, A_z, 3), 7) for A_y, A_z in pairs]


def test_a_strength_leaves_one_weight_of_parity_and_all_of_prediction() -> None:
    grid = LFR(prediction=(5.0, 1.0), parity=(0.1, 2.0)).at_strength(0.7).grid()
    assert [(own.prediction, own.parity) for own in grid] == [((5.0,), (0.7,)), ((1.0,), (0.7,))]


def test_it_is_defined_for_two_groups_only() -> None:
    assert [groups for groups in range(1, 7) if SMALL.handles(groups)] == [2]


# -- real data ----------------------------------------------------------------------------------


def measured(data: Prepared, A_z: float, seeds: range) -> list[dict[str, float]]:
    """Of one model per seed with AIF360's K, A_x and A_y."""
    task, own = task_of(data, "gender"), solver(Point(0.01, 1.0, A_z, 5))
    rows = own.prepare(task)
    fits = [own.fit(rows, seed) for seed in seeds]
    return [figures(data, "gender", fit.predict(task.X["test"])) for fit in fits]


@pytest.mark.real
@pytest.mark.parametrize(
    ("dataset", "cell", "tried", "fewest"),
    [
        pytest.param("adult", (0.743, 0.426), 3, 3, marks=pytest.mark.slow),
        ("compas", (0.554, 0.357), 5, 3),
    ],
)
def test_aif360s_defaults_collapse_to_the_papers_cell(
    dataset: str,
    cell: tuple[float, float],
    tried: int,
    fewest: int,
    real_data: Callable[[str], Prepared],
) -> None:
    found = measured(real_data(dataset), 50.0, range(tried))
    collapsed = [row for row in found if row["imparity"] == 0]
    assert len(collapsed) >= fewest
    for row in collapsed:
        assert (round(row["micro_f1"], 3), round(row["macro_f1"], 3)) == cell


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize(
    ("A_z", "micro", "macro", "gap"), [(5.0, 0.800, 0.656, 0.007), (1.0, 0.812, 0.693, 0.032)]
)
def test_with_less_weight_on_parity_it_is_near_what_others_measured(
    A_z: float, micro: float, macro: float, gap: float, real_data: Callable[[str], Prepared]
) -> None:
    for row in measured(real_data("adult"), A_z, range(2)):
        assert row["micro_f1"] == pytest.approx(micro, abs=0.02)
        assert row["macro_f1"] == pytest.approx(macro, abs=0.02)
        assert row["imparity_released"] == pytest.approx(gap, abs=0.03)

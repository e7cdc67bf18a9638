"""What every method with a solver of its own keeps to, whatever its algorithm."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from infofair import methods
from infofair.data.prepared import ALL, PARTS
from infofair.errors import Problem
from infofair.knobs import knobs_of
from infofair.methods.base import Fit, Solver, Task
from infofair.training.solve import drawn, solve, task_of
from tests.simulated import prepared

SOLVERS = [name for name in methods.names() if issubclass(methods.load(name), Solver)]
# so that a fit is quick; a method that is not named here has its defaults
QUICK: dict[str, dict[str, Any]] = {
    "lfr": {"prototypes": 3, "prediction": (1.0,), "parity": (1.0,), "iterations": 10},
    "expgrad": {"rounds": 3},
    "boosting": {"rounds": 10},
}
every_solver = pytest.mark.parametrize("name", SOLVERS)


def make(name: str) -> Solver:
    made = methods.make(name, **QUICK.get(name, {}))
    assert isinstance(made, Solver)
    return made


def fitted(method: Solver, task: Task, seed: int = 0) -> Fit:
    return method.fit(method.prepare(task), seed)


def task_for(method: Solver, rows: int = 300) -> Task:
    """Of the setting with most groups that the method is defined for."""
    data = prepared(rows)
    handled = [s for s in data.settings if method.handles(len(data.group_names[s]))]
    return task_of(data, handled[-1])


def with_labels(task: Task, label: int) -> Task:
    return dataclasses.replace(task, y={part: np.full_like(y, label) for part, y in task.y.items()})


def assert_probabilities(probability: np.ndarray, rows: int) -> None:
    assert probability.shape == (rows,)
    assert np.isfinite(probability).all()
    assert probability.min() >= 0
    assert probability.max() <= 1 + 1e-12


def test_the_solvers_are_these() -> None:
    assert {"boosting", "expgrad", "fcfc", "gerryfair", "lfr"} <= set(SOLVERS)


# -- a fit ----------------------------------------------------------------------------------------


@every_solver
def test_a_fit_gives_probabilities_and_rows_of_plain_numbers(name: str) -> None:
    method = make(name)
    task = task_for(method)
    fit = fitted(method, task)
    for part in ("train", *PARTS):
        assert_probabilities(fit.predict(task.X[part]), len(task.y[part]))
    assert fit.log
    for row in fit.log:
        assert list(row) == list(fit.log[0])
        assert all(isinstance(v, int | float) and np.isfinite(v) for v in row.values())


@every_solver
def test_a_seed_gives_the_same_bits_and_decides_what_the_method_says_it_does(name: str) -> None:
    method = make(name)
    task = task_for(method)
    fits = [fitted(method, task, seed) for seed in (3, 3, 4)]
    first, again, other = (fit.predict(task.X["test"]) for fit in fits)
    assert first.tobytes() == again.tobytes()
    assert fits[0].log == fits[1].log
    same = first.tobytes() == other.tobytes()
    assert same == (not method.random or method.draws)
    if method.draws:
        assert method.random
        both = [drawn({"test": first}, seed)["test"] for seed in (3, 4)]
        assert {*both[0], *both[1]} <= {0.0, 1.0}


@every_solver
def test_no_fit_changes_what_it_was_given(name: str) -> None:
    method = make(name)
    task = task_for(method)
    columns = [of for field in (task.X, task.y, task.s, task.attributes) for of in field.values()]
    before = [of.copy() for of in columns]
    for of in columns:
        of.flags.writeable = False
    fitted(method, task).predict(task.X["test"])
    assert all(np.array_equal(a, b) for a, b in zip(before, columns, strict=True))


@every_solver
def test_fewer_rows_are_predicted_as_among_all(name: str) -> None:
    method = make(name)
    task = task_for(method)
    fit = fitted(method, task)
    X = task.X["test"]
    np.testing.assert_allclose(fit.predict(X[:5]), fit.predict(X)[:5], atol=1e-9)


# -- knobs ----------------------------------------------------------------------------------------


@every_solver
def test_a_value_out_of_a_knobs_bounds_is_refused_and_named(name: str) -> None:
    method = make(name)
    assert knobs_of(method)
    for own in knobs_of(method):
        several = isinstance(own.default, tuple)
        for wrong in (-1, float("nan"), "1", True, None):
            given = (1.0, wrong) if several else wrong
            with pytest.raises(Problem, match=f"{type(method).__name__}: {own.name} = "):
                method.with_knobs(**{own.name: given})


@every_solver
def test_every_knob_says_where_its_default_comes_from_and_no_other_is_taken(name: str) -> None:
    for own in knobs_of(make(name)):
        assert own.metadata["source"], own.name
    with pytest.raises(TypeError, match="nonsense"):
        methods.make(name, nonsense=1)


@every_solver
def test_the_strength_is_a_knob_and_at_a_strength_nothing_else_changes(name: str) -> None:
    method = make(name)
    if not method.strength:  # an unconstrained model
        assert method.at_strength(0.25) == method
        return
    assert method.strength in {own.name for own in knobs_of(method)}
    changed = method.at_strength(0.25)
    for own in dataclasses.fields(method):  # type: ignore[arg-type]
        before, after = getattr(method, own.name), getattr(changed, own.name)
        if own.name == method.strength:
            before = (0.25,) if isinstance(before, tuple) else 0.25
        assert after == before
    assert getattr(method, method.strength) != getattr(changed, method.strength)
    assert all(getattr(own, method.strength) == after for own, after in _of_grid(changed))


def _of_grid(method: Solver) -> list[tuple[Solver, Any]]:
    return [(own, getattr(method, method.strength)) for own in method.grid()]


@every_solver
def test_a_grid_is_of_the_same_method_and_each_of_its_points_is_its_own_grid(name: str) -> None:
    grid = methods.make(name).grid()  # type: ignore[attr-defined]
    assert len(set(grid)) == len(grid) > 0
    for own in grid:
        assert type(own) is methods.load(name)
        assert own.grid() == [own]


# -- data that lack something ---------------------------------------------------------------------


@every_solver
@pytest.mark.parametrize("only", [0, 1])
def test_groups_without_rows_do_no_harm(name: str, only: int) -> None:
    method = make(name)
    task = task_for(method)
    groups = task.groups
    s = {part: np.full_like(of, only) for part, of in task.s.items()}
    one_hot = {part: np.eye(groups)[of] for part, of in s.items()}
    fit = fitted(method, dataclasses.replace(task, s=s, attributes=one_hot))
    probability = fit.predict(task.X["test"])
    assert_probabilities(probability, len(task.y["test"]))
    assert np.isfinite(method.score(probability, task.y["test"], s["test"]))


@every_solver
@pytest.mark.parametrize("label", [0, 1])
def test_of_one_class_it_predicts_that_class_or_says_what_is_missing(name: str, label: int) -> None:
    method = make(name)
    task = with_labels(task_for(method), label)
    try:
        probability = fitted(method, task).predict(task.X["test"])
    except Problem as problem:
        assert "class" in str(problem)
    else:
        assert_probabilities(probability, len(task.y["test"]))
        assert ((probability > 0.5) == label).all()


@every_solver
def test_features_that_say_nothing_are_no_error(name: str) -> None:
    method = make(name)
    task = task_for(method)
    task = dataclasses.replace(task, X={part: np.zeros_like(X) for part, X in task.X.items()})
    probability = fitted(method, task).predict(task.X["test"])
    assert_probabilities(probability, len(task.y["test"]))
    assert np.ptp(probability) == 0


# -- settings -------------------------------------------------------------------------------------


@every_solver
def test_only_settings_that_it_is_defined_for_are_fitted(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")
    data, method = prepared(200), make(name)
    expected = [s for s in data.settings if method.handles(len(data.group_names[s]))]
    if not method.uses_groups:
        expected = [ALL]
    found = solve(method, data, [], [0], name)
    assert [model.setting for model in found] == expected
    assert expected
    for model in found:
        for part in PARTS:
            assert_probabilities(model.best.probabilities[part], len(data.split[part]))

"""Solving: tasks, workers, seeds, strengths, and the choice from a grid."""

import dataclasses
from itertools import product
from typing import Self

import numpy as np
import pytest

from infofair import methods
from infofair.data.prepared import ALL, PARTS, Prepared
from infofair.knobs import knob
from infofair.methods.base import Fit, Solver, Task, handled
from infofair.methods.gerryfair import GerryFair
from infofair.methods.lfr import LFR
from infofair.training import solve
from tests.simulated import prepared

SETTINGS = ("gender", "race", "intersection")
QUICK = LFR(prototypes=3, prediction=(0.5, 5.0), parity=(0.1, 5.0), iterations=15)


@pytest.fixture(autouse=True)
def one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")


def only(*settings: str) -> Prepared:
    """Made-up data with only these settings."""
    data = prepared()
    return dataclasses.replace(data, groups={s: data.groups[s] for s in settings})


# -- tasks ----------------------------------------------------------------------------------------


def test_a_setting_is_its_attribute_and_the_intersection_is_all_of_them() -> None:
    data = prepared()
    assert data.attributes("gender") == ["gender"]
    assert data.attributes("race") == ["race"]
    assert data.attributes("intersection") == ["gender", "race"]
    assert only("race").attributes("race") == ["race"]


@pytest.mark.parametrize(
    ("setting", "groups", "sizes"),
    [("gender", 2, [2]), ("race", 3, [3]), ("intersection", 6, [2, 3])],
)
def test_a_task_has_the_settings_rows_and_its_attributes_one_hot(
    setting: str, groups: int, sizes: list[int]
) -> None:
    data = prepared()
    task = solve.task_of(data, setting)
    assert task.groups == groups
    for part, rows in data.split.items():
        np.testing.assert_array_equal(task.X[part], data.X[rows])
        np.testing.assert_array_equal(task.y[part], data.y[rows])
        np.testing.assert_array_equal(task.s[part], data.groups[setting][rows])
        assert task.X[part].dtype == task.attributes[part].dtype == np.float64
        assert task.attributes[part].shape == (len(rows), sum(sizes))
        blocks = np.split(task.attributes[part], np.cumsum(sizes)[:-1], axis=1)
        assert all((block.sum(1) == 1).all() for block in blocks)
        values = [block.argmax(1) for block in blocks]
        np.testing.assert_array_equal(np.ravel_multi_index(values, sizes), task.s[part])


# -- who is fitted --------------------------------------------------------------------------------


def bits(found: list[solve.Solved]) -> list[object]:
    return [
        (m.setting, m.strength, m.seed, tried.log, tried.score, of.tobytes())
        for m in found
        for tried in m.tried
        for of in tried.probabilities.values()
    ]


@pytest.mark.parametrize(
    ("method", "counts"),
    [
        (QUICK.with_knobs(iterations=5), ("1", "2")),
        pytest.param(QUICK, ("1", "2", "3"), marks=pytest.mark.slow),
        pytest.param(GerryFair(), ("1", "2", "3"), marks=pytest.mark.slow),
    ],
)
@pytest.mark.promise("The number of workers changes no bit.")
def test_the_number_of_workers_changes_no_bit(
    method: Solver, counts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, found = prepared(), []
    for count in counts:
        monkeypatch.setenv("INFOFAIR_WORKERS", count)
        found.append(bits(solve.solve(method, data, [], [0, 1], "made-up rows")))
    assert all(other == found[0] for other in found[1:])


def test_a_random_method_is_fitted_for_every_seed_in_the_settings_it_handles() -> None:
    found = solve.solve(QUICK, prepared(), [], [0, 4, 2], "lfr")
    assert [(m.setting, m.strength, m.seed) for m in found] == [
        ("gender", 0.0, seed) for seed in (0, 4, 2)
    ]
    assert {len(m.tried) for m in found} == {4}
    assert {m.best.probabilities[part].shape for m in found for part in PARTS} == {(70,)}
    assert len({m.best.probabilities["test"].tobytes() for m in found}) == 3


@pytest.mark.parametrize("name", ["fcfc", "gerryfair"])
def test_a_method_that_draws_nothing_is_fitted_once_as_seed_0(name: str) -> None:
    method = methods.make(name)
    assert isinstance(method, Solver)
    found = solve.solve(method, prepared(), [], [3, 4], name)
    assert [(m.setting, m.seed, len(m.tried)) for m in found] == [(s, 0, 1) for s in SETTINGS]


@pytest.mark.parametrize("name", ["logistic", "boosting"])
def test_a_method_that_does_not_look_at_groups_is_fitted_once_for_all_settings(name: str) -> None:
    method = methods.make(name)
    assert isinstance(method, Solver)
    (found,) = solve.solve(method, prepared(), [], [3, 4], name)
    assert (found.setting, found.seed) == (ALL, 0)
    for setting in SETTINGS:
        alone = solve.work(method, *[solve.task_of(prepared(), setting)] * 2, [0])[0]
        for part in PARTS:
            np.testing.assert_array_equal(found.best.probabilities[part], alone.probabilities[part])


def test_every_strength_is_solved_with_its_own_knob() -> None:
    strengths = [0.0, 0.5, 2.0]
    found = solve.solve(QUICK, prepared(), strengths, [0, 1], "lfr")
    assert [(m.strength, m.seed) for m in found] == list(product(strengths, (0, 1)))
    for model in found:
        assert [tried.log[0]["A_z"] for tried in model.tried] == [model.strength] * 2
        assert [tried.log[0]["A_y"] for tried in model.tried] == [0.5, 5.0]


def test_handled_settings_are_those_of_as_many_groups_as_the_method_is_defined_for() -> None:
    data = prepared()
    assert handled(methods.make("gdp"), data) == list(SETTINGS)
    assert handled(methods.make("mindiff"), data) == ["gender"]
    assert handled(QUICK, prepared(races=2)) == ["gender", "race"]
    assert handled(methods.make("boosting"), data) == [ALL]


def test_without_a_setting_that_the_method_handles_nothing_is_solved() -> None:
    assert solve.solve(QUICK, only("race"), [], [0, 1], "lfr") == []
    assert solve.solve(QUICK, only("race"), [0.5], [0, 1], "lfr") == []


# -- the choice -----------------------------------------------------------------------------------


def test_the_best_validation_score_of_the_grid_is_chosen() -> None:
    data = only("gender")
    task = solve.task_of(data, "gender")
    y, s = task.y["validation"], task.s["validation"]
    for model in solve.solve(QUICK, data, [], [0, 1, 2], "lfr"):
        grid = QUICK.grid()
        with solve.one_thread():
            fits = [own.fit(own.prepare(task), model.seed).predict for own in grid]
            predicted = {part: [fit(task.X[part]) for fit in fits] for part in PARTS}
        scores = [QUICK.score(of, y, s) for of in predicted["validation"]]
        assert [tried.score for tried in model.tried] == scores
        assert [tried.log[0]["A_y"] for tried in model.tried] == [p.prediction[0] for p in grid]
        assert model.best is model.tried[int(np.argmax(scores))]
        for part in PARTS:
            for tried, expected in zip(model.tried, predicted[part], strict=True):
                np.testing.assert_array_equal(tried.probabilities[part], expected)


class Tied(Solver):
    """Four models that predict their own number; two of them are the best."""

    number: float = knob(0.0, ge=0)

    random = True

    def grid(self) -> list[Self]:
        return [self.with_knobs(number=number) for number in (0.1, 0.4, 0.2, 0.3)]

    def fit(self, task: Task, seed: int) -> Fit:
        return Fit(lambda X: np.full(len(X), self.number), [{"number": self.number}])

    def score(self, probability: np.ndarray, y: np.ndarray, s: np.ndarray) -> float:
        return {0.1: -1.0, 0.4: 0.5, 0.2: 0.5, 0.3: 0.0}[probability[0]]


def test_of_equal_scores_the_first_is_chosen() -> None:
    found = solve.solve(Tied(), only("gender", "race"), [], [0, 1, 2], "tied")
    assert [m.best.log for m in found] == [[{"number": 0.4}]] * 2 * 3  # settings × seeds
    assert all((m.best.probabilities["test"] == 0.4).all() for m in found)


def test_a_method_without_a_strength_is_the_same_at_any() -> None:
    assert Tied().at_strength(3.0) == Tied()
    with_one, without = (solve.solve(Tied(), only("gender"), v, [0], "t") for v in ([2.0], []))
    assert [m.strength for m in (*with_one, *without)] == [2.0, 0.0]
    assert with_one[0].best.log == without[0].best.log

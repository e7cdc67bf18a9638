"""The stage solve: tasks, workers, seeds, the choice from a grid, and the files it leaves."""

import dataclasses
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pandas as pd
import pytest
from ruamel.yaml import YAML

from stages import evaluate, files, methods, params, predictions, solve, train
from stages.methods import Fit, Solver, Task
from stages.methods.lfr import METHOD as LFR
from stages.processed import Processed, load_arrays
from tests.simulated import processed

yaml = YAML(typ="safe")
SETTINGS = ("gender", "race", "intersection")
LFR_KNOBS = {
    "prototypes": 3, "reconstruction": 0.01, "prediction": [0.5, 5.0], "parity": [0.1, 5.0],
    "iterations": 15,
}  # fmt: skip


@pytest.fixture
def small(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Processed]:
    """Made-up COMPAS data with only these settings, and a quick params.yaml for these methods."""
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")

    def make(*settings: str, **lists: list[str]) -> Processed:
        data = processed()
        data = dataclasses.replace(data, groups={s: data.groups[s] for s in settings})
        data.save(files.processed("compas"))
        content = yaml.load(params.PATH)
        content["methods"] = {place: [] for place in content["methods"]} | lists
        content |= {"datasets": ["compas"], "seeds": [0, 1, 2], "lfr": LFR_KNOBS}
        content["training"] = {**content["training"], "epochs": 2}
        yaml.dump(content, params.PATH)
        return data

    return make


# -- tasks --------------------------------------------------------------------------------------


def test_a_setting_is_its_attribute_and_the_intersection_is_all_of_them() -> None:
    data = processed()
    assert data.attributes("gender") == ["gender"]
    assert data.attributes("race") == ["race"]
    assert data.attributes("intersection") == ["gender", "race"]
    single = dataclasses.replace(data, groups={"race": data.groups["race"]})
    assert single.attributes("race") == ["race"]


@pytest.mark.parametrize(
    ("setting", "groups", "sizes"),
    [("gender", 2, [2]), ("race", 3, [3]), ("intersection", 6, [2, 3])],
)
def test_a_task_has_the_settings_rows_and_its_attributes_one_hot(
    setting: str, groups: int, sizes: list[int]
) -> None:
    data = processed()
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


# -- the stage ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["lfr", "gerryfair"])
def test_the_number_of_workers_changes_no_byte(
    method: str, small: Callable[..., Processed], monkeypatch: pytest.MonkeyPatch
) -> None:
    small(*SETTINGS, solved=[method])
    written = []
    for count in ("1", "2", "3"):
        monkeypatch.setenv("INFOFAIR_WORKERS", count)
        solve.main("compas", method)
        paths = files.predictions("compas", method), files.fits("compas", method)
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1] == written[2]


def test_a_random_method_is_fitted_for_every_seed_in_the_settings_it_handles(
    small: Callable[..., Processed],
) -> None:
    small(*SETTINGS, solved=["lfr"])
    solve.main("compas", "lfr")
    stored = load_arrays(files.predictions("compas", "lfr"))
    assert stored["settings"].tolist() == ["gender"]
    assert stored["seeds"].tolist() == [0, 1, 2]
    assert stored["validation"].shape == stored["test"].shape == (1, 3, 70)
    assert len({row.tobytes() for row in stored["test"][0]}) == 3


@pytest.mark.parametrize("method", ["fcfc", "gerryfair"])
def test_a_method_that_draws_nothing_is_fitted_once_as_seed_0(
    method: str, small: Callable[..., Processed], capsys: pytest.CaptureFixture[str]
) -> None:
    small(*SETTINGS, solved=[method])
    solve.main("compas", method)
    stored = load_arrays(files.predictions("compas", method))
    assert stored["settings"].tolist() == list(SETTINGS)
    assert stored["seeds"].tolist() == [0]
    assert stored["test"].shape == (3, 1, 70)
    fits = pd.read_csv(files.fits("compas", method))
    assert set(fits["seed"]) == {0}
    assert set(fits["setting"]) == set(SETTINGS)
    assert "3 fits" in capsys.readouterr().err


def test_the_best_validation_score_of_the_grid_is_chosen(small: Callable[..., Processed]) -> None:
    data = small("gender", solved=["lfr"])
    solve.main("compas", "lfr")
    fits = pd.read_csv(files.fits("compas", "lfr"))
    stored = load_arrays(files.predictions("compas", "lfr"))
    grid = LFR.grid(params.load().knobs("lfr"))
    task = solve.task_of(data, "gender")
    assert len(fits) == 3 * len(grid)
    for seed, tried in fits.groupby("seed"):
        models = [LFR.fit(LFR.prepare(task), seed, point).predict for point in grid]
        y, s = task.y["validation"], task.s["validation"]
        scores = [LFR.score(predict(task.X["validation"]), y, s) for predict in models]
        best = int(np.argmax(scores))
        np.testing.assert_allclose(tried["score"], scores, rtol=1e-7)
        assert tried["chosen"].tolist() == [i == best for i in range(len(grid))]
        assert tried["A_y"].tolist() == [point.A_y for point in grid]
        for part in predictions.PARTS:
            expected = models[best](task.X[part]).astype(np.float32)
            np.testing.assert_array_equal(stored[part][0, seed], expected)


class Tied(Solver):
    """Four models that predict their own number; two of them are the best."""

    random = True

    def grid(self, knobs: object) -> list[float]:
        return [0.1, 0.4, 0.2, 0.3]

    def fit(self, task: Task, seed: int, knobs: float) -> Fit:
        return Fit(lambda X: np.full(len(X), knobs), [{"number": knobs}])

    def score(self, probability: np.ndarray, y: np.ndarray, s: np.ndarray) -> float:
        return {0.1: -1.0, 0.4: 0.5, 0.2: 0.5, 0.3: 0.0}[probability[0]]


def test_of_equal_scores_the_first_is_chosen(
    small: Callable[..., Processed], monkeypatch: pytest.MonkeyPatch
) -> None:
    small("gender", "race", solved=["lfr"])
    load = methods.load
    monkeypatch.setattr(methods, "load", lambda name: Tied() if name == "lfr" else load(name))
    content = yaml.load(params.PATH)
    content["frontier"]["strengths"] = {"vanilla": [0.0]}  # Tied has no strength
    content["frontier"]["exceptions"] = {}
    content["honest"]["strengths"] = {"vanilla": 0.0}
    yaml.dump(content, params.PATH)
    solve.main("compas", "lfr")
    assert (load_arrays(files.predictions("compas", "lfr"))["test"] == np.float32(0.4)).all()
    fits = pd.read_csv(files.fits("compas", "lfr"))
    assert fits.query("chosen")["number"].tolist() == [0.4] * 2 * 3  # settings × seeds


# -- methods that handle no setting -------------------------------------------------------------


def test_a_dataset_without_a_binary_setting_gives_empty_files_and_no_runs(
    small: Callable[..., Processed],
) -> None:
    data = small("race", regularized=["mindiff"], fixed=["vanilla"], solved=["lfr", "fcfc"])
    for method in ("mindiff", "vanilla"):
        train.main("compas", method)
    for method in ("lfr", "fcfc"):
        solve.main("compas", method)
    for method, log in (("mindiff", files.curves), ("lfr", files.fits)):
        stored = load_arrays(files.predictions("compas", method))
        assert stored["settings"].tolist() == stored["seeds"].tolist() == []
        for part in predictions.PARTS:
            assert stored[part].shape == (0, 0, len(data.split[part]))
        assert pd.read_csv(log("compas", method)).empty
    evaluate.main("compas")
    runs = pd.read_csv(files.evaluation("compas") / "runs.csv")
    assert set(runs["method"]) == {"vanilla", "fcfc"}


def test_handled_settings_are_those_of_as_many_groups_as_the_method_is_defined_for() -> None:
    data = processed()
    assert predictions.handled(methods.load("gdp"), data) == list(SETTINGS)
    assert predictions.handled(methods.load("mindiff"), data) == ["gender"]
    assert predictions.handled(LFR, processed(races=2)) == ["gender", "race"]


def test_a_strength_is_one_of_the_methods_knobs() -> None:
    modules = [import_module(f"stages.methods.{m.name}") for m in iter_modules(methods.__path__)]
    solvers = [module for module in modules if isinstance(module.METHOD, Solver)]
    assert len(solvers) == 4
    assert all(module.METHOD.strength in module.Knobs.model_fields for module in solvers)


# -- what train and solve share -----------------------------------------------------------------


def test_predictions_are_filed_by_setting_and_seed(workspace: Path) -> None:
    data = processed()
    rng = np.random.default_rng(0)
    models = {
        (setting, seed): {part: rng.random(70) for part in predictions.PARTS}
        for setting in ("race", "gender")
        for seed in (5, 1)
    }
    predictions.save("compas", "lfr", data, models)
    stored = load_arrays(files.predictions("compas", "lfr"))
    assert stored["settings"].tolist() == ["race", "gender"]
    assert stored["seeds"].tolist() == [1, 5]
    for (setting, seed), of_part in models.items():
        where = stored["settings"].tolist().index(setting), stored["seeds"].tolist().index(seed)
        for part, expected in of_part.items():
            np.testing.assert_array_equal(stored[part][where], expected.astype(np.float32))

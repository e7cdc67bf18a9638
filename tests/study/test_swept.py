"""Models at many strengths: read, evaluated, and put into tables by `fronts` and `information`."""

import dataclasses
import itertools
import shutil
from pathlib import Path

import numpy as np
import pytest

from infofair import metrics
from infofair.data.prepared import Prepared
from infofair.errors import Problem
from infofair.training.predictions import Predictions
from stages import fronts as fronts_door
from stages import information as information_door
from study import files, fronts, paths, results, swept, variants
from study.results import METRICS
from tests import swept as made_up
from tests.conftest import ROOT, write_plans
from tests.simulated import prepared

GRID = {
    "vanilla": [0.0], "gdp": [0.1, made_up.DIVERGED], "lfr": [0.1, 5.0], "fcfc": [0.0, 0.1],
    "di": [0.5, 2.0], "infofair_fitted": [3.0], "logistic": [0.0], "boosting": [0.0],
}  # fmt: skip
ONE_FIT = ("fcfc", "logistic", "boosting")  # for all seeds
SEEDS = [0, 3]


@pytest.fixture
def small(workspace: Path) -> Path:
    """Made-up COMPAS data, one column of which leaks, and models of a few methods."""
    swept._loaded.clear()
    shutil.copytree(ROOT / paths.PAPER.parent, paths.PAPER.parent)
    data = prepared()
    data = dataclasses.replace(data, features=["is_recid", *data.features[1:]])
    cleared = variants.without_leak("compas", data)
    assert cleared is not None
    forms = {
        paths.processed("compas"): data,
        paths.variant("compas", paths.WITHOUT_LEAK): cleared,
    }
    for path, form in forms.items():
        form.save(path)
    write_plans(datasets=["compas"], frontier={"seeds": SEEDS, "strengths": GRID, "exceptions": {}})
    for method in GRID:
        made_up.write("fronts", "compas", method, {str(p): form for p, form in forms.items()})
    return workspace


def test_the_fronts_have_every_strength_seed_and_setting_and_say_what_diverged(
    small: Path,
) -> None:
    fronts_door.main()
    runs = results.read("frontier")
    wanted = set()
    for dataset in ("compas", "compas_without_leak"):
        for method, strengths in GRID.items():
            settings = ("gender",) if method == "lfr" else ("gender", "race", "intersection")
            seeds = [0] if method in ONE_FIT else SEEDS
            parts = ("validation", "test")
            wanted |= set(itertools.product([dataset], settings, [method], strengths, seeds, parts))
    keys = ["dataset", "setting", "method", "strength", "seed", "split"]
    found = list(runs[keys].itertuples(index=False, name=None))
    assert set(found) == wanted
    assert len(found) == len(wanted)
    lost = runs["strength"] == made_up.DIVERGED
    assert (runs.loc[lost, "note"] == "diverged").all()
    assert runs.loc[lost, METRICS].isna().all(axis=None)
    assert runs.loc[~lost, METRICS].notna().all(axis=None)
    assert (runs["data"] == "simulated").all()

    summary, written = fronts.summarize(runs), results.read("frontier_summary")
    for name in METRICS:
        np.testing.assert_allclose(written[name], summary[name], atol=1e-5)
    assert len(results.read("hypervolume")) == 2 * (7 * 3 + 1)
    assert len(results.read("best")) == 2 * (7 * 3 + 1) * len(fronts.BUDGETS)
    goal = results.read("goal")
    assert goal["setting"].tolist() == ["gender", "race", "intersection"]
    assert set(goal["dataset"]) == {"compas"}  # the paper has no other without its leak


def test_rows_are_by_setting_and_then_by_method(small: Path) -> None:
    fronts_door.main()
    runs = results.read("frontier")
    cells = runs[["dataset", "setting", "method"]].drop_duplicates()
    for _, own in cells.groupby("dataset", sort=False):
        assert own["setting"].drop_duplicates().tolist() == ["gender", "race", "intersection"]
        of_gender = own.loc[own["setting"] == "gender", "method"].tolist()
        assert of_gender == files.needed_json(paths.plan("fronts"), "check")["methods"]


def test_information_is_of_the_fitted_method_alone(small: Path) -> None:
    information_door.main()
    bits = results.read("information")
    assert len(bits) == 2 * 3 * 2  # forms × settings × seeds
    assert set(bits["method"]) == {"infofair_fitted"}
    assert (bits["running"] == 0.25).all()  # of the last epoch
    assert bits[["held_out", "held_out_score"]].notna().all(axis=None)
    assert bits["held_out"].abs().max() < 0.5  # random scores say nothing


def test_the_figures_are_those_of_the_models_themselves(small: Path) -> None:
    (run, _) = swept.runs("fronts", "compas", "gdp")
    rows = [
        row
        for row in swept.evaluated(run)
        if (row["setting"], row["strength"], row["seed"]) == ("race", 0.1, 3)
    ]
    stored = Predictions.load(Path(run.plan["predictions"]))
    for row in rows:
        predicted = stored.model("race", 0.1, 3)[row["split"]] > 0.5
        y = run.data.y[run.data.split[row["split"]]]
        assert row["micro_f1"] == (predicted == y).mean()
        assert row["selection_rate"] == predicted.mean()
        assert row["imparity"] == metrics.imparity(
            predicted, *run.data.members("race", row["split"])
        )
    assert len(rows) == 2


def test_missing_models_name_the_stage_that_makes_them(small: Path) -> None:
    shutil.rmtree(paths.beyond("fronts", "compas", "gdp"))
    with pytest.raises(Problem, match=r"dvc repro beyond/dvc\.yaml:fronts@compas-gdp$"):
        fronts_door.main()
    assert not paths.table("frontier").exists()


def expected_floor(data: Prepared, setting: str, rate: float) -> float:
    """The mean imparity of many fair predictors."""
    rng = np.random.default_rng(0)
    group, groups = data.members(setting, "test")
    fair = [rng.random(len(group)) < rate for _ in range(2000)]
    return float(np.mean([metrics.imparity(f, group, groups) for f in fair]))


def test_the_references_are_the_commoner_class_and_the_floor_of_vanillas_rate() -> None:
    data = prepared()
    vanilla = [
        {"split": split, "note": "", "selection_rate": rate}
        for split, rate in [("test", 0.2), ("test", 0.4), ("validation", 0.9)]
    ]
    for row in swept.references(data, vanilla):
        y, train_y = data.y[data.split["test"]], data.y[data.split["train"]]
        assert row["constant_micro_f1"] == np.mean(y == (train_y.mean() > 0.5))
        assert row["floor"] == pytest.approx(expected_floor(data, row["setting"], 0.3), rel=0.05)
    with pytest.raises(Problem, match="vanilla diverged; try a smaller learning_rate"):
        swept.references(data, [{"note": "diverged"}])

"""From predictions to the committed tables, through the doors `evaluate` and `summarize`."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score

from infofair import uncertainty
from infofair.data.prepared import ALL, PARTS, Prepared
from infofair.storage import write_json
from infofair.training.predictions import Predictions
from stages import evaluate, summarize
from study import paths
from tests.conftest import ROOT, compared, write_plans
from tests.simulated import prepared

TABLES = ("runs", "summary", "groups", "subsets", "selection", "statistics")
Run = Callable[[Prepared, list[str]], None]


@pytest.fixture
def run(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Evaluate and summarize made-up models of some methods on made-up data."""
    monkeypatch.setattr(uncertainty, "REPLICATES", 20)
    monkeypatch.setattr(uncertainty, "DRAWS", 99)
    shutil.copytree(ROOT / paths.PAPER.parent, paths.PAPER.parent)

    def all_of_it(data: Prepared, methods: list[str]) -> None:
        data.save(paths.processed("compas"))
        solved = [name for name in methods if name == "fcfc"]
        trained = [name for name in methods if name != "fcfc"]
        if "vanilla" not in methods:  # params.yaml has to name it
            trained = [*trained, "vanilla"]
        write_plans(
            datasets=["compas"],
            methods={"trained": trained, "ablations": [], "solved": solved},
            beyond={"trained": [], "solved": []},
            comparison=compared(),
        )
        write_json(paths.plan("evaluate", "compas"), {"methods": methods})
        rng = np.random.default_rng(1)
        for method in methods:
            settings = [ALL] if method == "vanilla" else data.settings
            if method == "mindiff":
                settings = [s for s in settings if len(data.group_names[s]) == 2]
            models = {
                (setting, 0.1, seed): {p: rng.random(len(data.split[p])) for p in PARTS}
                for setting in settings
                for seed in ((0,) if method == "fcfc" else (0, 1, 2))
            }
            Predictions.of(models, data).save(paths.predictions("compas", method))
        evaluate.main("compas")
        summarize.main()

    return all_of_it


def table(name: str) -> pd.DataFrame:
    return pd.read_csv(paths.table(name))


def test_runs_hold_the_metrics_of_the_predictions(run: Run) -> None:
    data = prepared()
    run(data, ["infofair", "mindiff", "vanilla", "fcfc"])
    runs = table("runs").set_index(["method", "setting", "seed", "split"])
    # settings × seeds × splits; mindiff handles one setting, fcfc draws nothing
    assert len(runs) == (2 * 3 * 3 + 3 + 3) * 2
    stored = Predictions.load(paths.predictions("compas", "infofair"))
    for setting in data.settings:
        for part in PARTS:
            predicted = stored.model(setting, 0.1, 1)[part] > 0.5
            y = data.y[data.split[part]]
            row = runs.loc[("infofair", setting, 1, part)]
            assert row["micro_f1"] == pytest.approx(accuracy_score(y, predicted), abs=1e-6)
            macro = f1_score(y, predicted, average="macro")
            assert row["macro_f1"] == pytest.approx(macro, abs=1e-6)
    of_vanilla = runs.loc["vanilla"].groupby(["seed", "split"])["micro_f1"]
    assert of_vanilla.nunique().eq(1).all()  # one model per seed, in every setting


def test_that_the_data_is_simulated_is_said_in_every_row(run: Run) -> None:
    run(prepared(), ["infofair", "vanilla"])
    for name in TABLES:
        found = table(name)
        assert len(found)
        assert (found["data"] == "simulated").all()
        assert (found["partition"] == "random").all()
    metrics = json.loads(paths.METRICS.read_text())
    assert (metrics["simulated"], metrics["random_split"]) == (1, 1)
    assert len(metrics) == 3 + 4  # of one dataset; what `dvc exp show` has columns for


def test_what_params_no_longer_names_is_gone_from_the_results(run: Run) -> None:
    run(prepared(), ["infofair", "gdp", "vanilla"])
    left_over = paths.evaluation("adult") / "runs.csv"
    left_over.parent.mkdir(parents=True)
    left_over.write_text("left over from a larger run\n")
    run(prepared(), ["infofair", "vanilla"])
    for name in TABLES[:4]:
        found = table(name)
        assert set(found["method"]) <= {"infofair", "vanilla"}
        assert set(found["dataset"]) == {"compas"}
    assert left_over.exists()  # it is not ours to delete


def only(setting: str) -> Prepared:
    data = prepared()
    names = {setting: data.group_names[setting]}
    return replace(data, groups={setting: data.groups[setting]}, group_names=names)


def test_methods_that_handle_no_setting_give_tables_without_rows(run: Run) -> None:
    run(only("race"), ["mindiff"])
    for name in TABLES[:-1]:
        assert len(table(name)) == 0
    assert table("statistics")["setting"].tolist() == ["race"]
    assert set(json.loads(paths.METRICS.read_text()).values()) == {0}


def test_one_sensitive_attribute_has_no_subsets(run: Run) -> None:
    run(only("gender"), ["mindiff", "vanilla"])
    assert len(table("subsets")) == 0
    assert len(table("summary")) == 2 * 3


def test_the_same_predictions_give_the_same_bytes(run: Run) -> None:
    written = []
    for _ in range(2):
        run(prepared(), ["infofair", "vanilla"])
        written.append([paths.table(name).read_bytes() for name in TABLES])
    assert written[0] == written[1]

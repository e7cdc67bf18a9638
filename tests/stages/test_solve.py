"""The door `solve`: methods that have a solver of their own."""

import dataclasses
from pathlib import Path

import pandas as pd
import pytest

from infofair.data.prepared import PARTS
from infofair.storage import write_json
from infofair.training.predictions import Predictions
from stages import solve, train
from study import paths, plans
from tests.conftest import paper_params
from tests.simulated import prepared

QUICK = {"prototypes": 3, "prediction": [0.5, 5.0], "parity": [0.1, 5.0], "iterations": 5}


@pytest.fixture(autouse=True)
def one_worker(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")


def run(method: str, *settings: str) -> list[Path]:
    """Predictions and what else is written of a method on made-up data with these settings."""
    data = prepared()
    data = dataclasses.replace(data, groups={s: data.groups[s] for s in settings or data.settings})
    data.save(paths.processed("compas"))
    asked = paper_params(seeds=[0, 1, 2], lfr=QUICK, training={
        "epochs": 2, "patience": 2, "batch_size": 64, "weight_decay": 0.01
    })  # fmt: skip
    path = paths.plan("train", "compas", method)
    plan = dict(plans.everything(asked))[path]
    write_json(path, plan)
    (train if "training" in plan else solve).main(str(path))
    kinds = ("predictions", "fits", "curves", "networks")
    return [Path(plan["runs"][0][kind]) for kind in kinds if kind in plan["runs"][0]]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["lfr", "gerryfair"])
def test_the_number_of_workers_changes_no_byte(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    for count in ("1", "2", "3"):
        monkeypatch.setenv("INFOFAIR_WORKERS", count)
        written.append([path.read_bytes() for path in run(method)])
    assert written[0] == written[1] == written[2]


def test_what_was_tried_is_listed_with_its_score_and_one_is_chosen() -> None:
    _, path = run("lfr")
    fits = pd.read_csv(path)
    keys = ["setting", "strength", "seed"]
    own = ["A_y", "A_z", "iterations", "loss", "score", "chosen"]
    assert list(fits.columns) == [*keys, *own]
    assert len(fits) == 3 * 4  # seeds × grid
    for _, tried in fits.groupby("seed"):
        assert tried["chosen"].sum() == 1
        assert tried.loc[tried["chosen"], "score"].item() == tried["score"].max()


def test_a_method_without_a_grid_lists_no_choice(capsys: pytest.CaptureFixture[str]) -> None:
    _, path = run("gerryfair")
    fits = pd.read_csv(path)
    expected = ["setting", "strength", "seed", "round", "error", "violation", "group_size"]
    assert list(fits.columns) == expected
    assert set(fits["seed"]) == {0}
    assert "3 fits" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["lfr", "mindiff"])
def test_a_dataset_without_a_setting_that_the_method_handles_gives_empty_files(method: str) -> None:
    predictions, log, *_ = run(method, "race")
    found = Predictions.load(predictions)
    assert found.settings == found.seeds == []
    for part in PARTS:
        assert found.probabilities[part].shape == (0, 0, 0, len(prepared().split[part]))
    assert pd.read_csv(log).empty

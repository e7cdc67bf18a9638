"""The doors `train` and `solve`: one plan, every model of it, and the files that it names."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from infofair.errors import Problem
from infofair.storage import write_json
from infofair.training.model import load_models
from infofair.training.predictions import Predictions
from stages import solve, train
from study import paths, plans
from tests.conftest import paper_params
from tests.simulated import prepared

Planned = Callable[..., dict[str, Any]]
EPOCHS = {"epochs": 2, "patience": 2, "batch_size": 64, "weight_decay": 0.01}


@pytest.fixture
def planned(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Planned:
    """Writes the plan of a method on made-up data, with changes; gives it."""
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")
    prepared().save(paths.processed("compas"))

    def write(method: str, **changes: Any) -> dict[str, Any]:
        asked = paper_params(training=EPOCHS, seeds=[0, 1, 2])
        path = paths.plan("train", "compas", method)
        plan = dict(plans.everything(asked))[path]
        plan |= {key: value for key, value in changes.items() if key in plan}
        plan["runs"][0] |= {key: value for key, value in changes.items() if key not in plan}
        write_json(path, plan)
        return plan

    return write


def run(plan: dict[str, Any]) -> dict[str, Path]:
    """Train, and give the files by their kinds."""
    door = train if "training" in plan else solve
    door.main(str(paths.plan("train", "compas", plan["method"])))
    kinds = ("predictions", "curves", "networks", "fits")
    return {kind: Path(plan["runs"][0][kind]) for kind in kinds if kind in plan["runs"][0]}


def test_predictions_curves_and_networks_have_every_setting_and_seed(planned: Planned) -> None:
    written = run(planned("infofair"))
    found = Predictions.load(written["predictions"])
    assert found.settings == ["gender", "race", "intersection"]
    assert (found.seeds, found.strengths) == ([0, 1, 2], [paper_params().alpha])
    for part in ("validation", "test"):
        assert found.probabilities[part].shape == (3, 1, 3, 70)
        assert ((found.probabilities[part] > 0) & (found.probabilities[part] < 1)).all()
    curves = pd.read_csv(written["curves"])
    keys = ["setting", "strength", "seed", "epoch"]
    assert list(curves.columns) == [*keys, "T", "S", "D", "total", "validation"]
    assert len(curves) == 3 * 3 * 2
    np.testing.assert_allclose(curves["T"] + curves["S"] + curves["D"], curves["total"], rtol=1e-4)
    assert load_models(written["networks"]).keys() == {
        (setting, found.strengths[0], seed) for setting in found.settings for seed in found.seeds
    }


def test_a_kept_network_predicts_what_was_predicted(planned: Planned) -> None:
    written, data = run(planned("infofair")), prepared()
    found = Predictions.load(written["predictions"])
    for key, model in load_models(written["networks"]).items():
        assert model.features == data.features
        for part, probabilities in found.model(*key).items():
            again = model.predict_proba(data.X[data.split[part]])
            np.testing.assert_allclose(again, probabilities, atol=1e-5)


def test_vanilla_is_trained_once_per_seed(planned: Planned) -> None:
    written = run(planned("vanilla"))
    found = Predictions.load(written["predictions"])
    assert (found.settings, found.strengths) == (["all"], [0.0])
    assert found.probabilities["test"].shape == (1, 1, 3, 70)


def test_every_strength_of_the_plan_is_trained_and_one_that_may_diverge_is_left_out(
    planned: Planned, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = planned("gdp", may_diverge=True, strengths=[0.1, 1e39], seeds=[0, 3])
    written = run(plan)
    found = Predictions.load(written["predictions"])
    assert (found.strengths, found.seeds) == ([0.1, 1e39], [0, 3])
    for setting in found.settings:
        for seed in found.seeds:
            assert found.model(setting, 0.1, seed)
            assert not found.model(setting, 1e39, seed)
    assert "12 models, 6 diverged" in capsys.readouterr().err


def test_a_method_that_names_no_strengths_leaves_files_without_models(planned: Planned) -> None:
    """DVC asks for the outputs of its stage all the same."""
    written = run(planned("gdp", strengths=[]))
    assert Predictions.load(written["predictions"]).settings == []
    assert load_models(written["networks"]) == {}
    assert pd.read_csv(written["curves"]).empty


def test_in_the_paper_an_objective_that_is_not_finite_stops_the_stage_and_writes_nothing(
    planned: Planned,
) -> None:
    plan = planned("gdp", strengths=[1e39])
    with pytest.raises(Problem, match=r"gdp on compas: .* gender, seed \d, .* epoch 1"):
        run(plan)
    assert not paths.RESULTS.exists()


def test_a_solvers_strength_replaces_its_knob_and_validation_chooses_the_rest(
    planned: Planned,
) -> None:
    knobs = planned("lfr")["knobs"] | {"prototypes": 3, "iterations": 3, "prediction": [1.0, 5.0]}
    plan = planned("lfr", knobs=knobs, strengths=[0.1, 5.0], seeds=[0, 3])
    written = run(plan)
    found = Predictions.load(written["predictions"])
    assert (found.settings, found.strengths, found.seeds) == (["gender"], [0.1, 5.0], [0, 3])
    fits = pd.read_csv(written["fits"])
    of_model = fits.groupby(["setting", "strength", "seed"])
    assert (of_model["score"].nunique() <= 2).all()
    for _, own in of_model:  # the better of the two
        assert own.loc[own["chosen"], "score"].unique() == own["score"].max()


def test_a_solver_that_draws_nothing_is_fitted_once(planned: Planned) -> None:
    found = Predictions.load(run(planned("fcfc"))["predictions"])
    assert found.seeds == [0]
    assert found.settings == ["gender", "race", "intersection"]


@pytest.mark.slow
def test_the_number_of_workers_changes_no_byte(
    planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, written = planned("infofair"), []
    for workers in ("1", "2", "5"):
        monkeypatch.setenv("INFOFAIR_WORKERS", workers)
        written.append([path.read_bytes() for path in run(plan).values()])
    assert written[0] == written[1] == written[2]


def test_a_wrong_number_of_workers_is_named(
    planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", "many")
    with pytest.raises(Problem, match="INFOFAIR_WORKERS=many"):
        run(planned("infofair"))


def test_a_plan_is_all_that_training_reads_of_params_yaml(planned: Planned) -> None:
    plan = planned("vanilla")
    first = run(plan)["predictions"].read_bytes()
    paths.PARAMS.write_text("no: parameters\n")
    assert run(plan)["predictions"].read_bytes() == first
    path = paths.plan("train", "compas", "vanilla")
    assert json.loads(path.read_text()) == plan

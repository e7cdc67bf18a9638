"""From predictions to the tables of a dataset, through the door `evaluate`."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from infofair import metrics, uncertainty
from infofair.data.prepared import PARTS, Prepared
from infofair.errors import Problem
from infofair.training.predictions import Predictions
from infofair.uncertainty import (
    bootstrap,
    interval,
    noise_floor,
    null_quantile,
    permutation_test,
)
from stages import evaluate
from study import control, evaluation, paths
from study.results import BOUNDS, CONTROLS, EVALUATION
from tests.conftest import compared, write_plans
from tests.simulated import prepared


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")  # others would not know of the rest
    monkeypatch.setattr(uncertainty, "REPLICATES", 60)
    monkeypatch.setattr(uncertainty, "DRAWS", 99)


@pytest.fixture
def tables(workspace: Path, quick: None) -> Callable[[], dict[str, pd.DataFrame]]:
    """Made-up models of three methods; one handles only gender, one no setting at all."""
    data = with_an_empty_group()
    data.save(paths.processed("compas"))
    write_plans(
        datasets=["compas"],
        methods={"trained": ["infofair", "mindiff", "vanilla"], "ablations": [], "solved": ["lfr"]},
        beyond={"trained": [], "solved": []},
        comparison=compared(),
    )
    rng = np.random.default_rng(2)
    handled = {"infofair": data.settings, "mindiff": ["gender"], "vanilla": ["all"], "lfr": []}
    for method, settings in handled.items():
        models = {
            (setting, 0.1, seed): {p: rng.random(len(data.split[p])) for p in PARTS}
            for setting in settings
            for seed in ([0] if method == "mindiff" else [0, 1, 2])
        }
        Predictions.of(models, data).save(paths.predictions("compas", method))

    def run() -> dict[str, pd.DataFrame]:
        evaluate.main("compas")
        return {path.stem: pd.read_csv(path) for path in paths.evaluation("compas").iterdir()}

    return run


def with_an_empty_group() -> Prepared:
    data = prepared()
    names = data.group_names
    return replace(data, group_names={**names, "race": [*names["race"], "nobody"]})


def stored(method: str, setting: str, seed: int, part: str) -> np.ndarray:
    found = Predictions.load(paths.predictions("compas", method))
    return found.model(setting, 0.1, seed)[part] > 0.5


def test_runs_have_every_column_of_every_model_filled(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    runs = tables()["runs"]
    assert list(runs.columns) == EVALUATION["runs"]
    assert len(runs) == (3 * 3 + 1 + 3 * 3) * 2  # infofair, mindiff, vanilla; two splits
    assert not runs.drop(columns="note").isna().any().any()
    for metric in ("micro_f1", "imparity", "imparity_released"):
        assert (runs[f"{metric}_low"] < runs[f"{metric}_high"]).all()


def test_runs_hold_every_metric_of_the_predictions(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    runs = tables()["runs"].set_index(["method", "setting", "seed", "split"])
    data = with_an_empty_group()
    for setting, part in product(data.settings, PARTS):
        rows = data.split[part]
        predicted, y = stored("infofair", setting, 2, part), data.y[rows]
        group, groups = data.groups[setting][rows].astype(int), len(data.group_names[setting])
        row = runs.loc[("infofair", setting, 2, part)]
        of_groups = (
            "imparity", "imparity_released", "largest_gap", "parity_ratio", "lowest_rate",
            "highest_rate", "differential_fairness",
        )  # fmt: skip
        for name in of_groups:
            expected = getattr(metrics, name)(predicted, group, groups)
            assert row[name] == pytest.approx(expected, rel=1e-6)
        for name in ("opportunity_gap", "odds_gap", "worst_accuracy"):
            expected = getattr(metrics, name)(predicted, y, group, groups)
            assert row[name] == pytest.approx(expected, rel=1e-6)
        floor = noise_floor(predicted.mean(), np.bincount(group, minlength=groups))
        assert tuple(row[["floor", "floor_released"]]) == pytest.approx(floor, rel=1e-6)
        null = null_quantile(predicted.mean(), np.bincount(group, minlength=groups))
        assert tuple(row[["null_95", "null_95_released"]]) == pytest.approx(null, rel=1e-6)
        p_value = permutation_test(predicted[None], group, groups)
        assert row["p_value"] == pytest.approx(p_value, rel=1e-6)


def test_groups_without_a_member_are_listed(tables: Callable[[], dict[str, pd.DataFrame]]) -> None:
    groups = tables()["groups"]
    nobody = groups[groups["name"] == "nobody"]
    assert len(nobody) == (3 + 3) * 2  # seeds of infofair and vanilla; two splits
    assert (nobody["size"] == 0).all()
    assert nobody[["selection_rate", "accuracy"]].isna().all().all()
    sizes = groups.groupby(["setting", "method", "seed", "split"])["size"].sum()
    assert (sizes == 70).all()


def test_subsets_judge_the_intersections_models_on_each_attribute(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    subsets = tables()["subsets"]
    assert set(subsets["method"]) == {"infofair"}  # mindiff lacks it, vanilla has no setting
    assert len(subsets) == 2 * 3 * 2  # attributes × seeds × splits
    data = with_an_empty_group()
    for row in subsets.itertuples():
        group = data.groups[row.attribute][data.split[row.split]].astype(int)
        predicted = stored("infofair", "intersection", row.seed, row.split)
        case = predicted, group, len(data.group_names[row.attribute])
        assert row.imparity == pytest.approx(metrics.imparity(*case), rel=1e-6)
        assert row.imparity_released == pytest.approx(metrics.imparity_released(*case), rel=1e-6)


def test_intervals_of_means_are_of_the_seeds_averaged_resample_by_resample(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    made = tables()
    means = made["intervals"].set_index(["method", "setting", "split"])
    runs = made["runs"].set_index(["method", "setting", "split"])
    assert len(means) == (3 + 1 + 3) * 2
    one_seed = ("mindiff", "gender", "test")
    assert means.loc[one_seed, BOUNDS].equals(runs.loc[one_seed, BOUNDS])
    data = with_an_empty_group()
    group, y = data.groups["race"][data.split["test"]].astype(int), data.y[data.split["test"]]
    predicted = np.stack([stored("infofair", "race", seed, "test") for seed in range(3)])
    row = means.loc[("infofair", "race", "test")]
    p_value = permutation_test(predicted, group, 4)
    assert row["p_value"] == pytest.approx(p_value, rel=1e-6)
    errors = bootstrap(predicted, y, group, 4)
    observed = {
        "micro_f1": np.mean(predicted == y),
        "imparity": np.mean([metrics.imparity(p, group, 4) for p in predicted]),
    }
    for metric, value in observed.items():
        fair = metric == "imparity" and p_value > 0.05
        expected = interval(value, errors[metric].mean(axis=1), fair=fair)
        assert (row[f"{metric}_low"], row[f"{metric}_high"]) == pytest.approx(expected, rel=1e-6)


def test_the_released_imparitys_interval_is_the_texts_on_its_own_scale(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    runs = tables()["runs"].query("setting == 'race'")  # three groups of four have members
    for end in ("", "_low", "_high"):
        expected = (3 * runs[f"imparity{end}"] + 3 / 2) / 10
        np.testing.assert_allclose(runs[f"imparity_released{end}"], expected, rtol=1e-6)


def test_a_control_is_vanilla_of_the_seed_at_the_models_selection_rate(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    runs = tables()["runs"].set_index(["method", "setting", "seed", "split"])
    data = with_an_empty_group()
    vanilla = Predictions.load(paths.predictions("compas", "vanilla")).model("all", 0.1, 2)
    moved = control.moved(vanilla, stored("infofair", "race", 2, "validation"))
    for part in PARTS:
        row = runs.loc[("infofair", "race", 2, part)]
        expected = evaluation.headline(data, part, moved[part], "race")
        for name in CONTROLS:
            assert row[name] == pytest.approx(expected[name.removeprefix("control_")], rel=1e-6)
    on_validation = runs.xs("validation", level="split")
    rates = on_validation["control_selection_rate"]
    pd.testing.assert_series_equal(rates, on_validation["selection_rate"], check_names=False)


def test_vanilla_is_its_own_control(tables: Callable[[], dict[str, pd.DataFrame]]) -> None:
    vanilla = tables()["runs"].query("method == 'vanilla'")
    for name in CONTROLS:
        own = vanilla[name.removeprefix("control_")]
        pd.testing.assert_series_equal(vanilla[name], own, check_names=False)


def test_a_model_whose_seed_vanilla_lacks_has_the_mean_of_all_as_control() -> None:
    data = with_an_empty_group()
    rng = np.random.default_rng(0)

    def model(method: str, seed: int) -> evaluation.Model:
        scores = {part: rng.random(len(data.split[part])) for part in PARTS}
        predicted = {part: of > 0.5 for part, of in scores.items()}
        return evaluation.Model(method, "race", "race", seed, scores, predicted)

    one, *vanilla = model("fcfc", 7), model("vanilla", 0), model("vanilla", 1)
    found = evaluation.controls(data, "test", [one, *vanilla])[0]
    each = [
        evaluation.headline(
            data, "test", control.moved(v.scores, one.predicted["validation"])["test"], "race"
        )
        for v in vanilla
    ]
    for name, value in found.items():
        figures = [row[name.removeprefix("control_")] for row in each]
        assert value == pytest.approx(np.mean(figures))
    assert evaluation.controls(data, "test", [one]) == [{}]


def test_statistics_count_rows_features_and_groups(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    statistics = tables()["statistics"].set_index("setting")
    assert (statistics["samples"] == 700).all()
    assert (statistics[["train", "validation", "test"]] == [560, 70, 70]).all().all()
    assert statistics["groups"].tolist() == [2, 4, 6]
    assert statistics["empty_test"].tolist() == [0, 1, 0]
    data = with_an_empty_group()
    for part in ("train", "test"):
        _, sizes = np.unique(data.groups["race"][data.split[part]], return_counts=True)
        assert statistics.loc["race", f"smallest_{part}"] == sizes.min()


def test_attributes_are_counted_before_their_values_become_columns(
    real_data: Callable[[str], Prepared],
) -> None:
    counts = {}
    for dataset in ("compas", "adult", "dutch"):
        row = evaluation.statistics(real_data(dataset))[0]
        counts[dataset] = row["samples"], row["features"], row["attributes"]
    # the paper counts columns for COMPAS (52), and attributes for Adult (14) and Dutch (11)
    assert counts == {
        "compas": (6172, 52, 15), "adult": (45222, 104, 14), "dutch": (60420, 73, 11)
    }  # fmt: skip


def test_the_same_predictions_give_the_same_bytes(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    written = []
    for _ in range(2):
        assert set(tables()) == set(EVALUATION)
        folder = paths.evaluation("compas")
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[0] == written[1]


def test_a_missing_prediction_names_the_stage_that_makes_it(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    paths.predictions("compas", "infofair").unlink()
    with pytest.raises(Problem, match=r"predictions/compas/infofair\.npz .* train@compas-infofair"):
        tables()
    assert not paths.evaluation("compas").exists()

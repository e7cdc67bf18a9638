"""From trained models to tables: the stages train, evaluate, summarize, and what is committed."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ruamel.yaml import YAML
from sklearn.metrics import accuracy_score, f1_score

from stages import evaluate, files, methods, params, report, solve, summarize, tables, train
from stages.files import Problem
from stages.processed import load_arrays
from tests.conftest import ROOT
from tests.simulated import processed

yaml = YAML(typ="safe")
PART = ["validation", "test"]
DATASETS = ["compas", "adult", "dutch"]


@pytest.fixture
def small(workspace: Path) -> Callable[..., None]:
    """Made-up COMPAS data and a quick params.yaml; call it to change more of the parameters."""
    processed().save(files.processed("compas"))
    (workspace / "data/reference").mkdir()
    for table in (summarize.PAPER, summarize.PAPER_STATISTICS):
        (workspace / table).write_bytes((ROOT / table).read_bytes())

    def change(**changes: object) -> None:
        content = yaml.load(params.PATH)
        content |= {"datasets": ["compas"], "seeds": [0, 1, 2]} | changes
        content["training"] = {**content["training"], "epochs": 2}
        content["lfr"] = {**content["lfr"], "prediction": [1.0], "iterations": 3}
        yaml.dump(content, params.PATH)

    change()
    return change


def only(**listed: list[str]) -> dict[str, list[str]]:
    """The lists of methods, empty but for these."""
    return {"regularized": [], "ablations": [], "fixed": [], "solved": []} | listed


def run_all() -> None:
    for method in params.load().method_names:
        solved = isinstance(methods.load(method), methods.Solver)
        (solve if solved else train).main("compas", method)
    evaluate.main("compas")
    summarize.main()


def test_the_number_of_workers_changes_no_byte(
    small: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    for workers in ("1", "2", "5"):
        monkeypatch.setenv("INFOFAIR_WORKERS", workers)
        train.main("compas", "infofair")
        paths = files.predictions("compas", "infofair"), files.curves("compas", "infofair")
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1] == written[2]


def test_predictions_and_curves_have_every_setting_and_seed(small: Callable[..., None]) -> None:
    train.main("compas", "infofair")
    arrays = load_arrays(files.predictions("compas", "infofair"))
    assert arrays["settings"].tolist() == ["gender", "race", "intersection"]
    assert arrays["seeds"].tolist() == [0, 1, 2]
    assert arrays["validation"].shape == arrays["test"].shape == (3, 3, 70)
    assert ((arrays["test"] > 0) & (arrays["test"] < 1)).all()
    curves = pd.read_csv(files.curves("compas", "infofair"))
    assert list(curves.columns) == [
        "setting", "seed", "epoch", "T", "S", "D", "total", "validation"
    ]  # fmt: skip
    assert len(curves) == 3 * 3 * 2
    np.testing.assert_allclose(curves["T"] + curves["S"] + curves["D"], curves["total"], rtol=1e-4)


def test_vanilla_is_trained_once_per_seed_and_evaluated_in_every_setting(
    small: Callable[..., None],
) -> None:
    small(methods=only(fixed=["vanilla"]))
    run_all()
    assert load_arrays(files.predictions("compas", "vanilla"))["test"].shape == (1, 3, 70)
    runs = pd.read_csv("results/runs.csv")
    assert len(runs) == 3 * 3 * 2  # settings × seeds × splits
    assert runs.groupby(["seed", "split"])["micro_f1"].nunique().eq(1).all()


def test_a_loss_that_is_not_finite_stops_the_stage_and_writes_nothing(
    small: Callable[..., None],
) -> None:
    knobs = {"learning_rate": 1e30, "temperature": 1.0, "halve_temperature_every": 50}
    small(infofair=knobs)
    with pytest.raises(Problem, match=r"infofair on compas: .* gender, seed \d, .* epoch 1"):
        train.main("compas", "infofair")
    assert not Path("results").exists()


def test_a_wrong_number_of_workers_is_named(
    small: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", "many")
    with pytest.raises(Problem, match="INFOFAIR_WORKERS=many"):
        train.main("compas", "infofair")


def test_runs_hold_the_metrics_of_the_predictions(small: Callable[..., None]) -> None:
    run_all()
    data = processed()
    runs = pd.read_csv("results/runs.csv").set_index(["method", "setting", "seed", "split"])
    # settings × seeds × splits of 7 methods; 2 handle one setting, 2 draw nothing
    assert len(runs) == (7 * 3 * 3 + 2 * 1 * 3 + 2 * 3 * 1) * 2
    stored = load_arrays(files.predictions("compas", "infofair"))
    for s, setting in enumerate(stored["settings"].tolist()):
        for part in PART:
            predicted = stored[part][s, 1] > 0.5
            y = data.y[data.split[part]]
            row = runs.loc[("infofair", setting, 1, part)]
            assert row["micro_f1"] == pytest.approx(accuracy_score(y, predicted), abs=1e-6)
            macro = f1_score(y, predicted, average="macro")
            assert row["macro_f1"] == pytest.approx(macro, abs=1e-6)


def test_that_the_data_is_simulated_is_said_in_every_row(small: Callable[..., None]) -> None:
    run_all()
    for name in ("runs", "summary", "groups", "subsets", "selection", "statistics"):
        table = pd.read_csv(f"results/{name}.csv")
        assert (table["data"] == "simulated").all()
        assert (table["partition"] == "random").all()
    metrics = json.loads(Path("results/metrics.json").read_text())
    assert metrics["compas"]["gender"]["data"] == "simulated"


def test_what_params_no_longer_names_is_gone_from_the_results(small: Callable[..., None]) -> None:
    run_all()
    files.evaluation("adult").mkdir()
    (files.evaluation("adult") / "runs.csv").write_text("left over from a larger run\n")
    small(methods=only(regularized=["infofair"], fixed=["vanilla"]), seeds=[0])
    run_all()
    assert {path.name for path in Path("results/predictions/compas").iterdir()} == {
        "infofair.npz",
        "vanilla.npz",
    }
    assert [path.name for path in files.evaluation("").iterdir()] == ["compas"]
    runs = pd.read_csv("results/runs.csv")
    assert set(runs["method"]) == {"infofair", "vanilla"}
    assert set(runs["seed"]) == {0}
    for name in ("summary", "groups", "subsets"):
        table = pd.read_csv(f"results/{name}.csv")
        assert set(table["method"]) <= {"infofair", "vanilla"}
        assert set(table["dataset"]) == {"compas"}


def test_a_missing_prediction_names_the_stage_that_makes_it(small: Callable[..., None]) -> None:
    with pytest.raises(Problem, match=r"predictions/compas/infofair\.npz .* train@compas-infofair"):
        evaluate.main("compas")


# -- the protocol -------------------------------------------------------------------------------


def made_up_runs() -> pd.DataFrame:
    """Three seeds of two methods, with validation and test figures that disagree."""
    rows = []
    for method, validation in {"vanilla": [0.2, 0.3, 0.1], "infofair": [0.30, 0.10, 0.10]}.items():
        for seed, gap in enumerate(validation):
            f1 = {"vanilla": [0.80, 0.82, 0.82], "infofair": [0.9, 0.7, 0.75]}[method][seed]
            for part in PART:
                test = part == "test"
                rows.append(
                    {
                        "dataset": "adult", "setting": "race", "method": method, "seed": seed,
                        "split": part, "micro_f1": f1 + 0.01 * test, "macro_f1": f1 - 0.1 * seed,
                        "imparity": gap + 0.05 * test, "imparity_released": (gap + 0.05 * test) / 2,
                        **dict.fromkeys(summarize.OTHERS, 0.1 * seed),
                        **dict.fromkeys(summarize.BOUNDS, 10 * seed),
                        "note": "", "data": "real", "partition": "authors",
                    }
                )  # fmt: skip
    return pd.DataFrame(rows)


def made_up_summary(runs: pd.DataFrame) -> pd.DataFrame:
    """The summary of these runs; every interval of a mean is from 77 to 77."""
    intervals = runs[[*summarize.CELL, "split"]].drop_duplicates()
    intervals = intervals.assign(**dict.fromkeys(summarize.BOUNDS, 77))
    return summarize.summarize(runs, intervals, pd.read_csv(ROOT / summarize.PAPER))


def test_the_papers_protocol_selects_on_validation_and_reports_on_test() -> None:
    chosen = summarize.selected(made_up_runs()).set_index("method")
    # vanilla: the best micro F1, a tie of seeds 1 and 2 that macro F1 decides for 1
    assert chosen.loc["vanilla", "seed"] == 1
    # others: the lowest imparity, a tie of seeds 1 and 2 that micro F1 decides for 2
    assert chosen.loc["infofair", "seed"] == 2
    assert chosen.loc["infofair", "imparity"] == pytest.approx(0.15)
    assert (chosen["split"] == "test").all()


def test_summary_has_mean_spread_reduction_and_the_papers_figures() -> None:
    table = made_up_summary(made_up_runs()).set_index(["method", "protocol"])
    infofair = np.array([0.35, 0.15, 0.15])
    vanilla = np.array([0.25, 0.35, 0.15])
    mean, std = table.loc[("infofair", "mean")], table.loc[("infofair", "std")]
    assert mean["imparity"] == pytest.approx(infofair.mean())
    assert std["imparity"] == pytest.approx(infofair.std(ddof=1))
    assert mean["reduction"] == pytest.approx(1 - infofair.mean() / vanilla.mean())
    assert std["reduction"] == pytest.approx((1 - infofair / vanilla.mean()).std(ddof=1))
    assert table.loc[("infofair", "paper"), "reduction"] == pytest.approx(1 - 0.15 / 0.35)
    assert table.loc[("vanilla", "paper"), "reduction"] == 0
    assert (table.loc["infofair", "paper_imparity"] == 0.042).all()
    assert (table.loc["infofair", "paper_reduction"] == 0.3211).all()


def test_summary_has_our_difference_from_the_paper() -> None:
    table = made_up_summary(made_up_runs()).set_index(["method", "protocol"])
    for protocol in ("paper", "mean"):
        row = table.loc[("infofair", protocol)]
        assert row["difference_micro_f1"] == pytest.approx(row["micro_f1"] - 0.810)
        assert row["difference_macro_f1"] == pytest.approx(row["macro_f1"] - 0.686)
        assert row["difference_imparity"] == pytest.approx(row["imparity_released"] - 0.042)
        assert row["difference_reduction"] == pytest.approx(row["reduction_released"] - 0.3211)
    differences = [name for name in table.columns if name.startswith("difference_")]
    assert table.xs("std", level="protocol")[differences].isna().all().all()


def test_a_cell_the_paper_does_not_print_has_no_difference() -> None:
    table = made_up_summary(made_up_runs().replace({"method": {"infofair": "mindiff"}}))
    rows = table.set_index("method").loc["mindiff"]
    assert rows.filter(regex="^(paper|difference)_").isna().all().all()


def test_summary_has_the_intervals_of_the_picked_seed_and_of_the_mean() -> None:
    table = made_up_summary(made_up_runs()).set_index(["method", "protocol"])
    bounds = table[summarize.BOUNDS]
    assert (bounds.loc[("infofair", "paper")] == 20).all()  # seed 2
    assert (bounds.xs("mean", level="protocol") == 77).all().all()
    assert bounds.xs("std", level="protocol").isna().all().all()


def test_summary_has_the_other_metrics_and_the_floor() -> None:
    others = made_up_summary(made_up_runs()).set_index(["method", "protocol"])[summarize.OTHERS]
    assert others.loc[("infofair", "paper")].tolist() == pytest.approx([0.2] * 8)
    assert others.loc[("infofair", "mean")].tolist() == pytest.approx([0.1] * 8)
    assert others.loc[("infofair", "std")].tolist() == pytest.approx([0.1] * 8)


def test_selection_alone_reduces_vanillas_imparity() -> None:
    row = summarize.of_selection(made_up_runs()).iloc[0]
    # seed 1 has the best F1, seed 2 the lowest validation imparity
    assert (row["seed"], row["fairest_seed"]) == (1, 2)
    assert row["reduction"] == pytest.approx(1 - 0.15 / 0.35)
    assert row["reduction_released"] == pytest.approx(1 - 0.15 / 0.35)


def made_up_subsets(**imparities: float) -> pd.DataFrame:
    """The imparity on `race` of each method's models for the intersection, for one seed."""
    cell = {"dataset": "adult", "setting": "intersection", "attribute": "race", "split": "test"}
    marks = {"data": "real", "partition": "authors"}
    figures = [
        {"method": method, "seed": 0, "imparity": value, "imparity_released": value / 2}
        for method, value in imparities.items()
    ]
    return pd.DataFrame([cell | row | marks for row in figures])


def test_subsets_say_whether_training_on_the_intersection_helps_an_attribute() -> None:
    # of the mean over seeds, vanilla has 0.25 on race, infofair 0.65 / 3
    for imparity, lower in {0.24: "yes", 0.25: "no", 0.26: "no"}.items():
        row = summarize.of_subsets(made_up_subsets(infofair=imparity), made_up_runs()).iloc[0]
        assert row["lower"] == lower
        assert row["imparity"] == imparity
        assert row["vanilla_imparity"] == pytest.approx(0.25)
        assert row["own_imparity"] == pytest.approx(0.65 / 3)
        assert row["own_imparity_released"] == pytest.approx(0.65 / 6)


def test_without_vanilla_subsets_do_not_say() -> None:
    runs = made_up_runs().query("method == 'infofair'")
    row = summarize.of_subsets(made_up_subsets(infofair=0.1), runs).iloc[0]
    assert pd.isna(row["lower"])
    assert pd.isna(row["vanilla_imparity"])


def test_the_headline_has_infofair_and_vanilla_or_else_the_first_method() -> None:
    runs = made_up_runs()
    cell = summarize.headline(made_up_summary(runs))["adult"]["race"]
    reduction = round(1 - (0.65 / 3) / 0.25, 4)
    assert cell == {
        "infofair": {
            "micro_f1": 0.7933, "imparity": 0.2167, "imparity_released": 0.1083,
            "reduction": reduction,
        },
        "vanilla": {"micro_f1": 0.8233, "imparity": 0.25},
    }  # fmt: skip
    others = runs.replace({"method": {"vanilla": "gdp", "infofair": "di"}})
    cell = summarize.headline(made_up_summary(others))["adult"]["race"]
    assert cell == {"gdp": {"micro_f1": 0.8233, "imparity": 0.25, "imparity_released": 0.125}}


def test_methods_that_handle_no_setting_give_tables_without_rows(
    small: Callable[..., None],
) -> None:
    data = replace(processed(), groups={"race": processed().groups["race"]})
    data.save(files.processed("compas"))
    small(methods=only(regularized=["mindiff"]))
    run_all()
    for name in ("runs", "summary", "groups", "subsets", "selection"):
        assert len(pd.read_csv(f"results/{name}.csv")) == 0
    assert pd.read_csv("results/statistics.csv")["setting"].tolist() == ["race"]
    assert json.loads(Path("results/metrics.json").read_text()) == {}


def test_one_sensitive_attribute_has_no_subsets(small: Callable[..., None]) -> None:
    data = replace(processed(), groups={"gender": processed().groups["gender"]})
    data.save(files.processed("compas"))
    small(methods=only(regularized=["mindiff"], fixed=["vanilla"]))
    run_all()
    assert len(pd.read_csv("results/subsets.csv")) == 0
    assert len(pd.read_csv("results/summary.csv")) == 2 * 3


@pytest.mark.parametrize(
    ("constant", "picked", "over_seeds"),
    [
        ([], "", ""),
        ([2], "constant", "constant in 1 of 3 seeds"),
        ([0], "", "constant in 1 of 3 seeds"),
        ([0, 1, 2], "constant", "constant"),
    ],
)
def test_constant_predictors_are_noted(constant: list[int], picked: str, over_seeds: str) -> None:
    runs = made_up_runs()
    chosen = (runs["method"] == "infofair") & runs["seed"].isin(constant)
    runs.loc[chosen & (runs["split"] == "test"), "note"] = "constant"
    table = made_up_summary(runs)
    notes = table.set_index(["method", "protocol"])["note"]
    assert notes["infofair", "paper"] == picked
    assert notes["infofair", "mean"] == notes["infofair", "std"] == over_seeds
    assert (notes["vanilla"] == "").all()


def test_without_vanilla_there_is_no_reduction() -> None:
    runs = made_up_runs().query("method == 'infofair'")
    table = made_up_summary(runs)
    assert table["reduction"].isna().all()


# -- the paper ----------------------------------------------------------------------------------


def test_the_reference_table_is_the_papers_own() -> None:
    path = ROOT / "../shared/paper/infofair.tex"
    if not path.exists():
        pytest.skip("the paper's LaTeX is not at hand")
    text = path.read_text()
    start = text.index(r"\label{tab:effectiveness}")
    block = text[start : text.index(r"\end{tabular}", start)]
    printed = iter(re.findall(r"\$([\d.]+)/([\d.]+)\$|\$(-?[\d.]+)(\\%)?\$|(N/A)", block))
    table = pd.read_csv(ROOT / summarize.PAPER)
    assert len(table) == 3 * 9 * 3
    for row in table.itertuples():
        found = [next(printed) for _ in range(3)]
        if found[0][4]:
            assert np.isnan([row.micro_f1, row.macro_f1, row.imparity, row.reduction]).all()
        else:
            assert (row.micro_f1, row.macro_f1) == (float(found[0][0]), float(found[0][1]))
            assert row.imparity == float(found[1][2])
            assert row.reduction == pytest.approx(float(found[2][2]) / 100, abs=1e-12)
    assert next(printed, None) is None
    rows = re.findall(r"\\textbf\{(Vanilla|LFR|MinDiff|DI|Adversarial|FCFC|GerryFair|GDP)\}", block)
    assert [name.lower() for name in rows] == [
        m for _, g in table.groupby("dataset", sort=False) for m in dict.fromkeys(g["method"])
        if m != "infofair"
    ]  # fmt: skip


def test_the_reference_statistics_are_the_papers_own() -> None:
    path = ROOT / "../shared/paper/infofair.tex"
    if not path.exists():
        pytest.skip("the paper's LaTeX is not at hand")
    text = path.read_text()
    block = text[: text.index(r"\label{tab:datasets}")].rsplit(r"\begin{tabular}", 1)[1]
    rows = re.findall(r"^\s*(\w+)[ \w]* & ([\d,]+) & (\d+) & (\d+) \\\\", block, re.MULTILINE)
    table = pd.read_csv(ROOT / summarize.PAPER_STATISTICS)
    printed = [(name.lower(), int(n.replace(",", "")), int(a), int(c)) for name, n, a, c in rows]
    assert list(table.itertuples(index=False, name=None)) == printed
    assert len(printed) == 3


# -- what is committed --------------------------------------------------------------------------


def committed(name: str) -> pd.DataFrame:
    path = ROOT / "results" / name
    if not path.exists():
        pytest.skip(f"{path.name} is not there: run dvc repro")
    table = pd.read_csv(path)
    if set(table["data"]) != {"real"} or set(table["partition"]) != {"authors"}:
        pytest.skip("the results in this workspace are not of the real data and the authors' split")
    return table


def cell(table: pd.DataFrame, dataset: str, method: str, protocol: str) -> pd.DataFrame:
    chosen = table.query("dataset == @dataset and method == @method and protocol == @protocol")
    return chosen.set_index("setting")


def test_vanilla_on_compas_is_the_papers_row_to_three_decimals() -> None:
    row = cell(committed("summary.csv"), "compas", "vanilla", "paper").round(3)
    assert row["micro_f1"].tolist() == row["macro_f1"].tolist() == [0.972] * 3
    assert row["imparity_released"].tolist() == [0.050, 0.181, 0.234]


@pytest.mark.parametrize("dataset", ["adult", "dutch"])
def test_vanilla_is_near_the_papers_row(dataset: str) -> None:
    row = cell(committed("summary.csv"), dataset, "vanilla", "paper")
    assert ((row["micro_f1"] - row["paper_micro_f1"]).abs() <= 0.010).all()
    assert ((row["macro_f1"] - row["paper_macro_f1"]).abs() <= 0.010).all()
    assert ((row["imparity_released"] - row["paper_imparity"]).abs() <= 0.020).all()


def test_our_data_is_as_the_paper_counts_it() -> None:
    table = committed("statistics.csv").drop_duplicates("dataset").set_index("dataset")
    assert (table["samples"] == table["paper_samples"]).all()
    assert (table["classes"] == table["paper_classes"]).all()
    # the paper counts COMPAS' columns after encoding, the others' attributes before
    counted = table["features"].where(table.index == "compas", table["attributes"])
    assert (counted == table["paper_attributes"]).all()


# The released imparity of an exactly fair predictor that an independent, short simulation found, at
# about vanilla's selection rate. Its 0.025 for Dutch, marital, is left out: no rate reaches it, see
# test_the_floor_agrees_with_a_long_simulation.
FLOORS = {
    ("compas", "gender"): 0.015,
    ("compas", "race"): 0.185,
    ("compas", "intersection"): 0.240,
    ("adult", "gender"): 0.003,
    ("adult", "race"): 0.029,
    ("adult", "intersection"): 0.055,
    ("dutch", "gender"): 0.003,
    ("dutch", "intersection"): 0.041,
}


@pytest.mark.parametrize(("dataset", "setting"), FLOORS)
def test_noise_floors_are_those_of_an_independent_simulation(dataset: str, setting: str) -> None:
    row = cell(committed("summary.csv"), dataset, "vanilla", "mean").loc[setting]
    assert row["floor_released"] == pytest.approx(FLOORS[dataset, setting], abs=0.003)


# Means (and spreads) over seeds that an independent implementation, or for COMPAS race the authors'
# own code, reached on the same split: micro F1, imparity_released, its standard deviation.
KNOWN = {
    ("compas", "race"): (0.876, 0.192, 0.0071),
    ("adult", "gender"): (0.819, 0.049, 0.007),
    ("adult", "race"): (0.818, 0.053, 0.007),
    ("adult", "intersection"): (0.818, 0.074, 0.005),
    ("dutch", "gender"): (0.825, 0.094, 0.014),
    ("dutch", "marital"): (0.823, 0.085, 0.010),
    ("dutch", "intersection"): (0.823, 0.141, 0.014),
}


@pytest.mark.parametrize(("dataset", "setting"), KNOWN)
def test_infofair_is_within_two_deviations_of_other_implementations(
    dataset: str, setting: str
) -> None:
    table = committed("summary.csv")
    mean = cell(table, dataset, "infofair", "mean").loc[setting]
    std = cell(table, dataset, "infofair", "std").loc[setting]
    f1, gap, spread = KNOWN[dataset, setting]
    assert abs(mean["micro_f1"] - f1) <= 2 * std["micro_f1"]
    assert abs(mean["imparity_released"] - gap) <= 2 * max(spread, std["imparity_released"])


def test_every_method_has_a_row_for_every_seed_and_setting_it_handles() -> None:
    runs = committed("runs.csv")
    counts = runs[runs["split"] == "test"].groupby(["dataset", "method"])["seed"].agg(list)
    binary_only, without_randomness = {"lfr", "mindiff"}, {"fcfc", "gerryfair"}
    for (dataset, method), seeds in counts.items():
        each = [0] if method in without_randomness else [0, 1, 2, 3, 4]
        times = 1 if method in binary_only else 3
        assert seeds == each * times, (dataset, method)
    assert len(counts) == 3 * 11


# What independent runs of the correct baselines reached (single seeds, the authors' split): micro
# F1 where known, imparity_released. The tests of lfr, fcfc and gerryfair have theirs.
BASELINES = {
    ("adult", "gender", "mindiff"): (None, 0.053),
    ("adult", "gender", "gdp"): (None, 0.054),
    ("adult", "intersection", "gdp"): (None, 0.076),
    ("adult", "gender", "fcfc"): (0.837, 0.035),
    ("adult", "race", "fcfc"): (0.842, 0.040),
    ("adult", "intersection", "fcfc"): (0.826, 0.095),
    ("dutch", "gender", "fcfc"): (0.810, 0.034),
    ("dutch", "marital", "fcfc"): (0.813, 0.031),
    ("dutch", "intersection", "fcfc"): (0.779, 0.091),
    ("adult", "gender", "gerryfair"): (0.833, 0.056),
    ("adult", "race", "gerryfair"): (0.833, 0.069),
    ("adult", "intersection", "gerryfair"): (0.826, 0.099),
    ("dutch", "gender", "gerryfair"): (0.826, 0.079),
    ("dutch", "marital", "gerryfair"): (0.826, 0.071),
    ("dutch", "intersection", "gerryfair"): (0.826, 0.126),
}


@pytest.mark.parametrize(("dataset", "setting", "method"), BASELINES)
def test_baselines_are_near_other_implementations(dataset: str, setting: str, method: str) -> None:
    mean = cell(committed("summary.csv"), dataset, method, "mean").loc[setting]
    f1, gap = BASELINES[dataset, setting, method]
    assert f1 is None or abs(mean["micro_f1"] - f1) <= 0.01
    assert abs(mean["imparity_released"] - gap) <= 0.01


# -- the pipeline -------------------------------------------------------------------------------


def test_alpha_is_a_dependency_of_exactly_the_stages_that_read_it() -> None:
    stages = yaml.load(ROOT / "dvc.yaml")["stages"]
    reading = {name for name, stage in stages.items() if "alpha" in stage.get("params", [])}
    assert reading == {"train", "train_ablation"}


def test_no_data_is_committed() -> None:
    ignored = (ROOT / ".gitignore").read_text().split()
    assert {"/data/raw/", "/data/validated/", "/data/processed/"} <= set(ignored)


def shown_in_readme(name: str) -> str:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(rf"<!-- {name}:.*?-->\n(.*?)<!-- end of {name} -->", text, re.DOTALL)
    assert shown is not None
    return shown[1].strip()


def test_the_readme_shows_the_committed_table() -> None:
    committed("summary.csv")  # skips where these results are not ours
    table = (ROOT / "results/figures/results_table.md").read_text(encoding="utf-8")
    assert shown_in_readme("table") == table.strip()


def counts() -> str:
    """How many of the paper's printed cells are how near to ours, in words."""
    printed = [cell for cell in report.cells(committed("summary.csv")) if cell.printed]
    sentences = []
    for which, chosen in {
        "Of the paper's {} printed cells": printed,
        "Of the {} that are not constant predictors there": [
            cell for cell in printed if not tables.constant_in_print(cell.selected)
        ],
    }.items():
        found = report.agreement(chosen)
        f1, gap = found["Micro F1"], found["Imparity"]
        sentences.append(
            f"{which.format(found['cells'])}, ours, selected in the same way, are within 0.01 of "
            f"the micro F1 in {f1[0]} and of the imparity in {gap[0]}, and within 0.02 in {f1[1]} "
            f"and {gap[1]}."
        )
    return " ".join(sentences)


def test_the_readme_counts_the_cells_that_are_reproduced() -> None:
    assert " ".join(shown_in_readme("counts").split()) == counts()


def test_the_readmes_prose_has_the_committed_figures() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    most = committed("selection.csv")["reduction_released"].max()
    assert f'"reduction" by itself: up to {100 * most:.1f} % on vanilla' in text
    summary = committed("summary.csv")
    cells = [cell(summary, d, "vanilla", "mean").loc["intersection"] for d in DATASETS]
    for figure, said in (
        ("floor_released", "would score {:.3f}, {:.3f} and {:.3f} on the intersection of"),
        ("imparity_released", "vanilla's own figures are {:.3f}, {:.3f} and {:.3f}."),
    ):
        assert said.format(*(row[figure] for row in cells)) in text


def test_the_readme_shows_the_committed_benchmark() -> None:
    text = (ROOT / "README.md").read_text()
    measured = json.loads((ROOT / "bench/results.json").read_text())
    rows = re.findall(
        r"^\| (\w+), (\d+) models \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE
    )
    assert len(rows) == 6
    for dataset, models, *figures in rows:
        case = f"{dataset.lower()}_{models}"
        ratios = ("speedup", "over_func", "floor_ratio")
        assert [float(x) for x in figures] == [measured[f"{ratio}_{case}"] for ratio in ratios]
    text = " ".join(text.split())
    seeds, rows = measured["growth_seeds"], measured["growth_rows"]
    cost = [measured[f"milliseconds_{name}"] for name in ("compas", "adult", "dutch")]
    hours = 15_000 * 100 * sum(cost) * 2 / 1000 / 3600  # of two cores
    lfr = measured["seconds_by_method"]["lfr"]
    for said in (
        f"`dvc repro` took {measured['cold_minutes']} minutes, {measured['overhead_minutes']} of",
        f"together took {measured['baselines_ratio']:.2f} times as long as vanilla",
        f"LFR is {lfr:.0f} s of it",
        f"alpha=0.5` took {measured['alpha_minutes']} minutes, of which "
        f"{measured['alpha_overhead_seconds']} s outside training: "
        f"{measured['alpha_rest_seconds']} s in other stages",
        f"takes {measured['noop_ratio']} times as long as `dvc version`",
        f"({seeds['5']} s an epoch with 5 seeds, {seeds['10']} with 10, {seeds['20']} with 20, "
        f"{seeds['40']} with 40; three models each)",
        f"({rows['1']} s for Adult's, {rows['4']} for 4 times, {rows['16']} for 16 times as many)",
        f"({cost[0]} + {cost[1]} + {cost[2]}) ms × 2 cores = {hours:.0f} core-hours",
        f"{hours * 19 / 3:.0f} core-hours, or {hours * 19 / 3 / 64:.1f} hours on 64 cores",
        f"LFR's 25 × 100 fits on each dataset are {lfr * 20 * 2 / 3600:.1f} core-hours",
        f"about {max(measured['memory_seeds'].values()) / 1024:.1f} GiB a worker",
    ):
        assert said in text

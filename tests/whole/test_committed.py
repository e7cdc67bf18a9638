"""The committed results: what others found of the same, and what follows from what."""

import itertools

import pandas as pd
import pytest
from ruamel.yaml import YAML

from infofair import methods
from study import dominance, fronts, honest, paths, results
from study.results import METRICS
from tests.conftest import ROOT

FITTED = "infofair_fitted"
PARAMS = YAML(typ="safe").load(ROOT / "params.yaml")
KEYS = ["dataset", "setting", "method", "strength", "seed", "split"]


def committed(name: str) -> pd.DataFrame:
    path = ROOT / paths.table(name)
    if not path.exists():
        pytest.skip(f"{path.name} is not there: run dvc repro")
    found = results.read(name, path)
    if set(found["data"]) != {"real"} or set(found["partition"]) != {"authors"}:
        pytest.skip("the results in this workspace are not of the real data and the authors' split")
    return found


def cell(table: pd.DataFrame, dataset: str, method: str, protocol: str) -> pd.DataFrame:
    chosen = table.query("dataset == @dataset and method == @method and protocol == @protocol")
    return chosen.set_index("setting")


def test_vanilla_on_compas_is_the_papers_row_to_three_decimals() -> None:
    row = cell(committed("summary"), "compas", "vanilla", "paper").round(3)
    assert row["micro_f1"].tolist() == row["macro_f1"].tolist() == [0.972] * 3
    assert row["imparity_released"].tolist() == [0.050, 0.181, 0.234]


@pytest.mark.parametrize("dataset", ["adult", "dutch"])
def test_vanilla_is_near_the_papers_row(dataset: str) -> None:
    row = cell(committed("summary"), dataset, "vanilla", "paper")
    assert ((row["micro_f1"] - row["paper_micro_f1"]).abs() <= 0.010).all()
    assert ((row["macro_f1"] - row["paper_macro_f1"]).abs() <= 0.010).all()
    assert ((row["imparity_released"] - row["paper_imparity"]).abs() <= 0.020).all()


def test_our_data_is_as_the_paper_counts_it() -> None:
    table = committed("statistics").drop_duplicates("dataset").set_index("dataset")
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
    row = cell(committed("summary"), dataset, "vanilla", "mean").loc[setting]
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
    table = committed("summary")
    mean = cell(table, dataset, "infofair", "mean").loc[setting]
    std = cell(table, dataset, "infofair", "std").loc[setting]
    f1, gap, spread = KNOWN[dataset, setting]
    assert abs(mean["micro_f1"] - f1) <= 2 * std["micro_f1"]
    assert abs(mean["imparity_released"] - gap) <= 2 * max(spread, std["imparity_released"])


def test_every_method_has_a_row_for_every_seed_and_setting_it_handles() -> None:
    runs = committed("runs")
    counts = runs[runs["split"] == "test"].groupby(["dataset", "method"])["seed"].agg(list)
    binary_only, without_randomness = {"lfr", "mindiff"}, {"fcfc", "gerryfair"}
    for (dataset, method), seeds in counts.items():
        each = [0] if method in without_randomness else [0, 1, 2, 3, 4]
        times = 1 if method in binary_only else 3
        assert seeds == each * times, (dataset, method)
    assert len(counts) == 3 * 11


# What independent runs of the correct baselines reached (single seeds, the authors' split): micro
# F1 where known, imparity_released. The tests of fcfc and gerryfair fit COMPAS'.
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
    ("compas", "gender", "fcfc"): (0.972, 0.050),
    ("compas", "race", "fcfc"): (0.972, 0.181),
    ("compas", "intersection", "fcfc"): (0.882, 0.247),
    ("compas", "gender", "gerryfair"): (0.972, 0.050),
    ("compas", "race", "gerryfair"): (0.972, 0.181),
    ("compas", "intersection", "gerryfair"): (0.972, 0.234),
    ("adult", "gender", "gerryfair"): (0.833, 0.056),
    ("adult", "race", "gerryfair"): (0.833, 0.069),
    ("adult", "intersection", "gerryfair"): (0.826, 0.099),
    ("dutch", "gender", "gerryfair"): (0.826, 0.079),
    ("dutch", "marital", "gerryfair"): (0.826, 0.071),
    ("dutch", "intersection", "gerryfair"): (0.826, 0.126),
}


@pytest.mark.parametrize(("dataset", "setting", "method"), BASELINES)
def test_baselines_are_near_other_implementations(dataset: str, setting: str, method: str) -> None:
    mean = cell(committed("summary"), dataset, method, "mean").loc[setting]
    f1, gap = BASELINES[dataset, setting, method]
    assert f1 is None or abs(mean["micro_f1"] - f1) <= 0.01
    assert abs(mean["imparity_released"] - gap) <= 0.01


@pytest.mark.parametrize("method", ["vanilla", "infofair", "mindiff", "fcfc", "lfr"])
def test_as_run_every_cell_of_these_methods_is_the_papers(method: str) -> None:
    """At the three digits that the paper prints, where the released metric can give the figures."""
    table = committed("as_run").query("method == @method")
    assert len(table) == (3 if method in ("mindiff", "lfr") else 9)
    rows = table[table["possible"] == "yes"]
    assert len(rows) >= len(table) - 2 * (method == "fcfc")
    for name, printed in {
        "micro_f1": "paper_micro_f1",
        "macro_f1": "paper_macro_f1",
        "imparity_released": "paper_imparity",
    }.items():
        assert ((rows[name].round(3) - rows[printed]).abs() <= 0.002 + 1e-9).all(), name


def table(name: str) -> pd.DataFrame:
    """A committed table of the fronts or the honest profile."""
    committed("summary")  # skips where these results are not ours
    return results.read(name, ROOT / paths.table(name))


def settings_of(dataset: str) -> list[str]:
    second = "marital" if dataset == "dutch" else "race"
    return ["gender", second, "intersection"]


# -- beyond the paper -----------------------------------------------------------------------------


def test_the_fronts_have_every_method_strength_seed_and_setting() -> None:
    runs = table("frontier")
    assert list(runs.columns[:10]) == [*KEYS, *METRICS]
    expected = set()
    for dataset in ("compas", "compas_without_leak", "adult", "dutch"):
        for method, strengths in PARAMS["frontier"]["strengths"].items():
            loaded = methods.make(method)
            seeds = PARAMS["frontier"]["seeds"] if getattr(loaded, "random", True) else [0]
            names = settings_of(dataset.removesuffix(fronts.WITHOUT_LEAK))
            names = names if loaded.handles(3) else names[:1]
            parts = ("validation", "test")
            expected |= set(itertools.product([dataset], names, [method], strengths, seeds, parts))
    found = list(runs[KEYS].itertuples(index=False, name=None))
    assert len(found) == len(expected) and set(found) == expected
    assert set(runs["data"]) == {"real"} and set(runs["partition"]) == {"authors"}


def test_what_follows_from_the_fronts_does() -> None:
    runs = table("frontier")
    summary = fronts.summarize(runs)
    pd.testing.assert_frame_equal(table("frontier_summary"), summary, atol=2e-5, check_dtype=False)
    pd.testing.assert_frame_equal(table("best"), fronts.best(summary), atol=2e-5, check_dtype=False)
    goal = fronts.goal(summary, pd.read_csv(ROOT / paths.PAPER))
    pd.testing.assert_frame_equal(table("goal"), goal, atol=2e-5, check_dtype=False)


def test_the_honest_summary_follows_from_its_models() -> None:
    runs = table("honest")
    assert list(runs.columns) == results.TABLES["honest"]
    of_setting = runs.groupby(["dataset", "setting"])["groups"]
    assert (of_setting.min() == of_setting.max()).all()  # whatever the split
    assert runs["partition_seed"].nunique() == len(PARAMS["honest"]["splits"])
    pd.testing.assert_frame_equal(
        table("honest_summary"), honest.summarize(runs), atol=2e-5, check_dtype=False
    )


def test_what_thresholds_dominate_follows_from_the_tables() -> None:
    found = dominance.dominated(table("unprocessed"), table("honest"))
    committed = table("dominated")
    pd.testing.assert_frame_equal(committed, found, atol=2e-5, check_dtype=False)


def test_boosting_and_its_thresholds_are_as_good_as_others_found() -> None:
    """facts/peers.md: LightGBM on splits of theirs; accuracy without and with a band of parity."""
    plain = table("honest_summary").set_index(["dataset", "setting", "method"])
    assert plain.loc[("adult", "gender", "boosting"), "micro_f1"] == pytest.approx(
        0.8695, abs=0.005
    )
    rules = table("unprocessed").query("dataset == 'adult' and method == 'boosting'")
    parity = rules.query("notion == 'parity' and setting == 'gender'").set_index("tolerance")
    for tolerance, f1 in {0.1: 0.864, 0.05: 0.857, 0.01: 0.849}.items():
        assert parity.loc[tolerance, "micro_f1"] == pytest.approx(f1, abs=0.005)
        assert parity.loc[tolerance, "imparity"] == pytest.approx(tolerance, abs=0.02)


def test_the_well_trained_backbone_is_better_than_the_papers() -> None:
    rows = table("frontier_summary").set_index(["dataset", "setting", "method", "split"])
    f1 = rows.loc[("adult", "gender", "vanilla", "test"), "micro_f1"].item()
    assert f1 == pytest.approx(0.845, abs=0.003)  # facts/baselines.md


def test_infofair_fitted_is_stable_on_the_datasets_as_they_are() -> None:
    rows = table("frontier").query("method == @FITTED")
    assert not (rows["note"] == "diverged").any()
    assert not (rows["note"] == "constant")[~rows["dataset"].str.endswith("_leak")].any()
    strengths = PARAMS["frontier"]["strengths"][FITTED]
    assert min(strengths) <= 0.1 and max(strengths) >= 30

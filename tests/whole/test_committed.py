"""The committed results: what others found of the same, and what follows from what."""

import itertools
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from ruamel.yaml import YAML

from infofair import grids, methods
from infofair.storage import read_json
from study import params, paths, plans, results, revisions
from study.comparison.measured import BUDGETS, TAKING_PART, needs_s, split_name
from study.measure import AMOUNTS, TOLERANCES
from study.results import METRICS
from tests.conftest import ROOT

FITTED = "infofair_fitted"
PARAMS = YAML(typ="safe").load(ROOT / "params.yaml")
ASKED = params.check(PARAMS)
BASES = ("vanilla", "logistic", "boosting")
RULES = ("thresholds", "blind", "barycentre")
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
    """A committed table of the comparison."""
    committed("summary")  # skips where these results are not ours
    return results.read(name, ROOT / paths.table(name))


def settings_of(dataset: str) -> list[str]:
    second = "marital" if dataset == "dutch" else "race"
    return ["gender", second, "intersection"]


# -- the comparison -------------------------------------------------------------------------------


@cache
def planned() -> dict[Path, plans.Plan]:
    return dict(plans.everything(ASKED))


def forms(dataset: str, method: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = planned()[paths.plan("sweep", dataset, method)]["forms"]
    return found


def trained_names(dataset: str) -> set[str]:
    """Every form of every method on a dataset."""
    asked = ASKED.compared_datasets[dataset]
    return {form["name"] for method in asked for form in forms(dataset, method)}


def on_bases(dataset: str) -> set[str]:
    bases = [name for name in BASES if name in ASKED.compared_datasets[dataset]]
    return {f"{base}_{rule}" for base in bases for rule in RULES}


def test_on_the_papers_data_every_method_has_its_strengths_seeds_and_settings() -> None:
    runs = table("frontier")
    assert list(runs.columns[:10]) == [*KEYS, *METRICS]
    assert not runs.duplicated(KEYS).any()
    assert set(runs["data"]) == {"real"} and set(runs["partition"]) == {"authors"}
    found = runs.groupby(["dataset", "method"])
    assert set(runs["dataset"]) == set(ASKED.datasets)
    for dataset in ASKED.datasets:
        names = {f["name"]: m for m in ASKED.compared for f in forms(dataset, m) if f["authors"]}
        assert {m for d, m in found.groups if d == dataset} == set(names)
        for name, method in names.items():
            own, loaded = found.get_group((dataset, name)), methods.make(method)
            seeds = ASKED.comparison.seeds if getattr(loaded, "random", True) else [0]
            settings = settings_of(dataset) if loaded.handles(3) else ["gender"]
            strengths = sorted(set(own["strength"]))
            varied = method not in BASES
            assert len(strengths) == (ASKED.comparison.strengths if varied else 1), name
            cells = itertools.product(settings, strengths, seeds, ("validation", "test"))
            shown = own[["setting", "strength", "seed", "split"]]
            assert set(shown.itertuples(index=False, name=None)) == set(cells), name


def test_on_honest_data_every_method_has_every_setting_and_as_many_strengths() -> None:
    rows = table("fronts")
    assert set(rows["dataset"]) == set(ASKED.compared_datasets)
    for dataset, own in rows.groupby("dataset"):
        assert set(own["method"]) == trained_names(dataset) | on_bases(dataset)
        large = dataset in ASKED.comparison.large.datasets
        splits = ASKED.comparison.large.splits if large else ASKED.comparison.splits
        assert (own["splits"] == len(splits)).all()
        counted = own[own["notion"].isna() | (own["notion"] == "")].groupby(["method", "setting"])
        for (method, _), strengths in counted["strength"].agg(set).items():
            stem, suffix = split_name(method)
            varied = stem not in BASES or suffix in RULES
            assert len(strengths) == (ASKED.comparison.strengths if varied else 1), method
        # settings have the same groups whatever the method, and all that it handles
        settings = own.groupby("method")["setting"].agg(set)
        assert all(of == settings["vanilla"] for m, of in settings.items() if handles_all(m))


def handles_all(method: str) -> bool:
    return methods.make(split_name(method)[0]).handles(3)


def test_the_grids_are_the_rules() -> None:
    """Each chosen from the look beside it, and each of as many strengths."""
    look = table("grids")
    chosen = look[look["setting"].isna() | (look["setting"] == "")]
    tried = look.drop(chosen.index)
    fronts = table("fronts")
    for (dataset, method), own in chosen.groupby(["dataset", "method"]):
        seen = tried[(tried["dataset"] == dataset) & (tried["method"] == method)]
        of = {s: list(map(look_of, rows.to_dict("records"))) for s, rows in seen.groupby("setting")}
        strengths = list(dict.fromkeys(seen["strength"]))
        rule = grids.grid(strengths, of, ASKED.comparison.strengths, ASKED.comparison.budget)
        assert sorted(own["strength"]) == pytest.approx(sorted(rule), rel=1e-5), (dataset, method)
        here = fronts[(fronts["dataset"] == dataset) & (fronts["method"] == method)]
        assert sorted(set(here["strength"])) == pytest.approx(sorted(rule), rel=1e-5)


def look_of(row: Any) -> grids.Row | None:
    figures = {name: row[name] for name in ("micro_f1", "imparity", "constant")}
    return None if pd.isna(row["imparity"]) else figures


def test_every_method_has_an_operating_point_and_what_each_budget_leaves() -> None:
    summary, best = table("honest_summary"), table("best")
    cells = ["dataset", "setting", "method"]
    fronts = table("fronts")
    assert not summary.duplicated(cells).any()
    everything = set(fronts[cells].itertuples(index=False, name=None))
    assert set(summary[cells].itertuples(index=False, name=None)) == everything
    assert not best.duplicated([*cells, "notion", "budget"]).any()
    assert set(best["budget"]) == set(BUDGETS)
    for notion, own in best.groupby("notion"):
        taking_part = fronts[fronts["notion"].fillna("").isin(TAKING_PART[notion])]
        assert set(own["method"]) == set(taking_part["method"])
        assert (own.groupby(cells)["budget"].nunique() == len(BUDGETS)).all()
    low, high = best["kept"].min(), best["kept"].max()
    assert low >= 0 and high <= 1
    assert summary["s_at_test"].equals(summary["method"].map(
        lambda name: "yes" if needs_s(name) else "no"))  # fmt: skip


def test_an_operating_point_is_one_of_the_fronts() -> None:
    """Its figures are means over splits, of strengths that its front has."""
    summary = table("honest_summary").set_index(["dataset", "setting", "method"])
    fronts = table("fronts").groupby(["dataset", "setting", "method"])["micro_f1"]
    lowest, highest = fronts.min(), fronts.max()
    point = summary["micro_f1"].reindex(lowest.index)
    single = fronts.size() == 1
    np.testing.assert_allclose(point[single], lowest[single], atol=2e-6)
    # each split chooses for itself, so the mean may be a little above the best single strength
    assert (point <= highest + 0.02).all() and (point >= lowest - 0.02).all()


def test_dominance_is_by_the_thresholds_that_know_as_much() -> None:
    for rows in (table("honest_summary").assign(notion="parity"), table("best")):
        columns = (rows["method"], rows["notion"], rows["dominated_by"].fillna(""))
        for method, notion, by in zip(*columns, strict=True):
            rule = "thresholds" if needs_s(method) else "blind"
            if notion == "scores":  # decisions have none; fair scores are a barycentre's, with s
                rule = "barycentre" if needs_s(method) else "nobody"
            allowed = {f"{base}_{rule}" for base in BASES}
            assert set(filter(None, by.replace(" ", "").split(","))) <= allowed


def test_the_goal_is_counted_for_every_method() -> None:
    goal, counts = table("goal"), table("goal_counts").set_index("method")
    on_scores = {f"{base}_{rule}" for base in BASES for rule in ("thresholds", "barycentre")}
    assert set(goal["method"]) == set(table("frontier")["method"]) | on_scores
    held = goal["holds"] == "yes"
    assert held.groupby(goal["method"]).sum().to_dict() == counts["holds"].to_dict()
    assert goal.groupby("method").size().to_dict() == counts["cells"].to_dict()


def test_thresholds_are_put_on_every_method() -> None:
    rules = table("unprocessed")
    for dataset, own in rules.groupby("dataset"):
        assert set(own["method"]) == trained_names(dataset)
        assert set(own["notion"]) == {"parity", "opportunity", "odds"}
        assert set(own["tolerance"]) == set(TOLERANCES)


def test_rules_have_as_many_tolerances_as_methods_have_strengths() -> None:
    assert len(TOLERANCES) == len(AMOUNTS) == ASKED.comparison.strengths


def test_boosting_and_its_thresholds_are_as_good_as_others_found() -> None:
    """facts/peers.md: LightGBM on splits of theirs; accuracy without and with a band of parity."""
    plain = table("honest_summary").set_index(["dataset", "setting", "method"])
    assert plain.loc[("adult", "gender", "boosting"), "micro_f1"] == pytest.approx(
        0.8695, abs=0.005
    )
    rules = table("unprocessed").query("dataset == 'adult' and method == 'boosting'")
    parity = (
        rules.query("notion == 'parity' and setting == 'gender'")
        .set_index("tolerance")
        .sort_index()
    )
    for tolerance, f1 in {0.1: 0.864, 0.05: 0.857, 0.01: 0.849}.items():
        # theirs are between ours
        found = {m: np.interp(tolerance, parity.index, parity[m]) for m in ("micro_f1", "imparity")}
        assert found["micro_f1"] == pytest.approx(f1, abs=0.005)
        assert found["imparity"] == pytest.approx(tolerance, abs=0.02)


def test_the_well_trained_backbone_is_better_than_the_papers() -> None:
    rows = table("frontier").query("dataset == 'adult' and setting == 'gender' and split == 'test'")
    f1 = rows.groupby("method")["micro_f1"].mean()
    assert f1["vanilla"] == pytest.approx(0.845, abs=0.003)  # facts/baselines.md
    honest = table("honest_summary").query("dataset == 'adult' and setting == 'gender'")
    f1 = honest.set_index("method")["micro_f1"]
    assert f1["vanilla"] > f1["vanilla_paper"]


def test_infofair_fitted_is_stable_on_the_datasets_as_they_are() -> None:
    rows = table("frontier").query("method == @FITTED")
    assert not (rows["note"] == "diverged").any()
    honest = table("fronts").query("method == @FITTED")
    assert (honest["diverged"] == 0).all()
    # its front reaches the loosest budget; where it ends above the tightest, the page counts
    best = table("best").query("method == @FITTED and notion == 'parity' and budget == 0.2")
    assert (best["within"] == 1).all()


def test_an_adversary_that_is_fitted_is_the_fairer_the_stronger_it_is() -> None:
    """The paper's form, one linear critic step, becomes less fair."""
    fronts = table("fronts").query("method == 'adversarial_fitted' and dataset in @ASKED.datasets")
    cells = fronts.groupby(["dataset", "setting"])
    assert len(cells) == 3 * len(ASKED.datasets)
    for cell, own in cells:
        own = own.sort_values("strength")
        gap, width = own["imparity"].to_numpy(), own["imparity_width"].to_numpy()
        assert gap[-1] < gap[0], cell
        assert (np.diff(gap) <= width[1:] + width[:-1]).all(), cell


def test_vanilla_is_constant_in_no_split() -> None:
    vanilla = table("honest_summary").query("method == 'vanilla'")
    assert set(vanilla["dataset"]) == set(ASKED.compared_datasets)
    assert (vanilla["constant"] == 0).all()


@pytest.mark.parametrize("dataset", ASKED.compared_datasets)
def test_a_linear_model_is_hardly_better_than_the_backbone(dataset: str) -> None:
    own = table("honest_summary").query("dataset == @dataset").set_index(["method", "setting"])
    f1 = own["micro_f1"]
    assert (f1["logistic"] - f1["vanilla"]).max() <= 0.01


# -- the generalisations --------------------------------------------------------------------------


def test_nothing_is_clearly_ahead_of_the_barycentre() -> None:
    """In its own distance, which is the reference's theorem; on Law and on Adult's hours."""
    path = ROOT / paths.general("regression")
    if not path.exists():
        pytest.skip(f"{path.name} is not there: run dvc repro beyond/dvc.yaml:general")
    found = results.general("regression", path)
    if set(found["data"]) != {"real"}:
        pytest.skip("the results in this workspace are not of the real data")
    cells = found.groupby(["dataset", "setting"])
    assert {dataset for dataset, _ in cells.groups} == {"law", "adult"} and len(cells) == 3
    for cell, rows in cells:
        wide = rows.pivot_table(["mean", "std", "seeds"], ["method", "strength"], "metric")
        ways = wide.loc[["barycentre"]]
        assert len(ways) == 4, cell
        for name, own in wide.drop("barycentre", level="method").iterrows():
            for _, way in ways.iterrows():
                if own["mean", "w2"] > way["mean", "w2"]:
                    continue  # it is no fairer, and may have a better R²
                errors = [of["std", "r2"] ** 2 / of["seeds", "r2"] for of in (own, way)]
                ahead = (own["mean", "r2"] - way["mean", "r2"]) / sum(errors) ** 0.5
                assert ahead <= 2, (cell, name)  # standard errors


# -- what people look at --------------------------------------------------------------------------


def test_the_committed_reports_are_small_enough_to_be_sent() -> None:
    sizes = {path.name: path.stat().st_size for path in (ROOT / paths.REPORTS).glob("*.html")}
    assert {path.name for path in (paths.INDEX, paths.BEYOND, paths.LUCK)} <= sizes.keys()
    assert {name for name, size in sizes.items() if size >= 3_000_000} == set()


def test_make_experiments_keeps_the_headline_and_no_parameter() -> None:
    """About a dozen columns: DVC keeps a column if the pattern matches where its name begins."""
    pattern = re.search(r"^HEADLINE := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert pattern
    keep = re.compile(pattern[1].replace("$$", "$"))
    headline = read_json(ROOT / paths.METRICS)
    assert all(keep.match(name) for name in headline) and len(headline) <= 15
    parameters = revisions.flat(PARAMS)
    assert [name for name in parameters if keep.match(name)] == []


# -- the audit ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dataset", "not_above"),
    [("compas", {"race", "gender × race"}), ("adult", {"gender × race"}), ("dutch", set())],
)
def test_the_audit_finds_by_itself_which_columns_hold_no_evidence_by_imparity(
    dataset: str, not_above: set[str]
) -> None:
    """Three of nine, as an audit by hand had found; and COMPAS' leak."""
    path = ROOT / paths.audit(dataset)
    if not path.exists():
        pytest.skip(f"{path.name} is not there: run dvc repro")
    content = read_json(path)
    if "simulated" in content["source"]["file"]:
        pytest.skip("the results in this workspace are not of the real data")
    found = {own["name"]: own["unpooled"] for own in content["settings"]}
    assert {name for name, own in found.items() if not own["above_chance"]} == not_above
    leaks = [own["column"] for own in content["leaks"] if own["gives_label_away"]]
    assert leaks == (["is_recid"] if dataset == "compas" else [])
    # the same null quantiles as the paper's tables have, of the same seed
    runs = committed("runs").query(
        "dataset == @dataset and method == 'vanilla' and split == 'test'"
    )
    for name, own in found.items():
        setting = "intersection" if "×" in name else name
        [same] = [
            run for run in runs[runs["setting"] == setting].itertuples()
            if run.seed == (0 if dataset == "compas" else 3)
        ]  # fmt: skip
        # two digits where people are protected
        digit = 0.005 if content["protected"] else 1e-5
        assert own["value"] == pytest.approx(same.imparity, abs=digit)
        assert own["null_95"] == pytest.approx(same.null_95, rel=0.03)

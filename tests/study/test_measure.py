"""Every figure of every model: complete, and as others compute them."""

import json
import shutil
from collections import Counter
from contextlib import chdir
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equalized_odds_difference,
    selection_rate,
)
from scipy.stats import ks_2samp
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from infofair import metrics
from infofair.data.prepared import PARTS, Prepared
from infofair.errors import Problem
from infofair.scores import ks
from infofair.training.predictions import Predictions
from stages import measure as door
from study import evaluation, measure, paths, plans, results
from study import swept as models
from study.results import FIGURES, MEASURED, METRICS
from tests import swept
from tests.conftest import ROOT, compared, write_plans
from tests.simulated import prepared

OF_SCORES = ["auc", "ks", "abcc", "bits", "ks_null"]
OF_DECISIONS = [name for name in FIGURES if name not in OF_SCORES]
OF_PAPER = [*METRICS, "selection_rate"]
METHODS = ["vanilla", "gdp", "mindiff", "boosting"]
TOLERANCES, AMOUNTS = (0.0, 0.1), (0.5, 1.0)
NOTIONS = ("parity", "opportunity", "odds")
KEYS = ["setting", "method", "notion", "strength", "partition_seed", "seed", "split"]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rules, and nothing is remembered of what another folder had."""
    _few(monkeypatch)


def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "TOLERANCES", TOLERANCES)
    monkeypatch.setattr(measure, "AMOUNTS", AMOUNTS)
    monkeypatch.setattr(models, "_loaded", {})
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made-up models on two honest splits and on the paper's, and what is measured of them."""
    folder = tmp_path_factory.mktemp("measured")
    shutil.copy(ROOT / paths.PARAMS, folder)
    with chdir(folder), pytest.MonkeyPatch.context() as monkeypatch:
        _few(monkeypatch)
        _write()
        door.main("compas")
    return folder


@pytest.fixture
def trained(whole: Path, few: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of them, to read, as the current directory."""
    monkeypatch.chdir(whole)
    return whole


@pytest.fixture
def copy(whole: Path, tmp_path: Path, few: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, to change, as the current directory."""
    shutil.copytree(whole, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


def _write() -> None:
    write_plans(
        datasets=["compas"],
        methods={"trained": ["vanilla", "gdp", "mindiff"], "ablations": [], "solved": []},
        beyond={"trained": [], "solved": ["boosting"]},
        comparison=compared(
            splits=[0, 1], seeds=[0, 1], paper=["vanilla"], unaware=["vanilla", "boosting", "gdp"]
        ),
    )
    data().save(paths.processed("compas"))
    for split in (0, 1):
        data(split).save(paths.variant("compas", f"split{split}"))
    swept.write_posteriors("compas")
    for method in METHODS:
        strengths = (0.1, swept.DIVERGED) if method == "gdp" else swept.STRENGTHS
        swept.write("compas", method, strengths)


def data(seed: int = 0) -> Prepared:
    return prepared(rows=600, races=2, seed=seed)


def measured() -> pd.DataFrame:
    """What the door wrote."""
    found = results.measured(["compas"])
    return found.fillna({"notion": "", "note": ""})


# -- which rows there are, and what is in them ----------------------------------------------------


def test_every_model_has_a_row_for_each_setting_and_part_and_bases_one_for_each_rule(
    trained: Path,
) -> None:
    found = measured()
    assert list(found.columns) == MEASURED
    assert not found.duplicated(KEYS).any()
    settings = ["gender", "race", "intersection"]
    strengths = {"gdp": 2, "gdp_unaware": 2, "mindiff": 2}
    honest = found[found["partition_seed"].notna()]
    expected: dict[tuple[str, str], int] = {}
    for method in ("vanilla", "vanilla_paper", "vanilla_unaware", "boosting", "boosting_unaware",
                   "gdp", "gdp_unaware", "mindiff"):  # fmt: skip
        handled = settings[:2] if method == "mindiff" else settings  # two groups each
        expected[method, ""] = len(handled) * strengths.get(method, 1)
    for base, rule, notion in product(("vanilla", "boosting"), ("thresholds", "blind"), NOTIONS):
        expected[f"{base}_{rule}", notion] = 3 * len(TOLERANCES)
    for base in ("vanilla", "boosting"):
        expected[f"{base}_barycentre", "scores"] = 3 * len(AMOUNTS)
    counted = Counter(honest[["method", "notion"]].itertuples(index=False, name=None))
    assert counted == {key: count * 2 * 2 for key, count in expected.items()}  # splits, parts
    assert set(honest["split"]) == set(PARTS)
    assert (honest["seed"] == honest["partition_seed"].where(
        ~honest["method"].str.startswith("boosting"), 0)).all()  # fmt: skip


def test_honest_rows_of_what_was_trained_have_every_figure(trained: Path) -> None:
    found = measured().query("partition_seed.notna() and notion == '' and note != 'diverged'")
    assert found[[*OF_DECISIONS, "auc", "ks", "abcc", "constant_micro_f1"]].notna().all(axis=None)
    # how much the score tells of the group is fitted on validation rows; chance is of test rows
    for name in ("bits", "ks_null"):
        assert found.groupby("split")[name].apply(lambda of: of.notna().mean()).to_dict() == {
            "test": 1, "validation": 0
        }  # fmt: skip


def test_a_rule_has_no_score_and_a_fair_score_has_all(trained: Path) -> None:
    found = measured().query("partition_seed.notna()")
    rules = found[found["notion"].isin(NOTIONS)]
    assert rules[OF_DECISIONS].notna().all(axis=None)
    assert rules[OF_SCORES].isna().all(axis=None)
    fair = found[found["notion"] == "scores"]
    assert fair[[*OF_DECISIONS, "auc", "ks", "abcc"]].notna().all(axis=None)
    assert fair.loc[fair["split"] == "test", ["bits", "ks_null"]].notna().all(axis=None)


def test_on_the_papers_split_there_are_the_papers_figures_and_the_rules_for_parity(
    trained: Path,
) -> None:
    found = measured().query("partition_seed.isna()")
    # no other forms, and nothing blind
    notions = found.groupby("method")["notion"].agg(set).to_dict()
    plain = {method: {""} for method in ("vanilla", "gdp", "mindiff", "boosting")}
    rules = {"thresholds": {"parity"}, "barycentre": {"scores"}}
    assert notions == plain | {
        f"{base}_{rule}": of for base in ("vanilla", "boosting") for rule, of in rules.items()
    }
    of_rules = found[found["notion"] != ""]
    assert set(of_rules.loc[of_rules["notion"] == "parity", "strength"]) == set(TOLERANCES)
    assert set(of_rules.loc[of_rules["notion"] == "scores", "strength"]) == set(AMOUNTS)
    seeds = of_rules.groupby("method")["seed"].agg(set)
    assert seeds["vanilla_thresholds"] == {0, 1} and seeds["boosting_thresholds"] == {0}
    assert set(found.loc[found["method"] == "vanilla", "seed"]) == {0, 1}
    kept = found[found["note"] != "diverged"]
    assert kept[OF_PAPER].notna().all(axis=None)
    others = [name for name in FIGURES if name not in OF_PAPER]
    assert found[others].isna().all(axis=None)


def test_a_model_that_diverged_has_no_figures_and_says_so(trained: Path) -> None:
    found = measured()
    lost = found["strength"] == swept.DIVERGED
    assert lost.any()
    assert (found.loc[lost, "note"] == "diverged").all()
    assert found.loc[lost, FIGURES].isna().all(axis=None)
    assert not (found.loc[~lost, "note"] == "diverged").any()


def test_every_row_says_what_it_is_of(trained: Path) -> None:
    found = measured()
    assert set(found["dataset"]) == {"compas"}
    assert (found["data"] == "simulated").all() and (found["partition"] == "random").all()
    sizes = {part: len(data().split[part]) for part in ("train", "test")}
    assert (found[list(sizes)] == list(sizes.values())).all(axis=None)
    groups = found["setting"].map({"gender": 2, "race": 2, "intersection": 4})
    assert (found["groups"] == groups).all()


def test_the_constant_predictor_is_the_commoner_class_of_the_training_rows() -> None:
    rows = data()
    y = rows.y.copy()
    y[rows.split["train"]] = 1
    y[rows.split["test"]] = 0
    other = replace(rows, y=y)
    assert measure._constant(other, "test") == 0
    assert measure._constant(other, "validation") == pytest.approx(
        y[rows.split["validation"]].mean()
    )


# -- the figures ----------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["gender", "race", "intersection"])
@pytest.mark.parametrize("seed", range(3))
def test_figures_of_decisions_are_fairlearns_and_scikit_learns(setting: str, seed: int) -> None:
    rows = data(seed)
    decided = np.random.default_rng(seed).random(len(rows.split["test"])) > 0.6
    found = measure.of_decisions(rows, "test", decided, setting)
    y = rows.y[rows.split["test"]].astype(int)
    group, groups = rows.members(setting, "test")
    predicted, known = decided.astype(int), {"sensitive_features": group}
    assert found["micro_f1"] == pytest.approx(accuracy_score(y, predicted))
    assert found["macro_f1"] == pytest.approx(f1_score(y, predicted, average="macro"))
    assert found["imparity"] == pytest.approx(metrics.imparity(decided, group, groups))
    assert found["selection_rate"] == pytest.approx(selection_rate(y, predicted))
    for name, other in {
        "largest_gap": demographic_parity_difference,
        "parity_ratio": demographic_parity_ratio,
        "opportunity_gap": equal_opportunity_difference,
        "odds_gap": equalized_odds_difference,
    }.items():
        assert found[name] == pytest.approx(other(y, predicted, **known)), name
    frame = MetricFrame(metrics=accuracy_score, y_true=y, y_pred=predicted, **known)
    assert found["worst_accuracy"] == pytest.approx(frame.group_min())
    rates = MetricFrame(metrics=selection_rate, y_true=y, y_pred=predicted, **known).by_group
    named = {rows.group_names[setting][g]: rate for g, rate in rates.items()}
    assert json.loads(found["rates"]) == pytest.approx(named, abs=5e-5)
    assert "rates" not in measure.of_decisions(
        rows, "validation", np.zeros(len(rows.split["validation"]), bool), setting
    )


@pytest.mark.parametrize("setting", ["gender", "intersection"])
def test_a_fair_predictors_gaps_are_those_of_a_simulation(setting: str) -> None:
    """Of many rows, so that it does not matter how a quantile of few values is taken."""
    rows, rng = prepared(rows=4000, races=2), np.random.default_rng(1)
    y = rows.y[rows.split["train"]].astype(int)
    group, groups = rows.members(setting, "train")
    decided = rng.random(len(y)) < np.where(y == 1, 0.6, 0.2)
    found = measure.of_decisions(rows, "train", decided, setting)

    def drawn(of: np.ndarray, rate: float) -> np.ndarray:
        sizes = np.bincount(group[of], minlength=groups)
        return rng.binomial(sizes, rate, (4000, groups)) / sizes

    rate = round(decided.mean(), 2)
    everyone, positive, negative = y >= 0, y == 1, y == 0
    selected, tpr, fpr = (
        drawn(everyone, rate),
        drawn(positive, decided[positive].mean()),
        drawn(negative, decided[negative].mean()),
    )
    pairs = np.abs(selected[:, :, None] - selected[:, None]).sum((1, 2)) / groups / (groups - 1)
    simulated = {
        "imparity_null": pairs,
        "largest_gap_null": np.ptp(selected, axis=1),
        "opportunity_gap_null": np.ptp(tpr, axis=1),
        "odds_gap_null": np.maximum(np.ptp(tpr, axis=1), np.ptp(fpr, axis=1)),
    }
    for name, gaps in simulated.items():
        assert found[name] == pytest.approx(np.quantile(gaps, 0.95), rel=0.06), name


def test_on_the_papers_split_figures_are_those_of_its_table(trained: Path) -> None:
    found = measured().query("partition_seed.isna() and method == 'gdp' and strength == 0.1")
    stored = Predictions.load(paths.RESULTS / "sweep/compas/gdp/gdp/authors/predictions.npz")
    for _, row in found.iterrows():
        model = stored.model(row["setting"], 0.1, row["seed"])
        decided = model[row["split"]] > 0.5
        expected = evaluation.headline(data(), row["split"], decided, row["setting"])
        assert row[OF_PAPER].to_dict() == pytest.approx(
            {name: expected[name] for name in OF_PAPER}, abs=1e-7
        )


def test_figures_of_scores_are_scikit_learns_and_scipys() -> None:
    rows, rng = data(), np.random.default_rng(0)
    model = {part: rng.random(len(rows.split[part])).astype(np.float32) for part in PARTS}
    found = measure.of_scores(rows, "test", model, "gender")
    group, _ = rows.members("gender", "test")
    y = rows.y[rows.split["test"]]
    assert found["auc"] == pytest.approx(roc_auc_score(y, model["test"]))
    of_groups = [model["test"][group == g] for g in (0, 1)]
    assert found["ks"] == pytest.approx(ks_2samp(*of_groups).statistic)
    assert 0 <= found["abcc"] <= found["ks"]
    assert "bits" in found
    assert "bits" not in measure.of_scores(rows, "validation", model, "gender")


@pytest.mark.parametrize("digits", [12, 2, 1])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.6, 0.25, 0.1, 0.05)])
def test_what_chance_gives_of_ks_is_that_of_permuted_groups(
    digits: int, shares: tuple[float, ...]
) -> None:
    """Also of scores that rows share, and beside a group without rows."""
    rng = np.random.default_rng(0)
    score = rng.random(400).round(digits)
    group = rng.choice(len(shares), len(score), p=shares)
    groups = len(shares) + 1
    drawn = [ks(score, rng.permutation(group), groups) for _ in range(2000)]
    found = measure.null_ks(score, group, groups)
    # of 400 permutations, the 95 % quantile is between these of many
    assert np.quantile(drawn, 0.92) <= found + 1e-6 and found - 1e-6 <= np.quantile(drawn, 0.98)
    assert found == measure.null_ks(score, group, groups)  # a seed of its own
    order = rng.permutation(len(score))
    assert found == measure.null_ks(score[order], rng.permutation(group), groups)


def test_one_score_or_one_group_has_no_gap_by_chance() -> None:
    group = np.arange(40) % 2
    assert measure.null_ks(np.full(40, 0.3), group, 2) == pytest.approx(0, abs=1e-6)
    assert measure.null_ks(np.linspace(0, 1, 40), np.zeros(40, int), 2) == 0


# -- rules ----------------------------------------------------------------------------------------


def test_a_tolerance_is_kept_on_the_rows_that_the_rule_was_found_on(trained: Path) -> None:
    everything = measured().query("partition_seed.notna() and split == 'validation'")
    plain = everything[everything["method"] == "vanilla"]
    found = everything[everything["method"] == "vanilla_thresholds"]
    loose, tight = (
        found[found["strength"] == tolerance].set_index(["setting", "notion", "partition_seed"])
        for tolerance in (0.1, 0.0)
    )
    assert (loose["micro_f1"] >= tight["micro_f1"] - 0.05).all()
    parity = tight.xs("parity", level="notion")["largest_gap"].mean()
    # thresholds that are not random miss it by a row or two of a group
    assert parity < 0.1 < plain["largest_gap"].mean()


def test_no_test_row_has_a_say_in_a_rule(copy: Path) -> None:
    before = measured()
    for split in (0, 1):
        rows = data(split)
        y = rows.y.copy()
        y[rows.split["test"]] = 1 - y[rows.split["test"]]
        replace(rows, y=y).save(paths.variant("compas", f"split{split}"))
    door.main("compas")
    after = measured()
    chosen = before["split"] == "validation"
    pd.testing.assert_frame_equal(after[chosen], before[chosen])
    # and what is decided about test rows is the same; how good that is, is not
    assert after["selection_rate"].equals(before["selection_rate"])
    assert not after["micro_f1"].equals(before["micro_f1"])


def test_blind_rules_are_of_the_model_without_the_sensitive_columns(trained: Path) -> None:
    run = next(r for r in models.runs("compas", "vanilla") if r.method == "vanilla_unaware")
    rows = pd.DataFrame(measure.of_run("compas", run))
    assert set(rows["method"]) == {"vanilla_unaware", "vanilla_blind"}
    aware = next(r for r in models.runs("compas", "vanilla") if r.method == "vanilla")
    rows = pd.DataFrame(measure.of_run("compas", aware))
    assert set(rows["method"]) == {"vanilla", "vanilla_thresholds", "vanilla_barycentre"}
    other = next(r for r in models.runs("compas", "gdp") if r.method == "gdp_unaware")
    assert {row["method"] for row in measure.of_run("compas", other)} == {"gdp_unaware"}


def test_half_of_the_way_to_a_fair_score_is_fairer_than_none(trained: Path) -> None:
    found = measured().query("partition_seed.notna() and split == 'validation'")
    by = found[found["method"].isin(["boosting", "boosting_barycentre"])]
    ks = by.groupby(["method", "strength"])["ks"].mean()
    assert ks["boosting", 0] > ks["boosting_barycentre", 0.5] > ks["boosting_barycentre", 1]


# -- thresholds on every method -------------------------------------------------------------------


def chosen(strength: float) -> pd.DataFrame:
    cells = product(["gender", "race", "intersection"], ["gdp", "vanilla"], [0, 1])
    rows: list[dict[str, Any]] = [
        {"dataset": "compas", "setting": setting, "method": method, "partition_seed": split}
        | {"strength": 0.0 if method == "vanilla" else strength}
        for setting, method, split in cells
    ]
    return pd.DataFrame(rows)


def test_unprocessed_puts_every_rule_on_the_strength_that_a_split_chose(
    trained: Path,
) -> None:
    found = measure.unprocessed({"compas": METHODS}, chosen(0.1))
    assert set(found["method"]) == {"gdp", "vanilla"}  # of the others none was chosen
    assert len(found) == 2 * 3 * 2 * len(NOTIONS) * len(TOLERANCES) * len(PARTS)
    assert found.notna().all(axis=None)
    assert (found.groupby("notion")["random"].max() == [1, 0, 0]).all()  # odds first
    # of a base, it is what `measured` has
    keys = ["setting", "notion", "tolerance", "partition_seed", "split"]
    base = measured().query("method == 'vanilla_thresholds' and partition_seed.notna()")
    base = base.rename(columns={"strength": "tolerance"})
    both = base.merge(found.query("method == 'vanilla'"), on=keys, suffixes=("", "_again"))
    assert len(both) == len(base)
    for name in ("micro_f1", "imparity", "largest_gap", "opportunity_gap", "odds_gap"):
        np.testing.assert_allclose(both[name], both[f"{name}_again"], atol=1e-7)


def test_what_diverged_is_not_unprocessed(trained: Path) -> None:
    found = measure.unprocessed({"compas": METHODS}, chosen(swept.DIVERGED))
    assert set(found["method"]) == {"vanilla"}


def test_the_papers_run_is_called_as_in_its_plan() -> None:
    """Who measures does not depend on what is planned."""
    assert measure.AS_IT_IS == plans.AS_IT_IS


# -- what is missing ------------------------------------------------------------------------------


def test_a_model_that_is_missing_names_its_pipeline(copy: Path) -> None:
    (paths.RESULTS / "sweep/compas/gdp/gdp/split1/predictions.npz").unlink()
    with pytest.raises(Problem, match=r"dvc repro beyond/dvc\.yaml$"):
        door.main("compas")

"""What each split's validation rows choose, and what test rows say of it."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from study.comparison import choices, measured, picking
from study.comparison.dominance import baselines
from study.comparison.measured import AIMS, BUDGETS, GAPS, IN_SPLIT, TAKING_PART
from study.results import CELL, FIGURES, TABLES, Row
from tests.study.comparison import made_up

FEW = ("vanilla", "gdp", "gdp_unaware", "vanilla_unaware", "boosting_thresholds", "boosting_blind")
ONE = made_up.PLACES[:1]
TABLES_OF: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], list[str]]] = {
    "fronts": (choices.fronts, [*CELL, "notion", "strength"]),
    "best": (choices.best, [*CELL, "notion", "budget"]),
    "honest_summary": (lambda rows: choices.operating(rows)[0], CELL),
    "strengths": (lambda rows: choices.operating(rows)[1], IN_SPLIT),
}


@cache
def of_all(name: str) -> pd.DataFrame:
    return TABLES_OF[name][0](made_up.measured())


def by_split(rows: pd.DataFrame) -> dict[tuple[Any, ...], list[Row]]:
    """(dataset, setting, method, split) -> its trials, with figures, for plain loops."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for trial in measured.trials(rows).to_dict("records"):
        found.setdefault(tuple(trial[key] for key in IN_SPLIT), []).append(trial)
    return found


def plain_budget(own: list[Row], notion: str, budget: float) -> tuple[Row, bool]:
    gap, aim = f"validation_{GAPS[notion]}", f"validation_{AIMS[notion]}"
    own = [row for row in own if row["notion"] in TAKING_PART[notion] and row["diverged"] == 0]
    within = [row for row in own if row[gap] <= budget]
    if within:
        return min(within, key=lambda row: (-row[aim], row[gap], row["strength"])), True
    return min(own, key=lambda row: (row[gap], -row[aim], row["strength"])), False


def plain_operating(own: list[Row], vanilla: Row) -> Row:
    own = [row for row in own if row["notion"] in TAKING_PART["parity"] and row["diverged"] == 0]
    f1, gap = "validation_micro_f1", "validation_imparity"
    cheap = [row for row in own if row[f1] >= vanilla[f1] - 0.02]
    if cheap:
        return min(cheap, key=lambda row: (row[gap], -row[f1], row["strength"]))
    return max(own, key=lambda row: (row[f1], -row[gap], -row["strength"]))


def plain_width(of_splits: Sequence[float] | np.ndarray | pd.Series) -> float:
    """Nadeau and Bengio's, of 800 training rows and 100 test rows."""
    n = len(of_splits)
    error = np.sqrt((1 / n + 100 / 800) * np.var(np.asarray(of_splits), ddof=1))
    return float(stats.t.ppf(0.975, n - 1) * error)


def lose(rows: pd.DataFrame, lost: pd.Series) -> pd.DataFrame:
    """The same, if these had diverged."""
    rows = rows.copy()
    rows.loc[lost, FIGURES] = np.nan
    rows.loc[lost, "note"] = "diverged"
    return rows


# -- properties of all ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES_OF)
def test_the_order_of_rows_changes_nothing(name: str) -> None:
    table, keys = TABLES_OF[name]
    other = made_up.measured().sample(frac=1, random_state=1)
    made_up.alike(of_all(name), table(other), keys)


@pytest.mark.parametrize("seed", range(3))
def test_nothing_on_test_rows_changes_a_choice(seed: int) -> None:
    rows = made_up.measured(FEW, splits=3, seed=seed)
    test = rows["split"] == "test"
    other = rows.copy()
    other.loc[test, FIGURES] = np.random.default_rng(seed).random((test.sum(), len(FIGURES)))
    pd.testing.assert_frame_equal(*(choices.operating(each)[1] for each in (rows, other)))
    chosen = [choices.best(each)[["strength", "within"]] for each in (rows, other)]
    pd.testing.assert_frame_equal(*chosen)


@pytest.mark.parametrize("name", ["fronts", "best", "honest_summary"])
def test_tables_have_their_columns_and_every_cell_in_the_order_of_the_rows(name: str) -> None:
    rows = made_up.measured()
    table = of_all(name)
    assert list(table) == TABLES[name]
    for keys in (CELL, ["dataset", "setting"]):
        wanted = measured.honest(rows)[keys].drop_duplicates().reset_index(drop=True)
        pd.testing.assert_frame_equal(table[keys].drop_duplicates(ignore_index=True), wanted)


def test_another_split_and_the_authors_change_nothing_in_a_split() -> None:
    rows = made_up.measured(FEW)
    some = rows[rows["partition_seed"].isin([0, 2])]
    found = choices.operating(rows)[1]
    wanted = found[found["partition_seed"].isin([0, 2])].reset_index(drop=True)
    pd.testing.assert_frame_equal(choices.operating(some)[1], wanted)


# -- fronts ---------------------------------------------------------------------------------------


def test_fronts_are_means_over_splits_with_nadeau_and_bengios_width() -> None:
    rows = made_up.measured(FEW, ONE)
    rows.loc[(rows["partition_seed"] == 1) & (rows["strength"] == 2.0), "note"] = "constant"
    table = choices.fronts(rows)
    assert len(table) == 2 + 2 * 4 + 2 * 3 * 4
    honest = rows[rows["partition_seed"].notna()]
    for row in table.to_dict("records"):
        keys = ("method", "notion", "strength")
        own = honest[np.logical_and.reduce([honest[key] == row[key] for key in keys])]
        parts = {part: own[own["split"] == part] for part in ("test", "validation")}
        for name in FIGURES:
            assert row[name] == pytest.approx(parts["test"][name].mean(), nan_ok=True)
        for name in ("micro_f1", "ks"):
            wanted = parts["validation"][name].mean()
            assert row[f"validation_{name}"] == pytest.approx(wanted, nan_ok=True)
        width = plain_width(parts["test"]["micro_f1"])
        assert row["micro_f1_width"] == pytest.approx(width)
        rates = pd.DataFrame(map(json.loads, parts["test"]["rates"])).mean().to_dict()
        assert json.loads(row["rates"]) == pytest.approx(rates, abs=5e-4)
        assert row["splits"] == 4
        assert row["constant"] == (0.25 if row["strength"] == 2.0 else 0)


def test_a_strength_that_diverged_in_a_split_has_no_means() -> None:
    rows = made_up.measured(FEW, ONE)
    lost = (rows["method"] == "gdp") & (rows["strength"] == 2.0) & (rows["partition_seed"] == 1)
    table = choices.fronts(lose(rows, lost))
    is_lost = (table["method"] == "gdp") & (table["strength"] == 2.0)
    assert table.loc[is_lost, ["micro_f1", "validation_ks", "micro_f1_width"]].isna().all(axis=None)
    assert table.loc[is_lost, "diverged"].item() == 0.25
    assert table.loc[~is_lost, ["micro_f1", "micro_f1_width"]].notna().all(axis=None)


# -- within a budget ------------------------------------------------------------------------------


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 1000))
def test_the_best_is_that_of_a_plain_loop(seed: int) -> None:
    methods = ("vanilla", "gdp", "boosting_thresholds", "boosting_barycentre")
    rows = made_up.measured(methods, ONE, seed=seed)
    lost = (rows["method"] == "gdp") & (rows["strength"] == 0.5) & (rows["partition_seed"] == 1)
    rows = lose(rows, lost)
    of_split = by_split(rows)
    table = choices.best(rows).set_index(["method", "notion", "budget"])
    wanted = {("vanilla", n) for n in GAPS} | {("gdp", n) for n in GAPS}
    wanted |= {("boosting_thresholds", n) for n in GAPS if n != "scores"}
    wanted |= {("boosting_barycentre", n) for n in ("parity", "scores")}
    assert set(table.index) == {(*key, budget) for key in wanted for budget in BUDGETS}
    for (method, notion, budget), row in table.iterrows():  # type: ignore[misc]
        own = [of for key, of in of_split.items() if key[2] == method]
        picked = [plain_budget(each, notion, budget) for each in own]
        values = {n: np.array([of[n] for of, _ in picked]) for n in ("micro_f1", GAPS[notion])}
        gaps, within = values[GAPS[notion]], np.array([inside for _, inside in picked])
        assert row["strength"] == np.median([of["strength"] for of, _ in picked])
        assert row["within"] == within.mean()
        assert row["kept"] == (within & (gaps <= budget)).mean()
        assert row["gap"] == pytest.approx(gaps.mean())
        assert row["micro_f1"] == pytest.approx(values["micro_f1"].mean())
        on_validation = {"score": AIMS[notion], "gap": GAPS[notion]}
        for name, of_which in on_validation.items():
            chosen_by = np.mean([of[f"validation_{of_which}"] for of, _ in picked])
            assert row[f"validation_{name}"] == pytest.approx(chosen_by)
        null = np.mean([of.get(f"{GAPS[notion]}_null", np.nan) for of, _ in picked])
        assert row["gap_null"] == pytest.approx(null, nan_ok=True)
        width = plain_width([of["auc"] for of, _ in picked])
        assert row["auc_width"] == pytest.approx(width, nan_ok=True)
        for name, of in (("micro_f1", values["micro_f1"]), ("gap", gaps)):
            assert row[f"{name}_width"] == pytest.approx(plain_width(of))


def test_without_a_strength_within_the_budget_the_fairest_is_reported_and_not_kept() -> None:
    rows = made_up.measured(("vanilla", "gdp"), ONE)
    rows["imparity"] = 0.3 - rows["strength"] / 100
    rows.loc[rows["split"] == "test", "imparity"] = 0.0  # however well it turned out
    table = choices.best(rows).query("notion == 'parity' and method == 'gdp'")
    assert set(table["strength"]) == {8.0}
    assert set(table["within"]) == set(table["kept"]) == {0.0}
    assert table["micro_f1"].notna().all()


# -- the operating point --------------------------------------------------------------------------


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 1000))
def test_the_operating_point_is_that_of_a_plain_loop(seed: int) -> None:
    rows = made_up.measured(FEW, made_up.PLACES[:2], seed=seed)
    summary, strengths = choices.operating(rows)
    of_split = by_split(rows)
    chosen = {
        key: plain_operating(own, of_split[*key[:2], "vanilla", key[3]][0])
        for key, own in of_split.items()
    }
    trained = {key: of["strength"] for key, of in chosen.items() if of["notion"] == ""}
    assert strengths.set_index(IN_SPLIT)["strength"].to_dict() == trained
    for row in summary.to_dict("records"):
        own = {key[3]: of for key, of in chosen.items() if key[:3] == tuple(row[k] for k in CELL)}
        vanilla = "vanilla_unaware" if row["method"].endswith("_unaware") else "vanilla"
        assert row["strength"] == np.median([of["strength"] for of in own.values()])
        for name in ("micro_f1", "imparity", "odds_gap"):
            values = pd.Series({split: of[name] for split, of in own.items()})
            width = plain_width(values)
            low, high = values.mean() - width, values.mean() + width
            assert row[name] == pytest.approx(values.mean())
            assert (row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx((low, high))
            theirs = {s: chosen[row["dataset"], row["setting"], vanilla, s][name] for s in own}
            more = values - pd.Series(theirs)
            assert row[f"more_{name}"] == pytest.approx(more.mean(), abs=1e-12)
            width = row[f"more_{name}_high"] - row[f"more_{name}"]
            assert width == pytest.approx(plain_width(more), abs=1e-12)
        assert (row["splits"], row["seeds"], row["data"]) == (4, 1, "real")


def test_a_method_of_the_paper_is_compared_with_vanilla_trained_as_in_the_paper() -> None:
    rows = made_up.measured(("vanilla", "vanilla_paper", "infofair", "infofair_paper"), ONE)
    rows = rows[(rows["strength"] == 0) | (rows["strength"] == 0.5)]
    found = choices.operating(rows)[0].set_index("method")
    assert (found.loc[["vanilla", "vanilla_paper"], "more_imparity"] == 0).all()
    for suffix in ("", "_paper"):
        own, vanilla = found.loc[f"infofair{suffix}"], found.loc[f"vanilla{suffix}"]
        assert own["more_imparity"] == pytest.approx(own["imparity"] - vanilla["imparity"])
    without = choices.operating(rows[rows["method"] != "vanilla_paper"])[0].set_index("method")
    assert np.isnan(without.loc["infofair_paper", "more_imparity"])
    assert without.loc["infofair_paper", "imparity"] == found.loc["infofair_paper", "imparity"]


def test_holm_is_over_the_fair_methods_of_all_cells() -> None:
    found = of_all("honest_summary")
    base = found["method"].map(measured.is_base)
    assert found.loc[base, "p_holm"].isna().all()
    p = found.loc[~base, ["p_imparity", "p_holm"]].sort_values("p_imparity").to_numpy()
    most = 0.0
    for i, (alone, together) in enumerate(p):
        most = max(most, min(1.0, alone * (len(p) - i)))
        assert together == pytest.approx(most)


def test_what_diverged_is_never_chosen_and_who_has_nothing_else_has_no_figures() -> None:
    rows = made_up.measured(FEW, ONE)
    own = (rows["method"] == "gdp") & (rows["partition_seed"] == 1)
    summary, strengths = choices.operating(lose(rows, own & (rows["strength"] != 0.1)))
    picked = strengths.query("method == 'gdp' and partition_seed == 1")["strength"].item()
    assert picked == 0.1
    row = summary.set_index("method").loc["gdp"]
    assert row["micro_f1"] > 0 and row["diverged"] == 3 / 16
    summary, strengths = choices.operating(lose(rows, own))
    assert strengths.query("method == 'gdp'")["partition_seed"].tolist() == [0, 2, 3]
    row = summary.set_index("method").loc["gdp"]
    figures = ["strength", "micro_f1", "imparity_low", "more_imparity", "p_imparity", "p_holm"]
    assert row[figures].isna().all() and row["dominated_by"] == ""
    assert (row["splits"], row["diverged"]) == (4, 0.25)
    best = choices.best(lose(rows, own)).query("method == 'gdp'")
    assert best[["strength", "micro_f1", "gap_width"]].isna().all(axis=None)
    assert (best["kept"] <= 0.75).all()


def test_a_single_split_has_figures_but_no_width_and_no_test() -> None:
    rows = made_up.measured(FEW, ONE, splits=1)
    summary = choices.operating(rows)[0]
    assert summary[["micro_f1", "more_imparity"]].notna().all(axis=None)
    none = ["micro_f1_low", "more_imparity_high", "p_imparity", "p_holm"]
    assert summary[none].isna().all(axis=None)
    assert choices.fronts(rows)["imparity_width"].isna().all()
    assert choices.best(rows)["gap_width"].isna().all()


def test_an_infinite_figure_stays_one() -> None:
    rows = made_up.measured(FEW, ONE)
    rows.loc[rows["partition_seed"] == 1, "differential_fairness"] = np.inf  # a group without any
    assert np.isinf(choices.operating(rows)[0]["differential_fairness"]).all()
    assert np.isinf(choices.fronts(rows)["differential_fairness"]).all()


# -- who dominates --------------------------------------------------------------------------------


def plain_dominated(
    own: dict[float, Row], of_split: dict[tuple[Any, ...], list[Row]], notion: str
) -> str:
    """own: split -> what is chosen there."""
    gap, aim = GAPS[notion], AIMS[notion]
    first = next(iter(own.values()))
    found = []
    for baseline in baselines(notion, measured.needs_s(first["method"])):
        rules = []
        for split, row in own.items():
            trials = of_split.get((row["dataset"], row["setting"], baseline, split), [])
            limit = row[f"validation_{gap}"]
            fair = [
                of for of in trials
                if of["notion"] in TAKING_PART[notion] and of[f"validation_{gap}"] <= limit
            ]  # fmt: skip
            rules.append(max(fair, key=lambda of: of[f"validation_{aim}"], default=None))
        if baseline == first["method"] or None in rules:
            continue
        more = [np.mean([of[name] for of in rules]) for name in (aim, gap)]  # type: ignore[index]
        mine = [np.mean([of[name] for of in own.values()]) for name in (aim, gap)]
        if more[0] >= mine[0] and more[1] <= mine[1]:
            found.append(baseline)
    return ",".join(found)


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 1000))
def test_dominance_is_that_of_a_plain_loop(seed: int) -> None:
    methods = (*FEW, "vanilla_thresholds", "logistic_blind", "boosting_barycentre")
    rows = made_up.measured(methods, made_up.PLACES[:2], seed=seed)
    of_split = by_split(rows)
    found = choices.best(rows)
    for row in found.to_dict("records"):
        cell = tuple(row[key] for key in CELL)
        own = {
            key[3]: plain_budget(of, row["notion"], row["budget"])[0]
            for key, of in of_split.items()
            if key[:3] == cell
        }
        assert row["dominated_by"] == plain_dominated(own, of_split, row["notion"])
    assert found["dominated_by"].str.contains(",").any()
    summary = choices.operating(rows)[0]
    for row in summary.to_dict("records"):
        cell = tuple(row[key] for key in CELL)
        own = {
            key[3]: plain_operating(of, of_split[*key[:2], "vanilla", key[3]][0])
            for key, of in of_split.items()
            if key[:3] == cell
        }
        assert row["dominated_by"] == plain_dominated(own, of_split, "parity")


def test_who_decides_without_the_attribute_is_compared_with_who_does() -> None:
    assert baselines("odds", True) == [
        "boosting_thresholds", "logistic_thresholds", "vanilla_thresholds"
    ]  # fmt: skip
    assert baselines("parity", False) == ["boosting_blind", "logistic_blind", "vanilla_blind"]
    assert baselines("scores", False) == []


def test_an_equal_dominates_and_one_without_a_rule_in_some_split_does_not() -> None:
    rows = made_up.measured(("vanilla",), ONE)
    equal = rows.assign(method="vanilla_thresholds", notion="parity")
    both = pd.concat([rows, equal[equal["partition_seed"].notna()]])
    found = choices.operating(both)[0].set_index("method")["dominated_by"]
    assert found.to_dict() == {"vanilla": "vanilla_thresholds", "vanilla_thresholds": ""}
    strict = both["method"].eq("vanilla_thresholds") & both["split"].eq("validation")
    both.loc[strict & (both["partition_seed"] == 2), "imparity"] += 0.1
    assert choices.operating(both)[0]["dominated_by"].tolist() == ["", ""]


def test_two_hundredths_of_f1_are_given_up_and_not_a_little_more() -> None:
    rows = made_up.measured(("vanilla", "gdp"), ONE, strengths=(1.0, 2.0, 3.0))
    f1 = {0.0: 0.85, 1.0: 0.84, 2.0: 0.83, 3.0: 0.8299}
    rows["micro_f1"], rows["imparity"] = rows["strength"].map(f1), 0.2 - rows["strength"] / 100
    found = picking.operating_points(measured.trials(rows))
    assert set(found.loc[found["method"] == "gdp", "strength"]) == {2.0}

"""Fronts: what follows from the figures of models at a grid of strengths."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infofair.pareto import above_chord, staircase
from study import fronts
from study.results import METRICS
from tests import frontiers

# -- tables --------------------------------------------------------------------------------------


def test_a_summary_is_the_mean_and_the_spread_of_a_plain_loop() -> None:
    table = frontiers.runs(("adult",), ("vanilla", "fcfc", "gdp"), ("gender",))
    table.loc[(table["method"] == "gdp") & (table["seed"] == 1), "note"] = "constant"
    summary = fronts.summarize(table)
    assert len(summary) == 2 * (1 + 4 + 4)
    for row in summary.to_dict("records"):
        own = [
            run for run in table.to_dict("records")
            if all(run[k] == row[k] for k in ("method", "strength", "split"))
        ]  # fmt: skip
        assert row["seeds"] == len(own)
        assert row["constant"] == pytest.approx(1 / 3 if row["method"] == "gdp" else 0)
        for metric in METRICS:
            values = [run[metric] for run in own]
            assert row[metric] == pytest.approx(np.mean(values))
            if len(values) > 1:
                assert row[f"{metric}_std"] == pytest.approx(np.std(values, ddof=1))
            else:
                assert math.isnan(row[f"{metric}_std"])


def test_a_strength_of_which_a_seed_diverged_has_no_figures_and_is_chosen_by_nothing() -> None:
    table = frontiers.runs(("adult",), ("vanilla", "gdp"), ("gender",))
    lost = (table["method"] == "gdp") & (table["strength"] == 8.0)
    table.loc[lost & (table["seed"] == 0), [*METRICS]] = np.nan
    table.loc[lost & (table["seed"] == 0), "note"] = "diverged"
    table.loc[lost & (table["seed"] != 0), ["imparity", "micro_f1"]] = 0.0, 1.0  # tempting
    summary, areas = frontiers.frontier(table)
    rows = dict(fronts.cells(summary))["adult", "gender", "gdp"]
    of_lost = rows[rows["strength"] == 8.0].iloc[0]
    assert of_lost["diverged"] == pytest.approx(1 / 3)
    assert of_lost[[*METRICS, "micro_f1_std"]].isna().all()
    assert 8.0 not in set(fronts.front(rows)["strength"])
    picked = fronts.pick(rows, 1.0)
    assert picked is not None
    assert picked["strength"] != 8.0
    assert areas["hypervolume"].notna().all()


@settings(max_examples=20)
@given(st.integers(0, 50))
def test_a_front_is_what_no_other_strength_beats_on_validation_rows(seed: int) -> None:
    summary = fronts.summarize(frontiers.runs(("adult",), ("gdp", "di"), ("race",), seed))
    for _, rows in fronts.cells(summary):
        points = {
            row["strength"]: (row["validation_imparity"], row["validation_micro_f1"])
            for row in rows.to_dict("records")
        }
        wanted = {
            strength
            for strength, (gap, f1) in points.items()
            if not any(g <= gap and f >= f1 and (g, f) != (gap, f1) for g, f in points.values())
        }
        found = fronts.front(rows)
        assert set(found["strength"]) == wanted
        assert found["validation_imparity"].is_monotonic_increasing
        assert found["validation_micro_f1"].is_monotonic_increasing


@settings(max_examples=25)
@given(st.integers(0, 50), st.sampled_from([0.02, 0.05, 0.08, 0.1, 0.2]))
def test_a_pick_is_the_best_of_a_plain_loop_within_the_budget(seed: int, budget: float) -> None:
    summary = fronts.summarize(frontiers.runs(("adult",), ("gdp",), ("race",), seed))
    ((_, rows),) = fronts.cells(summary)
    within = [r for r in rows.to_dict("records") if r["validation_imparity"] <= budget]
    picked = fronts.pick(rows, budget)
    if not within:
        assert picked is None
    else:
        assert picked is not None
        assert picked["validation_micro_f1"] == max(r["validation_micro_f1"] for r in within)


def test_no_test_row_chooses_anything() -> None:
    table = frontiers.runs(("adult",), settings=("race",))
    other = table.copy()
    test = other["split"] == "test"
    other.loc[test, METRICS] = np.random.default_rng(1).random((test.sum(), 4))
    chosen = [fronts.best(fronts.summarize(each))["strength"].tolist() for each in (table, other)]
    np.testing.assert_equal(*chosen)
    ours, theirs = (frontiers.frontier(each)[1]["strengths"].tolist() for each in (table, other))
    assert ours == theirs


def test_the_best_has_a_row_for_every_budget_empty_where_nothing_is_within_it() -> None:
    summary = fronts.summarize(frontiers.runs())
    best = fronts.best(summary)
    assert len(best) == len(dict(fronts.cells(summary))) * len(fronts.BUDGETS)
    of_vanilla = best[(best["method"] == "vanilla") & (best["budget"] == 0.02)]
    assert of_vanilla[["strength", "micro_f1", "imparity", "constant"]].isna().all(axis=None)
    found = best.dropna(subset="strength")
    assert (found["validation_imparity"] <= found["budget"]).all()


def test_hypervolumes_are_those_of_the_front_on_test_rows_with_the_spread_of_its_seeds() -> None:
    table = frontiers.runs(("adult",), ("vanilla", "gdp", "fcfc"), ("gender",))
    summary, areas = frontiers.frontier(table)
    by_method = areas.set_index("method")
    of_cell = dict(fronts.cells(summary))
    vanilla = of_cell["adult", "gender", "vanilla"].iloc[0]
    corner = (vanilla["imparity"], vanilla["micro_f1"])
    chosen = fronts.front(of_cell["adult", "gender", "gdp"])
    points = list(zip(chosen["imparity"], chosen["micro_f1"], strict=True))
    assert by_method.loc["gdp", "hypervolume"] == staircase(points, corner, 0.75)
    assert by_method.loc["gdp", "above_chord"] == above_chord(points, corner, 0.75)
    each = []
    for seed in range(3):
        own = table[
            (table["method"] == "gdp") & (table["seed"] == seed) & (table["split"] == "test")
            & table["strength"].isin(chosen["strength"])
        ]  # fmt: skip
        points = list(zip(own["imparity"], own["micro_f1"], strict=True))
        each.append(staircase(points, corner, 0.75))
    assert by_method.loc["gdp", "hypervolume_std"] == pytest.approx(np.std(each, ddof=1))
    assert math.isnan(by_method.loc["fcfc", "hypervolume_std"])
    assert by_method.loc["vanilla", "hypervolume"] == 0


# -- the goal -----------------------------------------------------------------------------------


def fitted(*rows: tuple[float, float, float, float, float]) -> pd.DataFrame:
    """A summary of infofair_fitted: strength, then micro F1 and imparity on validation and test."""
    found = []
    for strength, *figures in rows:
        parts = {"validation": figures[:2], "test": figures[2:]}
        for split, (f1, imparity) in parts.items():
            cell = {"dataset": "adult", "setting": "race", "method": "infofair_fitted"}
            cell |= {"strength": strength, "split": split, "seeds": 5, "diverged": 0.0}
            cell |= {"micro_f1": f1, "imparity_released": imparity, "imparity": imparity * 1.5}
            found.append(cell | {"data": "real", "partition": "authors"})
    return pd.DataFrame(found)


PRINTED = pd.DataFrame(
    [
        ("adult", "race", "vanilla", 0.830, 0.762, 0.062, 0.0),
        ("adult", "race", "fcfc", 0.257, 0.204, 0.000, 1.0),  # constant
        ("adult", "race", "gdp", 0.827, 0.749, 0.030, 0.1),
        ("adult", "race", "infofair", 0.810, 0.686, 0.042, 0.3),
        ("dutch", "race", "infofair", 0.810, 0.686, 0.042, 0.3),  # not run
    ],
    columns=["dataset", "setting", "method", "micro_f1", "macro_f1", "imparity", "reduction"],
)


@pytest.mark.parametrize(
    ("rows", "strength", "holds", "why"),
    [
        # the fairest on validation rows of those that keep the F1 there, whatever the test rows say
        ([(1, 0.83, 0.05, 0.82, 0.02), (3, 0.82, 0.03, 0.82, 0.041)], 3, "yes", ""),
        ([(1, 0.83, 0.05, 0.82, 0.04), (9, 0.80, 0.01, 0.82, 0.01)], 1, "yes", ""),
        ([(1, 0.83, 0.05, 0.82, 0.042)], 1, "no", "not below that of the paper's infofair"),
        # a row of higher F1 does not count, one of the same does
        ([(1, 0.83, 0.05, 0.827, 0.03)], 1, "no", "not below that of the paper's gdp"),
        ([(1, 0.83, 0.05, 0.826, 0.03)], 1, "yes", ""),
        ([(1, 0.83, 0.05, 0.80, 0.03)], 1, "no", "its micro F1 is below"),
        ([(1, 0.80, 0.05, 0.83, 0.03)], None, "no", "no strength keeps the F1 on validation rows"),
    ],
)  # fmt: skip
def test_the_goal(
    rows: list[tuple[float, float, float, float, float]],
    strength: float | None,
    holds: str,
    why: str,
) -> None:
    (row,) = fronts.goal(fitted(*rows), PRINTED).to_dict("records")
    assert row["holds"] == holds
    assert why in row["why"] and bool(why) == bool(row["why"])
    assert row["strength"] == strength or (strength is None and math.isnan(row["strength"]))

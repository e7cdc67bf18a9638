"""Thresholds on the models of the honest table, and whom they dominate."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from infofair import metrics
from infofair.data.prepared import PARTS
from infofair.thresholds import NOTIONS
from stages import honest as honest_door
from stages import unprocessed as door
from study import dominance, files, honest, paths, results, swept, unprocessed
from study.results import CELL, TABLES
from study.variants import pooled
from tests import swept as made_up
from tests.conftest import write_plans
from tests.simulated import prepared

STRENGTHS = {"vanilla": 0.0, "infofair_fitted": 1.0, "lfr": 1.0, "boosting": 0.0}


@pytest.fixture
def written(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Random scores of two splits of COMPAS; nothing is left of Adult, whose groups are tiny."""
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")
    monkeypatch.setattr(unprocessed, "TOLERANCES", (0.0, 0.1))
    swept._loaded.clear()
    of_table = {"splits": [0, 5], "seeds": [1, 2], "smallest_group": 5, "strengths": STRENGTHS}
    write_plans(datasets=["compas", "adult"], honest=of_table)
    for dataset, smallest in {"compas": 5, "adult": 10**6}.items():
        paths_of = [paths.variant(dataset, f"split{split}") for split in (0, 5)]
        forms = {str(p): pooled(prepared(seed=i), smallest) for i, p in enumerate(paths_of)}
        for path, form in forms.items():
            form.save(Path(path))
        for method in STRENGTHS:
            made_up.write("honest", dataset, method, forms)
        forms = {}
        for run in files.needed_json(paths.plan("fronts", dataset, "boosting"), "check")["runs"]:
            forms[run["data"]] = prepared(seed=7)
            forms[run["data"]].save(Path(run["data"]))
        made_up.write("fronts", dataset, "vanilla", forms)
        made_up.write("fronts", dataset, "boosting", forms)
        made_up.write("fronts", dataset, "logistic", forms)
    honest_door.main()
    return workspace


def test_the_stage_writes_every_method_with_every_rule(written: Path) -> None:
    door.main()
    found = results.read("unprocessed")
    wanted = {
        ("compas", setting, method, notion, tolerance)
        for setting in prepared().settings
        for method in STRENGTHS
        for notion in NOTIONS
        for tolerance in (0.0, 0.1)
        if method != "lfr" or setting == "gender"
    }
    keys = list(found[[*CELL, "notion", "tolerance"]].itertuples(index=False, name=None))
    assert set(keys) == wanted and len(keys) == len(wanted)
    assert set(found["splits"]) == {2}
    assert (found.loc[found["notion"] != "odds", "random"] == 0).all()
    beside = results.read("dominated")
    assert set(beside["base"]) == {"vanilla", "boosting"}
    assert not (beside["base"] == beside["method"]).any()
    of_fronts = results.read("thresholds")
    assert set(of_fronts["dataset"]) == {"compas", "compas_without_leak", "adult"}
    bases = ("vanilla", "logistic", "boosting")
    assert set(of_fronts["method"]) == {f"{base}_thresholds" for base in bases}
    assert set(of_fronts["strength"]) == {0.0, 0.1}
    seen = of_fronts.query("split == 'validation' and strength == 0.0 and setting == 'gender'")
    assert (seen["imparity"] < 0.05).all()  # a row or two


def test_a_rule_sees_validation_rows_and_figures_are_those_of_its_decisions(written: Path) -> None:
    (run, _) = swept.runs("honest", "compas", "infofair_fitted")
    rows = pd.DataFrame(unprocessed.of_run(run))
    model = run.predictions.model("race", 1.0, 2)
    data = run.data
    for notion in NOTIONS:
        row = rows.query("setting == 'race' and seed == 2 and notion == @notion and tolerance == 0")
        y = {part: data.y[data.split[part]].astype(int) for part in PARTS}
        group, groups = data.members("race", "validation")
        rule = unprocessed.Curves.of(model["validation"], y["validation"], group, groups).rule(
            notion, 0.0, random=notion == "odds"
        )
        for part in PARTS:
            group, groups = data.members("race", part)
            decided = rule.decide(model[part], group, 2)
            (own,) = row[row["part"] == part].to_dict("records")
            assert own["micro_f1"] == pytest.approx((decided == y[part]).mean())
            assert own["imparity"] == metrics.imparity(decided, group, groups)
            assert own["odds_gap"] == metrics.odds_gap(decided, y[part], group, groups)
    # fair on the rows it has seen, to a row or two of the smallest group
    seen = rows.query("part == 'validation' and notion == 'parity' and tolerance == 0.0")
    assert (seen["largest_gap"] <= 0.15).all()


def test_means_are_over_splits_first() -> None:
    row: dict[str, Any] = dict.fromkeys(CELL, "a") | {"notion": "parity", "tolerance": 0.1}
    row |= dict.fromkeys(unprocessed.FIGURES, 0.0) | {"overlap": 0.25}
    figures = {("x", 0): 0.8, ("x", 1): 0.9, ("y", 0): 0.7}  # split, seed
    rows = [
        row | {"split": split, "seed": seed, "part": part, "micro_f1": f1 - (part != "test")}
        for (split, seed), f1 in figures.items()
        for part in PARTS
    ]
    (found,) = unprocessed.summarize(pd.DataFrame(rows)).to_dict("records")
    assert found["micro_f1"] == pytest.approx((0.85 + 0.7) / 2)
    assert found["validation_micro_f1"] == pytest.approx((0.85 + 0.7) / 2 - 1)
    expected = honest.half_width(pd.Series([0.85, 0.7]), 0.25)
    assert found["micro_f1_width"] == pytest.approx(expected)
    empty = unprocessed.summarize(pd.DataFrame([], columns=unprocessed.COLUMNS))
    assert list(empty) == TABLES["unprocessed"]


def rules(base: str, points: list[tuple[float, float, float, float]]) -> pd.DataFrame:
    """points: micro F1 and imparity on validation rows, and on test rows."""
    names = ["validation_micro_f1", "validation_imparity", "micro_f1", "imparity"]
    table = pd.DataFrame(points, columns=names).assign(tolerance=np.arange(len(points)) / 10)
    cell = {"dataset": "d", "setting": "s", "method": base, "notion": "parity"}
    return table.assign(**cell)


def runs(method: str, validation: tuple[float, float], test: tuple[float, float]) -> pd.DataFrame:
    cell = {"dataset": "d", "setting": "s", "method": method}
    parts = {"validation": validation, "test": test}
    return pd.DataFrame(
        [cell | {"split": p, "micro_f1": f1, "imparity": gap} for p, (f1, gap) in parts.items()]
    )


@pytest.mark.parametrize(
    ("test", "dominated"),
    [
        ((0.82, 0.05), "yes"),  # the same is enough
        ((0.83, 0.05), "no"),
        ((0.82, 0.04), "no"),
        ((0.80, 0.30), "yes"),
    ],
)
def test_validation_rows_choose_the_rule_that_is_compared(
    test: tuple[float, float], dominated: str
) -> None:
    # the last is best on test rows, and too unfair on validation rows
    of_base = rules("vanilla", [(0.8, 0.01, 0.9, 0.0), (0.81, 0.04, 0.82, 0.05), (0.9, 0.2, 1, 0)])
    found = dominance.dominated(of_base, runs("gdp", (0.7, 0.05), test))
    (row,) = found.to_dict("records")
    assert (row["base"], row["base_tolerance"], row["dominated"]) == ("vanilla", 0.1, dominated)


def test_without_a_rule_that_is_as_fair_nothing_is_dominated() -> None:
    of_base = rules("boosting", [(0.9, 0.03, 0.9, 0.0)])
    (row,) = dominance.dominated(of_base, runs("gdp", (0.7, 0.02), (0.1, 0.9))).to_dict("records")
    assert row["dominated"] == "no" and np.isnan(row["base_tolerance"])
    assert dominance.dominated(of_base, runs("boosting", (0.7, 0.1), (0.7, 0.1))).empty

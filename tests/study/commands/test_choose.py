"""The command that says which method and strength to take, and what that costs."""

import math
import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from infofair.errors import Damaged, Problem
from study import offers, paths, results
from study.commands import choose
from study.comparison import choices
from study.comparison.measured import AIMS, BUDGETS, GAPS, TAKING_PART, needs_s
from study.results import TABLES, Row
from tests.conftest import ROOT
from tests.study.comparison import made_up

METHODS = (
    "vanilla", "boosting", "boosting_unaware", "dp_gap", "gdp", "gdp_unaware", "infofair_paper",
    "boosting_thresholds", "logistic_thresholds", "boosting_blind", "boosting_barycentre",
)  # fmt: skip
RULES = {"thresholds": GAPS.keys() - {"scores"}, "blind": GAPS.keys() - {"scores"}}
STRENGTHS = (0.1, 1.0, 10.0)
BASELINES = {"yes": ["boosting_thresholds", "logistic_thresholds"], "no": ["boosting_blind"]}
ALL_BASELINES = [*BASELINES["yes"], *BASELINES["no"]]


def notions_of(method: str) -> list[str]:
    """In fronts.csv."""
    if method.endswith("_barycentre"):
        return ["scores"]
    return sorted(RULES.get(method.rpartition("_")[2], [""]))


def figures(rng: np.random.Generator, names: list[str]) -> Row:
    """Of two digits, so that there are ties."""
    return {name: round(float(rng.uniform(0, 0.2)), 2) for name in names}


def fronts_table(rng: np.random.Generator, setting: str) -> list[Row]:
    numbers = [name for name in TABLES["fronts"] if name not in ("constant", "diverged")]
    found = []
    for method in METHODS:
        for notion, strength in product(notions_of(method), STRENGTHS):
            row = figures(rng, numbers) | {"dataset": "adult", "setting": setting}
            row |= {"method": method, "notion": notion, "strength": strength, "splits": 5}
            row |= {"constant": 0.0, "diverged": 0.0}
            if notion in RULES["blind"]:
                row |= dict.fromkeys(("auc", "validation_auc", "ks", "validation_ks"), math.nan)
            found.append(row)
    return found


def best_table(rng: np.random.Generator, setting: str) -> list[Row]:
    found = []
    for method, notion, budget in product(METHODS, GAPS, BUDGETS):
        if not set(notions_of(method)) & set(TAKING_PART[notion]):
            continue
        row = figures(rng, TABLES["best"]) | {"dataset": "adult", "setting": setting}
        row |= {"method": method, "notion": notion, "budget": budget, "dominated_by": ""}
        row |= {"strength": float(rng.choice(STRENGTHS)), "constant": 0.0}
        row |= {"within": float(rng.choice([0, 0.8, 1])), "kept": float(rng.choice([0, 0.6, 1]))}
        if rng.random() < 0.5 and method not in ALL_BASELINES:
            row["dominated_by"] = ",".join(BASELINES["yes" if needs_s(method) else "no"])
        found.append(row)
    return found


Tables = dict[str, pd.DataFrame]


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tables:
    """A folder with nothing but the two tables, as the current directory."""
    monkeypatch.chdir(tmp_path)
    return simulated(0)


def simulated(seed: int) -> Tables:
    rng = np.random.default_rng(seed)
    settings = ("gender", "race")
    made: Tables = {
        "best": results.frame([row for s in settings for row in best_table(rng, s)], "best"),
        "fronts": results.frame([row for s in settings for row in fronts_table(rng, s)], "fronts"),
    }
    place(made)
    return made


def place(made: Tables) -> None:
    paths.table("best").parent.mkdir(exist_ok=True)
    for name, table in made.items():
        results.write(table, name)


def ask(capsys: pytest.CaptureFixture[str], budget: float | str = 0.05, **more: Any) -> list[str]:
    asked: dict[str, Any] = {"dataset": "adult", "setting": "race", "max_gap": str(budget)}
    choose.main(**(asked | more))
    return capsys.readouterr().out.splitlines()


def option(notion: str) -> dict[str, Any]:
    return {"scores": True} if notion == "scores" else {"notion": notion}


def shown(said: list[str]) -> dict[str, list[str]]:
    """method -> the cells of its line."""
    start = next(i for i, line in enumerate(said) if line.startswith("method "))
    end = next(i for i, line in enumerate(said) if line.startswith("±"))
    lines = [re.split(r"\s{2,}", line) for line in said[start:end]]
    assert {len(line) for line in lines} == {len(lines[0])}
    return {line[0].removesuffix("‡"): line for line in lines[1:]}


def taken(said: list[str]) -> tuple[str, float] | None:
    for line in said:
        if found := re.match(r"Take (\S+) at strength (\S+) \(test ", line):
            return found[1], float(found[2])
    return None


def only(said: list[str], start: str) -> str:
    (line,) = [line for line in said if line.startswith(start)]
    return line


# -- plain loops ----------------------------------------------------------------------------------


def plain_means(table: pd.DataFrame, notion: str, budget: float) -> dict[str, Row]:
    """method -> its best within the budget, of those that have one."""
    gap, aim = f"validation_{GAPS[notion]}", f"validation_{AIMS[notion]}"
    found: dict[str, Row] = {}
    for row in table[table["setting"] == "race"].to_dict("records"):
        if row["notion"] not in TAKING_PART[notion] or not row[gap] <= budget:
            continue
        before = found.get(row["method"])
        if before is None or (-row[aim], row[gap]) < (-before[aim], before[gap]):
            found[row["method"]] = row
    return found


def plain_dominated(table: pd.DataFrame, notion: str, row: Row) -> list[str]:
    gap, aim = GAPS[notion], AIMS[notion]
    known = needs_s(row["method"])
    names = BASELINES["yes" if known else "no"]
    if notion == "scores":
        names = ["boosting_barycentre"] if known else []
    found = []
    for name in names:
        best = plain_means(table, notion, row[f"validation_{gap}"]).get(name)
        if best is None or name == row["method"]:
            continue
        if best[aim] >= row[aim] and best[gap] <= row[gap]:
            found.append(name)
    return found


def plain_best(rows: list[Row]) -> Row | None:
    best = None
    for row in rows:
        key = (-row["within"], -row["validation_score"], row["validation_gap"])
        if row["within"] > 0 and (best is None or key < best[0]):
            best = (key, row)
    return best and best[1]


# -- the answer -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_for_any_budget_the_answer_is_that_of_a_plain_loop_over_means(
    seed: int, tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    table, rng = simulated(seed)["fronts"], np.random.default_rng(seed)
    budget = round(float(rng.uniform(0.021, 0.18)), 4)
    for notion in GAPS:
        wanted = plain_means(table, notion, budget)
        gap, aim = GAPS[notion], AIMS[notion]
        said = ask(capsys, budget, **option(notion))
        assert "slightly optimistic" in said[0]
        lines = shown(said)
        assert set(lines) == set(wanted)
        for method, row in wanted.items():
            cells = lines[method]
            assert float(cells[1]) == row["strength"]
            assert cells[2] == ("yes" if needs_s(method) else "no")
            assert cells[3:5] == [f"{row[f'validation_{name}']:.3f}" for name in (aim, gap)]
            assert cells[5].split(" ± ")[0] == f"{row[aim]:.3f}"
            assert cells[6] == f"{row[gap]:.3f} ± {row[f'{gap}_width']:.3f}"
            assert cells[7] == (f"{row[f'{gap}_null']:.3f}" if f"{gap}_null" in row else "–")
            assert cells[8] == f"{row['worst_accuracy']:.3f}"
            assert cells[9] == ("yes" if row[gap] <= budget else "no")
            assert cells[10] == (", ".join(plain_dominated(table, notion, row)) or "–")
        order = sorted(
            wanted.values(), key=lambda r: (-r[f"validation_{aim}"], r[f"validation_{gap}"])
        )
        keys = [(r[f"validation_{aim}"], r[f"validation_{gap}"]) for r in order]
        assert [tuple(map(float, cells[3:5])) for cells in lines.values()] == keys
        assert taken(said) == (order[0]["method"], order[0]["strength"])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("notion", GAPS)
def test_for_a_budget_of_the_table_the_answer_is_its_own(
    notion: str, seed: int, tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    table = simulated(seed)["best"]
    for budget, known in product(BUDGETS, ("yes", "no")):
        own = [
            row
            for row in table[table["setting"] == "race"].to_dict("records")
            if row["notion"] == notion and row["budget"] == budget
            if known == "yes" or row["method"].endswith(("_unaware", "_blind"))
        ]
        said = ask(capsys, budget, s_at_test=known, **option(notion))
        best = plain_best(own)
        assert not any("optimistic" in line for line in said)
        assert taken(said) == (best and (best["method"], best["strength"]))
        if best is None:
            assert said[0].startswith("Nothing has a split's validation ")
            continue
        lines = shown(said)
        assert set(lines) == {row["method"] for row in own if row["within"] > 0}
        for row in own:
            if row["within"] == 0:
                assert row["method"] in only(said, "Never within the budget")
                continue
            cells, aim = lines[row["method"]], AIMS[notion]
            assert cells[5] == f"{row['within']:.0%}" and cells[10] == f"{row['kept']:.0%}"
            assert cells[6] == f"{row[aim]:.3f} ± {row[f'{aim}_width']:.3f}"
            assert cells[7:9] == [
                f"{row['gap']:.3f} ± {row['gap_width']:.3f}", f"{row['gap_null']:.3f}"
            ]  # fmt: skip
            assert cells[11] == (row["dominated_by"].replace(",", ", ") or "–")


@pytest.mark.parametrize("budget", [0.05, 0.07])
@pytest.mark.parametrize("notion", GAPS)
def test_it_marks_rules_that_are_random(
    notion: str, budget: float, tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    """As results/unprocessed.csv counts them: groups' odds can be made equal by lot alone."""
    tables["best"]["within"] = 1.0
    best = (tables["best"]["method"] == "boosting_thresholds", ["validation_score", "micro_f1"])
    tables["best"].loc[best] = 0.9
    tables["fronts"].loc[
        tables["fronts"]["method"] == "boosting_thresholds",
        ["validation_micro_f1", "validation_odds_gap"],
    ] = 0.9, 0.0
    place(tables)
    said = ask(capsys, budget, **option(notion))
    marked = [cells[0] for cells in shown(said).values() if "‡" in cells[0]]
    if notion == "odds":
        assert set(marked) <= {f"{name}‡" for name in BASELINES["yes"]}
        assert "boosting_thresholds‡" in marked
        assert "boosting_thresholds" in only(said, "‡: a random rule")
        assert taken(said)[0] == "boosting_thresholds"  # type: ignore[index]
        assert "But its rule is random: it may decide about two alike by lot." in said
    else:
        assert marked == [] and not any("‡" in line or "random" in line for line in said)


@pytest.mark.parametrize("budget", [0.05, 0.1, 0.07, 0.13])
@pytest.mark.parametrize("notion", GAPS)
def test_the_way_without_the_group_is_what_is_taken_when_it_is_not_known(
    notion: str, budget: float, tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    every = ask(capsys, budget, **option(notion))
    alone = taken(ask(capsys, budget, s_at_test="no", **option(notion)))
    best = taken(every)
    assert best is not None
    if not needs_s(best[0]):
        assert only(every, "The group need not be known") and alone == best
    elif alone is None:
        assert "nothing that does without it is within" in only(every, f"{best[0]} needs the group")
    else:
        line = only(every, f"{best[0]} needs the group at test time. Without it take ")
        assert f"take {alone[0]} at strength {alone[1]:g} (" in line
        assert re.search(r"\): [+-]0\.\d{3} of test .*, [+-]0\.\d{3} of test ", line)


def test_a_budgets_own_name_is_the_same_as_the_gap(
    tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(capsys) == ask(capsys, max_gap=None, max_imparity="0.05")
    assert ask(capsys) == ask(capsys, notion="parity", s_at_test="yes")
    scores = ask(capsys, scores=True)
    assert scores == ask(capsys, scores=True, max_gap=None, max_ks="0.05")
    assert "test KS" in only(scores, "method ") and "test AUC" in only(scores, "method ")
    assert ask(capsys, notion="odds") != ask(capsys, notion="opportunity")


def test_one_method_alone(tables: Tables, capsys: pytest.CaptureFixture[str]) -> None:
    few(tables, gdp=0.8)
    tables["best"].loc[at(tables, "gdp"), "dominated_by"] = "boosting_thresholds"
    place(tables)
    said = ask(capsys, method="gdp")
    assert list(shown(said)) == ["gdp"]
    assert taken(said)[0] == "gdp"  # type: ignore[index]
    assert "boosting_thresholds dominates gdp." in said
    assert not any("for fairness" in line or "needs the group" in line for line in said)


def test_it_reads_what_the_comparison_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = made_up.measured(places=made_up.PLACES[:1])
    place({"best": choices.best(rows), "fronts": choices.fronts(rows)})
    for notion, budget, known in product(GAPS, ("0.1", "0.09"), ("yes", "no")):
        choose.main("compas", "gender", budget, s_at_test=known, **option(notion))
        said = capsys.readouterr().out.splitlines()
        assert taken(said) or any(line.startswith("Nothing has a ") for line in said)
        assert not any("nan" in line for line in said)


# -- what follows from it -------------------------------------------------------------------------


def at(tables: Tables, method: str = "") -> pd.Series:
    """Parity's rows of the table of budgets, of one method or of all."""
    best = tables["best"]
    own = (best["setting"] == "race") & (best["notion"] == "parity")
    return own & (best["method"] == method) if method else own


def few(tables: Tables, **f1: float) -> None:
    """Only these within the budget, with this micro F1 on validation and test rows."""
    best = tables["best"]
    best.loc[at(tables), "within"], best.loc[at(tables), "dominated_by"] = 0.0, ""
    best.loc[at(tables), "micro_f1_width"] = 0.01
    for method, value in f1.items():
        own = ["within", "validation_score", "micro_f1", "gap", "gap_null"]
        best.loc[at(tables, method), own] = [1.0, value, value, 0.04, 0.01]
    place(tables)


def test_it_says_whether_training_for_fairness_is_needed(
    tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    few(tables, boosting=0.87, gdp=0.84)
    line = only(ask(capsys), "No training for fairness is needed: boosting is an unconstrained")
    assert "with a rule" not in line and "The best with it is gdp at strength" in line
    assert line.endswith(": -0.030 of test micro F1, +0.000 of test imparity.")
    few(tables, boosting_thresholds=0.87, gdp=0.862)
    line = only(ask(capsys), "No training for fairness is needed: boosting_thresholds")
    assert "is an unconstrained model with a rule on its scores. " in line
    assert line.endswith("(that micro F1 is no more than the intervals are wide).")
    few(tables, boosting_thresholds=0.87)
    assert only(ask(capsys), "No training").endswith("; nothing that was trained for it is within "
                                                     "the budget.")  # fmt: skip
    few(tables, boosting_blind=0.8, dp_gap=0.82, gdp=0.81)
    line = only(ask(capsys), "Training for fairness is chosen here; the best without it is ")
    assert "is boosting_blind at" in line and ": -0.020 of test micro F1" in line
    few(tables, gdp=0.81)
    assert "Only training for fairness is within the budget." in ask(capsys)


def test_within_every_split_comes_before_a_higher_score(
    tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    few(tables, gdp=0.8, dp_gap=0.9)
    tables["best"].loc[at(tables, "dp_gap"), "within"] = 0.8
    place(tables)
    said = ask(capsys)
    assert list(shown(said)) == ["dp_gap", "gdp"]
    assert taken(said)[0] == "gdp"  # type: ignore[index]
    tables["best"].loc[at(tables, "gdp"), "within"] = 0.6
    place(tables)
    said = ask(capsys)
    assert taken(said)[0] == "dp_gap"  # type: ignore[index]
    assert "within the budget in 80% of splits)" in only(said, "Take ")


def test_it_says_who_dominates_whom(tables: Tables, capsys: pytest.CaptureFixture[str]) -> None:
    few(tables, boosting_thresholds=0.9, gdp=0.8, dp_gap=0.81, infofair_paper=0.7)
    best = tables["best"]
    best.loc[at(tables, "gdp"), "dominated_by"] = "boosting_thresholds"
    best.loc[at(tables, "dp_gap"), "dominated_by"] = "boosting_thresholds,logistic_thresholds"
    place(tables)
    said = ask(capsys)
    lines = [line for line in said if " dominates " in line]
    assert lines == [
        "boosting_thresholds dominates dp_gap, gdp.", "logistic_thresholds dominates dp_gap."
    ]  # fmt: skip
    assert "Trained for fairness and dominated by none: infofair_paper." in said
    best.loc[at(tables, "infofair_paper"), "dominated_by"] = "boosting_thresholds"
    place(tables)
    assert "All of these that were trained for fairness are dominated." in ask(capsys)


def test_constant_predictors_are_named(tables: Tables, capsys: pytest.CaptureFixture[str]) -> None:
    few(tables, gdp=0.8, dp_gap=0.7)
    said = ask(capsys)
    assert not any("†" in line or "constant" in line for line in said)
    tables["best"].loc[at(tables, "gdp"), "constant"] = 0.4
    place(tables)
    said = ask(capsys)
    assert list(shown(said)) == ["gdp†", "dp_gap"]
    assert only(said, "†: ").endswith("in some splits: gdp.")
    assert only(said, "But in 40% of splits it is a constant predictor")


def test_it_says_when_a_gap_is_chance_and_when_the_budget_is_not_kept_on_test_rows(
    tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    few(tables, gdp=0.8)
    said = ask(capsys)
    assert not any("is below chance" in line for line in said)
    tables["best"].loc[at(tables, "gdp"), ["gap", "gap_null"]] = [0.06, 0.07]
    place(tables)
    said = ask(capsys)
    assert "Its test imparity is below chance: on so few rows as fair as can be told." in said
    assert "But on test rows its mean imparity is above 0.05." in said


def test_where_nothing_is_within_the_budget_the_lowest_is_said(
    tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    few(tables)
    tables["best"].loc[at(tables, "dp_gap"), ["validation_gap", "strength"]] = [-0.01, 10.0]
    tables["fronts"]["validation_imparity"] += 0.1
    lowest = (tables["fronts"]["setting"] == "race") & (tables["fronts"]["method"] == "gdp")
    tables["fronts"].loc[lowest & (tables["fronts"]["strength"] == 1.0), "validation_imparity"] = (
        0.09
    )
    place(tables)
    assert ask(capsys) == [
        "Nothing has a split's validation imparity of 0.05 or less; the lowest mean is -0.010, of "
        "dp_gap at strength 10."
    ]
    assert ask(capsys, 0.08)[1:] == [
        "Nothing has a mean validation imparity of 0.08 or less; the lowest mean is 0.090, of gdp "
        "at strength 1."
    ]


def test_what_diverged_is_never_taken_and_is_said(
    tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    few(tables, gdp=0.9, dp_gap=0.8)
    tables["best"].loc[at(tables, "gdp"), ["micro_f1", "strength"]] = math.nan
    fronts = tables["fronts"]
    own = (fronts["setting"] == "race") & (fronts["method"] == "gdp")
    fronts.loc[own, ["micro_f1", "imparity", "validation_micro_f1", "validation_imparity"]] = (
        math.nan
    )
    place(tables)
    for budget in (0.05, 0.15):
        said = ask(capsys, budget)
        assert "gdp" not in shown(said)
        assert "Without figures, having diverged or no scores: gdp." in said
        with pytest.raises(Problem, match="all that was asked for has diverged or no scores"):
            ask(capsys, budget, method="gdp")


# -- what is wrong --------------------------------------------------------------------------------

BEST = "results/best.csv"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataset": "mnist"}, f"--dataset mnist: {BEST} has adult"),
        ({"setting": "age"}, f"--setting age: {BEST} has gender, race"),
        ({"method": "magic"}, f"--method magic: {BEST} has vanilla, boosting, "),
        (
            {"method": "gdp", "s_at_test": "no"},
            "--method gdp: --s-at-test no has boosting_unaware, gdp_unaware, boosting_blind",
        ),
        (
            {"method": "boosting_thresholds", "scores": True},
            f"--method boosting_thresholds: {BEST} has vanilla, ",
        ),
        ({"notion": "luck"}, "--notion luck: expected one of parity, opportunity, odds"),
        ({"notion": "scores"}, "--notion scores: expected one of parity, opportunity, odds"),
        ({"notion": "odds", "scores": True}, "--notion odds: expected none beside --scores, "),
        ({"s_at_test": "maybe"}, "--s-at-test maybe: expected one of yes, no"),
        *(
            ({"max_gap": text}, f"--max-gap {text}: expected a number from 0 to 1")
            for text in ("2", "-0.1", "few", "nan")
        ),
        (
            {"max_gap": None},
            "no budget: expected for --notion parity one budget, --max-gap or --max-imparity",
        ),
        (
            {"max_imparity": "0.1"},
            "--max-gap 0.05 --max-imparity 0.1: expected for --notion parity one budget, "
            "--max-gap or --max-imparity",
        ),
        (
            {"max_gap": None, "max_imparity": "0.1", "notion": "odds"},
            "--max-imparity 0.1: expected for --notion odds one budget, --max-gap",
        ),
        (
            {"max_gap": None, "max_imparity": "0.1", "scores": True},
            "--max-imparity 0.1: expected for --scores one budget, --max-gap or --max-ks",
        ),
        (
            {"max_gap": None, "max_ks": "0.1"},
            "--max-ks 0.1: expected for --notion parity one budget, --max-gap or --max-imparity",
        ),
    ],
)
def test_what_is_wrong_is_said_with_what_was_expected(
    change: dict[str, Any], message: str, tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Problem) as caught:
        ask(capsys, **change)
    assert str(caught.value).startswith(message)
    assert capsys.readouterr().out == ""


def test_where_no_method_does_without_the_group_that_is_said(
    tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    place({name: table[table["method"].map(needs_s)] for name, table in tables.items()})
    for budget in (0.05, 0.06):
        with pytest.raises(Problem, match=r"^--s-at-test no: expected a method, found none"):
            ask(capsys, budget, s_at_test="no")


def test_without_a_table_the_stage_that_makes_it_is_named(
    tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    paths.table("fronts").unlink()
    assert taken(ask(capsys))  # of the other table's budgets
    for name, budget in (("fronts", 0.07), ("best", 0.05)):
        paths.table(name).unlink(missing_ok=True)
        wanted = rf"^results/{name}\.csv does not exist; .* beyond/dvc.yaml:comparison$"
        with pytest.raises(Problem, match=wanted):
            ask(capsys, budget)


def test_a_table_of_another_time_is_not_read(
    tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    tables["best"].drop(columns="validation_score").to_csv(paths.table("best"), index=False)
    with pytest.raises(Damaged, match="no column 'validation_score'"):
        ask(capsys)


def test_the_command_line(
    tables: Tables, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--dataset", "adult", "--setting", "race"]

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "study.commands.choose", *command], cwd=tmp_path, text=True,
            capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        )  # fmt: skip

    done = run(*asked, "--max-imparity", "0.05")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ask(capsys)
    done = run(*asked, "--scores", "--max-ks", "0.07", "--s-at-test", "no")
    assert done.stdout.splitlines() == ask(capsys, 0.07, scores=True, s_at_test="no")
    done = run(*asked)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: no budget: expected for --notion parity one budget, ")
    assert run(*asked[:2]).returncode == 2
    assert "[--method METHOD]" in run("--help").stdout


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("vanilla_paper", "base"), ("boosting_unaware", "base"), ("boosting_blind", "rule"),
        ("vanilla_barycentre", "rule"), ("infofair_fitted_ts", "trained"), ("di", "trained"),
    ],
)  # fmt: skip
def test_what_a_method_is(method: str, kind: str) -> None:
    assert offers.kind(method) == kind

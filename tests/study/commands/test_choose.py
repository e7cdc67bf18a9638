"""The command that says which strength to take."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from infofair.errors import Problem
from study import paths, results
from study.commands import choose
from study.results import METRICS
from tests import frontiers
from tests.conftest import ROOT


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """A folder with nothing but the fronts and thresholds, as the current directory."""
    monkeypatch.chdir(tmp_path)
    runs = frontiers.runs(("adult", "dutch"), ("vanilla", "gdp", "di", "fcfc"))
    place(runs)
    return runs


def place(runs: pd.DataFrame) -> None:
    path = paths.table("frontier")
    path.parent.mkdir(exist_ok=True)
    runs.to_csv(path, index=False)  # in full, so that means can be compared
    results.write(results.frame([], "thresholds"), "thresholds")


def ask(
    capsys: pytest.CaptureFixture[str], budget: str = "0.08", method: str | None = None
) -> list[str]:
    choose.main("adult", "race", budget, method)
    return capsys.readouterr().out.splitlines()


def of(runs: pd.DataFrame, method: str, strength: float, split: str) -> pd.DataFrame:
    own = (runs["dataset"] == "adult") & (runs["setting"] == "race") & (runs["split"] == split)
    return runs[own & (runs["method"] == method) & (runs["strength"] == strength)]


def within(runs: pd.DataFrame, budget: float) -> dict[str, tuple[float, float]]:
    """method -> validation F1 and strength of the best within the budget, by a plain loop."""
    best: dict[str, tuple[float, float]] = {}
    for method in ("vanilla", "gdp", "di", "fcfc"):
        for strength in (0.0, *frontiers.STRENGTHS):
            own = of(runs, method, strength, "validation")
            if len(own) and own["imparity"].mean() <= budget:
                best[method] = max(best.get(method, (0, 0)), (own["micro_f1"].mean(), strength))
    return best


@pytest.mark.parametrize("budget", ["0.08", "0.04", "1", "0.12"])
def test_it_is_the_best_on_validation_rows_of_each_method_and_of_all(
    budget: str, table: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    said = ask(capsys, budget)
    wanted = within(table, float(budget))
    order = sorted(wanted, key=lambda method: -wanted[method][0])
    assert [line.split()[0] for line in said[1 : 1 + len(order)]] == order
    for line, method in zip(said[1:], order, strict=False):
        f1, strength = wanted[method]
        assert line.split()[1:3] == [f"{strength:g}", f"{f1:.3f}"]
        test = of(table, method, strength, "test")
        assert f"{test['micro_f1'].mean():.3f}" in line
        kept = test["imparity"].mean() <= float(budget)
        assert line.split()[-1] == ("yes" if kept else "no")
    assert said[-1].startswith(f"Take {order[0]} at strength {wanted[order[0]][1]:g}: ")
    missing = [m for m in ("vanilla", "gdp", "di", "fcfc") if m not in wanted]
    lines = [line for line in said if line.startswith("Never within the budget")]
    assert len(lines) == bool(missing)
    assert all(f"rows: {', '.join(missing)}." in line for line in lines)


def test_intervals_are_students(table: pd.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = [line for line in ask(capsys) if line.startswith("gdp")]
    strength = float(line.split()[1])
    for metric in ("micro_f1", "imparity"):
        values = of(table, "gdp", strength, "test")[metric]
        low, high = ttest_1samp(values, 0).confidence_interval(0.95)
        assert f"{values.mean():.3f} [{max(low, 0):.3f}, {min(high, 1):.3f}]" in line
    assert choose.interval(0.01, 0.1, 5)[0] == 0
    assert choose.interval(0.99, 0.1, 5)[1] == 1


def test_a_method_that_was_fitted_once_has_no_interval(
    table: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = [line for line in ask(capsys) if line.startswith("fcfc")]
    assert "[" not in line


def test_one_method_alone(table: pd.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    said = ask(capsys, method="di")
    assert said[1].startswith("di ")
    assert said[-1].startswith("Take di at strength ")
    assert not any("gdp" in line for line in said)


def test_columns_are_aligned(table: pd.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    head, *lines = ask(capsys, "1")[:5]
    start = head.index("validation F1")
    assert all(line[start - 1] == " " and line[start] != " " for line in lines)


def test_where_nothing_is_within_the_budget_the_lowest_is_said(
    table: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    (said,) = ask(capsys, "0")
    means = {
        (of(table, method, strength, "validation")["imparity"].mean(), method, strength)
        for method in ("gdp", "di", "fcfc")
        for strength in frontiers.STRENGTHS
    }
    least, method, strength = min(means)
    assert said == (
        f"Nothing has a mean validation imparity of 0 or less; the lowest is {least:.3f}, "
        f"of {method} at strength {strength:g}."
    )


def test_constant_predictors_are_said_to_be_ones(
    table: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not any("†" in line or "constant" in line for line in ask(capsys))
    table.loc[table["seed"] == 2, "note"] = "constant"
    place(table)
    said = ask(capsys, method="gdp")
    assert said[1].startswith("gdp† ")
    assert said[-1].startswith("But 33% of its seeds are constant predictors")


def test_what_diverged_is_never_taken(
    table: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    strength = float(ask(capsys, method="gdp")[1].split()[1])
    lost = (table["strength"] == strength) & (table["seed"] == 0)
    table.loc[lost, METRICS] = np.nan
    table.loc[lost, "note"] = "diverged"
    place(table)
    assert float(ask(capsys, method="gdp")[1].split()[1]) != strength
    table.loc[table["method"] == "gdp", "note"] = "diverged"
    place(table)
    with pytest.raises(Problem, match="every model asked for has diverged"):
        ask(capsys, method="gdp")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataset": "mnist"}, "--dataset mnist: results/frontier.csv has adult, dutch"),
        ({"setting": "age"}, "--setting age: results/frontier.csv has gender, race, intersection"),
        ({"method": "magic"}, "--method magic: results/frontier.csv has vanilla, gdp, di, fcfc"),
        ({"max_imparity": "2"}, "--max-imparity 2: expected a number from 0 to 1"),
        ({"max_imparity": "-0.1"}, "--max-imparity -0.1: expected a number from 0 to 1"),
        ({"max_imparity": "few"}, "--max-imparity few: expected a number from 0 to 1"),
        ({"max_imparity": "nan"}, "--max-imparity nan: expected a number from 0 to 1"),
    ],
)
def test_what_is_not_there_gets_what_is(
    change: dict[str, str], message: str, table: pd.DataFrame
) -> None:
    asked = {"dataset": "adult", "setting": "race", "max_imparity": "0.1", "method": None}
    with pytest.raises(Problem) as caught:
        choose.main(**(asked | change))
    assert str(caught.value) == message


def test_without_results_the_stage_that_makes_them_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        Problem, match=r"^results/frontier\.csv does not exist; .* beyond/dvc.yaml:frontier$"
    ):
        choose.main("adult", "race", "0.1", None)


def test_the_command_line_takes_the_budget_and_leaves_the_method_open(
    table: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--dataset", "adult", "--setting", "race", "--max-imparity", "0.08"]

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "study.commands.choose", *command], cwd=tmp_path, text=True,
            capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        )  # fmt: skip

    done = run(*asked)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ask(capsys)
    done = run(*asked, "--method", "magic")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: --method magic: ")
    assert run(*asked[:4]).returncode == 2
    assert "[--method METHOD]" in run("--help").stdout


def test_a_base_with_thresholds_is_a_method_like_others(
    table: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    best = table[table["method"] == "gdp"].assign(method="boosting_thresholds", micro_f1=0.99)
    results.write(best, "thresholds")
    said = ask(capsys)
    assert said[1].split()[0] == "boosting_thresholds"
    assert any("has to be known of every row" in line for line in said)
    assert said[-1].startswith("Take boosting_thresholds at strength")
    assert ask(capsys, method="boosting_thresholds")[1] == said[1]

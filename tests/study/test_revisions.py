"""Commits, experiments and the workspace, as git and DVC have them."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from infofair.errors import Damaged, Problem
from study import paths, results, revisions
from tests.experiments import summary


def git(*command: str) -> str:
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    done = subprocess.run(["git", *who, *command], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def write(alpha: float, seed: int) -> None:
    paths.PARAMS.write_text(f"alpha: {alpha}\ntraining:\n  epochs: 3\n", encoding="utf-8")
    results.write(summary(seed), "summary")
    paths.METRICS.write_text(json.dumps({"adult_micro_f1": alpha}), encoding="utf-8")


@pytest.fixture
def commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three commits, with other results each, and the workspace as the last of them."""
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet", "--initial-branch=main")
    found = []
    for seed, alpha in enumerate((0.1, 5, 0.5)):
        write(alpha, seed)
        git("add", "--all")
        git("commit", "--quiet", "--message=one")
        found.append(git("rev-parse", "HEAD"))
    return found


def entry(rev: str, name: str | None, **more: Any) -> dict[str, Any]:
    """As `dvc exp show --json` prints one; what it says of params and metrics is not used."""
    return {"rev": rev, "name": name, "error": None, "data": None, "experiments": None} | more


def test_experiments_are_read_from_git_in_order_of_alpha(commits: list[str]) -> None:
    base, five, half = commits
    runs = [{"revs": [entry(five, "five")], "name": "five"}]
    runs += [{"revs": [entry(half, None)], "name": None}]
    shown = [entry("workspace", None), entry(base, "main", experiments=runs)]
    found = revisions.of_shown(shown)
    assert [one.name for one in (found.base, *found.others)] == ["main", half[:7], "five"]
    assert [one.params for one in found.others] == [
        {"alpha": 0.5, "training.epochs": 3}, {"alpha": 5, "training.epochs": 3}
    ]  # fmt: skip
    assert found.others[1].headline == {"adult_micro_f1": 5}
    assert [one.commit for one in (found.base, *found.others)] == [base, half, five]
    expected = summary(2)[revisions.COLUMNS]
    shown_table = found.others[0].summary[revisions.COLUMNS]
    pd.testing.assert_frame_equal(shown_table, expected, check_dtype=False, rtol=1e-5)
    assert found.without == []


@pytest.mark.parametrize("kind", ["failed", "running", "without results"])
def test_an_experiment_without_results_is_named(kind: str, commits: list[str]) -> None:
    git("rm", "--quiet", "-r", "results")
    git("commit", "--quiet", "--message=none")
    rev = git("rev-parse", "HEAD")
    run: dict[str, Any] = {
        "failed": {"revs": [entry(rev, "odd", error={"msg": "failed"})]},
        "running": {"revs": None, "executor": {"state": "running"}},
        "without results": {"revs": [entry(rev, "odd")]},
    }[kind]
    shown = [entry(commits[0], "main", experiments=[run | {"name": "odd"}])]
    found = revisions.of_shown(shown)
    assert (found.others, found.without) == ([], ["odd"])


def test_the_workspace_beside_a_commit(commits: list[str]) -> None:
    write(0.7, 4)
    found = revisions.against("HEAD~2")
    assert (found.base.name, found.others[0].name) == ("HEAD~2", "workspace")
    assert (found.base.params["alpha"], found.others[0].params["alpha"]) == (0.1, 0.7)
    assert found.others[0].summary["micro_f1"].notna().any()


def test_what_git_does_not_have_is_named(commits: list[str]) -> None:
    with pytest.raises(Problem, match=r"^nowhere is no commit that git has here$"):
        revisions.against("nowhere")


def test_a_table_of_another_form_is_damaged(commits: list[str]) -> None:
    paths.table("summary").write_text("dataset,setting\nadult,gender\n", encoding="utf-8")
    with pytest.raises(Damaged, match="no column 'method'"):
        revisions.against("HEAD")


def test_outside_a_dvc_repository_the_problem_is_dvcs_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Problem, match=r"^dvc exp show: .*not inside of a DVC repository"):
        revisions.experiments()

"""Commits, experiments of DVC and the workspace: their parameters and results, to compare.

Which experiments there are, DVC says; what is in them is read from git, where each is a commit.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from infofair.errors import Problem
from study import paths, results
from study.plain_yaml import parsed

FIGURES = ["micro_f1", "imparity", "reduction"]  # that are compared
COLUMNS = [*results.CELL, "protocol", *FIGURES, *results.MARKS]  # of the summary
WORKSPACE = "workspace"
Read = Callable[[Path], str | None]  # the text of a file, if it is there


@dataclass(frozen=True, eq=False)
class Revision:
    name: str  # of the branch, the experiment or the commit
    params: dict[str, Any]  # params.yaml, by a.b
    headline: dict[str, Any]  # results/metrics.json, likewise
    summary: pd.DataFrame  # results/summary.csv, of which COLUMNS are sure; maybe without rows
    commit: str = ""  # its hash; the workspace has none


@dataclass(frozen=True, eq=False)
class Compared:
    """A commit, and what is put beside it, in order of alpha and name."""

    base: Revision
    others: list[Revision]
    without: list[str] = field(default_factory=list)  # which experiments have no results (yet)


def experiments() -> Compared:
    """The last commit and its experiments."""
    command = [sys.executable, "-m", "dvc", "exp", "show", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Problem(f"dvc exp show: {done.stderr.strip()}")
    return of_shown(json.loads(done.stdout))


def of_shown(shown: list[dict[str, Any]]) -> Compared:
    """What `dvc exp show --json` printed, with what git has of it."""
    commit = next(entry for entry in shown if entry["rev"] != WORKSPACE)
    base = of_commit(commit["rev"], commit.get("name") or commit["rev"][:7])
    found, without = [], []
    for run in commit.get("experiments") or []:
        revs = run.get("revs") or []
        name = run.get("name") or (revs[0]["rev"][:7] if revs else "?")
        own = of_commit(revs[0]["rev"], name) if revs and not revs[0].get("error") else None
        if own is None or own.summary.empty:
            without.append(name)
        else:
            found.append(own)
    return Compared(base, sorted(found, key=_order), sorted(without))


def against(base: str) -> Compared:
    """A commit, and the workspace beside it."""
    return Compared(of_commit(base, base), [read(WORKSPACE, _of_workspace)])


def of_commit(rev: str, name: str) -> Revision:
    def show(path: Path) -> str | None:
        # from the current folder on, which may be below git's top
        command = ["git", "show", f"{rev}:./{path.as_posix()}"]
        done = subprocess.run(command, capture_output=True)
        return None if done.returncode else done.stdout.decode("utf-8")

    known = ["git", "rev-parse", "--quiet", "--verify", f"{rev}^{{commit}}"]
    done = subprocess.run(known, capture_output=True, text=True)
    if done.returncode:
        raise Problem(f"{rev} is no commit that git has here")
    return replace(read(name, show), commit=done.stdout.strip())


def read(name: str, show: Read) -> Revision:
    params, metrics = (show(path) for path in (paths.PARAMS, paths.METRICS))
    return Revision(
        name,
        flat(parsed(params or "")),
        flat(json.loads(metrics or "{}")),
        _summary(show(paths.table("summary"))),
    )


def _of_workspace(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def _summary(text: str | None) -> pd.DataFrame:
    if text is None:
        return pd.DataFrame(columns=COLUMNS)
    with TemporaryDirectory() as folder:
        path = Path(folder, paths.table("summary").name)
        path.write_text(text, encoding="utf-8")
        return results.checked(path, COLUMNS)


def flat(content: object, prefix: str = "") -> dict[str, Any]:
    if not isinstance(content, dict):
        return {}
    found: dict[str, Any] = {}
    for key, value in content.items():
        nested = isinstance(value, dict)
        found |= flat(value, f"{prefix}{key}.") if nested else {f"{prefix}{key}": value}
    return found


def _order(revision: Revision) -> tuple[float, str]:
    alpha = revision.params.get("alpha")
    return (float(alpha) if isinstance(alpha, int | float) else float("inf")), revision.name

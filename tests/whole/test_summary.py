"""What the GitHub workflow posts: .ci/figures, with a dvc and a python that only answer."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

STUB = '#!/bin/sh\necho "{} $*"\n'


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name in ("tradeoff.png", "ablation.png", "results_table.md"):
        path = tmp_path / "results/figures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("| the table |")
    for name in ("dvc", "python"):
        stub = tmp_path / "bin" / name
        stub.parent.mkdir(exist_ok=True)
        stub.write_text(STUB.format(name))
        stub.chmod(0o755)
    script = tmp_path / ".ci/figures"
    script.parent.mkdir()
    script.write_bytes((ROOT / ".ci/figures").read_bytes())
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "all")
    return tmp_path


def git(folder: Path, *command: str) -> str:
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    return subprocess.check_output(["git", *who, *command], cwd=folder, text=True).strip()


def said(folder: Path, **environment: str) -> str:
    given = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "BASE": "main"} | environment
    subprocess.run(["bash", ".ci/figures"], cwd=folder, env=given, check=True, capture_output=True)
    return (folder / "summary.md").read_text()


def test_it_has_what_differs_and_shows_what_has_an_address(repository: Path) -> None:
    (repository / "results/figures/ablation.png").write_text("another")
    summary = str(repository / "summary.md")
    text = said(repository, GITHUB_REPOSITORY="we/this", GITHUB_STEP_SUMMARY=summary)
    for part in ("dvc params diff main --md", "dvc metrics diff main --md", "| the table |"):
        assert part in text
    assert "python -m study.commands.compare --base main" in text
    at = f"https://github.com/we/this/raw/{git(repository, 'rev-parse', 'HEAD')}/results/figures"
    first, second = text.split("## Pictures")[1].split("results/figures/ablation.png is ")
    assert "tradeoff.png is as committed." in first and f"({at}/tradeoff.png)" in first
    assert second.startswith("not as committed.")
    assert "As it was; as it is now, it is in the artifact" in second
    assert f"({at}/ablation.png)" in second
    assert "data:" not in text


def test_elsewhere_it_shows_no_picture(repository: Path) -> None:
    text = said(repository, GITHUB_STEP_SUMMARY=str(repository / "summary.md"))
    assert "tradeoff.png is as committed." in text
    assert "![" not in text

"""The door to the notebooks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infofair.errors import Problem
from stages import notebook
from study import notebooks
from tests.conftest import ROOT


def test_a_notebook_that_does_not_exist_gets_those_that_do(workspace: Path) -> None:
    with pytest.raises(Problem, match=r"^--notebook lost: there are results_table, tradeoff, abl"):
        notebook.main("lost")


def test_help_names_the_notebooks(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stages.notebook", "--help"], cwd=tmp_path, capture_output=True,
        text=True, env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 0
    assert f"one of {', '.join(notebooks.WRITTEN)}" in " ".join(
        done.stdout.split()
    )  # however it is wrapped
    assert "params.yaml" not in done.stdout

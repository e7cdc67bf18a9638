"""The command that joins a cluster; the tests of a whole cluster start their workers with it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from infofair import kernels
from tests.conftest import ROOT

DASK = "import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ)]))"
ADDRESS = "tcp://localhost:8786"


def start(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command where another dask is found: one that says how it was called."""
    (folder / "dask").mkdir()
    (folder / "dask/__init__.py").touch()
    (folder / "dask/__main__.py").write_text(DASK)
    inherited = {k: v for k, v in os.environ.items() if k not in kernels.KERNELS}
    return subprocess.run(
        [sys.executable, "-m", "study.commands.worker", "--scheduler", ADDRESS],
        env=inherited | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"} | environment,
        cwd=folder,
        capture_output=True,
        text=True,
    )


def test_it_becomes_dasks_worker_with_the_kernels_of_the_stages(tmp_path: Path) -> None:
    done = start(tmp_path, INFOFAIR_WORKERS="3")
    assert done.returncode == 0, done.stderr
    given, environment = json.loads(done.stdout)
    assert given == ["worker", ADDRESS, "--nthreads", "1", "--nworkers", "3"]
    assert kernels.pinned()  # as the stages are, here
    here = {name: os.environ.get(name) for name in kernels.KERNELS}
    assert {name: environment.get(name) for name in kernels.KERNELS} == here


@pytest.mark.parametrize("workers", ["many", "0"])
def test_a_wrong_number_of_workers_is_said_before_anything_starts(
    workers: str, tmp_path: Path
) -> None:
    done = start(tmp_path, INFOFAIR_WORKERS=workers)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: INFOFAIR_WORKERS={workers}: expected a whole number")

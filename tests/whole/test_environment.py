"""`make` and `dvc` where something is missing: one message that helps, and nothing lost."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from study import paths
from tests.conftest import ROOT

# What a stage of each pipeline finds that has results in git.
BEFORE = {
    "summarize": ["data/plans/summarize/all.json", "results/evaluation/adult/runs.csv"],
    "beyond/dvc.yaml:comparison": [
        "data/plans/comparison/all.json",
        "data/plans/sweep/adult/gdp.json",
        "results/measured/adult.csv",
        "results/sweep/adult/gdp/gdp/grid.json",
    ],
    "luck/dvc.yaml:luck_table": [
        "data/plans/luck/all.json",
        "data/processed/adult.npz",
        "results/luck/adult/vanilla/predictions.npz",
    ],
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The repository as it is here, in a folder whose name has spaces."""
    folder = tmp_path / "a clone of it"
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.check_output(listed, cwd=ROOT, text=True).split("\0")[:-1]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return folder


def results(folder: Path) -> dict[Path, bytes]:
    found = [path for path in (folder / paths.RESULTS).rglob("*") if path.is_file()]
    return {path: path.read_bytes() for path in found}


@pytest.mark.parametrize("stage", BEFORE)
@pytest.mark.promise(
    "Where Python or packages are missing, one message says so, and results survive."
)
def test_with_a_python_without_our_packages_a_stage_says_so_and_results_survive(
    stage: str, clone: Path, tmp_path: Path
) -> None:
    """As when `.venv/bin/dvc repro` is called and .venv was not activated."""
    venv.create(tmp_path / "bare", with_pip=False)
    for name in BEFORE[stage]:
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).touch()
    before = results(clone)
    path = os.pathsep.join([str(tmp_path / "bare/bin"), "/usr/bin", "/bin"])
    done = subprocess.run(
        [sys.executable, "-m", "dvc", "repro", "--force", "--single-item", stage],
        cwd=clone,
        env={**os.environ, "PATH": path, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert done.stderr.startswith(f"error: {tmp_path / 'bare/bin/python'} lacks packages of the")
    assert "source .venv/bin/activate" in done.stderr.splitlines()[0]
    assert "Traceback" not in done.stderr + done.stdout
    assert results(clone) == before
    assert (clone / paths.RESULTS / "runs.csv").exists()


# -- make -----------------------------------------------------------------------------------------


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of programs with all that `make setup` runs but a Python."""
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("make", "sh", "touch", "echo"):
        (folder / name).symlink_to(shutil.which(name) or name)
    return folder


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def usable(path: Path) -> None:
    """This Python under another name; its environments are without pip, which takes seconds."""
    program(path, f'[ "$1" != -m ] || set -- "$@" --without-pip\nexec "{sys.executable}" "$@"')


def make(clone: Path, tools: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`make setup` with these programs alone; what it would install is only said."""
    return subprocess.run(
        ["make", "setup", "PIP=echo pip", *arguments],
        cwd=clone,
        env={"PATH": str(tools), "HOME": str(clone)},
        capture_output=True,
        text=True,
    )


@pytest.mark.promise(
    "Where Python or packages are missing, one message says so, and results survive."
)
def test_without_a_python_make_says_what_to_install(clone: Path, tools: Path) -> None:
    program(tools / "python3.11", "exit 127")  # pyenv has one for each Python of another shell
    done = make(clone, tools)
    assert done.returncode == 2
    first = done.stderr.splitlines()[0]
    assert first.startswith("error: no Python 3.11, 3.12 or 3.13")
    assert "apt install python3.11 python3.11-venv" in first and "PYTHON=" in first
    assert not (clone / ".venv").exists()


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_make_takes_the_first_python_that_works(version: str, clone: Path, tools: Path) -> None:
    program(tools / "python3.11", "exit 127")
    program(tools / "python3.12", "exit 1")
    usable(tools / f"python{version}")
    done = make(clone, tools)
    assert (done.returncode, done.stderr) == (0, "")
    first, *said = done.stdout.splitlines()
    assert first == f"python{version} -m venv .venv"
    installed = [line for line in said if line.startswith("pip install ")]
    # what a folder of pip's has of torch is taken before what the index has
    files = ["build", "torch", "run"]
    hashed = "pip install --require-hashes --no-deps --no-build-isolation --use-pep517 "
    hashed += "--no-compile "
    offline = {"torch": "--no-index "}
    expected = [f"{hashed}{offline.get(name, '')}-r requirements/{name}.txt" for name in files]
    assert installed == [
        *expected, "pip install --no-index --no-deps --no-build-isolation --editable ."
    ]  # fmt: skip
    assert (clone / ".venv/bin/python").exists()
    assert "Nothing to be done" in make(clone, tools).stdout
    (clone / "requirements/run.txt").touch()  # other pins: the environment stays, and is brought up
    assert "venv" not in make(clone, tools).stdout


def test_make_takes_the_python_of_uv_if_uv_is_there(clone: Path, tools: Path) -> None:
    usable(tools / "of uv")
    program(tools / "uv", f'[ "$*" = "python find --system 3.12" ] && echo "{tools}/of uv"')
    done = make(clone, tools)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == f"{tools}/of uv -m venv .venv"


def test_a_python_that_is_named_is_taken_or_refused(clone: Path, tools: Path) -> None:
    program(tools / "old", "exit 1")
    done = make(clone, tools, "PYTHON=old")
    assert done.returncode == 2
    assert done.stderr.startswith("error: old is no Python 3.11, 3.12 or 3.13")
    usable(tools / "new")
    done = make(clone, tools, "PYTHON=new")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("new -m venv .venv\n")


def test_a_relative_mirror_is_the_same_folder_for_every_stage(clone: Path, tools: Path) -> None:
    text = (clone / "Makefile").read_text() + "\nmirror:\n\t@echo $$INFOFAIR_MIRROR\n"
    (clone / "Makefile").write_text(text)
    for given, seen in {"my data": f"{clone}/my data", "/my data": "/my data"}.items():
        done = subprocess.run(
            ["make", "mirror"],
            cwd=clone,
            env={"PATH": str(tools), "INFOFAIR_MIRROR": given},
            capture_output=True,
            text=True,
        )
        assert done.stdout.strip() == seen, done.stderr

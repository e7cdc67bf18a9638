"""The doors: each says what it does, and what is missing; `check` writes the plans."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from study import paths, plans
from tests.conftest import ROOT, paper_params
from tests.repository import Pipeline

ITEMS = {
    "dataset": "compas", "method": "vanilla", "name": "tradeoff", "study": "equal_opportunity",
}  # fmt: skip


def doors() -> dict[str, list[str]]:
    """Every door that a stage has, and the options it gives."""
    found = {}
    for lock in paths.LOCKS:
        for stage in YAML(typ="safe").load(ROOT / lock.with_suffix(".yaml"))["stages"].values():
            _, _, module, *options = re.sub(
                r"\$\{item\.(\w+)\}", lambda item: ITEMS[item[1]], stage.get("do", stage)["cmd"]
            ).split()
            found[module.removeprefix("stages.")] = options
    return found


DOORS = doors()


def enter(door: str, *options: str) -> None:
    """As `python -m stages.<door>`, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [door, *options])
        runpy.run_path(str(ROOT / f"stages/{door}.py"), run_name="__main__")


def test_every_door_leads_to_a_stage() -> None:
    files = {path.stem for path in (ROOT / "stages").glob("*.py")} - {"__init__"}
    assert files == DOORS.keys()


@pytest.mark.parametrize("door", DOORS)
def test_help_shows_what_the_stage_does_and_how_to_run_it(
    door: str, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = (ROOT / f"stages/{door}.py").read_text("utf-8")
    with pytest.raises(SystemExit) as stopped:
        enter(door, "--help")
    said = capsys.readouterr()
    assert (stopped.value.code, said.err) == (0, "")
    assert source.splitlines()[0].removeprefix('"""').removesuffix('"""') in said.out
    assert all(option in said.out for option in [*DOORS[door][::2], "--debug"])
    assert [path.name for path in workspace.iterdir()] == ["params.yaml"]


@pytest.mark.parametrize("door", [door for door in DOORS if door != "check"])
def test_a_stage_run_too_early_names_the_stage_that_makes_its_input(
    door: str, workspace: Path
) -> None:
    with pytest.raises(SystemExit) as stopped:
        enter(door, *DOORS[door])
    said = str(stopped.value.code)
    assert re.fullmatch(r"error: \S+ does not exist; it is made by: dvc repro( \S+)?", said), said
    assert [path.name for path in workspace.iterdir()] == ["params.yaml"]


def python(*command: str, cwd: Path) -> tuple[int, str, str]:
    pipeline = Pipeline(ROOT)
    done = subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env=pipeline.environment,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_command_is_called_as_it_is_run(tmp_path: Path) -> None:
    status, said, _ = python("-m", "stages.download", "--help", cwd=tmp_path)
    assert status == 0
    assert said.startswith("usage: python -m stages.download ")


def test_a_dataset_that_params_yaml_does_not_name_has_no_plan(workspace: Path) -> None:
    enter("check")
    with pytest.raises(SystemExit, match=r"plans/download/mnist\.json does not exist; .* check$"):
        enter("download", "--dataset", "mnist")


# -- without our packages -------------------------------------------------------------------------


def test_a_python_without_our_packages_says_so_in_one_line(tmp_path: Path) -> None:
    """`.venv/bin/dvc repro` without activating the environment finds another Python."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import stages"
    bare = [sys.executable, "-I", "-S", "-c", code, str(ROOT)]
    done = subprocess.run(bare, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert re.fullmatch(r"error: \S+ lacks packages of the project \(.*\)\. Run .*\n", done.stderr)


# -- check ----------------------------------------------------------------------------------------


def test_check_is_silent_and_writes_every_plan(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    enter("check")
    assert capsys.readouterr() == ("", "")
    written = {path for path in paths.PLANS.rglob("*") if path.is_file()}
    expected = dict(plans.everything(paper_params()))
    assert written == expected.keys()
    path = paths.plan("prepare", "adult")
    assert json.loads(path.read_text("utf-8")) == expected[path]


def test_check_refuses_a_bad_value_without_a_traceback_and_writes_nothing(
    workspace: Path,
) -> None:
    path = workspace / "params.yaml"
    path.write_text(path.read_text("utf-8").replace("alpha: 0.1", "alpha: -3", 1), "utf-8")
    said = python("-m", "stages.check", cwd=workspace)
    expected = "error: params.yaml: alpha = -3: should be greater than or equal to 0\n"
    assert said == (1, "", expected)
    assert sorted(workspace.rglob("*")) == [path]

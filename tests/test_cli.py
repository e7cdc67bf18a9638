import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from stages import cli
from stages.files import Problem
from tests.conftest import ROOT

OF_A_DATASET = ["download", "validate", "preprocess", "train", "solve", "evaluate"]
STAGES = [*OF_A_DATASET, "summarize", "frontier", "honest", "check", "notebook", "report"]


def arguments(stage: str, dataset: str = "compas") -> dict[str, str]:
    """What the stage's command line asks for."""
    given = {"dataset": dataset} if stage in OF_A_DATASET else {}
    more = {
        "train": {"method": "vanilla"},
        "solve": {"method": "lfr"},
        "notebook": {"notebook": "tradeoff"},
    }
    return given | more.get(stage, {})


def python(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("stage", STAGES)
def test_help_shows_what_the_stage_does_and_how_to_run_it(stage: str, tmp_path: Path) -> None:
    source = (ROOT / "stages" / f"{stage}.py").read_text("utf-8")
    done = python("-m", f"stages.{stage}", "--help", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert source.splitlines()[0].removeprefix('"""') in done.stdout.splitlines()
    assert done.stdout.startswith(f"usage: python -m stages.{stage} ")
    assert all(f"--{option}" in done.stdout for option in [*arguments(stage), "debug"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stage", STAGES)
def test_outside_the_repository_every_stage_says_so(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Problem, match=r"params\.yaml: not found here; run from the top of the rep"):
        import_module(f"stages.{stage}").main(**arguments(stage))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stage", OF_A_DATASET)
def test_a_dataset_that_params_yaml_does_not_name_gets_those_that_it_does(
    stage: str, workspace: Path
) -> None:
    with pytest.raises(Problem, match=r"^--dataset mnist: params\.yaml names compas, adult, dutch"):
        import_module(f"stages.{stage}").main(**arguments(stage, "mnist"))
    assert [path.name for path in workspace.iterdir()] == ["params.yaml"]


def test_a_method_that_params_yaml_does_not_name_gets_those_that_it_does(workspace: Path) -> None:
    with pytest.raises(Problem, match=r"^--method magic: params\.yaml names infofair, .*vanilla"):
        import_module("stages.train").main("compas", "magic")


@pytest.mark.parametrize(
    ("stage", "method", "right"),
    [("train", "lfr", "solve@compas-lfr"), ("solve", "vanilla", "train_fixed@compas-vanilla")],
)
def test_a_method_given_to_the_wrong_stage_names_the_right_one(
    stage: str, method: str, right: str, workspace: Path
) -> None:
    with pytest.raises(Problem, match=f"^--method {method}: it is run by dvc repro {right}$"):
        import_module(f"stages.{stage}").main("compas", method)


@pytest.mark.parametrize("stage", OF_A_DATASET[1:])
def test_a_stage_run_too_early_names_the_stage_that_makes_its_input(
    stage: str, workspace: Path
) -> None:
    with pytest.raises(Problem, match=r"does not exist; it is made by: dvc repro \w+@compas"):
        import_module(f"stages.{stage}").main(**arguments(stage))


FAILING = "from stages import cli\ndef main(): {}['lost']\ncli.run(main, 'A stage.')"


def test_an_unexpected_error_is_one_line_and_status_1(tmp_path: Path) -> None:
    done = python("-c", FAILING, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: KeyError: 'lost' (a bug of ours? run with --debug for the traceback)\n"
    )


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    done = python("-c", FAILING, "--debug", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback (most recent call last):")
    assert done.stderr.endswith("KeyError: 'lost'\n")


def test_a_problem_is_shown_as_it_is_without_a_traceback(workspace: Path) -> None:
    done = python("-m", "stages.download", "--dataset", "mnist", cwd=workspace)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: --dataset mnist: params.yaml names compas, adult, dutch\n"


def test_an_error_of_the_file_system_names_the_file() -> None:
    error = PermissionError(13, "Permission denied", "data/raw")
    assert cli.explain(error) == "data/raw: Permission denied"


@pytest.mark.parametrize("argv", [[], ["--dataset"], ["--datset", "compas"]])
def test_a_command_line_that_does_not_parse_shows_its_usage(
    argv: list[str], tmp_path: Path
) -> None:
    done = python("-m", "stages.download", *argv, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: python -m stages.download ")
    assert "Traceback" not in done.stderr

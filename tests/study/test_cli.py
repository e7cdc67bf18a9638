"""What a command says when something is wrong: one message, and a status."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from infofair.errors import Damaged, Problem
from infofair.parallel import workers
from study import cli
from tests.conftest import ROOT

FAILING = "from study import cli\ndef main(): {}['lost']\ncli.run(main, 'A stage.')"


def failing(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", FAILING, *options],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


def test_an_unexpected_error_is_one_line_and_status_1() -> None:
    done = failing()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: KeyError: 'lost' (a bug of ours? run with --debug for the traceback)\n"
    )


def test_debug_shows_the_traceback() -> None:
    done = failing("--debug")
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback (most recent call last):")
    assert done.stderr.endswith("KeyError: 'lost'\n")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Problem("say this"), "say this"),
        (Damaged(Path("a.npz"), "x"), "a.npz is damaged (x); remove it and run make repro"),
        (PermissionError(13, "Permission denied", "data/raw"), "data/raw: Permission denied"),
        (OSError(28, "No space left", "a", None, "b"), "b: No space left"),
        (FileNotFoundError(2, "", "a"), "a does not exist; it is made by: dvc repro"),
        (Problem("a\x1b[31mb\0"), r"a\x1b[31mb\x00"),
        (Problem("two\nlines"), "two\nlines"),
    ],
)
def test_what_is_said_of_an_error(error: Exception, said: str) -> None:
    assert cli.explain(error) == said


def numpy_too_much() -> object:
    return np.zeros(10**15)


def torch_too_much() -> object:
    return torch.zeros(10**15)


@pytest.mark.promise("A stage that runs out of memory is named, with what to lower.")
@pytest.mark.parametrize("take", [numpy_too_much, torch_too_much])
@pytest.mark.parametrize("processes", [1, 2])
def test_what_runs_out_of_memory_is_named_with_what_to_lower(
    take: Callable[[], object], processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def main() -> None:
        workers.run(take, [(), ()], names=["a", "b"], title="t", at_most=processes, bar=False)

    monkeypatch.setattr(sys, "argv", ["train", "--debug"][:1])
    with pytest.raises(SystemExit) as stopped:
        cli.run(main, None)
    said = str(stopped.value.code)
    assert re.fullmatch(r"error: python -m \S+ ran out of memory; lower INFOFAIR_WORKERS, .+", said)
    assert "hidden, batch_size, seeds" in said
    assert "bug" not in said


def test_a_line_has_an_end() -> None:
    said = cli.explain(Problem("x" * 5000))
    assert said == f"{'x' * cli.LONGEST} … (5000 characters)"


def call(monkeypatch: pytest.MonkeyPatch, *given: str) -> dict[str, str]:
    seen: dict[str, str] = {}
    monkeypatch.setattr(sys, "argv", ["command", *given])
    cli.run(seen.update, "What it does.", "dataset", optional=["to"], to="where to")
    return seen


def test_options_are_given_to_main_and_an_optional_one_may_be_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert call(monkeypatch, "--dataset", "a", "--to", "b") == {"dataset": "a", "to": "b"}
    assert call(monkeypatch, "--dataset", "a") == {"dataset": "a", "to": None}


@pytest.mark.parametrize("argv", [[], ["--dataset"], ["--datset", "compas"]])
def test_a_command_line_that_does_not_parse_shows_its_usage(
    argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        call(monkeypatch, *argv)
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("usage: ")

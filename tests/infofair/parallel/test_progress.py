"""How far the work is, where somebody watches."""

import sys
from pathlib import Path

import pytest

from infofair.parallel import progress
from infofair.parallel.progress import Progress


@pytest.fixture
def board(tmp_path: Path) -> Path:
    return Progress.new_board(tmp_path / "board", [9, 6])


def test_the_bar_shows_the_slowest_worker_and_the_models_of_all(
    board: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "watched", lambda: True)
    first, second = (Progress(board, worker, 2, 100, "infofair on adult") for worker in (0, 1))
    second(3, 4, 0.5)
    first(7, 9, 0.3)
    shown = capsys.readouterr().err.split("\r")[-1]
    assert shown.startswith("infofair on adult:   3%")
    assert "models running=13, T=0.400" in shown


def test_nothing_is_shown_where_nobody_watches(
    board: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Progress(board, 0, 2, 100, "not a terminal")(1, 9, 0.5)
    assert not progress.watched()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("CI", "true")
    assert not progress.watched()
    assert capsys.readouterr().err == ""


def test_without_a_board_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Progress(None, 0, 2, 100, "on other machines")(1, 9, 0.5)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("seen", [True, False])
def test_a_bar_is_tqdms_if_it_is_installed_and_somebody_watches(
    seen: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "watched", lambda: seen)
    with progress.bar(2, "a stage", "fit") as shown:
        shown.update()
    assert ("a stage" in capsys.readouterr().err) == seen
    monkeypatch.setitem(sys.modules, "tqdm", None)  # the library does without
    with progress.bar(2, "a stage", "fit") as shown:
        shown.update()
    assert capsys.readouterr().err == ""

from pathlib import Path

import pytest

from stages import progress
from stages.progress import Progress


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

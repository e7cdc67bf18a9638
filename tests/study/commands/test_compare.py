"""`make compare`: on the terminal, and the page that it writes."""

from pathlib import Path

import pytest

from study import revisions
from study.commands import compare
from study.page import places
from tests.conftest import ROOT
from tests.experiments import compared, revision, summary


def test_infofair_is_shown_beside_the_commit_with_what_else_changed() -> None:
    more = revision("more", 2, alpha=0.5, seeds=[0], **{"training.epochs": 2})
    frame = compare.infofair(compared(revision("half", 1, alpha=0.5), more))
    assert frame["experiment"].drop_duplicates().tolist() == ["main", "half", "more"]
    assert frame.groupby("experiment", sort=False)["baseline"].all().tolist() == [
        True, False, False
    ]  # fmt: skip
    changed = frame.drop_duplicates("experiment")["changed"].tolist()
    assert changed == ["", "", "seeds, training.epochs"]
    table = summary(1).set_index(["method", "setting", "protocol"])
    half = frame[frame["experiment"] == "half"].set_index("setting")
    for setting, row in half.iterrows():
        assert row["micro_f1"] == table.loc[("infofair", setting, "mean"), "micro_f1"]
        assert row["vanilla_imparity"] == table.loc[("vanilla", setting, "mean"), "imparity"]
    text = compare.to_markdown(frame)
    gender = half.loc["gender"]
    shown = f"{gender['micro_f1']:.3f} | {gender['imparity']:.3f} | {gender['reduction']:.1%}"
    assert f"| half | 0.5 | {shown} |  |" in text
    assert "| *main (this commit)* | 0.1 |" in text


def test_without_experiments_it_says_what_to_run() -> None:
    assert "dvc exp run -S alpha=0.5" in compare.to_markdown(compare.infofair(compared()))


@pytest.mark.parametrize("base", [None, "main"])
def test_it_prints_markdown_and_writes_the_page(
    base: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    monkeypatch.chdir(tmp_path)
    both = compared(revision("half", 1, alpha=0.5))
    monkeypatch.setattr(revisions, "experiments", lambda: both)
    monkeypatch.setattr(revisions, "against", lambda of: both)
    compare.main(base)
    said = capsys.readouterr().out
    assert "## Which cells moved by more than their spread" in said
    assert ("(this commit)" in said) == (base is None)
    assert "half" in places.COMPARE.read_text(encoding="utf-8")
    assert places.COMPARE.with_suffix(".png").read_bytes().startswith(b"\x89PNG")

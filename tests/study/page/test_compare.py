"""reports/compare.html: what moved, what did not, and what is not there."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from study import results
from study.figures.positions import front_of_cells
from study.page import compare
from study.page.compare import Change, Comparison
from study.revisions import FIGURES, Compared
from tests.conftest import ROOT
from tests.experiments import compared, revision, summary
from tests.study.page.inputs import Page, text_of
from tests.study.page.test_browser import contrast, keys, look

THREE = [revision("half", 1, alpha=0.5), revision("one", 2, alpha=1), revision("same", alpha=2)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace without fronts, with the style of figures."""
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def page_of(of: Comparison) -> str:
    return compare.page(of, compare.picture(of))


def naive(before: pd.DataFrame, after: pd.DataFrame) -> dict[tuple[str, ...], str]:
    """What each figure of each cell did, row by row."""
    found = {}
    for _, row in before[before["protocol"] == "mean"].iterrows():
        cell = (row["dataset"], row["setting"], row["method"])
        for figure in FIGURES:
            new, spreads = np.nan, []
            for table in (before, after):
                for _, other in table.iterrows():
                    if (other["dataset"], other["setting"], other["method"]) == cell:
                        if other["protocol"] == "std" and not np.isnan(other[figure]):
                            spreads.append(other[figure])
                        if other["protocol"] == "mean" and table is after:
                            new = other[figure]
            if np.isnan(new):
                found[*cell, figure] = "missing"
            elif new == row[figure]:
                found[*cell, figure] = "same"
            elif not spreads:
                found[*cell, figure] = "alone"
            elif abs(new - row[figure]) > max(spreads):
                found[*cell, figure] = "up" if new > row[figure] else "down"
            else:
                found[*cell, figure] = "within"
    return found


@pytest.mark.parametrize("seed", range(5))
def test_arrows_are_where_a_naive_loop_has_them(seed: int) -> None:
    other = summary(seed)
    other.loc[other["protocol"] == "std", FIGURES] *= 1 + seed % 2  # the larger spread counts
    of = Comparison(compared(revision("other", table=other)))
    kinds = {(*line.cell, c.figure): c.kind for line in of.lines for c in line.changes}
    assert kinds == naive(of.base.summary, other)
    there = {*kinds.values()}
    assert {"same", "alone", "within"} <= there if seed else there == {"same"}
    assert ({"up", "down"} & there != set()) == (seed > 0)


@pytest.mark.parametrize(
    ("figure", "after", "judged"),
    [
        ("micro_f1", 0.6, "better"), ("micro_f1", 0.4, "worse"), ("micro_f1", 0.51, ""),
        ("imparity", 0.6, "worse"), ("imparity", 0.4, "better"), ("reduction", 0.6, "better"),
    ],
)  # fmt: skip
def test_less_imparity_is_better_and_more_of_the_rest(
    figure: str, after: float, judged: str
) -> None:
    assert Change(figure, 0.5, after, (0.01, 0.02)).judged == judged


def test_a_change_of_just_the_spread_is_none() -> None:
    assert Change("micro_f1", 0.5, 0.6, (0.1, np.nan)).kind == "within"
    assert Change("micro_f1", 0.5, 0.6001, (np.nan, 0.1)).kind == "up"


def test_the_page_has_every_arrow_with_words(folder: Path) -> None:
    of = Comparison(compared(*THREE))
    changes = [change for line in of.lines for change in line.changes]
    images = [e for e in Page(page_of(of)).all("span") if e[1].get("role") == "img"]
    words = {said for _, said in compare.MARKS.values()}
    assert {e[1]["aria-label"] for e in images} == words
    # once among what moved, if its cell did, and once among all cells
    moved = [c for line in of.lines if line.moved for c in line.changes]
    expected = sum(bool(c.mark) for c in changes) + sum(bool(c.mark) for c in moved)
    assert len(images) == expected


def test_what_differs_is_shown_and_what_does_not_is_not(folder: Path) -> None:
    of = Comparison(compared(*THREE, without=("lost",)))
    grid = compare.differences(of)
    assert [column.heading for column in grid.columns] == ["Experiment", "alpha", "adult_micro_f1"]
    assert [row[1:] for row in grid.rows] == [
        ["0.1", "0.8"], ["0.5", "0.81"], ["1", "0.82"], ["2", "0.8"]
    ]  # fmt: skip
    text = text_of(page_of(of))
    assert "left out (running, queued or failed): lost." in text
    assert "The same in all: Vanilla." in text


def test_commits_are_named_by_their_hash(folder: Path) -> None:
    base, other = (replace(revision(name), commit=name * 10) for name in ("main", "abcd"))
    text = page_of(Comparison(Compared(base, [other, revision("workspace")])))
    assert re.findall('<span class="hash muted">([^<]*)<', text) == ["main" * 10, "abcd" * 10]


def test_where_nothing_moved_it_says_so(folder: Path) -> None:
    of = Comparison(compared(revision("same")))
    page, said = page_of(of), compare.to_markdown(of)
    assert "Nothing moved by more than its spread." in page
    assert "Neither a parameter nor a headline figure." in page
    assert "0 of 9 cells moved by more than their spread." in page
    assert "0 of 9 cells moved by more than their spread." in said
    assert "→" not in said
    assert "The same in all: Vanilla, FCFC and InfoFair." in page


def test_cells_on_one_side_only_are_counted_and_have_no_arrow(folder: Path) -> None:
    table = summary(1, ("adult", "mine"), ("vanilla", "infofair", "own_method"))
    of = Comparison(compared(revision("other", table=table)))
    # FCFC's three are gone; three of a new method, nine of new data
    assert "; 15 on one side only" in of.counted(1)
    assert all(not c.mark for line in of.lines if line.absent for c in line.changes)
    text = text_of(page_of(of))
    assert "Mine, gender" in text
    assert "Own method" in text


def test_other_data_is_said_before_anything(folder: Path) -> None:
    table = summary(1, data="simulated")
    of = Comparison(compared(revision("other", table=table)))
    assert of.other_data == ["other"]
    assert "says nothing about the parameters" in page_of(of)
    assert "has other data" in compare.to_markdown(of)


def test_names_are_text_whatever_is_in_them(folder: Path) -> None:
    name = "<script>alert(1)</script>|*x*"
    of = Comparison(compared(revision(name, 1, **{"<b>": "<i>|"}), without=("<u>",)))
    page, said = page_of(of), compare.to_markdown(of)
    for raw in ("<script", "<b>", "<i>|", "<u>"):
        assert raw not in page
    assert not re.search(r"(?<!\\)[<*]", said.replace("**", ""))
    rows = [line for line in said.splitlines() if line.startswith("|")]
    assert len({row.replace(r"\|", "").count("|") for row in rows[:3]}) == 1


def test_the_markdown_has_the_cells_that_the_page_says_moved(folder: Path) -> None:
    of = Comparison(compared(*THREE))
    said = compare.to_markdown(of)
    moved = [line for line in of.lines if line.moved]
    assert moved
    for line in moved:
        cells = [of.names(line.cell)[-1], *(f"{c.way} {c.mark}".strip() for c in line.changes)]
        assert f"| {' | '.join(cells)} |" in said
    tables = [row for row in said.splitlines() if row.startswith("| Adult")]
    assert len(tables) == len(moved)


def test_without_experiments_the_page_says_what_to_run(folder: Path) -> None:
    assert "dvc exp run -S alpha=0.5" in page_of(Comparison(compared()))


def test_it_needs_nothing_and_is_always_the_same(folder: Path) -> None:
    of = Comparison(compared(*THREE))
    page = page_of(of)
    assert page == page_of(Comparison(compared(*THREE)))
    parsed = Page(page)
    assert not parsed.all("script")
    targets = [e[1].get("href") or "" for e in parsed.all("a", "link", "use")]
    ids = {e[1]["id"] for e in parsed.elements if e[1].get("id")}
    assert all(t.startswith("data:") or t.removeprefix("#") in ids for t in targets)
    assert len(page.encode()) < 3_000_000


def test_the_picture_has_every_position(folder: Path) -> None:
    rows = []
    for strength, f1, gap in ((0.0, 0.9, 0.5), (1.0, 0.8, 0.2), (2.0, 0.7, 0.3)):
        about = {"dataset": "adult", "setting": "gender", "method": "infofair", "seed": 0}
        figures_of = {"strength": strength, "micro_f1": f1, "imparity": gap}
        rows += [about | figures_of | {"split": part} for part in ("validation", "test")]
    results.write(results.frame(rows, "frontier"), "frontier")
    of = Comparison(compared(*THREE))
    drawn = compare.picture(of)
    assert drawn is not None
    front = front_of_cells(results.read("frontier"))
    assert front["adult", "gender", "infofair"].to_numpy().tolist() == [[0.8, 0.2], [0.9, 0.5]]
    points = {str(line.get_gid()): line for axes in drawn.axes for line in axes.lines}
    for place, one in enumerate(of.all):
        table = one.summary
        own = table[(table["method"] == "infofair") & (table["protocol"] == "mean")]
        for row in own.itertuples():
            line = points[f"point-adult-{row.setting}-{place}"]
            assert list(line.get_xdata()) == [row.imparity]
            assert list(line.get_ydata()) == [row.micro_f1]


# -- in Chromium ----------------------------------------------------------------------------------


@pytest.fixture
def shown(chromium: Any, folder: Path) -> Any:
    path = folder / "compare.html"
    path.write_text(page_of(Comparison(compared(*THREE, without=("lost",)))), encoding="utf-8")
    look(chromium)
    chromium.get(path.as_uri())
    return chromium


@pytest.mark.browser
def test_it_loads_quietly_and_nothing_overflows(shown: Any) -> None:
    assert shown.get_log("browser") == []
    assert shown.execute_script("return performance.getEntriesByType('resource').length") == 0
    for width in (320, 360, 768, 1280):
        look(shown, width)
        size = shown.execute_script(
            "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
        )
        assert size[0] <= size[1], width


@pytest.mark.browser
def test_arrows_stand_out_from_their_ground(shown: Any) -> None:
    for scheme in ("light", "dark"):
        look(shown, scheme=scheme)
        colours = shown.execute_script(
            """const of = [".better", ".worse", ".base td", "body"];
               const inks = of.map((c) => getComputedStyle(document.querySelector(c)).color);
               return [...inks, getComputedStyle(document.body).backgroundColor];"""
        )
        *inks, ground = [[int(p) for p in c[c.index("(") + 1 : -1].split(",")[:3]] for c in colours]
        assert min(contrast(ink, ground) for ink in inks) >= 4.5


@pytest.mark.browser
def test_a_point_leads_to_its_cells(shown: Any) -> None:
    shown.execute_script("document.querySelector('#positions a').focus()")
    shown.switch_to.active_element.send_keys(keys().ENTER)
    assert shown.find_element("css selector", ".places > :target h3").is_displayed()

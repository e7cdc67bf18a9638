"""People: no committed file names one, and none has a figure about fewer than five of them."""

import csv
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from infofair.data import dataset as datasets
from study import people, results, sizes
from study.people import SMALL
from tests.conftest import ROOT

# Columns and keys of how many people a figure is about.
COUNTS = {"size", "rows", "smallest_train", "smallest_test", "people", "members"}
HEADS = {"rows", "size", "smallest in training", "smallest in test", "people"}


@cache
def committed() -> list[Path]:
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    return [ROOT / path for path in listed if path and (ROOT / path).is_file()]


# -- names ----------------------------------------------------------------------------------------


def pairs(text: str) -> set[str]:
    """Every two words that follow each other, and every word with a digit."""
    words = re.findall(r"[^\W_]+(?:[-'][^\W_]+)*", text.lower())
    return {" ".join(two) for two in pairwise(words)} | {
        word for word in words if any(c.isdigit() for c in word)
    }


def test_a_name_in_a_file_would_be_found() -> None:
    assert {"ada lovelace", "99012345cf99z"} <= pairs("of Ada Lovelace, case 99012345CF99Z.")
    assert "lovelace ada" in pairs("Lovelace,ada")


@pytest.mark.promise("No committed file names a person of COMPAS, or a case number of theirs.")
@pytest.mark.real
def test_no_committed_file_names_a_person(
    real: Path, record_property: Callable[[str, object], None]
) -> None:
    """Nobody is printed on failure, only where."""
    raw = pd.read_csv(
        real / "compas" / "compas-scores-two-years.csv", dtype=str, keep_default_na=False
    )
    names = {f"{a} {b}".lower() for a, b in zip(raw["first"], raw["last"], strict=True)}
    names |= {f"{b} {a}".lower() for a, b in zip(raw["first"], raw["last"], strict=True)}
    cases = {
        case.lower()
        for column in ("c_case_number", "r_case_number", "vr_case_number")
        for case in raw[column]
        if case
    }
    assert len(names) > 14_000 and len(cases) > 7_000
    found: dict[str, int] = {}
    read = 0
    for path in committed():
        try:
            held = pairs(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:  # a picture
            continue
        read += 1
        if both := len(held & (names | cases)):
            found[str(path.relative_to(ROOT))] = both
    record_property("tried", read)
    assert found == {}


# -- small cells ----------------------------------------------------------------------------------


def few(text: object) -> bool:
    return str(text).strip() in {str(n) for n in range(1, SMALL)}


def in_json(value: Any, key: str, above: tuple[str, ...] = ()) -> Iterator[str]:
    """Counts of one to four: at a key that says so, or of the groups in results/sizes."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from in_json(inner, name, (*above, key))
    elif isinstance(value, list):
        for inner in value:
            yield from in_json(inner, key, above)
    elif (key in COUNTS or "groups" in above) and isinstance(value, int) and few(value):
        yield ".".join((*above, key))


class Tables(HTMLParser):
    """The cells of every row of every table."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.cell: list[str] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in ("td", "th") and self.tables and self.tables[-1]:
            self.cell = []

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self.cell is not None:
            self.tables[-1][-1].append(" ".join("".join(self.cell).split()))
            self.cell = None


def in_table(rows: list[list[str]]) -> Iterator[str]:
    """Cells of one to four under a head that counts people, where the last head row is whole."""
    heads = [i for i, row in enumerate(rows) if {cell.lower() for cell in row} & HEADS]
    if not heads:
        return
    head = rows[heads[0]]
    for row in rows[heads[0] + 1 :]:
        for place, cell in enumerate(row[: len(head)]):
            if head[place].lower() in HEADS and few(cell):
                yield f"{row[0]}: {head[place]}"


def small(path: Path) -> list[str]:
    """Where a file shows a figure about one to four people."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        return [
            f"line {number}: {column}"
            for number, row in enumerate(csv.DictReader(text.splitlines()), 2)
            for column, value in row.items()
            if column in COUNTS and few(value)
        ]
    if path.suffix == ".json":
        return list(in_json(json.loads(text), ""))
    if path.suffix == ".html":
        pooled = re.findall(r"Pooled, because[^<]*\([1-4]\)", text)  # of an audit
        return pooled + [said for rows in Tables(text).tables for said in in_table(rows)]
    if path.suffix == ".md":
        tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
        cells = re.compile(r"\s*\|\s*")
        split = [[cells.split(line.strip(" |")) for line in of.splitlines()] for of in tables]
        return [said for rows in split for said in in_table(rows)]
    return []


def test_a_small_cell_in_a_file_would_be_found(tmp_path: Path) -> None:
    texts = {
        "a.csv": "group,size\na,3\nb,0\nc,5\n",
        "a.json": '{"groups": {"race": {"x": 2, "y": 0, "z": 17}}, "pooled": [{"rows": 1}]}',
        "a.html": "<p>Pooled, because they are few: a (7); b (2).</p><table>"
        "<tr><th>Group</th><th>Rows</th></tr><tr><th>a</th><td>4</td></tr></table>",
        "a.md": "| Group | Rows |\n|---|---|\n| a | 1 |\n| b | 11 |\n",
    }
    for (name, text), found in zip(texts.items(), (1, 2, 2, 1), strict=True):
        path = tmp_path / name
        path.write_text(text)
        assert len(small(path)) == found, name


@pytest.mark.promise(
    "No committed table or page has a count or rate of fewer than five people of a dataset."
)
def test_no_committed_file_has_a_figure_about_fewer_than_five(
    record_property: Callable[[str, object], None],
) -> None:
    rooms = ("results", "reports", "docs")
    files = [
        path
        for path in committed()
        if path.relative_to(ROOT).parts[0] in rooms
        and path.suffix in (".csv", ".json", ".html", ".md")
    ]
    record_property("tried", len(files))
    found = {str(path.relative_to(ROOT)): small(path) for path in files}
    assert {name: said for name, said in found.items() if said} == {}


def test_rates_of_a_group_that_is_hidden_are_hidden() -> None:
    table = results.read("groups", ROOT / "results/groups.csv")
    assert table.loc[table["size"].isna(), ["selection_rate", "accuracy"]].isna().to_numpy().all()


def test_of_a_few_people_neither_count_nor_rate_is_in_a_table() -> None:
    counts = [0, 1, 4, 5, 600]
    given = pd.DataFrame({"size": counts, "rate": np.linspace(0, 1, 5), "name": list("abcde")})
    found = people.hidden(given, ["size"], ["rate"])
    kept = [0, None, None, 5, 600]
    assert [None if pd.isna(n) else int(n) for n in found["size"]] == kept
    assert found["rate"].isna().tolist() == [False, True, True, False, False]
    assert given["size"].tolist() == counts
    assert found.to_csv(index=False).splitlines()[1:3] == ["0,0.0,a", ",,b"]


@pytest.mark.parametrize(
    ("count", "said"), [(None, "< 5"), (float("nan"), "< 5"), (0, "0"), (5, "5"), (6172, "6,172")]
)
def test_a_page_says_that_they_are_few(count: float | None, said: str) -> None:
    assert people.shown(count) == said


@pytest.mark.parametrize("name", ["compas", "adult"])
def test_sizes_of_few_are_null_and_all_else_is_counted(name: str) -> None:
    dataset = datasets.load(name)
    assert dataset.simulate
    rows = dataset.simulate(300, 0)
    for own in dataset.filters:
        rows = rows[own.keep(rows)]
    frame = dataset.clean(rows)
    found = sizes.sizes(frame, dataset)["groups"]
    seen = 0
    for setting, attribute in dataset.sensitive.items():
        for value, group in attribute.values.items():
            count = int((frame[attribute.column] == value).sum())
            assert found[setting][group] == (None if 0 < count < SMALL else count)
            seen += 0 < count < SMALL
    assert seen or None in found["intersection"].values()

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
from scipy.optimize import Bounds, LinearConstraint, milp

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
        return in_markdown(text)
    if path.suffix == ".tex":
        lines = [line.rpartition(r"\\")[0] for line in text.splitlines()]
        return list(in_table([split(r"(?<!\\)&", line) for line in lines if line]))
    if path.suffix == ".ipynb":
        outputs = [o for cell in json.loads(text)["cells"] for o in cell.get("outputs", [])]
        shown = [o.get("data", {}) for o in outputs]
        pages = ["".join(data.get("text/html", "")) for data in shown]
        tables = [rows for page in pages for rows in Tables(page).tables]
        told = [
            said for data in shown for said in in_markdown("".join(data.get("text/markdown", "")))
        ]
        return told + [said for rows in tables for said in in_table(rows)]
    return []


def split(mark: str, line: str) -> list[str]:
    return [cell.strip() for cell in re.split(mark, line)]


def in_markdown(text: str) -> list[str]:
    tables = re.findall(r"(?:^\|.*(?:\n|\Z))+", text, re.MULTILINE)
    rows = [[split(r"\|", line.strip(" |")) for line in of.splitlines()] for of in tables]
    return [said for of in rows for said in in_table(of)]


def test_a_small_cell_in_a_file_would_be_found(tmp_path: Path) -> None:
    texts = {
        "a.csv": "group,size\na,3\nb,0\nc,5\n",
        "a.json": '{"groups": {"race": {"x": 2, "y": 0, "z": 17}}, "pooled": [{"rows": 1}]}',
        "a.html": "<p>Pooled, because they are few: a (7); b (2).</p><table>"
        "<tr><th>Group</th><th>Rows</th></tr><tr><th>a</th><td>4</td></tr></table>",
        "a.md": "| Group | Rows |\n|---|---|\n| a | 1 |\n| b | 11 |\n",
        "a.tex": "\\toprule\nGroup & Rows \\\\ \\midrule\na \\& b & 1 \\\\\nc & 11 \\\\\n",
        "a.ipynb": json.dumps({"cells": [{"outputs": [
            {"data": {"text/markdown": ["| Group | Rows |\n", "|---|---|\n", "| a | 2 |"]}},
            {"data": {"text/html": "<table><tr><th>Size</th></tr><tr><td>3</td></tr></table>"}},
            {"name": "stdout", "text": "nothing"},
        ]}]}),
    }  # fmt: skip
    for (name, text), found in zip(texts.items(), (1, 2, 2, 1, 1, 2), strict=True):
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
        and path.suffix in (".csv", ".json", ".html", ".md", ".tex", ".ipynb")
    ]
    record_property("tried", len(files))
    found = {str(path.relative_to(ROOT)): small(path) for path in files}
    assert {name: said for name, said in found.items() if said} == {}


def test_rates_of_a_group_that_is_hidden_are_hidden() -> None:
    table = results.read("groups", ROOT / "results/groups.csv")
    assert table.loc[table["size"].isna(), ["selection_rate", "accuracy"]].isna().to_numpy().all()


# -- what follows from totals ---------------------------------------------------------------------

Groups = dict[str, dict[str, int | None]]  # by setting and name; None: hidden
Sums = list[tuple[list[tuple[str, str]], int, int]]  # groups that have together this to that many
CROSSED = " & "


def possible(
    rows: int, groups: Groups, more: Sums | None = None
) -> dict[tuple[str, str], tuple[int, int]]:
    """The least and the most that each hidden group can have, as far as the shown ones say.

    Every setting sums to the rows, a group to those whose names have its name, and nobody would
    hide an empty one: found by linear programs over whole numbers. more: what else is known.
    """
    hidden = [(s, name) for s, of in groups.items() for name, n in of.items() if n is None]
    sums: list[tuple[dict[tuple[str, str], int], int]] = [
        ({(setting, name): 1 for name in of}, rows) for setting, of in groups.items()
    ]
    *single, last = groups
    for place, setting in enumerate(single):
        for name in groups[setting]:
            parts = [own for own in groups[last] if own.split(CROSSED)[place] == name]
            sums.append(({(last, own): 1 for own in parts} | {(setting, name): -1}, 0))
    told = [(of, total, total) for of, total in sums]
    told += [(dict.fromkeys(cells, 1), low, high) for cells, low, high in more or []]
    sides = np.array([[of.get(cell, 0) for cell in hidden] for of, _, _ in told], float)
    known = [sum(c * (groups[s][n] or 0) for (s, n), c in of.items()) for of, _, _ in told]
    least = np.array([low - own for (_, low, _), own in zip(told, known, strict=True)], float)
    most = np.array([high - own for (_, _, high), own in zip(told, known, strict=True)], float)
    found = {}
    for place, cell in enumerate(hidden):
        wanted = np.eye(len(hidden))[place]
        ends = [
            milp(
                sign * wanted, constraints=LinearConstraint(sides, least, most),
                bounds=Bounds(1, rows), integrality=np.ones(len(hidden)),
            ).x[place]
            for sign in (1, -1)
        ]  # fmt: skip
        found[cell] = round(ends[0]), round(ends[1])
    return found


def certain(rows: int, groups: Groups, more: Sums | None = None) -> list[tuple[str, str]]:
    """The hidden groups of a few people that follow."""
    return [cell for cell, (a, b) in possible(rows, groups, more).items() if a == b < SMALL]


def test_what_follows_would_be_found() -> None:
    groups: Groups = {"sex": {"f": 10, "m": 20}, "race": {"a": 23, "b": 7}}
    groups["both"] = {"f & a": None, "f & b": 2, "m & a": 15, "m & b": 5}
    assert certain(30, groups) == []  # eight people
    groups["both"] |= {"f & a": 8, "f & b": None}
    assert certain(30, groups) == [("both", "f & b")]
    groups["both"] |= {"f & a": None, "m & a": None, "m & b": None}
    assert possible(30, groups)["both", "f & b"] == (1, 6)


@pytest.mark.promise("No hidden count of a few people follows from the totals of its table.")
def test_no_hidden_count_follows_from_what_is_shown(
    record_property: Callable[[str, object], None],
) -> None:
    rng = np.random.default_rng(0)
    tables = 25
    record_property("tried", tables)
    hidden = 0
    for _ in range(tables):
        shape = rng.integers(2, 5, size=2)
        table = rng.poisson(rng.choice([0.7, 2, 5, 20, 100], size=shape))
        counts = {"a": table.sum(axis=1).tolist(), "b": table.sum(axis=0).tolist()}
        counts["a & b"] = table.ravel().tolist()
        names = {"a": [*map(str, range(shape[0]))], "b": [*map(str, range(shape[1]))]}
        names["a & b"] = [f"{a}{CROSSED}{b}" for a in names["a"] for b in names["b"]]
        cover = people.covered(counts)
        shown: Groups = {
            s: {n: None if c else k for n, k, c in zip(names[s], of, cover[s], strict=True)}
            for s, of in counts.items()
        }
        assert all(n is None or not 0 < n < SMALL for of in shown.values() for n in of.values())
        assert all(n != 0 for s, of in counts.items() for n in np.array(of)[cover[s]])
        hidden += sum(n is None for of in shown.values() for n in of.values())
        if table.sum() > 50:
            assert certain(int(table.sum()), shown) == []
    assert hidden > tables


@pytest.mark.promise("No hidden count of a few people follows from the totals of its table.")
@pytest.mark.parametrize("name", ["compas", "adult", "dutch"])
def test_no_hidden_count_follows_from_a_committed_table(name: str) -> None:
    sized = json.loads((ROOT / f"results/sizes/{name}.json").read_text(encoding="utf-8"))
    assert certain(sized["rows"], sized["groups"]) == []
    assert certain(*of_groups(name)) == []


def of_groups(name: str) -> tuple[int, Groups]:
    """Of a dataset the test rows, and what results/groups.csv says of them."""
    table = results.read("groups", ROOT / "results/groups.csv")
    table = table[table["dataset"] == name].drop_duplicates(["setting", "group"])
    groups: Groups = {
        str(setting): {n: None if pd.isna(k) else int(k) for n, k in of.to_numpy().tolist()}
        for setting, of in table.groupby("setting", sort=False)[["name", "size"]]
    }
    statistics = results.read("statistics", ROOT / "results/statistics.csv")
    [rows] = {*statistics.loc[statistics["dataset"] == name, "test"]}
    return int(rows), groups


def of_audit(content: dict[str, Any], groups: Groups) -> Sums:
    """What an audit says of these groups, if names that are joined are of one group.

    Where it protects, counts are to the nearest five; it exists that a group is not named.
    """
    off = SMALL // 2 if content["protected"] else 0
    found: Sums = []

    def members(setting: str, name: str) -> list[tuple[str, str]]:
        parts = [set(part.split(" or ")) for part in name.split(" × ")]
        return [
            (setting, own)
            for own, size in groups[setting].items()
            if size != 0 and all(a in b for a, b in zip(own.split(CROSSED), parts, strict=True))
        ]

    for told in content["settings"]:
        setting = told["name"] if len(told["attributes"]) == 1 else "intersection"
        left = [(setting, own) for own, size in groups[setting].items() if size != 0]
        shown = [(own["name"], own["rows"]) for own in told["groups"]]
        pool = shown.pop()[1] if told["pooled"] else None
        for name, size in shown:
            cells = members(setting, name)
            left = [cell for cell in left if cell not in cells]
            found.append((cells, size - off, size + off))
        if pool is not None:
            found.append((list(left), pool - off, pool + off))
        for own in told["pooled"]:
            if own["rows"] is not None:
                cells = members(setting, own["name"])
                left = [cell for cell in left if cell not in cells]
                found.append((cells, own["rows"] - off, own["rows"] + off))
        if any(own["rows"] is None for own in told["pooled"]):
            found += [([cell], 1, SMALL - 1) for cell in left]
    return found


@pytest.mark.promise("No hidden count of a few people follows from the totals of its table.")
@pytest.mark.parametrize("name", ["compas", "adult", "dutch"])
@pytest.mark.parametrize("also", [[], ["groups.csv"]], ids=["alone", "with groups.csv"])
def test_no_count_of_a_few_people_follows_from_a_committed_audit(
    name: str, also: list[str]
) -> None:
    content = json.loads((ROOT / f"results/audit/{name}.json").read_text(encoding="utf-8"))
    rows, shown = of_groups(name)
    groups: Groups = {
        setting: {own: k if also or k == 0 else None for own, k in of.items()}
        for setting, of in shown.items()
    }
    assert certain(rows, groups, of_audit(content, groups)) == []


def test_what_an_audit_gives_away_would_be_found() -> None:
    """As COMPAS' once did, with all digits and with rounded ones."""
    groups: Groups = {"sex": dict.fromkeys("fm"), "race": dict.fromkeys("abc")}
    groups["intersection"] = dict.fromkeys(("f & a", "f & b", "m & a", "m & b", "m & c"))
    groups["intersection"]["f & c"] = 0
    pool = [{"name": "b", "rows": 39}, {"name": "1 of fewer than 5 people", "rows": None}]
    shown = [{"name": "a", "rows": 500}, {"name": "2 groups pooled", "rows": 42}]
    told = {"name": "race", "attributes": ["race"], "groups": shown, "pooled": pool}
    content: dict[str, Any] = {"protected": False, "settings": [told]}
    both = [("race", "c"), ("intersection", "m & c")]
    assert certain(542, groups, of_audit(content, groups)) == both
    content["protected"] = True
    assert certain(542, groups, of_audit(content, groups)) == []
    joined = [{"name": "a", "rows": 500}, {"name": "b or c", "rows": 42}]
    content = {"protected": False, "settings": [told | {"groups": joined, "pooled": []}]}
    assert of_audit(content, groups)[1] == ([("race", "b"), ("race", "c")], 42, 42)
    assert certain(542, groups, of_audit(content, groups)) == []


@pytest.mark.promise("No hidden count of a few people follows from the totals of its table.")
def test_who_are_selected_in_a_committed_table_are_nobody_or_five(
    record_property: Callable[[str, object], None],
) -> None:
    """Nor all but so many. (Of a mean over seeds, from size times rate.)"""
    table = results.read("groups", ROOT / "results/groups.csv")
    table = table[~table["dataset"].isin(people.ANONYMOUS) & table["selection_rate"].notna()]
    record_property("tried", len(table))
    selected = (table["size"].astype(float) * table["selection_rate"]).round(2)
    few = [
        people.few(a) or people.few(b)
        for a, b in zip(selected, table["size"] - selected, strict=True)
    ]
    assert table.loc[few, ["dataset", "setting", "method", "name"]].to_numpy().tolist() == []


def test_rates_that_tell_of_a_few_people_are_hidden_and_those_beside_them() -> None:
    """In a CSV of yours; in a sample of a census they are not."""
    # race by sex: the order of attributes is not that of their lengths
    sizes = {"race": [53, 60, 47], "sex": [60, 100], "intersection": [10, 43, 8, 52, 42, 5]}
    chosen = {"race": [24, 28, 22], "sex": [27, 47], "intersection": [5, 19, 2, 26, 20, 2]}
    rows = [
        {"dataset": name, "setting": s, "method": method, "group": g, "size": n,
         "selection_rate": 1.0 if method == "all" else chosen[s][g] / n}
        for name in ("mine", "adult") for method in ("all", "some")
        for s, of in sizes.items() for g, n in enumerate(of)
    ]  # fmt: skip
    found = people.hidden_rates(pd.DataFrame(rows), ["selection_rate"])
    assert found["size"].notna().all()
    hidden = found[found["selection_rate"].isna()]
    assert set(zip(hidden["dataset"], hidden["method"], strict=True)) == {("mine", "some")}
    own = found[(found["dataset"] == "mine") & (found["method"] == "some")]
    shown: Groups = {
        setting: {
            str(g) if setting != "intersection" else f"{g // 2}{CROSSED}{g % 2}":
            None if pd.isna(rate) else round(n * rate)
            for g, n, rate in of[["group", "size", "selection_rate"]].to_numpy().tolist()
        }
        for setting, of in own.assign(group=own["group"].astype(int)).groupby("setting", sort=False)
    }  # fmt: skip
    assert not any(k in (1, 2, 3, 4) for of in shown.values() for k in of.values())
    assert certain(sum(chosen["race"]), shown) == []


def test_groups_that_are_hidden_have_no_rates_whatever_the_order_of_settings() -> None:
    sizes = {"both": [52, 8, 3, 31], "sex": [60, 34], "race": [55, 39]}
    given = pd.DataFrame(
        [
            {"dataset": "mine", "setting": s, "method": method, "group": g, "size": n, "rate": 0.5}
            for method in ("vanilla", "gdp")
            for s, of in sizes.items()
            for g, n in enumerate(of)
        ]
    )
    found = people.hidden_groups(given, ["rate"])
    [empty] = {tuple(of["size"].isna()) for _, of in found.groupby("method")}
    assert empty == (True, True, True, True, False, False, False, False)
    assert (found["size"].isna() == found["rate"].isna()).all()
    assert given["size"].notna().all()


def test_of_a_few_people_no_count_is_in_a_table() -> None:
    counts = [0, 1, 4, 5, 600]
    given = pd.DataFrame({"size": counts, "name": list("abcde")})
    found = people.hidden(given, ["size"])
    kept = [0, None, None, 5, 600]
    assert [None if pd.isna(n) else int(n) for n in found["size"]] == kept
    assert given["size"].tolist() == counts
    assert found.to_csv(index=False).splitlines()[1:3] == ["0,a", ",b"]


@pytest.mark.parametrize(
    ("count", "said"),
    [(None, "hidden"), (float("nan"), "hidden"), (0, "0"), (5, "5"), (6172, "6,172")],
)
def test_a_page_says_what_is_hidden(count: float | None, said: str) -> None:
    assert people.shown(count) == said


@pytest.mark.parametrize("name", ["compas", "adult"])
def test_sizes_of_few_are_null_and_others_only_where_these_would_follow(name: str) -> None:
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
            seen += found[setting][group] is None
            assert found[setting][group] in ([None] if 0 < count < SMALL else [None, count])
    assert seen or None in found["intersection"].values()
    assert certain(len(frame), found) == []

"""Bad input: whatever a raw file or a split holds, a door succeeds or says what is wrong."""

import io
import json
import pickle
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import loans, make_loans
from infofair.data import dataset as datasets
from infofair.data.prepared import Prepared
from infofair.errors import Problem
from infofair.storage import sha256, write_json
from stages import preprocess, validate
from study import cli, paths, plans
from tests.conftest import paper_params
from tests.fuzzing import (
    ANY_FILE,
    HUGE,
    PROMISE,
    Edit,
    assert_clear,
    empty_workspace,
    everything,
    flip,
    fuzz,
    limited,
    spoiled,
    tried,
)
from tests.raw import ALL, GENERAL, NAMES, record

EARLIER = b"of an earlier run"

# Raw paths.

CELLS = [
    "", " ", "?", "N/A", "=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-1", "-0", "0", "1.0", "1e5",
    "nan", "inf", "None", "1_000", "9" * 30, "9" * 400, "٣", "1\N{NO-BREAK SPACE}", "<script>",
    "2013-1-4 1:2:3", "2013-02-30", "0001-01-01 00:00:00", "9999-12-31 23:59:59", '"', '""',
    '"a,b"', '"a\nb"', '"1\n"', "é", "|", "%s", "x" * 300, "x" * HUGE,
]  # fmt: skip


def cells_of(content: bytes) -> tuple[list[list[bytes]], list[int]]:
    """The cells of every line, and which lines have as many as most."""
    rows = [line.split(b",") for line in content.split(b"\n")]
    usual = Counter(len(row) for row in rows if len(row) > 1).most_common(1)
    return rows, [i for i, row in enumerate(rows) if usual and len(row) == usual[0][0]] or [0]


def joined(rows: list[list[bytes]]) -> bytes:
    return b"\n".join(b",".join(row) for row in rows)


def change_cell(draw: st.DrawFn, content: bytes) -> bytes:
    rows, usual = cells_of(content)
    row = rows[draw(st.sampled_from(usual))]
    new = draw(st.sampled_from(CELLS) | st.text(max_size=5))
    row[draw(st.integers(0, len(row) - 1))] = new.encode("utf-8", "replace")
    return joined(rows)


def exchange_cells(draw: st.DrawFn, content: bytes) -> bytes:
    """Between two rows in the same column, or in the same row."""
    rows, usual = cells_of(content)
    one, other = (draw(st.sampled_from(usual)) for _ in range(2))
    column = draw(st.integers(0, len(rows[one]) - 1))
    another = column if one != other else draw(st.integers(0, len(rows[one]) - 1))
    rows[one][column], rows[other][another] = rows[other][another], rows[one][column]
    return joined(rows)


def miscount_cells(draw: st.DrawFn, content: bytes) -> bytes:
    rows, usual = cells_of(content)
    row = rows[draw(st.sampled_from(usual))]
    place = draw(st.integers(0, len(row) - 1))
    row[place : place + 1] = [] if draw(st.booleans()) else [row[place]] * 2
    return joined(rows)


def change_columns(draw: st.DrawFn, content: bytes) -> bytes:
    """One is dropped, written twice, or exchanged with another, in every line."""
    rows, usual = cells_of(content)
    last = len(rows[usual[0]]) - 1
    one, other = draw(st.integers(0, last)), draw(st.integers(0, last))
    kind = draw(st.sampled_from(["drop", "double", "exchange"]))
    for i in usual:
        row = rows[i]
        if kind == "exchange":
            row[one], row[other] = row[other], row[one]
        else:
            row[one : one + 1] = [] if kind == "drop" else [row[one]] * 2
    return joined(rows)


TABLE: list[Edit] = [change_cell, change_cell, exchange_cells, miscount_cells, change_columns]


@cache
def intact_files(name: str) -> dict[str, bytes]:
    dataset = datasets.load(name)
    with empty_workspace():
        dataset.write(dataset.simulate(40, 0), Path())
        return everything()


@st.composite
def raw_files(draw: st.DrawFn, name: str) -> dict[str, bytes]:
    """The simulated files, one of them spoiled."""
    intact = intact_files(name)
    file = draw(st.sampled_from(sorted(intact)))
    return intact | {file: draw(spoiled(intact[file], [*ANY_FILE, *TABLE]))}


@cache
def plan(name: str) -> plans.Plan:
    planned = name if name in NAMES else "adult"  # a plan names no dataset
    return dict(plans.everything(paper_params()))[paths.plan("prepare", planned)]


def outputs(name: str) -> list[Path]:
    of_validate = [paths.validated(name), paths.seal(name), paths.validation_report(name)]
    return [*of_validate, paths.processed(name)]


def place(name: str, raw: dict[str, bytes], split: str) -> None:
    """The raw files, the plan, and what an earlier run left."""
    write_json(paths.plan("prepare", name), plan(name))
    paths.raw(name).mkdir(parents=True)
    for file, content in raw.items():
        (paths.raw(name) / file).write_bytes(content)
    record(name, split=split)
    for path in outputs(name):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(EARLIER)


def refusal(stage: ModuleType, name: str, *allowed: Path) -> str | None:
    """The stage's message if it fails; only `allowed` may then differ from before."""
    before = everything()
    try:
        with limited(), redirect_stderr(io.StringIO()):
            stage.main(name)
    except Problem as problem:
        changed = {path for path, content in everything().items() if before.get(path) != content}
        assert changed <= {str(path) for path in allowed}
        assert before.keys() == everything().keys()
        message = cli.explain(problem)
        assert_clear(message)
        return message
    assert before.keys() == everything().keys()
    return None


def assert_validated(name: str) -> None:
    dataset = datasets.load(name)
    dataset.schema.validate(dataset.read(paths.raw(name)))
    rows = pd.read_parquet(paths.validated(name))
    report = json.loads(paths.validation_report(name).read_text("utf-8"))
    assert (report["passed"], report["rows"]) == (True, len(rows))
    assert not rows.isna().any().any()
    values = set(rows[dataset.label])
    assert len(values) > 1 if dataset.number else values == {0, 1}
    assert dataset.identifying.isdisjoint(rows.columns)


def assert_prepared(name: str) -> Prepared:
    data = Prepared.load(paths.processed(name))
    rows = len(pd.read_parquet(paths.validated(name)))
    assert data.X.shape == (rows, len(data.features))
    assert (np.abs(data.X) <= 1).all()  # nor is any of them NaN
    assert set(data.y.tolist()) <= {0, 1}
    for setting, group in data.groups.items():
        assert set(group.tolist()) <= set(range(len(data.group_names[setting])))
    assert sorted(np.concatenate(list(data.split.values()))) == list(range(rows))
    assert all(map(len, data.split.values()))
    return data


Record = Callable[[str, object], None]


@PROMISE
@pytest.mark.parametrize("name", ALL)
def test_whatever_a_raw_file_holds_it_is_valid_or_refused_in_clear_words(
    name: str, record_property: Record
) -> None:
    record_property("tried", tried(12))

    @fuzz(12)
    @given(raw_files(name))
    def each_case(raw: dict[str, bytes]) -> None:
        with empty_workspace():
            place(name, raw, split="random")
            # A report of what is wrong is written; the rows are not.
            message = refusal(validate, name, paths.validation_report(name))
            if message is not None:
                assert message.startswith(str(paths.raw(name)))
                report = paths.validation_report(name).read_bytes()
                assert report == EARLIER or not json.loads(report)["passed"]
                return
            assert_validated(name)
            message = refusal(preprocess, name)
            if message is None:
                assert_prepared(name)
            else:  # too few rows are left
                assert message.startswith("random_split leaves no ")

    each_case()


@PROMISE
@pytest.mark.parametrize("name", GENERAL)
def test_so_is_what_a_raw_file_of_the_generalisations_holds(
    name: str, record_property: Record
) -> None:
    record_property("tried", tried(8))

    @fuzz(8)
    @given(raw_files(name))
    def each_case(raw: dict[str, bytes]) -> None:
        with empty_workspace():
            place(name, raw, split="random")
            message = refusal(validate, name, paths.validation_report(name))
            if message is None:
                assert_validated(name)
            else:
                assert message.startswith(str(paths.raw(name)))

    each_case()


@PROMISE
def test_so_is_a_csv_of_ones_own(monkeypatch: pytest.MonkeyPatch, record_property: Record) -> None:
    record_property("tried", tried(25))
    monkeypatch.setattr(datasets, "load", lambda name: loans.DATASET)
    intact = "\n".join([*make_loans.lines(60), ""]).encode()

    @fuzz(25)
    @given(spoiled(intact, [*ANY_FILE, *TABLE]))
    def each_case(content: bytes) -> None:
        with empty_workspace():
            place("loans", {"loans.csv": content}, split="random")
            message = refusal(validate, "loans", paths.validation_report("loans"))
            if message is not None:
                assert message.startswith(str(paths.raw("loans")))
                return
            assert_validated("loans")
            message = refusal(preprocess, "loans")
            if message is None:
                assert_prepared("loans")
            else:
                assert message.startswith("random_split leaves no ")

    each_case()


def test_a_header_of_a_million_columns_is_refused_at_once() -> None:
    [(file, content)] = intact_files("compas").items()
    with empty_workspace():
        place("compas", {file: content.replace(b"\r", b"," * 1_000_000, 1)}, split="random")
        message = refusal(validate, "compas")
        assert message == f"data/raw/compas/{file}: line 1 names the column '' more than once"


# The authors' split.


class Unpickled:
    """Leaves a file behind if it is ever unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (Path("unpickled"),)


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def npz(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, array)
    return file.getvalue()


def of_shape(array: np.ndarray, shape: str) -> bytes:
    """A file whose header says this shape, which may be a lie."""
    old = str(array.shape).encode()
    return npy(array).replace(old + b", }", shape.encode() + b", }", 1)


OTHER_SPLITS: list[Callable[[np.ndarray], bytes]] = [
    lambda rows: npy(rows[:0]),
    lambda rows: npy(rows[:1]),
    lambda rows: npy(rows[0]),
    lambda rows: npy(rows[1:]),
    lambda rows: npy(rows[::-1]),
    lambda rows: npy(np.append(rows, rows[0])),
    lambda rows: npy(np.append(rows, -1)),
    lambda rows: npy(rows - 1),
    lambda rows: npy(rows + 2**32),  # the same, to whom reads 32 bits
    lambda rows: npy(rows.astype("u8") + np.uint64(2**63)),
    lambda rows: npy(rows[None]),
    lambda rows: npy(rows[:, None]),
    *(
        lambda rows, kind=kind: npy(rows.astype(kind))
        for kind in ("i1", "u1", ">i8", "u8", "f2", "f8", "c16", "?", "U9", "S9", "M8[s]", "V8")
    ),
    lambda rows: npy(rows + 0.5),
    lambda rows: npy(np.where(rows == 0, np.nan, rows)),
    lambda rows: npy(rows.astype([("row", "i8")])),
    lambda rows: npy(rows.astype(object)),
    lambda rows: npy(np.array([Unpickled()], dtype=object)),
    lambda rows: pickle.dumps(Unpickled()),
    npz,
    *(
        lambda rows, shape=shape: of_shape(rows, shape)
        for shape in (
            "(1000000000000,)", "(9223372036854775807,)", "(-1,)", "(0,)", "()", "(1, 2, 3)",
            "(True,)", "(10**18,)", "[3]", f"({'(' * 300}{')' * 300},)", "(1, " * 300,
        )
    ),
]  # fmt: skip


def first_bytes(draw: st.DrawFn, content: bytes) -> bytes:
    """A flipped byte of the header."""
    return flip(draw, content[:128]) + content[128:]


@cache
def valid_rows(name: str) -> bytes:
    """The validated rows of the simulated paths."""
    with empty_workspace():
        place(name, intact_files(name), split="random")
        assert refusal(validate, name) is None
        return paths.validated(name).read_bytes()


@cache
def intact_split(name: str) -> dict[str, np.ndarray]:
    """What the authors' two files hold, for the simulated rows."""
    rows = len(pd.read_parquet(io.BytesIO(valid_rows(name))))
    order = np.random.default_rng(0).permutation(rows)
    return dict(zip(("train_idx.npy", "test_idx.npy"), np.split(order, [-10]), strict=True))


def assert_taken_as_it_is_or_refused(name: str, file: str, content: bytes) -> None:
    """One of the two files holds this, the other is as it should be."""
    split = {other: npy(rows) for other, rows in intact_split(name).items()} | {file: content}
    with empty_workspace():
        place(name, split, split="authors")
        paths.validated(name).write_bytes(valid_rows(name))
        paths.seal(name).write_text(sha256(paths.validated(name)))
        message = refusal(preprocess, name)
        if message is not None:
            assert message.startswith(str(paths.raw(name)))
            return
        data = assert_prepared(name)
        held = [np.load(io.BytesIO(array), allow_pickle=False) for array in split.values()]
        taken = [data.split[part] for part in ("train", "validation", "test")]
        assert np.concatenate(taken).tolist() == np.concatenate(held).tolist()


@pytest.mark.parametrize("file", ["train_idx.npy", "test_idx.npy"])
def test_another_array_is_taken_as_it_is_or_refused_in_clear_words(file: str) -> None:
    for other in OTHER_SPLITS:
        content = other(intact_split("adult")[file])
        assert_taken_as_it_is_or_refused("adult", file, content)


@PROMISE
@pytest.mark.parametrize("name", NAMES)
def test_whatever_a_split_holds_it_is_taken_as_it_is_or_refused_in_clear_words(
    name: str, record_property: Record
) -> None:
    record_property("tried", tried(12))

    @fuzz(12)
    @given(st.data())
    def each_case(data: st.DataObject) -> None:
        file = data.draw(st.sampled_from(sorted(intact_split(name))))
        intact = npy(intact_split(name)[file])
        content = data.draw(spoiled(intact, [*ANY_FILE, *[first_bytes] * 4]))
        assert_taken_as_it_is_or_refused(name, file, content)

    each_case()

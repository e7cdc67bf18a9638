"""Bad input: whatever params.yaml or a raw file holds, a stage succeeds or says what is wrong.

`make test` tries the same few cases each time, `make fuzz` INFOFAIR_FUZZ new ones per test.
"""

import io
import json
import os
import pickle
import random
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType, ModuleType
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages import check, cli, datasets, files, params, preprocess, validate
from stages.files import Problem
from stages.processed import Processed
from tests.conftest import ROOT
from tests.test_validate import record

NAMES = ("compas", "adult", "dutch")
CASES = int(os.environ.get("INFOFAIR_FUZZ", "0"))
SECONDS = 60  # what takes longer hangs
EARLIER = b"of an earlier run"
HUGE = 200_000  # more than a field of a CSV file may have

Edit = Callable[[st.DrawFn, bytes], bytes]


def fuzz(few: int) -> settings:
    """So many cases, always the same ones, or as many new ones as INFOFAIR_FUZZ says."""
    return settings(
        max_examples=CASES or few,
        derandomize=not CASES,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


class Hang(BaseException):
    """No Exception, so that no stage takes it for a damaged file."""


@contextmanager
def limited() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def empty_workspace() -> Iterator[None]:
    with TemporaryDirectory() as folder, chdir(folder):
        yield


def everything() -> dict[str, bytes]:
    """Every file below the current directory, with its content."""
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def assert_clear(message: str) -> None:
    """It can be read on a terminal."""
    assert all(line.isprintable() and line for line in message.split("\n")), repr(message)
    assert len(message) < 60_000


# Edits of any file.

TROUBLE = [
    b"\0", b'"', b"'", b"\n", b"\r", b",", b";", b"\t", b"\xff", b"\xe9", b"\xef\xbb\xbf", b"\x0c",
    b"\x1b[31m", "\N{LINE SEPARATOR}".encode(), b"%", b"\\", b"\n\n\n", b"x" * HUGE, b"," * HUGE,
    b'"' * HUGE,
]  # fmt: skip
ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp500", "utf-7")


def cut(draw: st.DrawFn, content: bytes) -> bytes:
    return content[: draw(st.integers(0, len(content)))]


def flip(draw: st.DrawFn, content: bytes) -> bytes:
    flipped = bytearray(content or b"x")
    flipped[draw(st.integers(0, len(flipped) - 1))] ^= draw(st.integers(1, 255))
    return bytes(flipped)


def insert(draw: st.DrawFn, content: bytes) -> bytes:
    place = draw(st.integers(0, len(content)))
    return content[:place] + draw(st.sampled_from(TROUBLE) | st.binary()) + content[place:]


def recode(draw: st.DrawFn, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(draw(st.sampled_from(ENCODINGS)), "replace")


def move_lines(draw: st.DrawFn, content: bytes) -> bytes:
    """One is dropped, written twice or put elsewhere, or they are all in another order."""
    lines = content.split(b"\n")
    line = lines.pop(draw(st.integers(0, len(lines) - 1)))
    match draw(st.sampled_from(["drop", "double", "move", "shuffle"])):
        case "double":
            lines[0:0] = [line, line]
        case "move":
            lines.insert(draw(st.integers(0, len(lines))), line)
        case "shuffle":
            random.Random(draw(st.integers(0, 9))).shuffle(lines)
    return b"\n".join(lines)


ANY_FILE: list[Edit] = [cut, flip, insert, recode, move_lines]


@st.composite
def spoiled(draw: st.DrawFn, content: bytes, edits: list[Edit]) -> bytes:
    for edit in draw(st.lists(st.sampled_from(edits), min_size=1, max_size=3)):
        content = edit(draw, content)
    return content


# params.yaml.

LAUGHS = "\n".join(f"x{i}: &x{i} [{', '.join([f'*x{i - 1}'] * 9)}]" for i in range(1, 15))
BOMBS = [
    f"[ha]\nx0: &x0 ha\n{LAUGHS}\nx: *x14",  # a billion laughs
    "&a [*a]",
    "&a {a: *a}",
    "[" * 3_000 + "]" * 3_000,
    "{a: " * 3_000 + "1" + "}" * 3_000,
    "0x" + "f" * 9_000,
    "9" * 9_000,
    "x" * HUGE,
    f"[{'1, ' * 9_000}]",
]
VALUES = [
    "", "~", "0", "-1", "1e999", ".nan", "1:30", "yes", "''", "[]", "{}", "[[]]", "[~]", "{a: 1}",
    "[adult]", "[adult, adult]", "{? [1] : 2}", "{? [[1]] : 2}", "{1: 2}", "{<<: 1}", "2020-01-01",
    "!!int ''", "!!float ''", "!!float x", "!!bool x", "!!timestamp x", "!!binary x", "!!set {a}",
    "!!omap [a: 1]", "!!python/object/apply:os.mkdir [owned]", "!x y", "*x", "&x 1", "|\n text",
    r'"\e[31m"', r'"\0"', r'"\uD800"', "@", "`", "%", "- 1", "a: b", "# x", *BOMBS,
]  # fmt: skip
KEYS = [
    "alpha", "compas", "__init__", "1", "~", "1.5", "[1]", "[[1]]", "{a: 1}", '""', r'"a\nb"',
    r'"\e[31m"', "<<", "? x", "*x", "2020-01-01", "x" * 300,
]  # fmt: skip


def replace(draw: st.DrawFn, content: bytes, part: int, choices: list[str]) -> bytes:
    """Something else as the key (0) or the value (1) of one of the lines `key: value`."""
    lines = content.decode("utf-8", "replace").split("\n")
    place = draw(st.sampled_from([i for i, line in enumerate(lines) if ":" in line] or [0]))
    parts = list(lines[place].partition(":")[::2])
    start = parts[part][: len(parts[part]) - len(parts[part].lstrip())]  # the indentation
    parts[part] = start + draw(st.sampled_from(choices) | st.text(max_size=5))
    lines[place] = ":".join(parts)
    return "\n".join(lines).encode("utf-8", "replace")


def replace_key(draw: st.DrawFn, content: bytes) -> bytes:
    return replace(draw, content, 0, KEYS)


def replace_value(draw: st.DrawFn, content: bytes) -> bytes:
    return replace(draw, content, 1, VALUES)


def indent(draw: st.DrawFn, content: bytes) -> bytes:
    lines = content.split(b"\n")
    place = draw(st.integers(0, len(lines) - 1))
    lines[place] = draw(st.sampled_from([b" ", b"  ", b"\t", b"- "])) + lines[place]
    return b"\n".join(lines)


INTACT_PARAMS = (ROOT / "params.yaml").read_bytes()


def assert_read_or_refused(content: bytes) -> None:
    with empty_workspace(), limited():
        Path("params.yaml").write_bytes(content)
        try:
            params.load()
        except Problem as problem:
            message = cli.explain(problem)
            assert_clear(message)
            assert all(line.startswith("params.yaml: ") for line in message.split("\n"))
            with mock.patch.object(sys, "argv", ["check"]), pytest.raises(SystemExit) as stopped:
                cli.run(check.main, None)
            assert stopped.value.code == f"error: {message}"  # Python prints it, with status 1
        assert everything() == {"params.yaml": content}


@fuzz(100)
@given(spoiled(INTACT_PARAMS, [*ANY_FILE, *[replace_value] * 4, *[replace_key] * 2, indent]))
def test_whatever_params_yaml_holds_it_is_read_or_refused_in_clear_words(content: bytes) -> None:
    assert_read_or_refused(content)


@pytest.mark.parametrize("key", ["alpha", "datasets"])
def test_whatever_stands_at_a_key_it_is_read_or_refused_in_clear_words(key: str) -> None:
    lines = [line for line in INTACT_PARAMS.splitlines() if not line.startswith(key.encode())]
    for value in VALUES:
        assert_read_or_refused(b"\n".join([*lines, f"{key}: {value}".encode(), b""]))


def test_whatever_a_key_is_called_it_is_refused_in_clear_words() -> None:
    for key in KEYS:
        assert_read_or_refused(INTACT_PARAMS + f"\n{key}: 1\n".encode())


# Raw files.

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


def place(name: str, raw: dict[str, bytes], split: str) -> None:
    """The raw files, and what an earlier run left."""
    shutil.copy(ROOT / "params.yaml", ".")
    files.raw(name).mkdir(parents=True)
    for file, content in raw.items():
        (files.raw(name) / file).write_bytes(content)
    record(name, split=split)
    for path in (files.validated(name), files.validation_report(name), files.processed(name)):
        path.parent.mkdir(parents=True)
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
    dataset.schema.validate(dataset.read(files.raw(name)))
    rows = pd.read_parquet(files.validated(name))
    report = json.loads(files.validation_report(name).read_text("utf-8"))
    assert (report["passed"], report["rows"]) == (True, len(rows))
    assert not rows.isna().any().any()
    assert set(rows[dataset.label]) == {0, 1}
    assert dataset.identifying.isdisjoint(rows.columns)


def assert_processed(name: str) -> Processed:
    data = Processed.load(name)
    rows = len(pd.read_parquet(files.validated(name)))
    assert data.X.shape == (rows, len(data.features))
    assert (np.abs(data.X) <= 1).all()  # nor is any of them NaN
    assert set(data.y.tolist()) <= {0, 1}
    for setting, group in data.groups.items():
        assert set(group.tolist()) <= set(range(len(data.group_names[setting])))
    assert sorted(np.concatenate(list(data.split.values()))) == list(range(rows))
    assert all(map(len, data.split.values()))
    return data


@pytest.mark.parametrize("name", NAMES)
def test_whatever_a_raw_file_holds_it_is_valid_or_refused_in_clear_words(name: str) -> None:
    @fuzz(25)
    @given(raw_files(name))
    def each_case(raw: dict[str, bytes]) -> None:
        with empty_workspace():
            place(name, raw, split="random")
            # A report of what is wrong is written; the rows are not.
            message = refusal(validate, name, files.validation_report(name))
            if message is not None:
                assert message.startswith(f"data/raw/{name}")
                report = files.validation_report(name).read_bytes()
                assert report == EARLIER or not json.loads(report)["passed"]
                return
            assert_validated(name)
            message = refusal(preprocess, name)
            if message is None:
                assert_processed(name)
            else:  # too few rows are left
                assert message.startswith("params.yaml: random_split leaves no ")

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
    """The validated rows of the simulated files."""
    with empty_workspace():
        place(name, intact_files(name), split="random")
        assert refusal(validate, name) is None
        return files.validated(name).read_bytes()


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
        files.validated(name).write_bytes(valid_rows(name))
        report = {"sha256": files.sha256(files.validated(name))}
        files.write_json(files.validation_report(name), report)
        message = refusal(preprocess, name)
        if message is not None:
            assert message.startswith(f"data/raw/{name}")
            return
        data = assert_processed(name)
        held = [np.load(io.BytesIO(array), allow_pickle=False) for array in split.values()]
        taken = [data.split[part] for part in ("train", "validation", "test")]
        assert np.concatenate(taken).tolist() == np.concatenate(held).tolist()


@pytest.mark.parametrize("file", ["train_idx.npy", "test_idx.npy"])
def test_another_array_is_taken_as_it_is_or_refused_in_clear_words(file: str) -> None:
    for other in OTHER_SPLITS:
        content = other(intact_split("adult")[file])
        assert_taken_as_it_is_or_refused("adult", file, content)


@pytest.mark.parametrize("name", NAMES)
def test_whatever_a_split_holds_it_is_taken_as_it_is_or_refused_in_clear_words(name: str) -> None:
    @fuzz(25)
    @given(st.data())
    def each_case(data: st.DataObject) -> None:
        file = data.draw(st.sampled_from(sorted(intact_split(name))))
        intact = npy(intact_split(name)[file])
        content = data.draw(spoiled(intact, [*ANY_FILE, *[first_bytes] * 4]))
        assert_taken_as_it_is_or_refused(name, file, content)

    each_case()

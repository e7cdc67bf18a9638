"""Whatever params.yaml holds, it is read or refused in clear words."""

import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infofair.errors import Problem
from stages import check
from study import cli, params
from tests.conftest import ROOT
from tests.fuzzing import (
    ANY_FILE,
    HUGE,
    PROMISE,
    assert_clear,
    empty_workspace,
    everything,
    fuzz,
    limited,
    spoiled,
    tried,
)

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


@PROMISE
def test_whatever_params_yaml_holds_it_is_read_or_refused_in_clear_words(
    record_property: Callable[[str, object], None],
) -> None:
    record_property("tried", tried(40))
    edits = [*ANY_FILE, *[replace_value] * 4, *[replace_key] * 2, indent]

    @fuzz(40)
    @given(spoiled(INTACT_PARAMS, edits))
    def each_case(content: bytes) -> None:
        assert_read_or_refused(content)

    each_case()


@pytest.mark.parametrize("key", ["alpha", "datasets"])
def test_whatever_stands_at_a_key_it_is_read_or_refused_in_clear_words(key: str) -> None:
    lines = [line for line in INTACT_PARAMS.splitlines() if not line.startswith(key.encode())]
    for value in VALUES:
        assert_read_or_refused(b"\n".join([*lines, f"{key}: {value}".encode(), b""]))


def test_whatever_a_key_is_called_it_is_refused_in_clear_words() -> None:
    for key in KEYS:
        assert_read_or_refused(INTACT_PARAMS + f"\n{key}: 1\n".encode())

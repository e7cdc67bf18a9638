"""Bad input: edits that spoil a file, and what has to hold whatever it holds.

`make test` tries the same few cases each time, `make fuzz` INFOFAIR_FUZZ new ones per test.
"""

import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

CASES = int(os.environ.get("INFOFAIR_FUZZ", "0"))
SECONDS = 10  # of computing: what takes longer hangs
WAITED = 60  # by the clock, on a machine that may be busy
HUGE = 200_000  # more than a field of a CSV file may have

Edit = Callable[[st.DrawFn, bytes], bytes]


PROMISE = pytest.mark.promise(
    "Whatever an input holds, it is taken or refused in clear words: no traceback, no hang over "
    "10 s, no output left behind."
)


def tried(few: int) -> int:
    """The cases of a test."""
    return CASES or few


def fuzz(few: int) -> settings:
    """So many cases, always the same ones, or as many new ones as INFOFAIR_FUZZ says."""
    return settings(
        max_examples=tried(few),
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

    before = {number: signal.signal(number, stop) for number in (signal.SIGALRM, signal.SIGPROF)}
    signal.alarm(WAITED)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


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

"""Functions that are called in other processes; they leave a file for each time they are called.

Apart from the tests, so that those processes load nothing else.
"""

import os
import signal
import time
from pathlib import Path
from typing import Any

from infofair.errors import Problem


def square(number: int, folder: Path) -> int:
    (folder / f"{number} {os.getpid()} {time.monotonic_ns()}").touch()
    return number**2


def dies_once(number: int, folder: Path) -> int:
    square(number, folder)
    if number == 2 and calls_of(folder, 2) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def dies(number: int, folder: Path) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number, folder)


def hangs_once(number: int, folder: Path) -> int:
    square(number, folder)
    if number == 2 and calls_of(folder, 2) == 1:
        time.sleep(3600)
    return number**2


def hangs(number: int, folder: Path) -> int:
    if number == 2:
        time.sleep(3600)
    return square(number, folder)


def waits(number: int, folder: Path) -> int:
    """Until somebody says that it is time."""
    square(number, folder)
    while number and not (folder / "go").exists():
        time.sleep(0.05)
    return number**2


def gives_much(number: int, folder: Path) -> bytes:
    """More than a pipe holds."""
    square(number, folder)
    return bytes(100_000_000)


def fails(number: int, folder: Path) -> int:
    if number == 2:
        raise Problem("number 2 cannot be done")
    return square(number, folder)


def takes_its_time(number: int, folder: Path) -> int:
    square(number, folder)
    time.sleep(0.2)
    return number**2


def calls_of(folder: Path, number: int) -> int:
    return len(list(folder.glob(f"{number} *")))


class Traced:
    """Leaves a file in each process that it is sent to, for every time it gets there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return arrived, (self.folder,)


def arrived(folder: Path) -> Traced:
    (folder / f"at {os.getpid()} {time.monotonic_ns()}").touch()
    return Traced(folder)


def with_large(number: int, large: Traced) -> int:
    return takes_its_time(number, large.folder)

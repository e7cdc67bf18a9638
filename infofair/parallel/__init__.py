"""Handing work out, and showing how far it is. Nothing here changes a result."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

start_method = "loky"  # how a process of this machine comes about: a new Python


@contextmanager
def forks() -> Iterator[None]:
    """Here they are copies of this process, which start at once: nothing is loaded again.

    For a program of its own that has computed nothing yet, such as a stage: in a copy of a process
    that has, OpenMP waits for threads that were not copied.
    """
    global start_method
    before = start_method
    if sys.platform == "linux":
        start_method = "fork"
    try:
        yield
    finally:
        start_method = before

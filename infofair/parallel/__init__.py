"""Handing work out, and showing how far it is. Nothing here changes a result."""

import ctypes
import os
import signal
import sys
import threading
import time
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


def end_with_parent() -> None:
    """When the process that started this one is no more, however it ended, neither is this one.

    Else what a killed run had begun would go on, beside the run that begins it again.
    """
    if sys.platform == "linux":
        set_death_signal = 1  # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def end_after(parent: int) -> None:
    """The same for a worker, within a second, whichever thread of its parent started it.

    It asks, because Linux would end it with that thread. Without it a worker whose parent was
    killed stays for ever: its result goes into a pipe that nobody reads, and that other workers
    keep open.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()

"""A progress bar for work that several processes share; quiet when nobody watches."""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np


def watched() -> bool:
    return sys.stderr.isatty() and not os.environ.get("CI")


class _Quiet:
    """What a bar is where there is none."""

    n = 0

    def __enter__(self) -> "_Quiet":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self) -> None:
        pass

    def set_postfix(self, _: object) -> None:
        pass


def bar(total: int, title: str, unit: str, *, shown: bool = True) -> Any:
    """A bar of tqdm's, if somebody watches and it is installed."""
    if not (shown and watched()):
        return _Quiet()
    try:
        from tqdm import tqdm
    except ImportError:
        return _Quiet()
    return tqdm(total=total, desc=title, unit=unit)


class Progress:
    """Epochs of the slowest worker, models still running in all, and their mean task loss.

    Each worker writes its line of a small shared file; the first worker draws the bar. Without a
    file, because the workers are on other machines, nothing is shown.
    """

    def __init__(
        self, board: Path | None, worker: int, workers: int, epochs: int, title: str
    ) -> None:
        self.board, self.worker, self.workers = board, worker, workers
        self.epochs, self.title = epochs, title
        self.bar: Any = None  # made by the worker, which is sent this object

    def __call__(self, epoch: int, running: int, loss: float) -> None:
        if self.board is None:
            return
        lines = np.memmap(self.board, np.float64, "r+", shape=(self.workers, 3))
        lines[self.worker] = epoch, running, loss
        if self.worker != 0 or not watched():
            return
        if self.bar is None:
            self.bar = bar(self.epochs, self.title, "epoch")
        busy = lines[lines[:, 1] > 0]
        self.bar.n = int(busy[:, 0].min()) if len(busy) else epoch
        loss = lines[:, 2].mean()  # NaN where nobody asked for it
        shown = {} if np.isnan(loss) else {"T": f"{loss:.3f}"}
        self.bar.set_postfix({"models running": int(lines[:, 1].sum())} | shown)

    @staticmethod
    def new_board(board: Path, models: list[int]) -> Path:
        """A file with one line per worker: epoch, models running, mean task loss."""
        lines = np.zeros((len(models), 3))
        lines[:, 1] = models
        lines.tofile(board)
        return board

"""A progress bar for work that several processes share; quiet when nobody watches."""

import os
import sys
from pathlib import Path

import numpy as np
from tqdm import tqdm


def watched() -> bool:
    return sys.stderr.isatty() and not os.environ.get("CI")


class Progress:
    """Epochs of the slowest worker, models still running in all, and their mean task loss.

    Each worker writes its line of a small shared file; the first worker draws the bar.
    """

    def __init__(self, board: Path, worker: int, workers: int, epochs: int, title: str) -> None:
        self.board = np.memmap(board, np.float64, "r+", shape=(workers, 3))
        self.worker = worker
        self.bar = tqdm(
            total=epochs, desc=title, unit="epoch", disable=worker != 0 or not watched()
        )

    def __call__(self, epoch: int, running: int, loss: float) -> None:
        self.board[self.worker] = epoch, running, loss
        busy = self.board[self.board[:, 1] > 0]
        self.bar.n = int(busy[:, 0].min()) if len(busy) else epoch
        self.bar.set_postfix(
            {"models running": int(self.board[:, 1].sum()), "T": f"{self.board[:, 2].mean():.3f}"}
        )

    @staticmethod
    def new_board(board: Path, models: list[int]) -> Path:
        """A file with one line per worker: epoch, models running, mean task loss."""
        lines = np.zeros((len(models), 3))
        lines[:, 1] = models
        lines.tofile(board)
        return board

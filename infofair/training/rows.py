"""The features of a part's rows, as a pass reads them: on its device, or in a file.

A column of ones makes the first bias a weight, and further ones, zeros, fill whole registers.
"""

import mmap
import os
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from infofair.data.prepared import Prepared
from infofair.errors import Problem


class Rows(Protocol):
    columns: int

    def __len__(self) -> int: ...

    def take(self, places: Tensor, out: Tensor) -> None:
        """The rows at these places, in this order."""

    def part(self, start: int, end: int) -> Tensor:
        """Neighbouring rows, those there are."""


def rows_of(data: Prepared, part: str, columns: int, on: torch.device) -> Rows:
    if data.mapped and isinstance(data.X, np.memmap):  # a worker elsewhere was sent an array
        return Mapped(data.X, data.split[part], columns, on)
    return Resident(data.X, data.split[part], columns, on)


def padded(X: np.ndarray, columns: int) -> np.ndarray:
    rows, inputs = X.shape
    found = np.zeros((rows, columns), np.float32)
    found[:, :inputs], found[:, inputs] = X, 1
    return found


class Resident:
    """All rows, on the device."""

    def __init__(self, X: np.ndarray, rows: np.ndarray, columns: int, on: torch.device) -> None:
        self.columns = columns
        self.X = torch.from_numpy(padded(X[rows], columns)).to(on)

    def __len__(self) -> int:
        return len(self.X)

    def take(self, places: Tensor, out: Tensor) -> None:
        torch.index_select(self.X, 0, places, out=out)

    def part(self, start: int, end: int) -> Tensor:
        return self.X[start:end]


class Mapped:
    """Rows of a file that memory need not hold, read when they are asked for.

    The system keeps as much of the file in its cache as it can spare, so that what fits is read
    from the disk once. The numbers, and so every bit of a model, are those of `Resident`.
    """

    def __init__(
        self, X: "np.memmap[Any, Any]", rows: np.ndarray, columns: int, on: torch.device
    ) -> None:
        if X.filename is None or X.dtype != np.float32 or X.strides[1] != X.itemsize:
            raise Problem("Prepared.mapped: X is no file of float32 whose rows are in one piece")
        self.X, self.rows, self.columns, self.on = X, rows, columns, on
        # Not through the map: a fault there brings in all that is around a row, megabytes of it,
        # and what was read stays this process's until it is given back.
        self.file = os.open(X.filename, os.O_RDONLY)
        whole = np.frombuffer(X._mmap, np.uint8)  # type: ignore[attr-defined]
        before = X.offset - X.offset % mmap.ALLOCATIONGRANULARITY  # of the file, not in the map
        self.first = before + X.ctypes.data - whole.ctypes.data

    def __del__(self) -> None:
        if hasattr(self, "file"):
            os.close(self.file)

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, places: Tensor, out: Tensor) -> None:
        out.copy_(self._read(self.rows[places.cpu().numpy()]))

    def part(self, start: int, end: int) -> Tensor:
        return self._read(self.rows[start:end]).to(self.on)

    def _read(self, rows: np.ndarray) -> Tensor:
        size = self.X.shape[1] * self.X.itemsize
        offsets = (self.first + self.X.strides[0] * rows.astype(np.int64)).tolist()
        read = b"".join([os.pread(self.file, size, offset) for offset in offsets])
        X = np.frombuffer(read, np.float32).reshape(len(rows), -1)
        return torch.from_numpy(padded(X, self.columns))

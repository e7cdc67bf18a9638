"""Raw files as `download` leaves them, and files with a wrong byte."""

import random
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from infofair.data import dataset as datasets
from infofair.storage import sha256, write_json
from study import paths

NAMES = ("compas", "adult", "dutch")  # the paper's, which have the authors' split
ALL = (*NAMES, "kdd")
GENERAL = paths.GENERAL
COMPAS = "compas-scores-two-years.csv"
# Line 20 of each first file: the row that tests break.
PLACE = {
    "compas": f"{COMPAS}:20",
    "adult": "adult.data:20",
    "dutch": "dutch_census_2001.arff:20",
    "kdd": "census-income.data:20",
}
ROW = {"compas": 18, "adult": 19, "dutch": 2, "kdd": 19}


def changed(
    name: str, frame: pd.DataFrame, /, row: int | None = None, **cells: str
) -> pd.DataFrame:
    """A copy with other cells in one row (that of PLACE unless told)."""
    frame = frame.copy()
    for column, value in cells.items():
        frame.iloc[ROW[name] if row is None else row, frame.columns.get_loc(column)] = value
    return frame


def record(name: str, data: str = "simulated", split: str = "random") -> None:
    """SOURCE.json of the raw files in the current directory."""
    raw = sorted(path for path in paths.raw(name).iterdir() if path.name != "SOURCE.json")
    described = {p.name: {"sha256": sha256(p), "bytes": p.stat().st_size} for p in raw}
    source = {"dataset": name, "data": data, "split": split, "files": described}
    write_json(paths.raw(name) / "SOURCE.json", source)


def place(name: str, frame: pd.DataFrame, data: str = "simulated") -> None:
    """These rows as raw files, and their record."""
    paths.raw(name).mkdir(parents=True, exist_ok=True)
    write = datasets.load(name).write
    assert write is not None
    write(frame, paths.raw(name))
    record(name, data)


def spoiled(path: Path, count: int) -> Iterator[str]:
    """Change one byte of the file after the other, at random places."""
    content = path.read_bytes()
    rng = random.Random(0)
    for _ in range(count):
        place, mask = rng.randrange(len(content)), rng.randrange(1, 256)
        path.write_bytes(content[:place] + bytes([content[place] ^ mask]) + content[place + 1 :])
        yield f"byte {place} ^ {mask}"
    path.write_bytes(content)

"""A CSV or Parquet file to the columns that an audit reads; the others are not looked at."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from infofair.errors import Problem

PARQUET = b"PAR1"
OTHER_KINDS = {  # first bytes of what people give instead
    b"PK\x03\x04": "a zip archive or spreadsheet",
    b"\x1f\x8b": "a gzip archive",
    b"\x89HDF": "an HDF5 file",
    b"\x80\x04": "a pickle, which is never opened",
    b"\x80\x05": "a pickle, which is never opened",
    b"\x93NUMPY": "a NumPy array",
    b"%PDF": "a PDF",
}
SHOWN = 12  # columns that a message names


def read(path: Path, wanted: Sequence[str]) -> pd.DataFrame:
    """These columns of a file, whose kind its first bytes tell."""
    if path.is_dir():
        raise Problem(f"{path} is a folder; expected a CSV or Parquet file")
    try:
        with path.open("rb") as file:
            start = file.read(1 << 16)
    except FileNotFoundError:
        raise Problem(f"{path} does not exist") from None
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}") from None
    if not start.strip():
        raise Problem(f"{path}: the file is empty")
    for first, kind in OTHER_KINDS.items():
        if start.startswith(first):
            raise Problem(f"{path} is {kind}; expected a CSV or Parquet file")
    found = (_parquet if start.startswith(PARQUET) else _csv)(path, list(dict.fromkeys(wanted)))
    if not len(found):
        raise Problem(f"{path}: there are no rows")
    return found


def _csv(path: Path, wanted: list[str]) -> pd.DataFrame:
    named = _checked(path)
    _need(path, wanted, named)
    try:
        return pd.read_csv(
            path,
            usecols=wanted,
            index_col=False,
            skipinitialspace=True,
            keep_default_na=False,
            na_values=[""],
            encoding="utf-8-sig",
            low_memory=False,
            names=named,
            header=0,
        )[wanted]
    except UnicodeDecodeError:
        raise Problem(f"{path} is not UTF-8 text; expected a CSV or Parquet file") from None
    except (ValueError, OverflowError) as error:  # pandas' errors of parsing are such
        raise Problem(f"{path}: {_one_line(error)}") from None


def _checked(path: Path) -> list[str]:
    """The names in the first line, each of which is there once; every row has a field for each.

    pandas fills short rows up and cuts long ones off, if their ends are not asked for.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, skipinitialspace=True, strict=True)
            named = _header(path, next(rows, []))
            for row in rows:
                if row and len(row) != len(named):
                    raise Problem(
                        f"{path}: line {rows.line_num} has {len(row)} fields; expected {len(named)}"
                    )
    except UnicodeDecodeError:
        raise Problem(f"{path} is not UTF-8 text; expected a CSV or Parquet file") from None
    except csv.Error as error:
        raise Problem(f"{path}: line {rows.line_num}: {error}") from None
    return named


def _header(path: Path, found: list[str]) -> list[str]:
    if not found:
        raise Problem(f"{path}: line 1 is empty; expected column names")
    if any("\0" in name for name in found):
        raise Problem(f"{path} holds NUL bytes; expected a CSV or Parquet file")
    if len(found) == 1 and any(mark in found[0] for mark in ";\t|"):
        raise Problem(f"{path}: line 1 is {found[0][:80]!r}; expected commas between columns")
    if repeated := [name for name in found if found.count(name) > 1]:
        raise Problem(f"{path}: line 1 names {repeated[0]!r} twice; expected each column once")
    return found


def _parquet(path: Path, wanted: list[str]) -> pd.DataFrame:
    try:
        from pyarrow import lib, parquet
    except ImportError:
        raise Problem(
            f"{path}: Parquet files need pyarrow (pip install pyarrow); or give a CSV file"
        ) from None
    try:
        names = parquet.read_schema(path).names
        _need(path, wanted, names)
        return pd.read_parquet(path, columns=wanted)[wanted].reset_index(drop=True)
    except (lib.ArrowException, OSError, ValueError, KeyError) as error:
        raise Problem(f"{path} is no Parquet file that can be read ({_one_line(error)})") from None


def _need(path: Path, wanted: list[str], named: list[str]) -> None:
    if missing := [name for name in wanted if name not in named]:
        listed = ", ".join(repr(name[:40]) for name in named[:SHOWN])
        more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
        raise Problem(f"{path}: there is no column {missing[0]!r}; there are {listed}{more}")
    if repeated := [name for name in wanted if named.count(name) > 1]:
        raise Problem(f"{path}: column {repeated[0]!r} is there twice")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())

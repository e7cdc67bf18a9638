"""Files that are written whole or not at all, in the same bytes for the same content, and read
without trust."""

import csv
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from infofair.errors import Damaged


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a temporary path to write to; it becomes `path` only when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        yield partial
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        partial.replace(path)
    except OSError as error:
        # a full disk names no file, and the temporary name means nothing to a reader
        if error.errno is None or error.filename not in (None, partial, str(partial)):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
    finally:
        with suppress(OSError):  # a read-only folder refuses even to remove what is not there
            partial.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    with whole(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, content: Any) -> None:
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Damaged(path, error) from None


def write_rows(path: Path, rows: Iterable[Mapping[str, object]], columns: list[str]) -> None:
    """A CSV with a header; numbers are written with 8 significant digits."""
    with whole(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.8g}" if isinstance(v, float) else v for k, v in row.items()})


def save_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """A compressed .npz without pickle; the same arrays give the same bytes."""
    with whole(path) as partial, partial.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load_arrays(path: Path) -> dict[str, np.ndarray]:
    try:
        # Opened here, because np.load leaves a file open that is no archive.
        with path.open("rb") as file, np.lib.npyio.NpzFile(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise
    except Exception as error:  # zlib, zipfile and numpy raise a dozen kinds on wrong bytes
        raise Damaged(path, error) from None


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

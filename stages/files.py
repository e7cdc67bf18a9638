"""Where everything lies, and the one way to write it: whole or not at all."""

import csv
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


class Problem(Exception):
    """Something the user can act on: shown as one message, without a traceback."""


# DVC runs every stage at the top of the repository, so all paths are relative to it.


def raw(dataset: str) -> Path:
    """Folder of the raw files and SOURCE.json."""
    return Path("data/raw") / dataset


def own(dataset: str) -> Path:
    """Folder of the user's own raw files of a dataset."""
    return Path("data/own") / dataset


def validated(dataset: str) -> Path:
    return Path("data/validated") / f"{dataset}.parquet"


def validation_report(dataset: str) -> Path:
    return Path("results/validation") / f"{dataset}.json"


def processed(dataset: str) -> Path:
    return Path("data/processed") / f"{dataset}.npz"


def predictions(dataset: str, method: str) -> Path:
    return Path("results/predictions") / dataset / f"{method}.npz"


def curves(dataset: str, method: str) -> Path:
    return Path("results/curves") / dataset / f"{method}.csv"


def fits(dataset: str, method: str) -> Path:
    return Path("results/fits") / dataset / f"{method}.csv"


def evaluation(dataset: str) -> Path:
    """Folder of the tables that evaluate makes."""
    return Path("results/evaluation") / dataset


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


def write_rows(path: Path, rows: Iterable[Mapping[str, object]], columns: list[str]) -> None:
    """A CSV with a header; numbers are written with 8 significant digits."""
    with whole(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.8g}" if isinstance(v, float) else v for k, v in row.items()})


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def need(path: Path, made_by: str) -> Path:
    """The path, if it exists; otherwise say which stage makes it."""
    if not path.exists():
        raise Problem(f"{path} does not exist; it is made by: dvc repro {made_by}")
    return path


def damaged(path: Path, error: object) -> Problem:
    # not dvc repro: it would take the file from its cache, which may be where it was damaged
    return Problem(f"{path} is damaged ({error}); remove it and run make repro")


def read_json(path: Path, made_by: str) -> Any:
    try:
        return json.loads(need(path, made_by).read_text(encoding="utf-8"))
    except ValueError as error:
        raise damaged(path, error) from None


def raw_source(dataset: str) -> dict[str, Any]:
    """SOURCE.json, after checking that the raw files are still those it describes."""
    path = raw(dataset) / "SOURCE.json"
    source = read_json(path, f"download@{dataset}")
    for key, values in {"data": ("real", "simulated"), "split": ("authors", "random")}.items():
        if source.get(key) not in values:
            raise damaged(path, f"{key} is {source.get(key)!r}, expected {' or '.join(values)}")
    if "files" not in source:
        raise damaged(path, "it names no files")
    for name, expected in source["files"].items():
        file = need(path.parent / name, f"download@{dataset}")
        found = sha256(file)
        if found != expected.get("sha256"):
            raise Problem(
                f"{file} has changed since it was downloaded: sha256 {found}, "
                f"expected {expected.get('sha256')}; restore it with: dvc checkout {path.parent}"
            )
    return source


def keep_only(folder: Path, names: set[str]) -> None:
    """Remove files and folders of datasets or methods that params.yaml no longer names.

    A stage that depends on a folder would otherwise be hashed with them.
    """
    for path in sorted(folder.iterdir()) if folder.exists() else []:
        if path.name not in names and path.name != ".gitignore":
            print(f"removing {path}: params.yaml no longer asks for it", file=sys.stderr)
            shutil.rmtree(path) if path.is_dir() else path.unlink()

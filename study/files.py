"""Reading what another stage made, with a word on which stage that is."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from infofair.errors import Problem
from infofair.storage import read_json
from study import paths

if TYPE_CHECKING:
    from infofair.data.prepared import Prepared


def need(path: Path, made_by: str) -> Path:
    """The path, if it exists; otherwise say which stage makes it."""
    if not path.exists():
        raise Problem(f"{path} does not exist; it is made by: dvc repro {made_by}")
    return path


def needed_json(path: Path, made_by: str) -> Any:
    return read_json(need(path, made_by))


def prepared(dataset: str) -> "Prepared":
    # here, so that a stage that reads no rows does not depend on how they are read
    from infofair.data.prepared import Prepared

    return Prepared.load(need(paths.processed(dataset), f"preprocess@{dataset}"))

"""Whether anything has changed since DVC last found nothing to do in a pipeline.

It goes by what DVC itself goes by before it hashes a file: size, time of change, and inode. Only a
run that changed nothing is remembered, so a file that is edited while stages run is not missed.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from infofair.storage import write_text
from study import paths

REMEMBERED = paths.DVC / "tmp" / "unchanged.json"
IGNORED = ("__pycache__",)  # as .dvcignore says; whatever else there is only costs a look by DVC

Seen = dict[str, list[int] | None]


def looked_at(roots: Iterable[str]) -> Seen:
    """Size, time and inode of each of these files, and of all in these folders; None: not there."""
    seen: Seen = {}
    for root in roots:
        if not os.path.isdir(root):  # noqa: PTH112 (a thousand files: the string is quicker)
            seen[root] = _look(root)
        for folder, below, files in os.walk(root):
            below[:] = [name for name in below if name not in IGNORED]
            seen |= {place: _look(place) for name in files if (place := f"{folder}/{name}")}
    return seen


def _look(place: str) -> list[int] | None:
    try:
        found = os.stat(place)  # noqa: PTH116
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ino]


def roots(pipeline: Path) -> list[str]:
    """What DVC reads of a pipeline, by its lock file: its stages' dependencies and outputs."""
    from dvc.utils.serialize import load_yaml  # type: ignore[import-untyped]

    lock = pipeline.with_suffix(".lock")
    stages: dict[str, Any] = load_yaml(lock)["stages"] if lock.exists() else {}
    named = {
        file["path"]
        for stage in stages.values()
        for kind in ("deps", "outs")
        for file in stage.get(kind, ())
    }
    return [str(pipeline), str(lock), str(paths.PARAMS), ".dvcignore", *sorted(named)]


def since_remembered() -> bool:
    """Whether all is as it was when nothing was to do."""
    try:
        before = json.loads(REMEMBERED.read_text(encoding="utf-8"))
        return looked_at(before["roots"]) == before["seen"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def remember(roots: list[str], seen: Seen) -> None:
    write_text(REMEMBERED, json.dumps({"roots": roots, "seen": seen}))

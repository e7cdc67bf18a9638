"""Run the committed pipeline again, from the download on, and compare every committed result.

Clones the last commit into a temporary folder, without a cache, runs `dvc repro` there, and prints
every difference by file and cell: of dvc.lock, results/ and reports/. On the same kind of processor
there is none.
"""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ruamel.yaml import YAML

from stages import cli
from stages.files import Problem

SHOWN = 20  # differences of one file
IN_GIT = {"revision", "dirty"}  # of provenance.json: they say which commit, not what it gives


def flat(content: Any, key: str = "") -> dict[str, Any]:
    """The values of nested mappings and lists by their path, a.b[0]."""
    if isinstance(content, dict):
        parts = {f"{key}.{name}".lstrip("."): value for name, value in content.items()}
    elif isinstance(content, list):
        parts = {f"{key}[{i}]": value for i, value in enumerate(content)}
    else:
        return {key: content}
    return {k: v for part, value in parts.items() for k, v in flat(value, part).items()}


def cells(path: Path) -> dict[str, Any]:
    """What a file holds, by name: the cells of a table, the values of JSON, the lines of a text."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return {
                f"line {line}, {column}": value
                for line, row in enumerate(csv.DictReader(file), 2)
                for column, value in row.items()
            }
    if path.suffix == ".json":
        content = flat(json.loads(path.read_text(encoding="utf-8")))
        return {
            k: v for k, v in content.items() if path.name != "provenance.json" or k not in IN_GIT
        }
    if path.name == "dvc.lock":  # its stages are in the order in which they first ran
        return flat(YAML(typ="safe").load(path))
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError:
        return {"bytes": path.read_bytes()}
    return {f"line {number}": line for number, line in enumerate(lines, 1)}


def short(value: Any) -> str:
    text = f"{len(value)} bytes" if isinstance(value, bytes) else str(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def differences(committed: Path, found: Path) -> Iterator[str]:
    """Each cell in which two files differ."""
    if not found.exists():
        yield "was not made"
        return
    if committed.read_bytes() == found.read_bytes():
        return
    before, after = cells(committed), cells(found)
    for cell in before | after:
        if before.get(cell) != after.get(cell):
            old, new = (short(side.get(cell, "nothing")) for side in (before, after))
            yield f"{cell}: committed {old}, now {new}"


def compare(committed: Path, found: Path, names: list[str]) -> list[str]:
    """Every difference between the files of these names in two folders, some of each file."""
    said = []
    for name in names:
        each = list(differences(committed / name, found / name))
        said += [f"{name}: {difference}" for difference in each[:SHOWN]]
        said += [f"{name}: and {len(each) - SHOWN} more"] if each[SHOWN:] else []
    return said


def run(*command: str, folder: Path) -> None:
    if subprocess.run(command, cwd=folder).returncode:
        raise Problem(f"{' '.join(command)} failed in a clone of the last commit; see above")


def main() -> None:
    listed = ["git", "ls-files", "-z", "dvc.lock", "results", "reports"]
    names = subprocess.check_output(listed, text=True).rstrip("\0").split("\0")
    with TemporaryDirectory() as name:
        clone, committed = Path(name, "clone"), Path(name, "committed")
        for folder in (clone, committed):
            run("git", "clone", "--quiet", ".", str(folder), folder=Path.cwd())
        (clone / "dvc.lock").unlink()
        run(sys.executable, "-m", "dvc", "repro", folder=clone)
        said = compare(committed, clone, names)
    if said:
        raise Problem("\n".join([f"{len(said)} differences from what is committed:", *said]))
    print(f"{len(names)} committed results made again, all the same", file=sys.stderr)


if __name__ == "__main__":
    cli.run(main, __doc__)

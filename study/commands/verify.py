"""Run a part of the pipelines again, from the download on, and compare its committed results.

Clones the last commit into a temporary folder, without a cache and without these results, makes
them there, and prints every difference by file and cell: of the lock files, whatever they name that
is in git, and the provenance. On the same kind of processor there is none.

    paper     dvc.yaml (if no part is named): minutes
    fronts    the comparison's tables and figures: most of the half an hour to an hour of beyond/
    general   the paper's generalisations
    data      the cards of the datasets
    beyond    all of beyond/dvc.yaml: the three above, its document and its other pages
    luck      luck/dvc.yaml: a quarter to half an hour
"""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ruamel.yaml import YAML

from infofair.errors import Problem
from study import cli, paths
from study.page.sources import processor

LOCKS = {str(lock.with_suffix(".yaml")): lock for lock in paths.LOCKS}
PIPELINE = next(iter(LOCKS))  # the paper's
# What DVC is asked for; it makes all that this needs, too.
PARTS = {
    "paper": [PIPELINE],
    "fronts": [f"{paths.PIPELINE_BEYOND}:{name}" for name in ("unprocessed", "table", "figure")],
    "general": [f"{paths.PIPELINE_BEYOND}:general_figure"],
    "data": [f"{paths.PIPELINE_BEYOND}:data_page"],
    "beyond": [paths.PIPELINE_BEYOND],
    "luck": [paths.PIPELINE_LUCK],
}

SHOWN = 20  # differences of one file
PROVENANCE_OF = "page"  # the stage of dvc.yaml that writes it beside its output
IN_GIT = {"revision", "dirty"}  # of the provenance: they say which commit, not what it gives


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
            k: v
            for k, v in content.items()
            if path.name != paths.PROVENANCE.name or k not in IN_GIT
        }
    if path.suffix == ".lock":  # its stages are in the order in which they first ran
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


def needed(folder: Path, targets: list[str]) -> dict[Path, list[str]]:
    """The stages that DVC runs for these targets where nothing has been run, by their lock file."""
    from dvc.repo import Repo  # type: ignore[import-untyped]
    from networkx import descendants  # type: ignore[import-untyped]

    found: dict[Path, list[str]] = {}
    with chdir(folder), Repo() as repo:
        asked = {stage for target in targets for stage in repo.stage.collect(target)}
        asked |= {other for stage in asked for other in descendants(repo.index.graph, stage)}
        for stage in asked:
            found.setdefault(LOCKS[Path(stage.path_in_repo).as_posix()], []).append(stage.name)
    return found


def keep(lock: Path, stages: Collection[str]) -> None:
    """Of a lock file these stages alone."""
    if lock.exists():
        content = YAML(typ="safe").load(lock)
        content["stages"] = {name: of for name, of in content["stages"].items() if name in stages}
        lock.write_text(json.dumps(content), encoding="utf-8")


def results(folder: Path, lock: Path) -> list[str]:
    """The files in git that the stages of a lock file make, and the lock file itself."""
    locked = YAML(typ="safe").load(folder / lock)["stages"]
    made = {out["path"] for stage in locked.values() for out in stage.get("outs", [])}
    command = ["git", "ls-files", "-z", "--", str(lock), str(paths.PROVENANCE), *sorted(made)]
    return subprocess.check_output(command, cwd=folder, text=True).split("\0")[:-1]


def elsewhere(committed: Path) -> str:
    """Of whose processor the committed results are, if this is another maker's."""
    path = committed / paths.PROVENANCE
    own = processor()
    theirs = json.loads(path.read_text(encoding="utf-8"))["processor"] if path.exists() else own
    if theirs == own:
        return ""
    return f", which is of {theirs}; this is {own}, on which last digits are others"


def run(*command: str, folder: Path) -> None:
    # the stages' `python` is this one, whether or not the environment is activated
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    if subprocess.run(command, cwd=folder, env=os.environ | {"PATH": path}).returncode:
        raise Problem(f"{' '.join(command)} failed in a clone of the last commit; see above")


def main(part: str | None) -> None:
    names = (part or "paper").split()
    if unknown := [name for name in names if name not in PARTS]:
        raise Problem(f"--part {' '.join(unknown)}: expected some of {', '.join(PARTS)}")
    targets = [target for name in names for target in PARTS[name]]
    with TemporaryDirectory() as name:
        clone, committed = Path(name, "clone"), Path(name, "committed")
        for folder in (clone, committed):
            run("git", "clone", "--quiet", ".", str(folder), folder=Path.cwd())
        stages = needed(committed, targets)
        for lock, of in stages.items():
            keep(committed / lock, of)
        made = {file for lock in stages for file in results(committed, lock)}
        if PROVENANCE_OF not in stages[LOCKS[PIPELINE]]:
            made -= {str(paths.PROVENANCE)}
        for file in made:
            (clone / file).unlink()
        run(sys.executable, "-m", "study.commands.quick", "repro", *targets, folder=clone)
        for lock, of in stages.items():
            keep(clone / lock, of)
        said = compare(committed, clone, sorted(made))
        where = elsewhere(committed)
    if said:
        counted = f"{len(said)} difference{'s' * (len(said) > 1)} from what is committed{where}:"
        raise Problem("\n".join([counted, *said]))
    print(f"{len(made)} committed results made again, all the same", file=sys.stderr)


if __name__ == "__main__":
    cli.run(main, __doc__, optional=["part"], part=f"one or more of {', '.join(PARTS)}")

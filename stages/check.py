"""Check params.yaml before anything else runs, and write down which code each stage runs.

data/code/<stage>.txt lists the hash of every module that a stage imports, directly or not, so that
one dependency in dvc.yaml stands for them all and none is forgotten. Modules of single datasets and
methods are left out, because they are dependencies of their own where they are used; and so are
those that cannot change an output.

data/checked/<dataset>/ has the dataset's knobs, one file each, with the default of those that
params.yaml does not set (DVC knows no parameter that is not there), and the hashes of the user's
own files of it in data/own/.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from stages import cli, files, params

TOP = Path(__file__).parent.parent
VALID = Path("data/params.valid")  # the same content whatever the parameters, as long as they pass
CODE = Path("data/code")
CHECKED = Path("data/checked")
# The modules that a stage starts from.
STAGES = {
    "download": ["download"],
    "validate": ["validate"],
    "preprocess": ["preprocess"],
    "train": ["train"],
    "solve": ["solve"],
    "evaluate": ["evaluate"],
    "summarize": ["summarize"],
    "frontier": ["frontier"],
    "honest": ["honest"],
    "table": ["notebook", "tables", "honest_table"],  # notebooks import all but the first
    "figure": ["notebook", "figures"],
    "report": ["report"],
}
# They say where and how to run, show or write something, not what.
HARMLESS = {"cli", "files", "params", "progress", "workers"}


def path_of(module: str) -> Path | None:
    """The file of a module of ours, from its dotted name."""
    base = TOP.joinpath(*module.split("."))
    return next((p for p in (base.with_suffix(".py"), base / "__init__.py") if p.exists()), None)


def imported(path: Path) -> Iterator[Path]:
    """The files of our modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            if name.split(".")[0] == "stages" and (found := path_of(name)):
                yield found


def code_of(stage: str) -> list[Path]:
    """Every module whose code a stage runs, but for those that are left out (see above)."""
    waiting = [TOP / "stages" / f"{name}.py" for name in ["__init__", *STAGES[stage]]]
    seen = set()
    while waiting:
        path = waiting.pop()
        if path not in seen and path.stem not in HARMLESS:
            seen.add(path)
            waiting += imported(path)
            if path.name == "__init__.py" and path.parent.name != "stages":
                waiting += path.parent.glob("*.py")  # one of them is loaded by its name
    return sorted(p for p in seen if p.parent.name == "stages" or p.name == "__init__.py")


def given(dataset: str, knobs: params.DatasetKnobs) -> dict[str, object]:
    """What a dataset's stages depend on, by the name of the file: its knobs and its own files."""
    own = files.own(dataset)
    found = sorted(path for path in own.rglob("*") if path.is_file())
    hashes = {path.relative_to(own).as_posix(): files.sha256(path) for path in found}
    return {**knobs.model_dump(), "own": hashes}


def main() -> None:
    checked = params.load()
    for stage in STAGES:
        lines = [
            f"{files.sha256(path)}  {path.relative_to(TOP).as_posix()}\n" for path in code_of(stage)
        ]
        files.write_text(CODE / f"{stage}.txt", "".join(lines))
    files.keep_only(CODE, {f"{stage}.txt" for stage in STAGES})
    for dataset in checked.datasets:
        for name, content in given(dataset, checked.knobs(dataset)).items():
            files.write_json(CHECKED / dataset / f"{name}.json", content)
    files.keep_only(CHECKED, set(checked.datasets))
    files.write_text(VALID, "params.yaml is valid\n")


if __name__ == "__main__":
    cli.run(main, __doc__)

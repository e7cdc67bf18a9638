"""The rules of the house, over every file: who imports whom, where paths and tables are, sizes."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

ROOMS = ("infofair", "study", "stages")
FILES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.AST) -> set[str]:
    """The modules that a file imports, wherever in it; of `from a import b` both a and a.b."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "names in full, so that a reader and these tests find them"
            assert node.module is not None
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def rooms(tree: ast.AST) -> set[str]:
    """The rooms that a file imports from; tests and benchmarks are rooms of nobody."""
    return {name.split(".")[0] for name in imported(tree)} & {*ROOMS, "tests", "bench", "examples"}


# -- who imports whom -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("room", "allowed"),
    [("infofair", {"infofair"}), ("study", {"infofair", "study"}), ("stages", set(ROOMS))],
)
def test_a_room_imports_only_from_those_below_it(room: str, allowed: set[str]) -> None:
    wrong = {
        named(path): rooms(parsed(path)) - allowed for path in FILES if named(path).startswith(room)
    }
    assert {path: found for path, found in wrong.items() if found} == {}


def test_no_stage_imports_a_stage() -> None:
    for path in (ROOT / "stages").glob("*.py"):
        assert "stages" not in rooms(parsed(path)), named(path)


def test_a_method_imports_nothing_of_ours_but_the_base() -> None:
    base = "infofair.methods.base"
    for path in (ROOT / "infofair/methods").glob("[a-z]*.py"):
        ours = {name for name in imported(parsed(path)) if name.split(".")[0] in ROOMS}
        wrong = {name for name in ours if name != base and not name.startswith(f"{base}.")}
        if path.name != "base.py":  # it may use what the library has
            assert wrong - {"infofair.methods"} == set(), named(path)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_imports_the_study_only(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert rooms(ast.parse("\n".join(code))) == {"study"}


# -- importing changes nothing --------------------------------------------------------------------

# What the library imports of others is loaded before: what that does is not ours.
STATE = """
import os, pkgutil, random, signal, sys, warnings
from importlib import import_module
for module in {modules}:
    try:
        import_module(module)
    except ImportError:  # a name in a module, or a package that is optional
        pass
import logging, numpy as np, torch

def state():
    return dict(
        environment=dict(os.environ), path=list(sys.path), folder=os.getcwd(),
        filters=list(warnings.filters), random=random.getstate(), errors=np.geterr(),
        numpy=[str(part) for part in np.random.get_state()], printed=np.get_printoptions(),
        torch=torch.get_rng_state().tolist(), threads=torch.get_num_threads(),
        dtype=torch.get_default_dtype(), gradients=torch.is_grad_enabled(),
        deterministic=torch.are_deterministic_algorithms_enabled(),
        signals=[signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)],
        logging=(logging.root.level, list(logging.root.handlers)), hook=sys.excepthook,
    )

before = state()
import infofair
for module in pkgutil.walk_packages(infofair.__path__, "infofair."):
    import_module(module.name)
after = state()
print(*(name for name in before if before[name] != after[name]))
"""


@pytest.mark.slow
def test_importing_the_library_changes_nothing_outside_it() -> None:
    used = {
        name
        for path in FILES
        if named(path).startswith("infofair")
        for name in imported(parsed(path))
    }
    code = STATE.format(modules=sorted(n for n in used if n.split(".")[0] != "infofair"))
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_the_library_loads_nothing_before_it_is_used() -> None:
    code = "import sys, infofair; print(*{'numpy', 'pandas', 'torch', 'sklearn'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_every_door_chooses_the_kernels_before_numpy_is_loaded() -> None:
    """`stages/__init__.py` is no dependency of a stage, so this guards what it does."""
    code = "import stages; from infofair import kernels; import numpy; print(kernels.pinned())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


# -- paths and tables -----------------------------------------------------------------------------

FOLDERS = ("data", "results", "reports", "notebooks")
PATH = re.compile(
    rf"\.?/?(?:{'|'.join(FOLDERS)})/\S*|params\.yaml|(?:(?:beyond|luck)/)?dvc\.(?:yaml|lock)"
)


def texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every string of a file but its docstrings, and what is given to Path."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    said = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.lineno, node.value
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("Path", "pathlib.Path"):
            for given in node.args:
                if isinstance(given, ast.Constant) and given.value in FOLDERS:
                    yield node.lineno, f"{given.value}/"


def test_every_path_of_the_repository_is_in_paths() -> None:
    found = [
        f"{named(path)}:{line}: {text}"
        for path in FILES
        if named(path) not in ("study/paths.py", "study/page/places.py")
        for line, text in texts(parsed(path))
        if PATH.fullmatch(text)
    ]
    assert found == []


# Who reads or writes a CSV other than through study/results.py, and what it holds.
OTHER_CSVS = {
    "study/page/index.py": "curves, likewise",
    "study/commands/verify.py": "any committed CSV, to say in which line two runs differ",
    "stages/train.py": "curves, one file per method: what happened on the way",
    "stages/solve.py": "fits, likewise",
}
CSV_CALLS = ("read_csv", "to_csv", "write_rows", "DictReader", "DictWriter")


def test_every_table_is_read_and_written_in_one_place() -> None:
    users = {
        named(path)
        for path in FILES
        if not named(path).startswith("infofair")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in CSV_CALLS
    }
    assert users - OTHER_CSVS.keys() == {"study/results.py"}


# -- nobody deletes -------------------------------------------------------------------------------

# Who removes a file, and which: never what a stage has written.
REMOVING = {
    "infofair/storage.py": "the temporary file beside one that could not be written",
    "infofair/data/fetch.py": "what it had downloaded itself and found to be wrong",
    "study/commands/recover.py": "what a killed run left half written; `make repro` says so",
    "study/commands/verify.py": "its own copy of the repository",
}
REMOVALS = ("unlink", "rmtree", "rmdir", "remove", "removedirs")


def test_no_stage_deletes_what_another_wrote() -> None:
    def removes(node: ast.AST) -> bool:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        owner = ast.unparse(node.func.value)
        return node.func.attr in REMOVALS and (node.func.attr != "remove" or owner == "os")

    found = {named(path) for path in FILES if any(map(removes, ast.walk(parsed(path))))}
    assert found <= REMOVING.keys()


# -- sizes ----------------------------------------------------------------------------------------

# Longer than the rest, because they would read worse in parts.
LONG_FILES = {
    "infofair/datasets/kdd.py": "forty columns, one after the other, with their values",
    "study/params.py": "every section of params.yaml, and what is wrong with it",
    "infofair/methods/base.py": "what a method is, all in one place: who writes one reads it whole",
}
LONG_FUNCTIONS = {
    "infofair/data/tabular.py::csv_dataset": "a dataset made of closures over its columns",
    "infofair/datasets/compas.py::simulate": "one column after the other",
}


def test_doors_are_short() -> None:
    lengths = {
        named(p): len(p.read_text("utf-8").splitlines())
        for p in (ROOT / "stages").glob("*")
        if p.suffix == ".py"
    }
    assert {path: length for path, length in lengths.items() if length > 60} == {}


def test_modules_are_of_a_size_to_read_at_once() -> None:
    lengths = {named(path): len(path.read_text("utf-8").splitlines()) for path in FILES}
    assert {path for path, length in lengths.items() if length > 400} <= LONG_FILES.keys()


def test_functions_are_of_a_size_to_see_at_once() -> None:
    found = {
        f"{named(path)}::{node.name}"
        for path in FILES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= 60
    }
    assert found <= LONG_FUNCTIONS.keys()


# -- commands -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["Makefile", ".ci/run", ".github/workflows/tests.yml"])
def test_the_tests_that_a_command_names_exist(path: str) -> None:
    named_there = re.findall(r"tests/[\w/]+\.py", (ROOT / path).read_text(encoding="utf-8"))
    assert [name for name in named_there if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("path", ["Makefile", ".ci/miniature", "docs/your-own-data.md"])
def test_the_modules_that_a_command_runs_exist(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    modules = set(re.findall(r"python -m ((?:stages|study|bench|infofair)[\w.]*)", text))
    places = {name: ROOT / name.replace(".", "/") for name in modules}
    lost = {n for n, p in places.items() if not p.with_suffix(".py").exists() and not p.is_dir()}
    assert lost == set()

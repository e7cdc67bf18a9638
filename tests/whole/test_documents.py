"""The documents: what they point to is there, and what they show as code runs."""

import inspect
import json
import re
import subprocess
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import bench
import infofair
from bench import document
from infofair.data import load
from infofair.framework import recipe
from infofair.training import fit
from infofair.training.plan import Training
from tests.conftest import ROOT
from tests.documents import blocks
from tests.simulated import prepared

DOCUMENTS = ["README.md", "CONTRIBUTING.md", "data/own/README.md"]
DOCUMENTS += sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
# what a document tells its reader to write, and what comes of it
TO_BE_WRITTEN = {
    "docs/your-own-data.md": {
        "infofair/datasets/loans.py", "infofair/datasets/loan.py", "results/validation/loans.json",
    },
    "docs/your-own-method.md": {"infofair/methods/hsic.py"},
}  # fmt: skip
LINK = re.compile(r"\]\(([^)\s]+)\)")
TICKED = re.compile(r"`([^`]+)`")
PATH = re.compile(r"\.?[\w-][\w.-]*(?:/[\w.-]+)*/?")
AT_THE_TOP = {".cff", ".lock", ".md", ".toml", ".txt", ".yaml"}  # a file without a folder is one


@cache
def text(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


@cache
def prose(document: str) -> str:
    """The text without its fenced and indented blocks, each line joined to the next."""
    fenced = re.sub(r"^```.*?^```$", "", text(document), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"\s*\n", " ", re.sub(r"^    .*$", "", fenced, flags=re.MULTILINE))


@cache
def anchors(document: Path) -> set[str]:
    """What a link into a document may name: its headings, as GitHub does, and explicit ids."""
    found = document.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", found, re.MULTILINE)
    slugs = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in headings}
    return slugs | set(re.findall(r'id="([^"]+)"', found))


@cache
def in_git() -> frozenset[str]:
    """Files and folders that git has, or would add."""
    listed = subprocess.check_output(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, text=True
    )
    files = [Path(name) for name in listed.split("\0")[:-1]]
    return frozenset({path.as_posix() for file in files for path in (file, *file.parents)})


@cache
def ignored(path: str) -> bool:
    """Whether git ignores it: DVC keeps it, or it is made anew."""
    asked = [path, f"{path.rstrip('/')}/"]  # git does not know whether it is a folder
    found = subprocess.run(["git", "check-ignore", *asked], cwd=ROOT, capture_output=True)
    return found.returncode == 0


def paths(document: str) -> set[str]:
    """What is in backticks and looks like a file or a folder of the repository."""
    rooms = {name.split("/")[0] for name in in_git() if "/" in name}
    found = set()
    for ticked in TICKED.findall(prose(document)):
        path = ticked.split("::")[0]
        if not PATH.fullmatch(path):
            continue
        if ("/" in path and path.split("/")[0] in rooms) or Path(path).suffix in AT_THE_TOP:
            found.add(path)
    return found


# -- README ---------------------------------------------------------------------------------------


def test_the_readme_is_short_and_begins_with_the_two_commands() -> None:
    assert len((ROOT / "README.md").read_bytes()) < 8000
    first = blocks("README.md")[0]
    assert re.findall(r"^make \w+", first, re.MULTILINE) == ["make repro", "make test"]


def test_the_readmes_python_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One block after the other, but not for as long."""
    signature = inspect.signature(load.load_dataset)

    def loaded(*given: Any, **named: Any) -> Any:
        signature.bind(*given, **named)
        return prepared(300)

    def short(*given: Any, **named: Any) -> Any:
        return whole(*given, **named, training=Training(epochs=2))

    def shortly(*given: Any, **named: Any) -> recipe.Training:
        return replace(usual(*given, **named | {"warm_up": None}), epochs=2, warm_up=1)

    whole, usual = fit.fit, recipe.training
    monkeypatch.setattr(load, "load_dataset", loaded)
    monkeypatch.setattr(fit, "fit", short)
    monkeypatch.setattr(recipe, "training", shortly)
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")
    names: dict[str, Any] = {}
    for code in blocks("README.md", "python"):
        exec(compile(code, "README.md", "exec"), names)
    *strengths_and_gaps, bits = capsys.readouterr().out.split()
    assert len(strengths_and_gaps) == 4
    assert all(0 <= float(number) <= 1 for number in strengths_and_gaps)
    assert abs(float(bits)) < 1
    assert set(names["model"].information_.attributes) == {"sex", "race", "age"}


def test_the_names_of_the_library_in_the_documents_are_public() -> None:
    named = {name for d in DOCUMENTS for name in re.findall(r"\binfofair\.(\w+)\(", text(d))}
    named |= {
        name.strip()
        for document in DOCUMENTS
        for names in re.findall(r"from infofair import (.+)", text(document))
        for name in names.split(",")
    }
    assert {"fit", "load_dataset", "load_model"} <= named <= set(infofair.__all__)


# -- what they point to ---------------------------------------------------------------------------


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    lost = []
    for link in LINK.findall(prose(document)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (ROOT / document).parent / name if name else ROOT / document
        there = target.exists() and target.resolve().is_relative_to(ROOT)
        if not there or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert lost == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_in_backticks_exist(document: str) -> None:
    asked = paths(document) - TO_BE_WRITTEN.get(document, set())
    lost = {path for path in asked if path.rstrip("/") not in in_git() and not ignored(path)}
    assert lost == set()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_exist(document: str) -> None:
    code = "\n".join([text(document), prose(document)])
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE))
    made = re.findall(r"(?:`|^)make ([a-z-]+)", code, re.MULTILINE)
    assert set(made) <= targets
    modules = re.findall(r"python -m ((?:study|stages|bench|examples)[\w.]*)", code)
    assert [name for name in modules if find_spec(name) is None] == []


def test_the_tables_of_the_speed_page_are_what_was_measured() -> None:
    page = text("docs/speed.md")
    assert page == document.page(page, json.loads(text("bench/results.json")))


def test_a_figure_of_another_machine_says_so() -> None:
    first = bench.put({}, {"a": 1, "b": 2, "c": 3}, {"cores": 1})
    assert first == {"a": 1, "b": 2, "c": 3, "machine": {"cores": 1}}
    second = bench.put(first, {"a": 4}, {"cores": 2})
    assert second == first | {"a": 4, "elsewhere": {"a": {"cores": 2}}}
    assert bench.put(second, {"a": 1}, {"cores": 1}) == first
    third = bench.put(second, {"b": 5}, {"cores": 2})  # now most are its
    assert (third["machine"], third["elsewhere"]) == ({"cores": 2}, {"c": {"cores": 1}})


def test_what_the_speed_page_explains_was_measured() -> None:
    measured = json.loads(text("bench/results.json"))
    _, table = text("docs/speed.md").split("| in bench/results.json | what it is |")
    rows = re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)
    named = [name for row in rows for name in TICKED.findall(row)]
    assert named and [name for name in named if name not in measured] == []

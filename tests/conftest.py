import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import settings
from ruamel.yaml import YAML

from infofair.data import checks
from infofair.data import dataset as datasets
from infofair.data.prepare import Preparation, prepare
from infofair.data.prepared import Prepared
from infofair.storage import write_json
from study import params, paths, plans
from tests.fuzzing import CASES
from tests.promises import (  # noqa: F401 (pytest finds its hooks here)
    pytest_addoption,
    pytest_configure,
    pytest_runtest_setup,
)
from tests.raw import ALL, changed

# Machines are noisy: a slow example says nothing about the code. A property has as many examples as
# it names, or these; with INFOFAIR_FUZZ as many as that says.
settings.register_profile("quiet", deadline=None, max_examples=CASES or 30)
settings.load_profile("quiet")

ROOT = Path(__file__).parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole pipelines first: a long file at the end would leave the other workers idle."""
    items.sort(key=lambda item: "whole" not in item.path.parts)


def edit_params(**changes: Any) -> None:
    """Other values for these keys of ./params.yaml; a section is replaced as a whole."""
    yaml = YAML(typ="safe")
    content = yaml.load(paths.PARAMS.read_text(encoding="utf-8"))
    with paths.PARAMS.open("w", encoding="utf-8") as file:
        yaml.dump(content | changes, file)


def write_plans(**changes: Any) -> None:
    """What `check` writes for ./params.yaml, with other values for these keys."""
    if changes:
        edit_params(**changes)
    for path, plan in plans.everything(params.load()):
        write_json(path, plan)


def compared(**changes: Any) -> dict[str, Any]:
    """The section `comparison` as small as it can be, with other values for these keys."""
    little: dict[str, Any] = {
        "strengths": 2, "look": 3, "between": [0.01, 1000.0], "ends": {}, "budget": 0.02,
        "fixed": {}, "seeds": [0], "splits": [0], "smallest_group": 20, "paper": [], "unaware": [],
        "large": {"datasets": [], "splits": [0], "trained": [], "solved": []},
    }  # fmt: skip
    return little | changes


def generalised(*runs: str) -> dict[str, Any]:
    """The section `general` with these runs of params.yaml, as short as can be."""
    content = YAML(typ="safe").load((ROOT / "params.yaml").read_text(encoding="utf-8"))["general"]
    kept = {name: content["runs"][name] for name in runs}
    more = [run["dataset"] for run in kept.values() if run["dataset"] in paths.GENERAL]
    studies = list(dict.fromkeys(run["study"] for run in kept.values()))
    short = {"splits": [0, 1], "strengths": 2, "look": 3, "steps": 4}
    return content | short | {"runs": kept, "studies": studies, "datasets": more}


def paper_params(**changes: Any) -> params.Params:
    """params.yaml with the paper's choices for the data, except for these."""
    content = YAML(typ="safe").load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    paper = {"split": "authors", "scale": "all_rows", "sensitive_as_input": True}
    paper |= {name: {"hidden": [4]} for name in ("compas", "adult", "dutch")}
    return params.check(content | paper | changes)


@pytest.fixture(scope="session", autouse=True)
def at_once() -> Iterator[None]:
    """No test waits for a disk: what is written need not survive a power cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder with the real raw files; tests that ask for it are skipped where there is none."""
    folder = Path(os.environ.get("INFOFAIR_MIRROR") or ROOT / "../shared/datasets").resolve()
    if not folder.is_dir():
        pytest.skip("no real raw files: set INFOFAIR_MIRROR to a folder that holds them")
    return folder


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with params.yaml, as the current directory; no source is configured."""
    shutil.copy(ROOT / "params.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INFOFAIR_MIRROR", raising=False)
    return tmp_path


@pytest.fixture(scope="session")
def intact() -> dict[str, pd.DataFrame]:
    """Simulated rows as read; the row to break in COMPAS is one that its filters keep."""
    frames = {name: datasets.load(name).simulate(240, 0) for name in ALL}
    kept = {
        "days_b_screening_arrest": "-1",
        "c_jail_in": "2013-01-01 10:00:00",
        "c_jail_out": "2013-01-04 10:00:00",
    }
    frames["compas"] = changed("compas", frames["compas"], **kept)
    return frames


@cache
def _prepared(mirror: Path, name: str) -> Prepared:
    folder, dataset = mirror / name, datasets.load(name)
    rows, _ = checks.validate(folder, dataset, real=True)
    assert rows is not None
    return prepare(rows, dataset, Preparation(), folder=folder, data="real")


@pytest.fixture(scope="session")
def real_data(real: Path) -> Callable[[str], Prepared]:
    """Gives a real dataset by its name, as the paper has it: features, groups, authors' split."""
    return partial(_prepared, real)

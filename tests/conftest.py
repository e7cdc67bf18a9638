import os
import shutil
from collections.abc import Callable
from contextlib import chdir
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from ruamel.yaml import YAML

from stages import datasets, files, params, preprocess, validate
from stages.processed import Processed

# Machines are noisy: a slow example says nothing about the code.
settings.register_profile("quiet", deadline=None)
settings.load_profile("quiet")

ROOT = Path(__file__).parent.parent
yaml = YAML(typ="safe")


def paper_params(**changes: Any) -> params.Params:
    """params.yaml with the paper's choices for the data, except for these."""
    content = yaml.load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    paper = {"split": "authors", "scale": "all_rows", "sensitive_as_input": True}
    paper |= {name: {"hidden": [4]} for name in ("compas", "adult", "dutch")}
    return params.check(content | paper | changes)


@pytest.fixture
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


@cache
def _processed(mirror: Path, dataset: str) -> Processed:
    rows, _ = validate.validate(mirror / dataset, datasets.load(dataset), True)
    with TemporaryDirectory() as folder, chdir(folder):
        files.raw(dataset).parent.mkdir(parents=True)
        files.raw(dataset).symlink_to(mirror / dataset)  # the authors' split is read from here
        return preprocess.process(rows, dataset, "real", "authors", paper_params())


@pytest.fixture
def real_data(real: Path) -> Callable[[str], Processed]:
    """Gives a real dataset by its name, as the paper has it: features, groups, authors' split."""
    return partial(_processed, real)

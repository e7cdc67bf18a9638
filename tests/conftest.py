import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

# Machines are noisy: a slow example says nothing about the code.
settings.register_profile("quiet", deadline=None)
settings.load_profile("quiet")

ROOT = Path(__file__).parent.parent


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

"""The door download: the plan decides on the fallback, the environment on the mirror."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from infofair.data import dataset as datasets
from infofair.data import fetch
from infofair.data.dataset import RawFile
from infofair.datasets.dutch import DATASET as DUTCH
from infofair.errors import Problem
from infofair.storage import sha256
from stages import download
from study import paths
from tests.conftest import ROOT, write_plans
from tests.raw import NAMES


@pytest.fixture
def offline(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror of a made-up dataset that stands in for dutch and is nowhere else."""
    folder = workspace.with_name(f"{workspace.name}-mirror") / "dutch"
    folder.mkdir(parents=True)
    (folder / "one.csv").write_text("content")
    dead = "http://127.0.0.1:9/one.csv"  # nobody listens there
    file = RawFile("one.csv", sha256(folder / "one.csv"), dead)
    made_up = replace(
        DUTCH, files=(file,), split=(), simulate=lambda *_: None,
        write=lambda _, target: (target / "one.csv").write_text("simulated"),
    )  # fmt: skip
    monkeypatch.setattr(datasets, "load", lambda _: made_up)
    monkeypatch.setattr(fetch, "ATTEMPTS", 1)
    fetch.unreachable.clear()
    return folder.parent


def asked(fallback: str) -> None:
    plan = paths.plan("download", "dutch")
    plan.parent.mkdir(parents=True, exist_ok=True)
    plan.write_text(json.dumps({"fallback": fallback, "own": {}}))


def test_the_mirror_is_named_by_the_environment(
    offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked("none")
    monkeypatch.setenv("INFOFAIR_MIRROR", str(offline))
    download.main("dutch")
    assert (paths.raw("dutch") / "one.csv").read_text() == "content"
    assert f"mirror {offline}" in paths.DOWNLOAD_LOG.read_text()
    assert json.loads((paths.raw("dutch") / "SOURCE.json").read_text())["data"] == "real"


def test_the_plan_says_whether_to_simulate_or_to_stop_and_how_to_go_on_is_said(
    offline: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked("none")
    with pytest.raises(Problem) as caught:
        download.main("dutch")
    how = "set INFOFAIR_MIRROR=<mirror>,\nand run: dvc repro --force download@dutch && dvc repro"
    assert how in str(caught.value)
    assert "(fallback is none)" in str(caught.value)
    assert not paths.raw("dutch").exists()
    asked("simulate")
    download.main("dutch")
    assert (paths.raw("dutch") / "one.csv").read_text() == "simulated"
    assert "INFOFAIR_MIRROR=<mirror>" in capsys.readouterr().err
    # of what is beyond the paper, it is another pipeline's
    plan = paths.plan("download", "crime")
    plan.write_text(json.dumps({"fallback": "none", "own": {}}))
    with pytest.raises(Problem) as caught:
        download.main("crime")
    stage = "beyond/dvc.yaml:download_general@crime"
    assert f"dvc repro --force {stage} && dvc repro beyond/dvc.yaml" in str(caught.value)
    # what was fetched before is replaced, whole
    (paths.raw("dutch") / "old.csv").touch()
    download.main("dutch")
    assert sorted(path.name for path in paths.raw("dutch").iterdir()) == ["SOURCE.json", "one.csv"]


@pytest.mark.parametrize("name", NAMES)
def test_without_a_plan_the_stage_that_makes_it_is_named(name: str, workspace: Path) -> None:
    with pytest.raises(Problem, match=rf"data/plans/download/{name}\.json .* dvc repro check$"):
        download.main(name)


def test_a_new_file_of_the_users_own_makes_another_plan(workspace: Path) -> None:
    plans = []
    for content in ("one", "two"):
        paths.own("adult").mkdir(parents=True, exist_ok=True)
        (paths.own("adult") / "mine.csv").write_text(content)
        write_plans()
        plans.append(paths.plan("download", "adult").read_bytes())
    assert plans[0] != plans[1]
    shutil.rmtree(paths.own("adult"))
    assert (ROOT / "data/own/README.md").exists()  # the folder is there for it

"""What a stage loads and writes when it runs, against what DVC is told of it.

Every stage of all pipelines is run on small simulated datasets, while its imports are watched.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.repository import LOCKS, PIPELINES, SMALL, Pipeline, covers, write_small

pytestmark = pytest.mark.slow

# What cannot change an output: it talks to the terminal or hands work out.
HARMLESS = {
    "study.cli": "messages",
    "infofair.errors": "messages",
    "infofair.parallel.progress": "a progress bar",
    "infofair.parallel.workers": "who does which call; a call's result does not depend on it",
    "stages": "says which packages are missing, and pins the kernels: see test_house",
}
# Their __init__ names what is in them.
PACKAGES = (
    "infofair",
    "infofair.data",
    "infofair.datasets",
    "infofair.parallel",
    "infofair.training",
    "study",
    "study.figures",
    "study.page",
    "study.tables",
)


class Run:
    def __init__(self, folder: Path) -> None:
        # no larger dataset: its stages have the doors and the code of the others
        self.pipeline = write_small(folder / "pipeline")
        self.stages = self.pipeline.stages
        self.write_locks()
        shutil.copy(ROOT / "tests/whole/traced.py", folder / "sitecustomize.py")
        found = f"{folder}:{self.pipeline.folder}"
        # one worker: the work is done in the process itself
        self.pipeline.environment |= {"PYTHONPATH": found, "INFOFAIR_WORKERS": "1"}
        asked = [[stage.address, stage.cmd] for stage in self.stages.values()]
        self.said = self.pipeline.run(str(folder / "sitecustomize.py"), json.dumps(asked))
        self.traced: dict[str, Any] = json.loads((folder / "traced.json").read_text())

    def write_locks(self) -> None:
        """What DVC would have written, with made-up hashes: the pages show them."""
        for pipeline, lock in zip(PIPELINES, LOCKS, strict=True):
            stages = {
                stage.address.rpartition(":")[2]: {
                    "cmd": stage.cmd,
                    "outs": [{"path": out, "md5": "0" * 32, "size": 1} for out in stage.outs],
                }
                for stage in self.stages.values()
                if stage.pipeline == pipeline
            }
            path = self.pipeline.folder / lock
            path.write_text(json.dumps({"schema": "2.0", "stages": stages}))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(tmp_path_factory.mktemp("traced"))


def path_of(module: str, pipeline: Pipeline) -> str | None:
    """The file of a module; None if the name is of something in a module."""
    place = module.replace(".", "/")
    names = (f"{place}.py", f"{place}/__init__.py")
    return next((name for name in names if (pipeline.folder / name).is_file()), None)


def test_what_a_stage_loads_is_what_it_depends_on(run: Run) -> None:
    missing = {}
    for address, traced in run.traced.items():
        modules = set(traced["modules"]) - HARMLESS.keys() - {*PACKAGES}
        paths = {path_of(module, run.pipeline) for module in modules} - {None}
        lost = sorted(p for p in paths if not run.stages[address].depends_on(p))
        if lost:
            missing[address] = lost
    assert missing == {}


def test_what_trains_is_seen_to_be_loaded(run: Run) -> None:
    """Else the test above would say nothing."""
    for address, traced in run.traced.items():
        if run.stages[address].trains:
            solved = "solve" in address or "solved" in address
            loaded = "solve" if solved else "batched"
            assert f"infofair.training.{loaded}" in traced["modules"], address
            own = "infofair" if "ablate" in address else address.split("-")[-1]
            assert f"infofair.methods.{own}" in traced["modules"], address


def test_training_loads_no_analysis(run: Run) -> None:
    allowed = {"study", "study.cli"}
    sweeping = allowed | {"study.sweep"}
    fitting = sweeping | {"study.files", "study.paths", "study.posteriors"}
    for address, traced in run.traced.items():
        stage = run.stages[address]
        loaded = {m for m in traced["modules"] if m.startswith("study")}
        if stage.name.startswith("posteriors"):
            assert loaded <= fitting, address
        elif stage.trains:
            assert loaded <= (sweeping if stage.name.startswith("sweep") else allowed), address


# Not outputs: each names a machine, a time or a commit.
BESIDE = ("data/.cache", "data/download.log", "results/provenance.json")


def test_a_generalisation_is_trained_without_any_analysis(run: Run) -> None:
    """(They are no methods of params.yaml, so the tests above do not speak of them.)"""
    found = [a for a, stage in run.stages.items() if stage.name == "general_train"]
    assert len(found) == len(SMALL["general"]["runs"])
    for address in found:
        modules = run.traced[address]["modules"]
        assert "infofair.framework.plan" in modules, address
        others = ("study.general.measuring", "study.general.figures", "study.labels")
        assert not [m for m in modules if m.startswith((*others, "study.results"))], address


def test_a_stage_writes_its_own_outputs_and_deletes_nothing(run: Run) -> None:
    for address, traced in run.traced.items():
        own = (*run.stages[address].outs, *BESIDE)
        others = [path for path in traced["written"] if not any(covers(o, path) for o in own)]
        assert (others, traced["removed"]) == ([], []), address


def test_every_output_is_written(run: Run) -> None:
    for stage in run.stages.values():
        assert [out for out in stage.outs if not (run.pipeline.folder / out).exists()] == []

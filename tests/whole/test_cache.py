"""What a stage loads, reads and writes when it runs, against what DVC is told of it.

Every stage of all pipelines is run on small simulated datasets, while its imports and the files
that it opens are watched. Then a line is put into every file of ours in turn, and DVC is asked what
is stale.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.repository import (
    LOCKS,
    PIPELINES,
    SMALL,
    Pipeline,
    Stage,
    covers,
    write_repository,
    write_small,
)

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

    def loaded(self, address: str, without: Iterable[str] = (*HARMLESS, *PACKAGES)) -> set[str]:
        """The files of the modules that a stage loads and that can change its output."""
        modules = set(self.traced[address]["modules"]) - {*without}
        return {path for m in modules if (path := path_of(m, self.pipeline)) is not None}

    def stale_by_itself(self, address: str, path: str) -> bool:
        """Whether a change of the file makes the stage stale, or one that it waits for."""
        stage = self.stages[address]
        before = [s for s in self.stages.values() if any(d in s.outs for d in stage.deps)]
        inside = [
            s for s in self.stages.values() for d in stage.deps for o in s.outs if covers(d, o)
        ]
        return any(s.depends_on(path) for s in (stage, *before, *inside))

    @cached_property
    def stale(self) -> dict[str, set[str]]:
        """For every file of ours: the stages that DVC finds stale when a line is added to it."""
        found: dict[str, set[str]] = {}
        with self.pipeline.dvc() as repo:
            deps: dict[str, list[tuple[str, Any]]] = {}
            for stage in repo.index.stages:
                for dep in stage.deps:
                    path = Path(dep.fs_path).relative_to(self.pipeline.folder).as_posix()
                    deps.setdefault(path, []).append((stage.addressing, dep))
            before = {path: of[0][1].get_hash() for path, of in deps.items()}
            for name in ours(self.pipeline):
                with another_line(self.pipeline.folder / name):
                    changed = [
                        path
                        for path, of in deps.items()
                        if covers(path, name) and of[0][1].get_hash() != before[path]
                    ]
                found[name] = {address for path in changed for address, _ in deps[path]}
        return found


def ours(pipeline: Pipeline) -> list[str]:
    """Every file that can change an output: code, templates, notebooks, what the paper printed."""
    rooms = ("infofair", "study", "stages", "notebooks", "data/reference", "params.yaml")
    listed = pipeline.git("ls-files", "--cached", "--others", "--exclude-standard", *rooms)
    return listed.splitlines()


@contextmanager
def another_line(path: Path) -> Iterator[None]:
    before = path.read_bytes()
    path.write_bytes(before + b"\n# another line\n")
    yield
    path.write_bytes(before)


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
    for address in run.traced:
        lost = sorted(p for p in run.loaded(address) if not run.stages[address].depends_on(p))
        if lost:
            missing[address] = lost
    assert missing == {}


@pytest.mark.promise("Whatever file a stage reads, a change of it makes the stage stale.")
def test_what_a_stage_reads_is_what_it_or_what_it_waits_for_depends_on(
    run: Run, record_property: Callable[[str, object], None]
) -> None:
    """(Pages show the hashes in the lock file, which change with what they are the hashes of.)"""
    missing, tried = {}, 0
    for address, traced in run.traced.items():
        read = {p for p in traced["read"] if not p.endswith((".py", ".pyc")) and p not in LOCKS}
        read = {p for p in read if not any(covers(out, p) for out in run.stages[address].outs)}
        tried += len(read)
        if lost := sorted(p for p in read if not run.stale_by_itself(address, p)):
            missing[address] = lost
    assert missing == {}
    assert tried > len(run.stages)
    record_property("tried", tried)


@pytest.mark.promise("A changed line makes every stage stale whose output it can change.")
def test_dvc_finds_every_stage_stale_that_loads_or_reads_the_file_in_which_a_line_changed(
    run: Run, record_property: Callable[[str, object], None]
) -> None:
    missing, tried = {}, 0
    for address, traced in run.traced.items():
        of_code = run.loaded(address) | {p for p in traced["read"] if not p.endswith(".py")}
        asked = of_code & run.stale.keys()
        tried += len(asked)
        if lost := sorted(path for path in asked if address not in run.stale[path]):
            missing[address] = lost
    assert missing == {}
    record_property("tried", tried)


# What trains: methods of params.yaml, the generalisations, posteriors, and what the paper's authors
# or nobody ran.
TRAINING = (
    "train", "solve", "backbone", "sweep", "general_train", "posteriors", "as_run", "tried"
)  # fmt: skip


def training(stages: dict[str, Stage]) -> set[str]:
    doors = {address: stage.cmd.split()[2] for address, stage in stages.items()}
    return {address for address, door in doors.items() if door.removeprefix("stages.") in TRAINING}


@pytest.mark.promise("A comment in a module that trains nothing trains nothing.")
def test_a_line_in_a_file_that_no_training_loads_trains_nothing(
    run: Run, record_property: Callable[[str, object], None]
) -> None:
    trained = training(run.stages)
    # packages too: where Python has compiled them already, they are loaded and not read
    loaded = set().union(*(run.loaded(a, without=()) | {*run.traced[a]["read"]} for a in trained))
    others = sorted(run.stale.keys() - loaded)
    assert len(others) > len(run.stale) / 2
    assert {path: run.stale[path] & trained for path in others if run.stale[path] & trained} == {}
    record_property("tried", len(others))


@pytest.mark.parametrize(
    "folder", ["infofair/methods", "infofair/datasets", "study/general/models"]
)
@pytest.mark.promise("A new method, dataset or study trains itself and nothing else.")
def test_a_new_file_trains_nothing_that_was_there(folder: str, run: Run) -> None:
    with run.pipeline.dvc() as repo:
        of_training = training(run.stages)
        stages = [s for s in repo.index.stages if s.addressing in of_training]
        deps = [
            d for s in stages for d in s.deps if covers(d.def_path, folder) or folder in d.def_path
        ]
        before = [dep.get_hash() for dep in deps]
        path = run.pipeline.folder / folder / "brand_new.py"
        path.write_text("NEW = True\n")
        after = [dep.get_hash() for dep in deps]
        path.unlink()
    assert deps and after == before


@pytest.mark.promise("A changed line makes every stage stale whose output it can change.")
def test_the_stages_of_params_yaml_depend_on_what_those_of_the_small_run_load(
    run: Run, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """All datasets and methods: each has the code of its kind, and a file of its own."""
    own = ("infofair/datasets/", "infofair/methods/", "study/general/models/",
           "study/general/figures/")  # fmt: skip
    missing, tried = {}, 0
    for address, stage in write_repository(tmp_path / "repository").stages.items():
        door, kind = stage.cmd.split()[2], (stage.pipeline, stage.name)
        alike = [a for a, s in run.stages.items() if (s.pipeline, s.name) == kind]
        alike = alike or [a for a, s in run.stages.items() if s.cmd.split()[2] == door]
        loaded = {path for a in alike for path in run.loaded(a) if not path.startswith(own)}
        tried += len(loaded)
        if lost := sorted(path for path in loaded if not stage.depends_on(path)):
            missing[address] = lost
    assert missing == {}
    record_property("tried", tried)


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

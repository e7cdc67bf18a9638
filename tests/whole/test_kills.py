"""Kills, damaged caches, two runs at once: the next run has the results of an undisturbed one.

`make faults` kills more often, in every pipeline: INFOFAIR_FAULTS is the number of kills in each.
"""

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from study import paths
from tests.repository import FEW, Pipeline, write_small

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("INFOFAIR_FAULTS") or 3)
LOCKS = [str(lock) for lock in paths.LOCKS]
NPZ = "data/processed/compas.npz"
PREDICTIONS = "results/predictions/compas/lfr.npz"
PARQUET = "data/validated/compas.parquet"
RAW = "data/raw/compas/compas-scores-two-years.csv"


# What runs the stages: DVC itself, as a user calls it, or as make does.
DVC, MAKE = ("-m", "dvc", "repro"), ("-m", "study.commands.quick", "repro")
# Who is killed: everything at once, DVC alone, the process that its stages are copies of, a stage.
ALL, ALONE, SERVER, STAGE = "all", "DVC alone", "the server", "a stage"
WAYS = [(DVC, ALL), (MAKE, STAGE), (MAKE, ALONE), (DVC, ALONE), (MAKE, SERVER), (MAKE, ALL)]


def repro(pipeline: Pipeline, *targets: str) -> str:
    """What `make repro` does."""
    return pipeline.run("-m", "study.commands.recover") + pipeline.repro(*targets)


def running(group: int) -> dict[int, tuple[int, str]]:
    """The parent and command of every process of a group."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent, own = (path / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(own) == group and state != "Z":
                command = (path / "cmdline").read_text().replace("\0", " ")
                found[int(path.name)] = int(parent), command
    return found


def victims(group: int, whom: str) -> list[int]:
    """The processes to kill, if they are there at this moment."""
    there = running(group)
    servers = [pid for pid, (of, command) in there.items() if of == group and "--serve" in command]
    stages = [pid for pid, (of, _) in there.items() if of in servers]
    return {ALL: [*there], ALONE: [group], SERVER: servers, STAGE: stages}[whom]


def killed(
    pipeline: Pipeline, after: float, how: tuple[str, ...], victim: str, targets: list[str]
) -> bool:
    """Run, and kill after some seconds; False if it ended well, before or in spite of it."""
    recovered = pipeline.run("-m", "study.commands.recover")
    process = pipeline.start(*how, *targets)
    try:
        said, _ = process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        while not (found := victims(process.pid, victim)) and process.poll() is None:
            time.sleep(0.01)
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        said, _ = process.communicate(timeout=600)
        end = time.monotonic() + 60
        while running(process.pid):  # nothing goes on beside the next run
            assert time.monotonic() < end, running(process.pid)
            time.sleep(0.1)
        if process.returncode:
            return True
    assert process.returncode == 0, recovered + said
    return False


class Undisturbed:
    """A pipeline before and after a run without faults, and the seconds that this took."""

    def __init__(self, folder: Path, *targets: str) -> None:
        self.before = write_small(folder / "before", **FEW)
        self.after = self.before.copy(folder / "after")
        self.targets = [*targets]
        start = time.monotonic()
        self.after.repro(*targets)
        self.seconds = time.monotonic() - start
        self.results = self.after.made()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return Undisturbed(tmp_path_factory.mktemp("undisturbed"))


@pytest.fixture
def pipeline(undisturbed: Undisturbed, tmp_path: Path) -> Pipeline:
    """A copy of the pipeline that has been run."""
    return undisturbed.after.copy(tmp_path / "pipeline")


def assert_same(found: dict[str, bytes], expected: dict[str, bytes]) -> None:
    """The same files with the same bytes; of dvc.lock the same stages, in whatever order.

    DVC appends a stage when it first runs, and independent stages run in another order each time,
    killed or not.
    """
    assert sorted(found) == sorted(expected)
    assert stages(found) == stages(expected)
    assert [n for n in expected if n not in LOCKS and found[n] != expected[n]] == []


def stages(made: dict[str, bytes]) -> dict[str, Any]:
    """What the lock files hold."""
    return {name: YAML(typ="safe").load(made[name]) for name in LOCKS if name in made}


def flip(path: Path) -> None:
    """Change one byte of the file; its permissions stay as they are."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    mode = path.stat().st_mode
    path.chmod(0o644)
    path.write_bytes(content)
    path.chmod(mode)


# -- kill -9 -------------------------------------------------------------------------------------


def kill_often(undisturbed: Undisturbed, folder: Path) -> None:
    """Kill runs at random moments; each set of kills ends with a run that is left alone."""
    moments = random.Random(KILLS)
    longest = undisturbed.seconds  # of a third of a run by DVC itself: this one's load nothing
    done = 0
    for number in count():
        if done == KILLS:
            break
        pipeline = undisturbed.before.copy(folder / f"copy {number}, after {done} kills")
        targets = undisturbed.targets
        while done < KILLS and killed(
            pipeline, moments.uniform(0, longest), *WAYS[done % len(WAYS)], targets
        ):
            done += 1
            whole = {n: c for n, c in pipeline.made().items() if n in undisturbed.results}
            for lock in LOCKS:
                whole.pop(lock, None)  # DVC's own
            assert [n for n in whole if whole[n] != undisturbed.results[n]] == []
        repro(pipeline, *targets)
        assert_same(pipeline.made(), undisturbed.results)


@pytest.mark.promise(
    "Killed by kill -9 at any moment, the next run ends with the bytes of one that was left alone."
)
def test_however_often_it_is_killed_a_run_ends_with_the_results_of_an_undisturbed_one(
    undisturbed: Undisturbed, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    kill_often(undisturbed, tmp_path)
    record_property("tried", KILLS)


@pytest.mark.skipif("INFOFAIR_FAULTS" not in os.environ, reason="CI kills the paper's alone")
@pytest.mark.parametrize("target", ["beyond/dvc.yaml", "luck/dvc.yaml"])
@pytest.mark.promise(
    "Killed by kill -9 at any moment, the next run ends with the bytes of one that was left alone."
)
def test_so_do_the_other_pipelines(
    target: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    kill_often(Undisturbed(tmp_path / "undisturbed", target), tmp_path)
    record_property("tried", KILLS)


@pytest.mark.promise("What DVC had half written when it was killed does not stop `make repro`.")
def test_what_dvc_had_half_written_or_locked_when_it_was_killed_does_not_stop_the_next_run(
    undisturbed: Undisturbed, pipeline: Pipeline
) -> None:
    pipeline.git("add", "dvc.lock")
    pipeline.git("commit", "--quiet", "--message", "A run")
    lock, rwlock = pipeline.folder / "dvc.lock", pipeline.folder / ".dvc/tmp/rwlock"
    os.truncate(lock, lock.stat().st_size * 2 // 3)
    rwlock.write_text('{"write": {"')
    said = pipeline.run("-m", "study.commands.recover")
    assert "dvc.lock cannot be read (half written?); it is the last commit's again" in said
    assert ".dvc/tmp/rwlock was half written; removed" in said
    dead = subprocess.Popen(["true"])
    dead.wait()
    entry = {"pid": dead.pid, "cmd": "dvc repro"}
    rwlock.write_text(json.dumps({"write": {str(pipeline.folder / NPZ): entry}}))
    partial = (pipeline.folder / PREDICTIONS).with_name(".lfr.npz.partial")
    partial.write_bytes(b"half")  # it lies in a folder that is a dependency
    repro(pipeline)
    partial.unlink()
    assert_same(pipeline.made(), undisturbed.results)


TORN = {
    "dvc.lock": "schema: '2.0'\nstages:\n  check:\n    cmd: python -m stages.check\n    de",
    "luck/dvc.lock": "",
    ".dvc/tmp/rwlock": '{"write": {"',
}


@pytest.mark.parametrize("torn", TORN)
@pytest.mark.promise(
    "Where plain `dvc repro` stops at half a file of its own, its message is in the document, "
    "followed by what to do."
)
def test_what_dvc_says_of_half_a_file_is_in_the_document_with_what_to_do(
    torn: str, pipeline: Pipeline
) -> None:
    path = pipeline.folder / torn
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TORN[torn])
    process = pipeline.start("-m", "dvc", "repro", "luck/dvc.yaml:luck@compas-vanilla")
    said, _ = process.communicate()
    assert process.returncode != 0
    document = (pipeline.folder / "docs/reproducibility.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:3] for line in document.splitlines() if line.startswith("| `")]
    [todo] = [todo for shown, todo in rows if shown.strip(" `").replace("…", torn) in said]
    assert "`make recover`" in todo


# -- damage ---------------------------------------------------------------------------------------


@pytest.mark.promise("A damaged file is noticed, named and made anew; no result is ever wrong.")
def test_the_next_run_puts_damaged_files_and_a_damaged_cache_right(
    undisturbed: Undisturbed, pipeline: Pipeline
) -> None:
    for path in (RAW, PARQUET, PREDICTIONS):
        flip(pipeline.folder / path)
    # DVC would take this one from its cache, without a look at it
    locked = YAML(typ="safe").load(pipeline.folder / "dvc.lock")["stages"]["preprocess@compas"][
        "outs"
    ][0]
    cached = Path(".dvc/cache/files/md5", locked["md5"][:2], locked["md5"][2:])
    flip(pipeline.folder / cached)
    (pipeline.folder / NPZ).unlink()
    assert f"{cached} was damaged" in repro(pipeline)
    assert_same(pipeline.made(), undisturbed.results)


# -- two runs at once ----------------------------------------------------------------------------


@pytest.mark.promise("Of two runs at once in one folder, one says so and nothing is damaged.")
def test_of_two_runs_at_once_one_says_so_and_nothing_is_damaged(
    undisturbed: Undisturbed, pipeline: Pipeline
) -> None:
    again = "-m", "dvc", "repro", "--force", "--single-item", "evaluate@compas"
    first = pipeline.start(*again)
    assert first.stdout is not None
    assert any(line.startswith("> python -m stages.evaluate") for line in first.stdout)
    os.killpg(first.pid, signal.SIGSTOP)  # so that it is still at it, however slow the machine
    second = pipeline.start(*again)
    said, _ = second.communicate()
    os.killpg(first.pid, signal.SIGCONT)
    first.communicate()
    assert (first.returncode, second.returncode) == (0, 255), said
    assert "is busy" in said or "Unable to acquire lock" in said
    repro(pipeline)
    assert_same(pipeline.made(), undisturbed.results)

"""Kills, damaged caches, two runs at once: the next run has the results of an undisturbed one.

`make faults` kills more often: INFOFAIR_FAULTS is the number of kills.
"""

import json
import os
import random
import signal
import subprocess
import time
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


def repro(pipeline: Pipeline) -> str:
    """What `make repro` does."""
    return pipeline.run("-m", "study.commands.recover") + pipeline.repro()


def killed(pipeline: Pipeline, after: float) -> bool:
    """Run, and kill all of it after some seconds; False if it ended before."""
    recovered = pipeline.run("-m", "study.commands.recover")
    process = pipeline.start("-m", "dvc", "repro")
    try:
        said, _ = process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return True
    assert process.returncode == 0, recovered + said
    return False


class Undisturbed:
    """The pipeline before and after a run without faults, and the seconds that this took."""

    def __init__(self, folder: Path) -> None:
        self.before = write_small(folder / "before", **FEW)
        self.after = self.before.copy(folder / "after")
        start = time.monotonic()
        self.after.repro()
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


def test_however_often_it_is_killed_a_run_ends_with_the_results_of_an_undisturbed_one(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    moments = random.Random(KILLS)
    longest = undisturbed.seconds  # of a third of a run: this one's stages load nothing
    kills = 0
    while kills < KILLS:
        pipeline = undisturbed.before.copy(tmp_path / f"after {kills} kills")
        while kills < KILLS and killed(pipeline, moments.uniform(0, longest)):
            kills += 1
            whole = {n: c for n, c in pipeline.made().items() if n in undisturbed.results}
            whole.pop("dvc.lock", None)  # DVC's own
            assert [n for n in whole if whole[n] != undisturbed.results[n]] == []
        repro(pipeline)
        assert_same(pipeline.made(), undisturbed.results)


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


# -- damage ---------------------------------------------------------------------------------------


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

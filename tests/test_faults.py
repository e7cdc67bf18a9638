"""Kills, full disks, damaged files, two runs at once: never a wrong result, always a message.

`make faults` kills more often: INFOFAIR_FAULTS is the number of kills.
"""

import fcntl
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from stages import datasets, evaluate, files, predictions, preprocess, recover, validate
from stages.files import Problem
from stages.methods import ALL
from stages.processed import Processed
from tests.conftest import ROOT, paper_params, yaml
from tests.simulated import processed
from tests.test_validate import place

KILLS = int(os.environ.get("INFOFAIR_FAULTS") or 3)
METHODS = {"regularized": [], "ablations": [], "fixed": ["vanilla"], "solved": ["lfr"]}
NPZ = "data/processed/compas.npz"
PREDICTIONS = "results/predictions/compas/lfr.npz"
PARQUET = "data/validated/compas.parquet"
RAW = "data/raw/compas/compas-scores-two-years.csv"


# -- a small pipeline ----------------------------------------------------------------------------


class Pipeline:
    """A copy of the repository whose parameters make a short run of simulated data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("INFOFAIR_")}
        nowhere = "http://127.0.0.1:9"  # no source serves the data, and at once
        self.environment = inherited | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(folder),
            "DVC_SITE_CACHE_DIR": f"{folder}.dvc",
            "PIP_NO_INDEX": "1",
            **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), nowhere),
        }

    def copy(self, folder: Path) -> "Pipeline":
        shutil.copytree(self.folder, folder, symlinks=True)
        return Pipeline(folder)

    def start(self, *command: str) -> "subprocess.Popen[str]":
        """Python with these arguments, in a process group of its own."""
        return subprocess.Popen(
            [sys.executable, *command],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *command: str) -> str:
        """What the command says; it must end well."""
        process = self.start(*command)
        said, _ = process.communicate()
        assert process.returncode == 0, said
        return said

    def repro(self) -> str:
        """What `make repro` does."""
        return self.run("-m", "stages.recover") + self.run("-m", "dvc", "repro")

    def killed(self, after: float) -> bool:
        """Run, and kill all of it after some seconds; False if it ended before."""
        recovered = self.run("-m", "stages.recover")
        process = self.start("-m", "dvc", "repro")
        try:
            said, _ = process.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return True
        assert process.returncode == 0, recovered + said
        return False

    def made(self) -> dict[str, bytes]:
        """Everything that the stages and DVC write, with its content."""
        folders = ["raw", "validated", "processed", "code", "checked"]
        roots = [*(self.folder / "data" / name for name in folders), self.folder / "results"]
        found = [path for root in [*roots, self.folder / "reports"] for path in root.rglob("*")]
        found += [self.folder / "data/params.valid", self.folder / "dvc.lock"]
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in found
            if path.is_file()
        }


def write_pipeline(folder: Path) -> Pipeline:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in names.split("\0"):
        if not name.startswith(("results/", "reports/", "dvc.lock")) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    content = yaml.load(folder / "params.yaml")
    content |= {"datasets": ["compas"], "methods": METHODS, "seeds": [0, 1]}
    content["training"]["epochs"] = content["backbone"]["epochs"] = 2
    grid = {"vanilla": [0.0], "gdp": [1.0]}
    content["frontier"] = {"seeds": [0], "strengths": grid, "exceptions": {}}
    strengths = {"vanilla": 0.0, "infofair": 0.1}
    content["honest"] |= {"splits": [0, 1], "seeds": [0], "strengths": strengths}
    content["lfr"] |= {"prediction": [1.0], "parity": [1.0], "iterations": 3}
    yaml.dump(content, folder / "params.yaml")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return Pipeline(folder)


class Undisturbed:
    """The pipeline before and after a run without faults, and the seconds that this took."""

    def __init__(self, folder: Path) -> None:
        self.before, self.after = Pipeline(folder / "before"), Pipeline(folder / "after")
        self.seconds = folder / "seconds"
        if not self.seconds.exists():
            write_pipeline(self.before.folder)
            self.before.copy(self.after.folder)
            start = time.monotonic()
            self.after.repro()
            self.seconds.write_text(f"{time.monotonic() - start}")
        self.results = self.after.made()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # shared by the workers: the first makes it, others wait
    folder = folder / "undisturbed"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return Undisturbed(folder)


@pytest.fixture
def pipeline(undisturbed: Undisturbed, tmp_path: Path) -> Pipeline:
    """A copy of the pipeline that has been run."""
    return undisturbed.after.copy(tmp_path / "pipeline")


def assert_same(found: dict[str, bytes], expected: dict[str, bytes]) -> None:
    assert sorted(found) == sorted(expected)
    assert [name for name in expected if found[name] != expected[name]] == []


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
    longest = float(undisturbed.seconds.read_text()) / 3
    kills = 0
    while kills < KILLS:
        pipeline = undisturbed.before.copy(tmp_path / f"after {kills} kills")
        while kills < KILLS and pipeline.killed(moments.uniform(0, longest)):
            kills += 1
            whole = {n: c for n, c in pipeline.made().items() if n in undisturbed.results}
            whole.pop("dvc.lock", None)  # DVC's own
            assert [n for n in whole if whole[n] != undisturbed.results[n]] == []
        pipeline.repro()
        assert_same(pipeline.made(), undisturbed.results)


def test_what_dvc_had_half_written_or_locked_when_it_was_killed_does_not_stop_the_next_run(
    undisturbed: Undisturbed, pipeline: Pipeline
) -> None:
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    for command in (["add", "dvc.lock"], [*who, "commit", "--quiet", "--message", "A run"]):
        subprocess.run(["git", *command], cwd=pipeline.folder, check=True)
    lock, rwlock = pipeline.folder / "dvc.lock", pipeline.folder / ".dvc/tmp/rwlock"
    os.truncate(lock, lock.stat().st_size * 2 // 3)
    rwlock.write_text('{"write": {"')
    said = pipeline.run("-m", "stages.recover")
    assert "dvc.lock cannot be read (half written?); it is the last commit's again" in said
    assert ".dvc/tmp/rwlock was half written; removed" in said
    dead = subprocess.Popen(["true"])
    dead.wait()
    entry = {"pid": dead.pid, "cmd": "dvc repro"}
    rwlock.write_text(json.dumps({"write": {str(pipeline.folder / NPZ): entry}}))
    partial = (pipeline.folder / PREDICTIONS).with_name(".lfr.npz.partial")
    partial.write_bytes(b"half")  # it lies in a folder that is a dependency
    pipeline.repro()
    partial.unlink()
    assert_same(pipeline.made(), undisturbed.results)


@pytest.mark.parametrize("kept", [0, 40, 45])
def test_half_a_lock_that_no_commit_has_is_removed(kept: int, workspace: Path) -> None:
    recover.LOCK.write_text("schema: '2.0'\nstages:\n  check:\n    cmd: python\n"[:kept])
    recover.main()
    assert not recover.LOCK.exists()


# -- no space, no permission ---------------------------------------------------------------------

PAGE = resource.getpagesize()
WRITING = {
    PARQUET: ["stages.validate", "--dataset", "compas"],
    NPZ: ["stages.preprocess", "--dataset", "compas"],
    "results/evaluation/compas/runs.csv": ["stages.evaluate", "--dataset", "compas"],
}


@pytest.fixture
def mounted() -> Iterator[Callable[[Path], None]]:
    """Puts a file system in the place of a folder, with the same files and no room for more."""
    done: list[Path] = []

    def mount(folder: Path) -> None:
        content = {path.name: path.read_bytes() for path in folder.iterdir()}
        pages = sum(-(-len(of) // PAGE) for of in content.values())
        command = ["mount", "-t", "tmpfs", "-o", f"size={pages * PAGE}", "tmpfs", str(folder)]
        tried = subprocess.run(command, capture_output=True, text=True)
        if tried.returncode:
            pytest.skip(f"no file system can be mounted here: {tried.stderr.strip()}")
        done.append(folder)
        for name, of in content.items():
            (folder / name).write_bytes(of)

    yield mount
    for folder in done:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize("path", WRITING)
def test_a_full_disk_and_a_read_only_one_are_named_and_change_nothing(
    path: str, pipeline: Pipeline, mounted: Callable[[Path], None]
) -> None:
    folder = (pipeline.folder / path).parent
    mounted(folder)
    before = pipeline.made()
    for reason in ("No space left on device", "Read-only file system"):
        process = pipeline.start("-m", *WRITING[path])
        said, _ = process.communicate()
        assert (process.returncode, said) == (1, f"error: {path}: {reason}\n")
        assert_same(pipeline.made(), before)
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)


# -- damaged files -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "stage", "expected"),
    [
        (NPZ, "evaluate", f"error: {NPZ} is damaged ("),
        (PREDICTIONS, "evaluate", f"error: {PREDICTIONS} is damaged ("),
        (PARQUET, "preprocess", f"error: {PARQUET} is damaged ("),
        (RAW, "validate", f"error: {RAW} has changed since it was downloaded: "),
        (RAW, "preprocess", f"error: {RAW} has changed since it was downloaded: "),
    ],
)
def test_a_stage_names_a_damaged_file_and_writes_nothing(
    path: str, stage: str, expected: str, pipeline: Pipeline
) -> None:
    flip(pipeline.folder / path)
    before = pipeline.made()
    process = pipeline.start("-m", f"stages.{stage}", "--dataset", "compas")
    said, _ = process.communicate()
    assert process.returncode == 1
    assert said.startswith(expected)
    assert len(said.splitlines()) == 1
    assert_same(pipeline.made(), before)


def test_the_next_run_puts_damaged_files_and_a_damaged_cache_right(
    undisturbed: Undisturbed, pipeline: Pipeline
) -> None:
    for path in (RAW, PARQUET, PREDICTIONS):
        flip(pipeline.folder / path)
    # DVC would take this one from its cache, without a look at it
    locked = yaml.load(pipeline.folder / "dvc.lock")["stages"]["preprocess@compas"]["outs"][0]
    cached = Path(".dvc/cache/files/md5", locked["md5"][:2], locked["md5"][2:])
    flip(pipeline.folder / cached)
    (pipeline.folder / NPZ).unlink()
    assert f"{cached} was damaged" in pipeline.repro()
    assert_same(pipeline.made(), undisturbed.results)


def spoiled(path: Path, count: int) -> Iterator[str]:
    """Change one byte of the file after the other, at random places."""
    content = path.read_bytes()
    rng = random.Random(0)
    for _ in range(count):
        place, mask = rng.randrange(len(content)), rng.randrange(1, 256)
        path.write_bytes(content[:place] + bytes([content[place] ^ mask]) + content[place + 1 :])
        yield f"byte {place} ^ {mask}"
    path.write_bytes(content)


def test_no_changed_byte_of_processed_rows_changes_what_is_loaded(workspace: Path) -> None:
    path, again = files.processed("compas"), Path("again.npz")
    processed(rows=60).save(path)
    expected = path.read_bytes()
    for what in spoiled(path, 700):
        try:
            found = Processed.load("compas")
        except Problem as problem:
            assert str(problem).startswith(f"{path} is damaged"), what
        else:  # a byte that does not count, such as a time
            found.save(again)
            assert again.read_bytes() == expected, what


def test_no_changed_byte_of_predictions_changes_what_is_evaluated(workspace: Path) -> None:
    data, params = processed(rows=60), paper_params(methods=METHODS | {"solved": []})
    rng = np.random.default_rng(0)
    drawn = {part: rng.random(len(data.split[part])) for part in predictions.PARTS}
    predictions.save("compas", "vanilla", data, {(ALL, 0): drawn})
    path = files.predictions("compas", "vanilla")

    def evaluated() -> list[list[bool]]:
        found = evaluate.models("compas", params, data.settings)
        return [model.predicted[part].tolist() for model in found for part in predictions.PARTS]

    expected = evaluated()
    for what in spoiled(path, 700):
        try:
            assert evaluated() == expected, what
        except Problem as problem:
            assert str(problem).startswith(f"{path} is damaged"), what


def test_no_changed_byte_of_validated_rows_is_overlooked(workspace: Path) -> None:
    place("compas", datasets.load("compas").simulate(300, 0))
    validate.main("compas")
    path = files.validated("compas")
    for what in spoiled(path, 100):
        with pytest.raises(Problem, match=f"^{path} is damaged"):
            pytest.fail(f"{what}: {preprocess.validated_rows('compas')}")
    preprocess.main("compas")


def test_no_changed_byte_of_the_record_of_raw_files_changes_what_it_says(workspace: Path) -> None:
    place("compas", datasets.load("compas").simulate(300, 0))
    expected = files.raw_source("compas")
    path = files.raw("compas") / "SOURCE.json"
    for what in spoiled(path, 500):
        try:
            found = files.raw_source("compas")
        except Problem as problem:
            assert str(files.raw("compas")) in str(problem), what
        else:
            assert (found["data"], found["split"]) == (expected["data"], expected["split"]), what


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
    pipeline.repro()
    assert_same(pipeline.made(), undisturbed.results)

"""What is put right before a run; tests/whole/test_faults.py has the real kills."""

import json
import os
import subprocess
from hashlib import md5
from pathlib import Path

import pytest

from infofair.errors import Problem
from study import paths
from study.commands import recover

WHOLE = "schema: '2.0'\nstages:\n  check:\n    cmd: python -m stages.check\n"
BOTH = pytest.mark.parametrize("lock", paths.LOCKS, ids=str)


def git(*command: str) -> None:
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run(["git", *who, *command], check=True)


def write(lock: Path, text: str) -> None:
    lock.parent.mkdir(exist_ok=True)
    lock.write_text(text)


@BOTH
def test_a_whole_lock_stays_and_nothing_is_said(
    lock: Path, workspace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(lock, WHOLE)
    recover.main()
    assert lock.read_text() == WHOLE
    assert capfd.readouterr() == ("", "")


@BOTH
def test_half_a_lock_becomes_the_last_commits(
    lock: Path, workspace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    git("init", "--quiet")
    write(lock, WHOLE)
    git("add", "--all")
    git("commit", "--quiet", "--message", "A run")
    os.truncate(lock, 40)
    recover.main()
    assert lock.read_text() == WHOLE
    said = f"recover: {lock} cannot be read (half written?); it is the last commit's again\n"
    assert capfd.readouterr().err == said


@BOTH
@pytest.mark.parametrize("kept", [0, 40, 45])
def test_half_a_lock_that_no_commit_has_is_removed(kept: int, lock: Path, workspace: Path) -> None:
    write(lock, WHOLE[:kept])
    recover.main()
    assert not lock.exists()


def test_half_a_table_of_who_reads_and_writes_is_removed(workspace: Path) -> None:
    path = recover.TEMPORARY / "rwlock"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"write": {}}))
    recover.main()
    assert path.exists()
    path.write_text('{"write": {"')
    recover.main()
    assert not path.exists()


def test_a_file_of_the_cache_that_is_not_what_its_name_says_is_removed(workspace: Path) -> None:
    def place(content: bytes, ending: str = "") -> Path:
        name = md5(content).hexdigest()
        path = recover.CACHE / name[:2] / f"{name[2:]}{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    sound, damaged, folder = place(b"sound"), place(b"damaged"), place(b"[]", ".dir")
    foreign = sound.with_name("notes.txt")
    foreign.write_text("not DVC's")
    damaged.write_bytes(b"Damaged")
    recover.main()
    assert sound.exists() and folder.exists() and foreign.exists()
    assert not damaged.exists()


def test_beside_a_dvc_at_work_it_does_nothing_and_says_so(workspace: Path) -> None:
    recover.TEMPORARY.mkdir(parents=True)
    write(paths.LOCKS[0], WHOLE[:40])
    with (
        recover.make_lock(str(recover.TEMPORARY / "lock")),
        pytest.raises(Problem, match="another DVC process is at work here"),
    ):
        recover.main()
    assert paths.LOCKS[0].read_text() == WHOLE[:40]

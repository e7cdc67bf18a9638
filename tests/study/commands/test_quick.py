"""Stages as copies of one process: what they see, how they end, and that DVC is told."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from copy import deepcopy
from pathlib import Path

import pytest
from dvc.utils.serialize import dumps_yaml, loads_yaml, parse_yaml_for_update

from study import paths
from study.commands.quick import Server, recorded
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere stages are new processes"
)

STAGE = """
import atexit, os, pathlib, sys

atexit.register(lambda: pathlib.Path("ended").touch())
said = [sys.argv[1:], os.getcwd(), os.environ["MARK"], __name__, "torch" in sys.modules]
pathlib.Path("said").write_text(repr(said))
if sys.argv[1:]:
    sys.exit(int(sys.argv[1]))
"""


def write(folder: Path, package: str, code: str) -> None:
    """A package of ours with one module."""
    (folder / package).mkdir(parents=True)
    (folder / package / "__init__.py").touch()
    (folder / package / "__main__.py").touch()
    (folder / package / "mine.py").write_text(code)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Started once: it loads PyTorch."""
    found = Server()
    with chdir(ROOT):
        found.run(module="study.paths", options=[], cwd=str(ROOT), env=dict(os.environ))
    yield found
    found.end()


def test_a_stage_is_a_program_of_its_own_in_its_own_folder(server: Server, tmp_path: Path) -> None:
    """Also the second, and where a folder has other code of ours than the first."""
    for name, options in (("one", []), ("other", ["0"]), ("third", ["7"])):
        folder = tmp_path / name
        write(folder, "study", STAGE)
        env = {**os.environ, "MARK": name}
        status = server.run(module="study.mine", options=options, cwd=str(folder), env=env)
        assert status == int((options or ["0"])[0])
        said = [options, str(folder), name, "__main__", True]
        assert (folder / "said").read_text() == repr(said)
        assert (folder / "ended").exists()


def test_a_stage_that_is_killed_has_the_status_of_its_signal(
    server: Server, tmp_path: Path
) -> None:
    write(tmp_path, "study", "import os\nos.kill(os.getpid(), 9)\n")
    asked = {"module": "study.mine", "options": [], "cwd": str(tmp_path), "env": dict(os.environ)}
    assert [server.run(**asked), server.run(**asked)] == [-9, -9]


@pytest.mark.slow
def test_where_nobody_waits_any_more_the_process_ends_in_peace(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is when DVC is killed: the stage that runs ends, and is not begun again."""
    write(tmp_path, "study", "import time\ntime.sleep(1)\nopen('ended', 'a').write('.')\n")
    asked = {"module": "study.mine", "options": [], "cwd": str(tmp_path), "env": dict(os.environ)}
    monkeypatch.chdir(ROOT)
    server = Server()
    server.run(**asked | {"module": "study"})  # so that there is a process
    assert server.process is not None
    server.asking.sendall(json.dumps(asked).encode() + b"\n")
    server.end()
    assert (server.process.returncode, (tmp_path / "ended").read_text()) == (0, ".")
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("lock", paths.LOCKS, ids=str)
def test_a_lock_file_is_written_as_dvc_writes_it(lock: Path) -> None:
    """Of the committed ones: nothing new, other content, a new stage."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    known = loads_yaml(text)["stages"]
    name, content = list(known.items())[len(known) // 2]
    assert recorded(text, {name: content}) == text
    outs = [{"path": "a: b", "md5": "0" * 32, "size": 1}, {"path": "ü" * 200, "size": 2}]
    ended = {name: {"cmd": "python -m 'other'"} | content, "new@one": {"cmd": "x", "outs": outs}}
    ended[name]["cmd"] = "python -m 'other'"
    whole = parse_yaml_for_update(text, lock)
    whole["stages"].update(deepcopy(ended))
    assert recorded(text, ended) == dumps_yaml(whole)


@pytest.mark.parametrize(
    "text", ["", "stages:\n", "schema: '2.0'\nstages:\n  a:\n    cmd: x\nmore: 1\n"]
)
def test_a_lock_file_of_another_form_is_left_to_dvc(text: str) -> None:
    assert recorded(text, {"a": {"cmd": "y"}}) is None


DVC = """
stages:
  ours:
    cmd: python -m stages.mine
    outs: [made]
  others:
    cmd: echo $PPID > shell
    outs: [shell]
"""


@pytest.mark.promise("A stage that is killed, as Linux does when memory runs out, is named.")
@pytest.mark.parametrize("status", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (3, -9))])
def test_dvc_runs_it_and_is_told_how_it_ended(status: int, tmp_path: Path) -> None:
    end = f"sys.exit({status})" if status >= 0 else f"os.kill(os.getpid(), {-status})"
    code = f"import os, pathlib, sys\npathlib.Path('made').touch()\n{end}\n"
    write(tmp_path, "stages", code)
    (tmp_path / "dvc.yaml").write_text(DVC)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "DVC_SITE_CACHE_DIR": f"{tmp_path}.dvc"}
    python = [sys.executable, "-m", "dvc", "init", "--no-scm", "--quiet"]
    subprocess.run(python, cwd=tmp_path, env=env, check=True)
    quick = [sys.executable, "-c", "import sys; sys.path[0] = sys.argv.pop(1); "]
    quick[-1] += "from study.commands import quick; sys.exit(quick.main(sys.argv[1:]))"
    done = subprocess.run(
        [*quick, str(ROOT), "repro", "ours"], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert (done.returncode == 0) == (status == 0), done.stderr
    if status:
        assert f"failed to run: python -m stages.mine, exited with {status}" in done.stderr
        killed = "error: python -m stages.mine was killed; out of memory? Then lower INFOFAIR_WOR"
        assert (killed in done.stderr) == (status == -9)
        return
    assert (tmp_path / "dvc.lock").exists()
    # a command that is not ours has a shell, as ever
    subprocess.run([*quick, str(ROOT), "repro", "others"], cwd=tmp_path, env=env, check=True)
    assert (tmp_path / "shell").read_text().strip().isdecimal()

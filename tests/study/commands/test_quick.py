"""Stages as copies of one process: what they see, how they end, and that DVC is told."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import chdir
from copy import deepcopy
from pathlib import Path

import pytest
from dvc.utils.serialize import dumps_yaml, loads_yaml, parse_yaml_for_update

from study import paths, unchanged
from study.cli import LOWER
from study.commands import quick
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

# as `python -m study.commands.quick`, in any folder
QUICK = [
    sys.executable, "-c",
    "import sys; sys.path[0] = sys.argv.pop(1); "
    "from study.commands import quick; sys.exit(quick.main(sys.argv[1:]))",
    str(ROOT),
]  # fmt: skip


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


def at_work(folder: Path, code: str) -> Server:
    """One that was asked for a stage, for which nobody waits."""
    write(folder, "study", code)
    asked = {"module": "study.mine", "options": [], "cwd": str(folder), "env": dict(os.environ)}
    server = Server()
    with chdir(ROOT):
        server.run(**asked | {"module": "study"})  # so that there is a process
    server.asking.sendall(json.dumps(asked).encode() + b"\n")
    return server


def test_a_stage_ends_with_the_process_that_it_is_a_copy_of(tmp_path: Path) -> None:
    """As it is when DVC is killed: nothing goes on beside the run that begins it again."""
    sleeper = "import os, time\nopen('began', 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    server = at_work(tmp_path, sleeper)
    assert server.process is not None
    began, end = tmp_path / "began", time.monotonic() + 60
    while not (began.exists() and began.read_text()):
        assert time.monotonic() < end
        time.sleep(0.05)
    server.process.kill()
    server.end()
    stage = Path("/proc", began.read_text(), "stat")
    while stage.exists() and stage.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
def test_where_nobody_waits_any_more_the_process_ends_in_peace(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """As it is when DVC ends: the stage that runs ends, and is not begun again."""
    server = at_work(tmp_path, "import time\ntime.sleep(1)\nopen('ended', 'a').write('.')\n")
    assert server.process is not None
    server.end()
    assert (server.process.returncode, (tmp_path / "ended").read_text()) == (0, ".")
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("lock", paths.LOCKS, ids=str)
def test_a_lock_file_is_written_as_dvc_writes_it(lock: Path) -> None:
    """Of every fifth stage of the committed ones: nothing new, other content, a new stage."""
    head, *blocks = re.split(r"(?m)^(?=  \S)", (ROOT / lock).read_text(encoding="utf-8"))
    text = head + "".join(blocks[::5])  # DVC takes seconds for all of them
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


def test_the_paper_depends_on_nothing_that_another_pipeline_makes() -> None:
    """(Paths in all lock files are the repository's.) So a bare repro need not read the others."""
    own, *others = (loads_yaml((ROOT / lock).read_text())["stages"] for lock in paths.LOCKS)
    made = {Path(out["path"]) for of in others for stage in of.values() for out in stage["outs"]}
    needed = {Path(dep["path"]) for stage in own.values() for dep in stage["deps"]}
    for path in needed:
        assert not made & {path, *path.parents}, path
        assert not any(path in out.parents for out in made), path


def test_a_bare_repro_reads_its_own_pipeline_alone(tmp_path: Path) -> None:
    """Another one may even be broken; whoever names it is told."""
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/dvc.yaml").write_text("stages: 1\n")
    env = {**os.environ, "DVC_SITE_CACHE_DIR": f"{tmp_path}.dvc"}
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config").write_text("[core]\n    no_scm = True\n")
    bare, named = (
        subprocess.run([*QUICK, *asked], cwd=tmp_path, env=env, capture_output=True, text=True)
        for asked in (["repro"], ["repro", "other/dvc.yaml"])
    )
    assert (bare.returncode, "up to date" in bare.stdout) == (0, True), bare.stderr
    assert named.returncode
    assert "other/dvc.yaml" in named.stderr


EXPERIMENT = {
    "params.yaml": "alpha: 0.1\n",
    "code": "first\n",
    "dvc.yaml": """
stages:
  plan:
    cmd: mkdir plans && cp params.yaml plans/one
    deps: [params.yaml]
    outs: [plans]
  train:
    cmd: cat plans/one code > trained && wc trained > figures
    deps: [plans/one, code]
    outs: [trained, {figures: {cache: false}}]
  page:
    cmd: cat trained figures > page
    deps: [trained, figures]
    outs: [page]
""",
    "other/dvc.yaml": "stages: {more: {cmd: cat ../page > more, deps: [../page], outs: [more]}}\n",
    ".gitignore": "/plans\n/trained\n/page\n/other/more\n",
}


def experiment(folder: Path, command: list[str]) -> str:
    """What git has of it, after a run of everything and one with another alpha."""
    for name, content in EXPERIMENT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    env = {**os.environ, "DVC_SITE_CACHE_DIR": f"{folder}.dvc"}

    def says(*asked: str) -> str:
        done = subprocess.run(asked, cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost"]
    says("git", "init", "--quiet")
    says(sys.executable, "-m", "dvc", "init", "--quiet")
    says(sys.executable, "-m", "dvc", "repro", "--all-pipelines")
    says(*git, "add", "--all")
    says(*git, "commit", "--quiet", "--message", "A run")
    says(*command, "exp", "run", "-S", "alpha=0.5")
    assert "alpha: 0.5" in (folder / "page").read_text()
    assert "alpha: 0.1" in (folder / "other/more").read_text()
    references = says("git", "for-each-ref", "--format=%(refname)", "refs/exps").split()
    [reference] = [name for name in references if re.match("refs/exps/[0-9a-f]{2}/", name)]
    return says("git", "ls-tree", "-r", reference) + says("git", "status", "--porcelain")


@pytest.mark.slow
def test_an_experiment_is_the_one_that_dvc_makes(tmp_path: Path) -> None:
    """Though not all stages are read anew after each one; what others have made stays."""
    plain = experiment(tmp_path / "plain", [sys.executable, "-m", "dvc"])
    assert experiment(tmp_path / "quick", QUICK) == plain
    for name in ("dvc.lock", "figures", "page"):
        assert (f"\t{name}\n" in plain) == (name != "page")


@pytest.mark.promise("A stage that is killed, as Linux does when memory runs out, is named.")
@pytest.mark.parametrize("status", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (3, -9))])
def test_dvc_runs_it_and_is_told_how_it_ended(status: int, tmp_path: Path) -> None:
    end = f"sys.exit({status})" if status >= 0 else f"os.kill(os.getpid(), {-status})"
    code = f"import os, pathlib, sys\npathlib.Path('made').touch()\n{end}\n"
    write(tmp_path, "stages", code)
    (tmp_path / "dvc.yaml").write_text(DVC)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "DVC_SITE_CACHE_DIR": f"{tmp_path}.dvc"}
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config").write_text("[core]\n    no_scm = True\n")
    done = subprocess.run([*QUICK, "repro"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (done.returncode == 0) == (status == 0), done.stderr
    if status:
        assert f"failed to run: python -m stages.mine, exited with {status}" in done.stderr
        killed = "error: python -m stages.mine was killed; out of memory? Then lower INFOFAIR_WOR"
        assert (killed in done.stderr) == (status == -9)
        return
    assert (tmp_path / "dvc.lock").exists()
    # a command that is not ours has a shell, as ever
    assert (tmp_path / "shell").read_text().strip().isdecimal()


@pytest.mark.promise("A stage that is killed, as Linux does when memory runs out, is named.")
def test_what_dvc_says_of_a_killed_stage_is_in_the_document_with_what_to_lower() -> None:
    """(That it says so: above.)"""
    document = (ROOT / "docs/reproducibility.md").read_text(encoding="utf-8")
    [todo] = re.findall(
        r"^\| `failed to run: …, exited with -9` \| (.+) \|$", document, re.MULTILINE
    )
    assert LOWER in todo.replace("`", "")


def test_where_nothing_changed_since_dvc_found_nothing_to_do_it_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And whatever does change, it is: content, a new file in a folder, a lost output, params."""
    monkeypatch.chdir(tmp_path)
    asked: list[list[str]] = []
    monkeypatch.setattr(quick, "dvc", lambda arguments: asked.append(arguments) or 0)
    (tmp_path / "rooms").mkdir()
    for name in ("dvc.yaml", "params.yaml", "rooms/code.py", "made"):
        (tmp_path / name).write_text("first\n")
    of_stage = {"deps": [{"path": "rooms"}], "outs": [{"path": "made"}]}
    (tmp_path / "dvc.lock").write_text(json.dumps({"stages": {"one": of_stage}}))

    def is_asked() -> bool:
        asked.clear()
        assert quick.main(["repro"]) == 0
        return bool(asked)

    assert is_asked() and not is_asked()
    changes: dict[str, Callable[[Path], object]] = {
        "rooms/code.py": lambda path: path.write_text("other\n"),
        "rooms/new.py": lambda path: path.touch(),
        "made": lambda path: path.unlink(),
        "params.yaml": lambda path: path.write_text("alpha: 2\n"),
        "dvc.lock": lambda path: path.write_text(path.read_text() + " "),
    }
    for name, change in changes.items():
        change(tmp_path / name)
        assert is_asked(), name
        assert not is_asked(), name
    # what Python compiled is no dependency; another command is DVC's, always
    (tmp_path / "rooms/__pycache__").mkdir()
    (tmp_path / "rooms/__pycache__/code.pyc").touch()
    assert not is_asked()
    assert quick.main(["repro", "page"]) == 0
    assert asked == [["repro", "page"]]


def test_a_run_in_which_something_changed_is_not_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stage wrote something, or somebody edited a file that DVC had hashed; or it failed."""
    monkeypatch.chdir(tmp_path)
    for name in ("dvc.yaml", "params.yaml", "dvc.lock"):
        (tmp_path / name).write_text("stages: {}\n")
    monkeypatch.setattr(
        quick, "dvc", lambda _: (tmp_path / "params.yaml").write_text("alpha: 1\n") and 0
    )
    quick.main(["repro"])
    assert not unchanged.since_remembered()
    monkeypatch.setattr(quick, "dvc", lambda _: 1)
    assert quick.main(["repro"]) == 1
    assert not unchanged.since_remembered()

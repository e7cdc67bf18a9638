"""DVC whose stages start at once.

    python -m study.commands.quick repro …

To load PyTorch and its like takes most stages longer than what they compute. Here one process loads
them, and each stage is a copy of it (a fork), which then loads our own code itself, from the folder
that it is run in, and ends as any program does. Of a lock file only the stage that has ended is
written anew: DVC itself reads and writes all of it, which takes seconds where there are a hundred
stages. And a bare `repro`, which runs dvc.yaml, reads no other pipeline: DVC reads all that there
are, which is most of what it does where there is nothing to do; and where nothing has changed
since it last found that, it is not asked again (study/unchanged.py). Of an experiment, DVC reads
all stages anew after each one; here, once. What is run, hashed and recorded, DVC decides as ever;
`dvc repro` and `dvc exp run` make the same bytes, a little later. `make repro` calls this.
"""

import gc
import json
import os
import re
import runpy
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from infofair import kernels, parallel
from infofair.storage import write_text
from study import paths, unchanged
from study.cli import LOWER

kernels.pin()  # for the process that loads the packages, which is started with these variables
SERVE = "--serve"
# Whatever is not named here is loaded by each stage that needs it, as ever.
LOADED = (
    "fairlearn.reductions", "jinja2", "joblib", "matplotlib.pyplot", "pandas", "pandera.pandas",
    "papermill", "pooch", "pyarrow.parquet", "pydantic", "scipy.optimize", "scipy.stats",
    "sklearn.ensemble", "sklearn.linear_model", "sklearn.metrics", "torch", "torch.func",
)  # fmt: skip
OURS = ("infofair", "study", "stages")


# -- the process that loads the packages -----------------------------------------------------------


def serve(asked: socket.socket) -> None:
    """Until nobody asks any more: become a copy for each line, and answer with its exit status."""
    parallel.end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the stage
    for name in LOADED:
        with suppress(ImportError):
            import_module(name)
    gc.freeze()  # else a collection in a copy would copy all of it
    child = -1
    # where DVC was killed, nobody waits for the answer
    with suppress(BrokenPipeError), asked, asked.makefile(encoding="utf-8") as lines:
        while line := lines.readline():
            child = os.fork()
            if not child:
                break
            _, status = os.waitpid(child, 0)
            asked.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    if not child:
        parallel.end_with_parent()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        become(**json.loads(line))


def become(module: str, options: list[str], cwd: str, env: dict[str, str]) -> None:
    """What `python -m module options` does."""
    for name in list(sys.modules):
        if name.split(".")[0] in OURS:
            del sys.modules[name]
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.path[0] = cwd
    sys.argv = [module, *options]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


# -- DVC's process ---------------------------------------------------------------------------------


class Server:
    """Started when the first stage is, if not before."""

    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        here, there = socket.socketpair()
        command = [sys.executable, "-m", "study.commands.quick", SERVE, str(there.fileno())]
        self.process = subprocess.Popen(command, pass_fds=[there.fileno()])
        there.close()
        self.asking, self.answers = here, here.makefile(encoding="utf-8")

    def run(self, **asked: Any) -> int:
        """The exit status of a stage."""
        if self.process is None:
            self.start()
        self.asking.sendall(json.dumps(asked).encode() + b"\n")
        before = signal.signal(
            signal.SIGINT, signal.SIG_IGN
        )  # as DVC does: the stage ends, then we
        try:
            answer = self.answers.readline()
        finally:
            signal.signal(signal.SIGINT, before)
        return int(answer) if answer else -signal.SIGKILL

    def end(self) -> None:
        if self.process is not None:
            self.answers.close()
            self.asking.close()
            self.process.wait()


LOCK = "schema: '2.0'\nstages:\n"  # how a lock file begins


def recorded(text: str, ended: dict[str, Any]) -> str | None:
    """A lock file with these stages' content, as DVC writes it; None if its form is another one.

    Each is a block that begins with its name, indented by two; a new one is put at the end.
    """
    from dvc.utils.serialize import dumps_yaml  # type: ignore[import-untyped]

    if not text.startswith(LOCK) or re.search(r"(?m)^(?!  )", text[len(LOCK) : -1]):
        return None
    blocks = {
        block.partition("\n")[0]: block
        for block in re.split(r"(?m)^(?=  \S)", text[len(LOCK) :])[1:]
    }
    for name, content in ended.items():
        _, _, block = dumps_yaml({"stages": {name: content}}).partition("\n")
        blocks[block.partition("\n")[0]] = block
    return LOCK + "".join(blocks.values())


def quicken(dvcfile: Any) -> None:
    """Let DVC's lock files be written by `recorded` where that can be."""
    plain = dvcfile.Lockfile.dump_stages

    def dump_stages(self: Any, ended: list[Any], **how: Any) -> None:
        path = Path(self.path)
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        contents: dict[str, Any] = {}
        for stage in ended:
            contents |= dvcfile.serialize.to_lockfile(stage, **how)
        after = recorded(before, contents)
        if after is None:
            plain(self, ended, **how)
        elif after != before:
            dvcfile.logger.info("Updating lock file '%s'", self.relpath)
            write_text(path, after)
            self.repo.scm_context.track_file(self.relpath)

    dvcfile.Lockfile.dump_stages = dump_stages


def keep_to(file: str, index: Any) -> None:
    """Let DVC know the stages of this file alone: on no other do they depend (a test)."""

    def collect_files(repo: Any, **_: Any) -> Iterator[tuple[str, Any]]:
        path = str(Path(repo.root_dir) / file)
        yield path, index.Index.from_file(repo, path)

    index.collect_files = collect_files


def ask_once(files: Any) -> None:
    """Let DVC find out once which dependencies are outputs: it asks after each stage of an
    experiment, and reads all stages anew to answer, though a run changes no dvc.yaml."""
    plain = files.isdvc
    known: dict[tuple[str, str], bool] = {}

    def isdvc(self: Any, path: str, **how: Any) -> bool:
        folder = self.repo.root_dir
        if (folder, path) not in known:
            every = {str(dep) for stage in self.repo.index.stages for dep in stage.deps}
            asked = {path, *map(self.from_os_path, every)}
            known.update(((folder, name), plain(self, name, **how)) for name in asked)
        return known[folder, path]

    files.isdvc = isdvc


def main(arguments: list[str]) -> int:
    if arguments != ["repro"]:
        return dvc(arguments)
    if unchanged.since_remembered():
        print("Data and pipelines are up to date.")
        return 0
    roots = unchanged.roots(paths.PIPELINE)
    before = unchanged.looked_at(roots)
    status = dvc(arguments)
    if not status and unchanged.looked_at(roots) == before:
        unchanged.remember(roots, before)
    return status


def dvc(arguments: list[str]) -> int:
    from dvc import cli, dvcfile  # type: ignore[import-untyped]
    from dvc.fs.dvc import DVCFileSystem  # type: ignore[import-untyped]
    from dvc.repo import index  # type: ignore[import-untyped]
    from dvc.stage import run as of_stages  # type: ignore[import-untyped]
    from dvc.stage.exceptions import StageCmdFailedError  # type: ignore[import-untyped]

    server, plain = Server(), of_stages._run

    def run(executable: str, cmd: str, *, cwd: str, env: dict[str, str], **how: Any) -> None:
        words = shlex.split(cmd)
        if words[:2] != ["python", "-m"] or words[2].split(".")[0] not in OURS:
            plain(executable, cmd, cwd=cwd, env=env, **how)
        elif status := server.run(module=words[2], options=words[3:], cwd=cwd, env=dict(env)):
            if status == -signal.SIGKILL:  # which is how Linux ends what takes all of the memory
                print(f"error: {cmd} was killed; out of memory? Then {LOWER}", file=sys.stderr)
            raise StageCmdFailedError(cmd, status)

    if sys.platform == "linux":  # elsewhere, a copy of what has loaded so much is not safe
        of_stages._run = run
        if arguments[:2] == ["exp", "run"]:  # of which some stage is always to be run
            server.start()
    quicken(dvcfile)
    ask_once(DVCFileSystem)
    if arguments == ["repro"]:
        keep_to(dvcfile.PROJECT_FILE, index)
    try:
        return int(cli.main(arguments))
    finally:
        server.end()


if __name__ == "__main__":
    if sys.argv[1:2] == [SERVE]:
        serve(socket.socket(fileno=int(sys.argv[2])))
    else:
        sys.exit(main(sys.argv[1:]))

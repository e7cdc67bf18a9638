"""Notebooks that are run to the same bytes from the same inputs.

Nothing that differs from run to run, or from machine to machine, is kept (times, identifiers,
paths). Warnings go to the terminal.
"""

import json
import multiprocessing
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbformat import NotebookNode

from infofair import parallel
from infofair.errors import Problem
from infofair.parallel.progress import watched
from infofair.storage import whole
from study import paths, results
from study.files import need
from study.general import NAMES

# The notebooks of the paper's generalisations, each with its study.
GENERAL = {f"general_{study}": study for study in NAMES}
# What each notebook writes, by the name of the parameter that says where.
WRITTEN = {
    "results_table": ("html", "tex", "md"),
    "tradeoff": ("svg", "png"),
    "ablation": ("svg", "png"),
    "frontier": ("svg", "png"),
    "luck": ("svg", "png"),
    "honest_table": ("html", "tex", "md"),
    "experiments": (),
    **dict.fromkeys(GENERAL, ("svg", "png")),
}
# The tables that it reads, by the name of the parameter that says where they are.
READ = {
    "results_table": {"summary": "summary"},
    "tradeoff": {"summary": "summary"},
    "ablation": {"summary": "summary"},
    "frontier": {"fronts": "fronts", "areas": "hypervolume"},
    "luck": {"runs": "luck", "summary": "luck_summary"},
    "honest_table": {"summary": "honest_summary"},
    "experiments": {},
}


def parameters(name: str) -> dict[str, str]:
    """The paths of a notebook's inputs, which have to be there, and of its outputs."""
    if study := GENERAL.get(name):
        made_by = f"{paths.PIPELINE_BEYOND}:general@{study}"
        inputs = {"measured": need(paths.general(study), made_by)}
        outputs = {kind: paths.general_figure(study, kind) for kind in WRITTEN[name]}
    else:
        tables = READ[name].items()
        inputs = {kind: need(paths.table(of), results.MADE_BY[of]) for kind, of in tables}
        outputs = {kind: paths.figure(name, kind) for kind in WRITTEN[name]}
    return {kind: str(path) for kind, path in (inputs | outputs).items()}


def run(name: str) -> None:
    """Execute the notebook of this name, and keep it, with what it shows, among the reports."""
    given = parameters(name)
    done = execute(need(paths.notebook(name), "a fresh clone"), given)
    with whole(paths.executed(name)) as partial:
        nbformat.write(done, partial)


@contextmanager
def kernel_settings() -> Iterator[None]:
    """This environment's kernel, without the user's IPython profile and start-up files."""
    with TemporaryDirectory() as folder:
        settings = {
            "IPYTHONDIR": folder,
            "JUPYTER_RUNTIME_DIR": folder,
            "JUPYTER_PATH": str(Path(sys.prefix) / "share/jupyter"),
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # a warning about the debugger nobody uses
        }
        before = dict(os.environ)
        os.environ.update(settings)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


TASKS = Path("/proc/self/task")  # on Linux: the threads of this process


class Copy:
    """A copy (a fork) of this process that waits to become a kernel: it need not load again what
    cells import. For jupyter_client it is what `subprocess.Popen` gives."""

    stdin = stdout = stderr = None

    def __init__(self) -> None:
        self.here, there = socket.socketpair()
        fork = multiprocessing.get_context("fork")
        self.process = fork.Process(target=self.become, args=(there,), daemon=True)
        self.process.start()
        there.close()
        self.here.recv(1)  # it has a group of its own: signals to that must not be for ours

    def become(self, there: socket.socket) -> None:
        """What `python -m ipykernel_launcher` does, when it is asked to."""
        self.here.close()
        parallel.end_with_parent()
        os.setsid()
        there.send(b"\n")
        with there, there.makefile(encoding="utf-8") as lines:
            asked = lines.readline()
        if asked:
            what = json.loads(asked)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.environ.clear()
            os.environ.update(what["env"])

            from ipykernel.kernelapp import launch_new_instance

            launch_new_instance(what["options"])

    def launch(self, cmd: list[str], env: dict[str, str], **_: Any) -> "Copy":
        """In place of jupyter_client's: cmd is python -m ipykernel_launcher and its options."""
        env = env | {"JPY_PARENT_PID": str(os.getpid())}
        with self.here:
            self.here.sendall(json.dumps({"options": cmd[3:], "env": env}).encode() + b"\n")
        return self

    @property
    def pid(self) -> int | None:
        return self.process.pid

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        self.process.join(timeout)
        return self.poll()

    def send_signal(self, number: int) -> None:
        if self.pid is not None and self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


@contextmanager
def started_at_once() -> Iterator[None]:
    """Kernels are copies of this process, if it is a stage's and has no threads, which a copy would
    lack."""
    from jupyter_client.provisioning import local_provisioner

    if parallel.start_method != "fork" or len([*TASKS.iterdir()]) > 1:
        yield
        return
    copy, plain = Copy(), local_provisioner.launch_kernel
    local_provisioner.launch_kernel = copy.launch  # type: ignore[assignment]
    try:
        yield
    finally:
        local_provisioner.launch_kernel = plain
        copy.kill()
        copy.wait()


def execute(path: Path, given: dict[str, str]) -> NotebookNode:
    """The notebook with its outputs; nothing is written but what its cells write."""
    import papermill
    from papermill.exceptions import PapermillExecutionError
    from traitlets.config import Config

    notebook = nbformat.read(path, as_version=4)
    try:
        with started_at_once(), kernel_settings():
            done = papermill.execute_notebook(
                path, None, given, kernel_name="python3", progress_bar=watched(),
                record_timing=False, extra_arguments=["--log-level=CRITICAL"],
                # files instead of ports, which kernels that start at once may both choose
                config=Config(KernelManager={"transport": "ipc"}),
            )  # fmt: skip
    except PapermillExecutionError as error:
        what = error.evalue if error.ename == "Problem" else f"{error.ename}: {error.evalue}"
        raise Problem(f"{path}, {_cell(notebook, error.source)}: {what}") from error
    except RuntimeError as error:  # the kernel died
        raise Problem(f"{path}: {error}") from error
    return clean(done, notebook)


def _cell(notebook: NotebookNode, text: str) -> str:
    """Which cell of the notebook it is, by its number and its first line."""
    for number, cell in enumerate(notebook.cells, 1):
        if cell.source == text:
            return f"cell {number} ({text.strip().splitlines()[0]})"
    return "the cell with its parameters"


def clean(done: NotebookNode, notebook: NotebookNode) -> NotebookNode:
    """Only what the notebook's source and its inputs decide."""
    done.metadata = notebook.metadata
    own = {cell.id for cell in notebook.cells}
    for cell in done.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = NotebookNode(tags=tags) if tags else NotebookNode()
        if cell.id not in own:
            cell.id = "injected-parameters"
        if cell.cell_type == "code":
            for output in cell.outputs:
                if output.get("name") == "stderr":
                    print(output.text, end="", file=sys.stderr)
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            for output in cell.outputs:
                _anonymise(output)
    return done


def _anonymise(output: NotebookNode) -> None:
    """Take what tells of the machine, or of the moment, out of a text output."""
    texts = output if "text" in output else output.get("data", {})
    for kind, text in texts.items():
        if isinstance(text, str) and kind.startswith("text"):
            for place, name in (
                (Path.cwd(), "."),
                (sys.prefix, "(environment)"),
                (Path.home(), "~"),
            ):
                text = text.replace(f"{place}/", f"{name}/")
            texts[kind] = re.sub(r"\b0x[0-9a-f]{6,}\b", "0x…", text)

"""DVC whose stages are forks of its own process, in which the packages are loaded already.

    python forked.py repro …

DVC and the doors do what they do under `dvc`; saved are the seconds in which each new Python loads
PyTorch and its like, more than all that a small pipeline computes. .ci/miniature runs both
pipelines once without it.
"""

import gc
import os
import runpy
import sys
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from typing import Any

sys.path[0] = os.getcwd()  # noqa: PTH109 (as for `python -m`; not this file's folder)

import stages  # noqa: E402, F401 (chooses the kernels before NumPy is loaded)

# Whatever is not named here is loaded by each stage that needs it, as ever.
LOADED = (
    "fairlearn.reductions", "jinja2", "joblib", "matplotlib.pyplot", "pandas", "pandera.pandas",
    "papermill", "pooch", "pyarrow.parquet", "pydantic", "scipy.optimize", "scipy.stats",
    "sklearn.linear_model", "sklearn.metrics", "torch", "torch._inductor",
)  # fmt: skip


@cache
def load() -> None:
    for name in LOADED:
        import_module(name)
    for name in list(sys.modules):  # each stage loads our own code itself
        if name.split(".")[0] in ("infofair", "study", "stages"):
            del sys.modules[name]
    gc.freeze()  # else a collection in a fork would copy all of it


def door(module: str, options: list[str], cwd: str, env: dict[str, str]) -> None:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = [module, *options]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def run(executable: str, cmd: str, *, cwd: str, env: dict[str, str], **_: Any) -> None:
    """In place of a shell that starts a Python."""
    from dvc.stage.exceptions import StageCmdFailedError

    python, option, module, *options = cmd.split()
    assert (python, option) == ("python", "-m")
    load()
    process = get_context("fork").Process(target=door, args=(module, options, cwd, env))
    process.start()
    process.join()
    if process.exitcode:
        raise StageCmdFailedError(cmd, process.exitcode)


def main() -> int:
    from dvc import cli
    from dvc.stage import run as of_stages

    of_stages._run = run
    # no processes beside a fork: they would load it all, and it would wait for them to end
    os.environ["INFOFAIR_WORKERS"] = "1"
    return cli.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

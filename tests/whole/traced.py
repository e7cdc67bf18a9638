"""Run stages one after the other in this process, each with modules of ours loaded anew.

    python traced.py '[["address", "python -m stages.check"], …]'

Prints for each stage which modules of ours it and its processes imported, which files of the folder
they read, and which changed.
In the processes that a stage starts (kernels of notebooks), Python finds this file as
`sitecustomize`, and so watches them as well.
"""

import json
import os
import runpy
import sys
import time
from pathlib import Path

OURS = ("infofair", "study", "stages")
LOG = "TRACED_TO"


class Watch:
    """Asked first by every import; writes down the modules of ours, and leaves them to others."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name.split(".")[0] in OURS:
            note("module", name)


def note(what: str, name: str) -> None:
    if path := os.environ.get(LOG):
        file = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(file, f"{what} {name}\n".encode())
        os.close(file)


def audit(event: str, arguments: tuple[object, ...]) -> None:
    """Asked by Python whenever a file is opened."""
    if event != "open" or not isinstance(arguments[0], str):
        return
    path, _, flags = arguments
    if not int(str(flags)) & (os.O_WRONLY | os.O_RDWR):
        note("read", os.path.abspath(str(path)))  # noqa: PTH100 (as early as can be)


def forget() -> None:
    for name in list(sys.modules):
        if name.split(".")[0] in OURS:
            del sys.modules[name]


def files() -> dict[str, tuple[int, int]]:
    """Every file of the folder, and when it was written."""
    hidden = (".git", ".dvc", "__pycache__")
    return {
        path.as_posix(): (path.stat().st_mtime_ns, path.stat().st_size)
        for path in Path().rglob("*")
        if path.is_file() and not any(part in hidden for part in path.parts)
    }


def run(address: str, cmd: str) -> dict[str, list[str]]:
    log = Path(f"../{address.replace('/', '.')}.log").resolve()
    log.touch()
    os.environ[LOG] = str(log)
    _, _, module, *options = cmd.split()
    forget()
    before, start = files(), time.perf_counter()
    sys.argv = [module, *options]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    del os.environ[LOG]
    after = files()
    noted = [line.partition(" ")[::2] for line in log.read_text().splitlines()]
    print(f"{address}: {time.perf_counter() - start:.1f} s", flush=True)
    return {
        "modules": sorted({module, *(name for what, name in noted if what == "module")}),
        "read": sorted(
            path.relative_to(Path.cwd()).as_posix()
            for path in {Path(name) for what, name in noted if what == "read"}
            if path.is_relative_to(Path.cwd()) and path.is_file()
        ),
        "written": sorted(path for path in after if after[path] != before.get(path)),
        "removed": sorted(before.keys() - after.keys()),
    }


def main() -> None:
    found = {address: run(address, cmd) for address, cmd in json.loads(sys.argv[1])}
    Path("../traced.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
elif __name__ == "sitecustomize":
    sys.addaudithook(audit)
    sys.meta_path.insert(0, Watch)  # type: ignore[arg-type]

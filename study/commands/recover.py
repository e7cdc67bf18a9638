"""Put right what a killed run or a failing disk leaves behind and DVC does not put right itself.

    dvc.lock          (of every pipeline) DVC writes it in place; killed meanwhile, it leaves half
                      a file, and stops when it cannot read it. It becomes the last commit's again;
                      models trained since are in DVC's cache and are not trained anew.
    .dvc/tmp/rwlock   likewise; removed. (Entries of processes that are no more DVC ignores itself.)
    .dvc/cache        DVC uses a file there without checking that it is what its name, a hash, says.
                      Those that are not are removed, and made anew when they are needed.

`make repro` runs this before `dvc repro`. It says what it did, and nothing if all is well.
"""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

from dvc.lock import LockError, make_lock  # type: ignore[import-untyped]
from dvc.schema import COMPILED_LOCKFILE_SCHEMA  # type: ignore[import-untyped]
from ruamel.yaml import YAML, YAMLError
from voluptuous import Invalid

from infofair.errors import Problem
from infofair.storage import write_text
from study import cli, paths

TEMPORARY = paths.DVC / "tmp"
CACHE = paths.DVC / "cache/files/md5"
OBJECT = re.compile(r"([0-9a-f]{30})(\.dir)?")  # anything else is not read by DVC


def say(text: str) -> None:
    print(f"recover: {text}", file=sys.stderr)


def whole_lock(text: str) -> bool:
    """Whether DVC reads it, and not because it happens to be cut where a prefix makes sense."""
    try:
        COMPILED_LOCKFILE_SCHEMA(YAML(typ="safe").load(text))
    except (YAMLError, Invalid):
        return False
    return text.endswith("\n")


def recover_lock(lock: Path) -> None:
    if not lock.exists() or whole_lock(lock.read_text(encoding="utf-8", errors="replace")):
        return
    committed = subprocess.run(["git", "show", f"HEAD:./{lock}"], capture_output=True, text=True)
    if committed.returncode == 0:
        write_text(lock, committed.stdout)
        say(f"{lock} cannot be read (half written?); it is the last commit's again")
    else:
        lock.unlink()
        say(f"{lock} cannot be read (half written?), and is not in git; removed")


def recover_rwlock() -> None:
    path = TEMPORARY / "rwlock"
    try:
        json.loads(path.read_bytes() if path.exists() else "{}")
    except ValueError:
        path.unlink()
        say(f"{path} was half written; removed")


def recover_cache() -> None:
    for path in sorted(CACHE.glob("??/*")):
        if name := OBJECT.fullmatch(path.name):
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "md5").hexdigest()
            if found != path.parent.name + name[1]:
                path.unlink()
                say(f"{path} was damaged (its md5 is {found}); removed")


def main() -> None:
    TEMPORARY.mkdir(parents=True, exist_ok=True)
    try:
        with make_lock(str(TEMPORARY / "lock")):  # so that no DVC is writing now
            recover_rwlock()
            for lock in paths.LOCKS:
                recover_lock(lock)
            recover_cache()
    except LockError:
        raise Problem("another DVC process is at work here; try again when it has ended") from None


if __name__ == "__main__":
    cli.run(main, __doc__)

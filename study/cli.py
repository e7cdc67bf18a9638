"""What every stage's command line shares: --help, --debug, one message when something is wrong."""

import argparse
import shlex
import sys
from collections.abc import Callable, Collection

from infofair import parallel
from infofair.errors import Damaged, Problem

LONGEST = 1_000  # characters of a line that are shown
# What to do where memory runs out; study/memory.py asks before training, but not for everything.
LOWER = (
    "lower INFOFAIR_WORKERS, or in params.yaml hidden, batch_size, seeds or what the method's "
    "section counts"
)


def run(
    main: Callable[..., None],
    doc: str | None,
    *options: str,
    optional: Collection[str] = (),
    flags: Collection[str] = (),
    **explained: str,
) -> None:
    """Parse `--option VALUE` for each option, call main with them, exit with a status.

    The values of an option are listed in params.yaml, unless it is given with an explanation. One
    that is optional is None if it is left out; a flag has no value, and is given or not.
    Errors become one message on the terminal; --debug shows the traceback instead.
    """
    module = getattr(sys.modules["__main__"].__spec__, "name", main.__module__)
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    listed = {option: f"one of the {option}s in params.yaml" for option in options}
    for option, text in (listed | explained).items():
        if option in flags:
            parser.add_argument(f"--{option}", action="store_true", help=text)
        else:
            parser.add_argument(f"--{option}", required=option not in optional, help=text)
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    arguments = vars(parser.parse_args())
    debug = arguments.pop("debug")
    try:
        for option in options:
            if not (value := arguments[option] or "_").isidentifier():  # it becomes part of paths
                raise Problem(f"--{option} {value}: expected {listed[option]}")
        with parallel.forks():
            main(**arguments)
    except Exception as error:
        if debug:
            raise
        sys.exit(f"error: {explain(error, shlex.join(['python', '-m', module, *sys.argv[1:]]))}")


def explain(error: Exception, command: str = "the command") -> str:
    """One message for the terminal, whatever a file put into the error."""
    return "\n".join(_line(line) for line in _said(error, command).split("\n"))


def _line(text: str) -> str:
    """No control characters, which a terminal would obey, and an end."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]} … ({len(shown)} characters)"


def _out_of_memory(error: Exception) -> bool:
    """NumPy's is a MemoryError, PyTorch's says so in its own words, on a GPU in others."""
    said = str(error).lower()
    of_torch = "can't allocate memory" in said or "out of memory" in said
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and of_torch)


def _said(error: Exception, command: str) -> str:
    if isinstance(error, Damaged):
        # not dvc repro: it would take the file from its cache, which may be where it was damaged
        return f"{error}; remove it and run make repro"
    if isinstance(error, Problem):
        return str(error)
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"{error.filename} does not exist; it is made by: dvc repro"
    if isinstance(error, OSError) and error.filename is not None:
        # of a copy or a renaming, the second is the one that is written
        return f"{error.filename2 or error.filename}: {error.strerror}"
    if _out_of_memory(error):
        return f"{command} ran out of memory; {LOWER}"
    return f"{type(error).__name__}: {error} (a bug of ours? run with --debug for the traceback)"

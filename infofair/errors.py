"""What the library raises where its user can do something about it."""

from pathlib import Path


class Problem(Exception):
    """Something the user can act on: shown as one message, without a traceback."""


class Damaged(Problem):
    """A file of ours that does not hold what it should."""

    def __init__(self, path: Path, reason: object) -> None:
        why = " ".join(str(reason).split())  # pyarrow's may be several lines
        super().__init__(f"{path} is damaged ({why})")

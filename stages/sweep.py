"""Train one method of the comparison on one dataset, as its plan says (study/plans.py).

Networks and methods with a solver alike, at strengths that a rule chooses; study/sweep.py says what
is done and written.
"""

from pathlib import Path

from infofair.storage import read_json
from study import cli, sweep


def main(plan: str) -> None:
    sweep.run(read_json(Path(plan)))


if __name__ == "__main__":
    cli.run(main, __doc__, plan="what to train: a file in data/plans/sweep, made by check")

"""Put group thresholds on the scores of every method at its operating point.

Writes results/unprocessed.csv (study/comparison/unprocessed.py); nothing is trained.
"""

from study import cli, files, measure, paths, results
from study.comparison.unprocessed import unprocessed


def main() -> None:
    asked = files.needed_json(paths.plan("comparison"), "check")["datasets"]
    rows = measure.unprocessed(asked, results.read("chosen"))
    results.write(unprocessed(rows), "unprocessed")


if __name__ == "__main__":
    cli.run(main, __doc__)

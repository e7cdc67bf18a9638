"""Predict the group of every row of one dataset from its other features (study/posteriors.py).

Writes results/posteriors/<dataset>/<split>/posteriors.npz for every honest split.
"""

from study import cli, files, paths, posteriors


def main(dataset: str) -> None:
    plan = files.needed_json(paths.plan("posteriors", dataset), "check")
    posteriors.write(dataset, plan["splits"], plan["columns"])


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")

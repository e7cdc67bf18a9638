"""Take every figure of every model of the comparison on one dataset (study/measure.py).

Writes results/measured/<dataset>.csv; nothing is trained.
"""

from study import cli, files, measure, paths, results


def main(dataset: str) -> None:
    asked = files.needed_json(paths.plan("comparison"), "check")
    rows = measure.everything(dataset, asked["datasets"][dataset])
    results.write_measured(rows, dataset)


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")

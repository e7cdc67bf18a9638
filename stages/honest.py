"""Put the models of the honest table together.

Writes results/honest.csv, every model on validation and test rows, and results/honest_summary.csv:
means, intervals, and differences from vanilla on the same splits (study/honest.py).
"""

from study import cli, files, honest, paths, results


def main() -> None:
    asked = files.needed_json(paths.plan("honest"), "check")
    how = asked["methods"], asked["splits"]
    rows = [row for dataset in asked["datasets"] for row in honest.rows(dataset, *how)]
    runs = results.frame(rows, "honest")
    results.write(runs, "honest")
    results.write(honest.summarize(runs), "honest_summary")


if __name__ == "__main__":
    cli.run(main, __doc__)

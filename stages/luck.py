"""See where the printed figures lie among those of many seeds, trained as in the paper.

Writes results/luck.csv, every model of vanilla and InfoFair on validation and test rows, and
results/luck_summary.csv, one row per cell and printed figure (study/luck.py).
"""

from infofair.training.predictions import Predictions
from study import cli, files, luck, paths, results, swept


def main() -> None:
    asked = files.needed_json(paths.plan("luck"), "check")
    rows: list[results.Row] = []
    for dataset in asked["datasets"]:
        data = files.prepared(dataset)
        for method in asked["methods"]:
            path = paths.beyond("luck", dataset, method) / "predictions.npz"
            made_by = f"{paths.PIPELINE_LUCK}:luck@{dataset}-{method}"
            cell = {"dataset": dataset, "method": method}
            cell |= {"data": data.data, "partition": data.partition}
            found = swept.evaluated(data, Predictions.load(files.need(path, made_by)))
            rows += [cell | row for row in found]
    table = results.frame(rows, "luck")
    results.write(table, "luck")
    results.write(luck.summarize(table, results.paper()), "luck_summary")


if __name__ == "__main__":
    cli.run(main, __doc__)

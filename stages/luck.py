"""See where the printed figures lie among those of many seeds, trained as in the paper.

Writes results/luck.csv, every model of vanilla and InfoFair on validation and test rows, and
results/luck_summary.csv, one row per cell and printed figure (study/luck.py).
"""

from study import cli, files, luck, paths, results, swept


def main() -> None:
    asked = files.needed_json(paths.plan("luck"), "check")
    rows: list[results.Row] = []
    for dataset in asked["datasets"]:
        for method in asked["methods"]:
            for run in swept.runs("luck", dataset, method):
                marks = {"data": run.data.data, "partition": run.data.partition}
                cell = {"dataset": dataset, "method": method} | marks
                rows += [cell | row for row in swept.evaluated(run)]
    table = results.frame(rows, "luck")
    results.write(table, "luck")
    results.write(luck.summarize(table, results.paper()), "luck_summary")


if __name__ == "__main__":
    cli.run(main, __doc__)

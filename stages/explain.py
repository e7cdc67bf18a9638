"""Put the table "as run" together (study/explained.py).

Writes results/as_run.csv, one row per printed cell, and results/as_run_tried.csv, every candidate
for every one of them.
"""

from infofair.training.predictions import Predictions
from study import as_run, cli, explained, files, paths, results, swept


def main() -> None:
    rows: list[results.Row] = []
    for dataset in files.needed_json(paths.plan("summarize"), "check")["datasets"]:
        data = files.prepared(dataset)
        marks = {"dataset": dataset, "data": data.data, "partition": data.partition}
        for variant in as_run.VARIANTS:
            path = files.need(paths.as_run(dataset, variant), f"as_run@{dataset}")
            run = swept.Run(variant, data, Predictions.load(path), {})
            rows += explained.rows_of(variant, swept.evaluated(run), marks)
    tried = explained.candidates(results.read("runs"), rows, results.paper())
    results.write(tried, "as_run_tried")
    found = explained.as_run(tried, results.read("summary"), results.read("statistics"))
    results.write(found, "as_run")


if __name__ == "__main__":
    cli.run(main, __doc__)

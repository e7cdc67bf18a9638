"""Put the table "as run" together (study/explained.py).

Writes results/as_run.csv, one row per printed cell, and results/as_run_tried.csv, every candidate
for every one of them.
"""

import pandas as pd

from infofair.training.predictions import Predictions
from study import as_run, cli, explained, files, paths, results, swept


def main() -> None:
    rows: list[results.Row] = []
    for dataset in files.needed_json(paths.plan("summarize"), "check")["datasets"]:
        if not files.needed_json(paths.plan("as_run", dataset), "check")["printed"]:
            continue
        data = files.prepared(dataset)
        marks = {"dataset": dataset, "data": data.data, "partition": data.partition}
        ran = (data.data, data.partition) == ("real", "authors")  # as_run leaves others out
        for variant in as_run.VARIANTS.values() if ran else ():
            path = files.need(paths.as_run(dataset, variant.name), f"as_run@{dataset}")
            own = swept.evaluated(data, Predictions.load(path))
            rows += explained.rows_of(variant.name, variant.stands_for, own, marks)
    runs = results.read("runs")
    everything = pd.concat([runs.assign(variant=runs["method"]), pd.DataFrame(rows)])
    tried = explained.candidates(everything, results.paper())
    results.write(tried, "as_run_tried")
    found = explained.as_run(tried, results.read("summary"), results.read("statistics"))
    results.write(found, "as_run")


if __name__ == "__main__":
    cli.run(main, __doc__)

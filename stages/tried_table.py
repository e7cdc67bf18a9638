"""See how near what was tried comes to print: results/tried.csv (study/explained.py).

One row per printed cell of the datasets that are run and reading of its row.
"""

import pandas as pd

from infofair.training.predictions import Predictions
from study import cli, explained, files, paths, results, swept, tried


def main() -> None:
    rows: list[results.Row] = []
    for dataset in files.needed_json(paths.plan("summarize"), "check")["datasets"]:
        if not files.needed_json(paths.plan("as_run", dataset), "check")["printed"]:
            continue
        data = files.prepared(dataset)
        marks = {"dataset": dataset, "data": data.data, "partition": data.partition}
        for name in tried.WHAT:
            path = files.need(paths.tried(dataset, name), f"{paths.PIPELINE_LUCK}:tried@{dataset}")
            found = swept.evaluated(data, Predictions.load(path))
            rows += explained.rows_of(name, tried.stands_for(name), found, marks)
    table = explained.candidates(pd.DataFrame(rows), results.paper())
    results.write(table.assign(what=table["variant"].map(tried.WHAT)), "tried")


if __name__ == "__main__":
    cli.run(main, __doc__)

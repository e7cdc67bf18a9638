"""Put all datasets' tables together, apply the paper's protocol, and join the paper's figures.

Writes to results/ (study/protocol.py says how they follow):

    runs.csv         every metric of each dataset, setting, method and seed
    summary.csv      one row per dataset, setting, method and protocol, beside the paper's figures
                     and vanilla's; whether a column holds evidence of bias, whether a method does
                     more than a threshold, and whether it levels down
    groups.csv       each group's size, selection rate and accuracy on test rows, means over seeds;
                     empty where it has, or a method selects of it, fewer than five people, or
                     where that would follow (study/people.py)
    subsets.csv      the subset lemma: do models trained on the intersection help each attribute?
    selection.csv    the Reduction that choosing among vanilla's own seeds yields
    statistics.csv   the paper's table of dataset statistics, from our data; likewise
    metrics.json     about a dozen headline figures, for `dvc exp show` and `dvc metrics`
"""

import pandas as pd

from infofair.storage import write_json
from study import cli, files, paths, people, protocol, results

RATES = ("selection_rate", "accuracy")


def main() -> None:
    datasets = files.needed_json(paths.plan("summarize"), "check")["datasets"]
    tables = {
        name: pd.concat([results.evaluation(d, name) for d in datasets], ignore_index=True)
        for name in results.EVALUATION
    }
    runs = tables["runs"]
    summary = protocol.summarize(runs, tables["intervals"], results.paper())
    groups = protocol.of_groups(tables["groups"])
    written = {
        "runs": runs,
        "summary": summary,
        "groups": people.hidden_groups(people.hidden_rates(groups, RATES), RATES),
        "subsets": protocol.of_subsets(tables["subsets"], runs),
        "selection": protocol.of_selection(runs),
        "statistics": people.hidden(
            protocol.of_datasets(tables["statistics"], results.paper_statistics()),
            ["smallest_train", "smallest_test"],
        ),
    }
    for name, table in written.items():
        results.write(table, name)
    write_json(paths.METRICS, protocol.headline(summary))


if __name__ == "__main__":
    cli.run(main, __doc__)

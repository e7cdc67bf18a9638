"""How many bits the outcome of infofair_fitted tells of the group: its estimate, and a fresh one's.

Writes results/information.csv: the running estimate of I(z; s) in the last epoch, and two of a
classifier on held-out rows.
"""

from infofair.methods.infofair_fitted import Fitted
from study import cli, files, paths, results, swept

METHOD = "infofair_fitted"


def main() -> None:
    asked = files.needed_json(paths.plan("fronts"), "check")
    rows = []
    for dataset in asked["datasets"] if METHOD in asked["methods"] else []:
        plan = files.needed_json(paths.plan("fronts", dataset, METHOD), "check")
        method = Fitted(**plan["knobs"])
        for run in swept.runs("fronts", dataset, METHOD):
            marks = {"dataset": run.name, "method": METHOD}
            marks |= {"data": run.data.data, "partition": run.data.partition}
            own = swept.information(run, method.outcomes)
            rows += [marks | row for row in own]
    results.write(results.frame(rows, "information"), "information")


if __name__ == "__main__":
    cli.run(main, __doc__)

"""See which trade-offs each method reaches, from its models at many strengths.

A strength is a network's alpha, or the knob of a solver that its file calls its strength. All
networks are trained alike, by `backbone` in params.yaml, so that they differ by their objective
alone. A dataset whose label leaks takes part a second time, as <dataset>_without_leak. Writes

    results/frontier.csv           every model: dataset, setting, method, strength, seed, split
    results/frontier_summary.csv   means and standard deviations over seeds
    results/hypervolume.csv        each method's front as one figure
    results/best.csv               the best micro F1 for a budget of imparity
    results/goal.csv               infofair_fitted against the paper's table

study/fronts.py says how all but the first follow from it. A model whose objective was not finite is
listed with the note "diverged" and without figures.
"""

from study import cli, files, fronts, paths, results, swept


def main() -> None:
    asked = files.needed_json(paths.plan("fronts"), "check")
    rows: list[results.Row] = []
    beside: list[results.Row] = []
    for dataset in asked["datasets"]:
        by_form: dict[str, list[results.Row]] = {}
        settings = files.prepared(dataset).settings
        for method in asked["methods"]:
            for run in swept.runs("fronts", dataset, method):
                data = run.data
                marks = {"dataset": run.name, "data": data.data, "partition": data.partition}
                found = list(swept.evaluated(run))
                own = by_form.setdefault(run.name, [])
                own += [marks | {"method": method} | row for row in found]
                if method == "vanilla":
                    beside += [marks | row for row in swept.references(data, found)]
        for own in by_form.values():
            rows += sorted(own, key=lambda row: settings.index(row["setting"]))
    runs = results.frame(rows, "frontier")
    summary = fronts.summarize(runs)
    results.write(runs, "frontier")
    results.write(summary, "frontier_summary")
    results.write(fronts.hypervolumes(runs, summary, beside), "hypervolume")
    results.write(fronts.best(summary), "best")
    results.write(fronts.goal(summary, results.paper()), "goal")


if __name__ == "__main__":
    cli.run(main, __doc__)

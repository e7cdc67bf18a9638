"""Make every table of the comparison from the figures of all models (study/comparison).

In each split its own validation rows choose, its test rows report. Writes

    results/fronts.csv            every strength, means over splits
    results/best.csv              what a budget of each notion leaves
    results/honest_summary.csv    every method at its operating point, against vanilla
    results/hypervolume.csv, ranks.csv, pairs.csv
    results/frontier.csv, goal.csv, goal_counts.csv    on the paper's own data and split
    results/grids.csv             how the strengths were chosen
    results/chosen.csv            the strengths at the operating points (for unprocessed)
"""

from study import cli, files, paths, results
from study.comparison import grids, tables


def main() -> None:
    asked = files.needed_json(paths.plan("comparison"), "check")["datasets"]
    found, chosen = tables.tables(results.measured(asked), results.paper())
    for name, table in (found | {"chosen": chosen, "grids": grids.grids(asked)}).items():
        results.write(table, name)


if __name__ == "__main__":
    cli.run(main, __doc__)

"""Put group thresholds on the scores of every model of the honest table (study/unprocessed.py).

Writes results/unprocessed.csv, every method with every rule, and results/dominated.csv, which rows
of the honest table an unconstrained model with thresholds dominates (study/dominance.py); and
results/thresholds.csv, thresholds on the unconstrained models of the fronts.
"""

from study import cli, dominance, files, paths, results, unprocessed


def main() -> None:
    asked = files.needed_json(paths.plan("honest"), "check")
    found = unprocessed.everything(asked["datasets"], asked["methods"])
    results.write(found, "unprocessed")
    results.write(dominance.dominated(found, results.read("honest")), "dominated")
    swept = files.needed_json(paths.plan("fronts"), "check")
    bases = [base for base in dominance.BASES if base in swept["methods"]]
    rows = unprocessed.fronts_of_bases(swept["datasets"], bases)
    results.write(results.frame(rows, "thresholds"), "thresholds")


if __name__ == "__main__":
    cli.run(main, __doc__)

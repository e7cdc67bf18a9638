"""Put all runs together, apply the paper's selection protocol, and join the paper's figures.

Writes results/runs.csv, results/summary.csv and results/metrics.json. Protocols:

    paper   over seeds, the model with the lowest validation imparity (vanilla: the highest micro
            F1), its test figures
    mean    over seeds, test
    std     over seeds, test (sample standard deviation; empty for a single seed)

Reduction is 1 − imparity / imparity of vanilla, within the same protocol; its std is over seeds
against vanilla's mean. The note says `constant` where the model, or that of every seed, predicts
one class for all test rows, and how many seeds' do where only some do.
"""

from pathlib import Path

import pandas as pd

from stages import cli, files
from stages.params import load

METRICS = ["micro_f1", "macro_f1", "imparity", "imparity_released"]
REDUCTIONS = {"imparity": "reduction", "imparity_released": "reduction_released"}
CELL = ["dataset", "setting", "method"]
MARKS = ["data", "partition"]
PAPER = Path("data/reference/paper_table.csv")


def selected(runs: pd.DataFrame) -> pd.DataFrame:
    """The test row of the seed the paper's protocol picks, for each cell.

    Ties go to the better of the other figure, then to the lower seed. The text's imparity and the
    released one order seeds alike: one is an increasing linear function of the other.
    """
    runs = runs.round(dict.fromkeys(METRICS, 10))  # a tie is a tie, whatever the last bit says
    validation = runs[runs["split"] == "validation"]
    utility = validation["method"] == "vanilla"
    first = validation["imparity"].mask(utility, -validation["micro_f1"])
    second = (-validation["micro_f1"]).mask(utility, -validation["macro_f1"])
    best = (
        validation.assign(first=first, second=second)
        .sort_values([*CELL, "first", "second", "seed"])
        .drop_duplicates(CELL)
    )
    test = runs[runs["split"] == "test"]
    return test.merge(best[[*CELL, "seed"]], on=[*CELL, "seed"])


def notes(test: pd.DataFrame) -> pd.Series:
    """For each cell, whether its seeds' models are constant predictors."""

    def note(of_seeds: pd.Series) -> str:
        constant = int((of_seeds == "constant").sum())
        if 0 < constant < len(of_seeds):
            return f"constant in {constant} of {len(of_seeds)} seeds"
        return "constant" if constant else ""

    return test.groupby([*CELL, *MARKS], sort=False)["note"].agg(note)


def summarize(runs: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """One row per cell and protocol, in the order of the runs, beside the paper's figures."""
    test = runs[runs["split"] == "test"]
    grouped = test.groupby([*CELL, *MARKS], sort=False)[METRICS]
    tables = {
        "paper": selected(runs)[[*CELL, *MARKS, *METRICS, "note"]],
        "mean": grouped.mean().join(notes(test)).reset_index(),
        "std": grouped.std().join(notes(test)).reset_index(),
    }
    rows = []
    for protocol, table in tables.items():
        # vanilla's own figures in the same cell; a spread is measured against its mean
        base = tables["mean" if protocol == "std" else protocol]
        vanilla = base[base["method"] == "vanilla"].set_index(["dataset", "setting"])
        cell = pd.MultiIndex.from_frame(table[["dataset", "setting"]])
        for metric, name in REDUCTIONS.items():
            of_vanilla = vanilla[metric].reindex(cell).to_numpy()
            ratio = (table[metric] / of_vanilla).where(of_vanilla != 0)
            table[name] = ratio if protocol == "std" else 1 - ratio
        rows.append(table.assign(protocol=protocol))
    order = test[CELL].drop_duplicates()
    summary = (
        pd.concat(rows)
        .merge(order.assign(place=range(len(order))), on=CELL)
        .sort_values("place", kind="stable")
        .merge(paper.set_index(CELL).add_prefix("paper_").reset_index(), how="left", on=CELL)
    )
    printed = [name for name in summary.columns if name.startswith("paper_")]
    return summary[[*CELL, "protocol", *METRICS, *REDUCTIONS.values(), *printed, "note", *MARKS]]


def headline(summary: pd.DataFrame) -> dict:
    """The mean figures, nested as dataset → setting → method, for `dvc metrics`."""
    nested: dict = {}
    for row in summary[summary["protocol"] == "mean"].to_dict("records"):
        cell = nested.setdefault(row["dataset"], {}).setdefault(row["setting"], {})
        names = ["micro_f1", "imparity", "imparity_released", "reduction"]
        cell[row["method"]] = {n: round(row[n], 4) for n in names if not pd.isna(row[n])}
        if row["data"] != "real":
            cell["data"] = row["data"]
    return nested


def main() -> None:
    params = load()
    parts = [files.need(files.runs(name), f"evaluate@{name}") for name in params.datasets]
    runs = pd.concat([pd.read_csv(part) for part in parts], ignore_index=True)
    files.keep_only(parts[0].parent, {part.name for part in parts})
    summary = summarize(runs, pd.read_csv(PAPER))
    for path, table in (("results/runs.csv", runs), ("results/summary.csv", summary)):
        with files.whole(Path(path)) as partial:
            table.to_csv(partial, index=False, float_format="%.6g", lineterminator="\n")
    files.write_json(Path("results/metrics.json"), headline(summary))


if __name__ == "__main__":
    cli.run(main, __doc__)

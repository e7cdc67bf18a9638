"""The table of luck: where the printed figures lie among those of many seeds."""

import pandas as pd

from study.labels import dataset_name, method_name, setting_name
from study.results import Row
from study.tables.layout import markdown, markdown_row, number, percent, spread
from study.tables.summary import settings_of

SEEDS = range(5)  # of the paper's table
NAMES = {"imparity": "Imparity", "micro_f1": "Micro F1", "macro_f1": "Macro F1"}  # as printed
HEADS = ("Printed", "Mean of the seeds", "5 % to 95 %", "Below print", "Best of five", "As low")


def cells(row: Row) -> list[str]:
    """A row of results/luck_summary.csv, under HEADS."""
    return [
        number(row["printed"]),
        spread(row["mean"], row["std"]),
        f"{number(row['low'])}–{number(row['high'])}",
        percent(row["below"]),
        spread(row["expected"], row["expected_std"]),
        percent(row["as_low"]),
    ]


def to_markdown(summary: pd.DataFrame, figure: str = "imparity") -> str:
    """results/luck_summary.csv, of one printed figure: a line per cell."""
    lines = [markdown_row(["Dataset", "Setting", "Method", *HEADS])]
    lines += ["|---|---|---|" + "---:|" * len(HEADS)]
    for row in summary[summary["figure"] == figure].to_dict("records"):
        setting = setting_name(row["setting"], settings_of(summary, row["dataset"]))
        names = dataset_name(row["dataset"]), setting, method_name(row["method"])
        lines.append(markdown_row([*map(markdown, names), *cells(row)]))
    return "\n".join([*lines, ""])

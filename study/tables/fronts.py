"""Markdown tables of who is on which front, and of what is beyond the paper."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from study.labels import dataset_name, method_name, setting_name
from study.tables.layout import markdown, markdown_row, spread
from study.tables.summary import Row, datasets_of, front, settings_of, swept_methods


def fronts_to_markdown(summary: pd.DataFrame) -> str:
    """The methods on each Pareto front, from the lowest micro F1 and imparity to the highest."""
    lines = [markdown_row(["Dataset", "Setting", "On the Pareto front"]), "|---|---|---|"]
    for dataset in datasets_of(summary):
        names = settings_of(summary, dataset)
        for setting in names:
            best = map(method_name, front(summary, dataset, setting).index)
            row = [dataset_name(dataset), setting_name(setting, names), ", ".join(best)]
            lines.append(markdown_row(map(markdown, row)))
    return "\n".join([*lines, ""])


def _by_setting(table: pd.DataFrame, text: Callable[[Row], str]) -> str:
    """One line per dataset and setting, one column per method; empty where there is none."""
    names = swept_methods(table)
    lines = [markdown_row(["Dataset", "Setting", *map(markdown, map(method_name, names))])]
    lines += ["|---|---|" + "---:|" * len(names)]
    for (dataset, setting), rows in table.groupby(["dataset", "setting"], sort=False):
        cells = {row["method"]: text(row) for row in rows.to_dict("records")}
        setting = setting_name(str(setting), settings_of(table, str(dataset)))
        head = [markdown(dataset_name(str(dataset))), markdown(setting)]
        lines.append(markdown_row([*head, *(cells.get(name, "") for name in names)]))
    return "\n".join([*lines, ""])


def areas_to_markdown(areas: pd.DataFrame) -> str:
    """results/hypervolume.csv."""

    def text(row: Row) -> str:
        figures = (
            spread(row[name], row[f"{name}_std"], "{:.3f}".format)
            for name in ("hypervolume", "above_chord")
        )
        return "{} ({})".format(*figures)

    return _by_setting(areas[areas["method"] != "vanilla"], text)


def best_to_markdown(best: pd.DataFrame) -> str:
    """results/best.csv, a table for each budget: micro F1 / imparity."""

    def text(row: Row) -> str:
        if np.isnan(row["strength"]):
            return "–"
        marks = "\\*" * (row["imparity"] > row["budget"]) + "†" * (row["constant"] > 0)
        return f"{row['micro_f1']:.3f} / {row['imparity']:.3f}{marks}"

    parts = [
        f"### Imparity at most {budget:g}\n\n{_by_setting(rows, text)}"
        for budget, rows in best.groupby("budget", sort=False)
    ]
    return "\n".join(parts)


def goal_to_markdown(goal: pd.DataFrame) -> str:
    """results/goal.csv: infofair_fitted on test rows beside what it is to beat."""
    heads = ["Dataset", "Setting", "α", "Micro F1", "Imparity", "to beat: micro F1", "imparity", ""]
    lines = [markdown_row(heads), "|---|---|" + "---:|" * 5 + "---|"]
    for row in goal.to_dict("records"):
        cells = [
            markdown(dataset_name(row["dataset"])),
            markdown(setting_name(row["setting"], settings_of(goal, row["dataset"]))),
        ]
        figures = ["micro_f1", "imparity_released", "asked_micro_f1", "rival_imparity"]
        f1, imparity, asked, rival = (
            "–" if np.isnan(row[name]) else f"{row[name]:.3f}" for name in figures
        )
        strength = "–" if np.isnan(row["strength"]) else f"{row['strength']:g}"
        if rival != "–":
            rival += f" ({markdown(method_name(row['rival']))})"
        said = "holds" if row["holds"] == "yes" else markdown(row["why"])
        lines.append(markdown_row([*cells, strength, f1, imparity, asked, rival, said]))
    return "\n".join([*lines, ""])

"""Markdown tables of who is on which front, and of what is beyond the paper."""

import pandas as pd

from study.labels import dataset_name, full_method_name, in_order, method_name, setting_name
from study.results import PLACE
from study.tables.layout import markdown, markdown_row, number, spread
from study.tables.summary import Row, datasets_of, front, settings_of


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


def areas_to_markdown(areas: pd.DataFrame) -> str:
    """results/hypervolume.csv: a line per method, a column per dataset and setting."""
    places = list(areas[PLACE].drop_duplicates().itertuples(index=False, name=None))
    heads = [
        f"{dataset_name(dataset)}, {setting_name(setting, settings_of(areas, dataset))}"
        for dataset, setting in places
    ]
    lines = [markdown_row(["Method", *map(markdown, heads)]), "|---|" + "---:|" * len(heads)]
    shown = {
        (row["method"], (row["dataset"], row["setting"])): _area(row)
        for row in areas.to_dict("records")
    }
    for method in in_order(areas["method"]):
        cells = [shown.get((method, place), "") for place in places]
        lines.append(markdown_row([markdown(full_method_name(method)), *cells]))
    return "\n".join([*lines, ""])


def _area(row: Row) -> str:
    shown = spread(row["above_chord"], row["above_chord_width"])
    return f"{shown} ({number(row['hypervolume'])})"

"""What every method does to every group: a table for each dataset and setting."""

from collections.abc import Collection

import pandas as pd

from study import labels, results
from study.page.cells import Place
from study.page.grid import Column, Grid, figures, texts
from study.people import SMALL, shown
from study.tables.layout import number


def by_place(places: Collection[Place]) -> dict[Place, Grid]:
    """Of these datasets and settings."""
    table = results.read("groups")
    return {
        (str(dataset), str(setting)): grid(of)
        for (dataset, setting), of in table.groupby(results.PLACE, sort=False)
        if (dataset, setting) in places
    }


def grid(own: pd.DataFrame) -> Grid:
    """A line for each group, a column for each method; a group without test rows has no figures."""
    methods = labels.in_order(own["method"])
    columns: list[Column] = [*texts("Group"), *figures("Rows")]
    columns += figures(*map(labels.full_method_name, methods))
    rows = []
    for _, of in own.groupby("group", sort=True):
        of_methods = {
            row["method"]: f"{number(row['selection_rate'])} / {number(row['accuracy'])}"
            for row in of.to_dict("records")
        }
        first = of.iloc[0]
        cells = [of_methods.get(method, "") for method in methods]
        rows.append([str(first["name"]), shown(first["size"]), *cells])
    caption = (
        "Test rows: the selection rate / accuracy of each group, means over seeds; none where they "
        f"would be about fewer than {SMALL} people, or let their number follow."
    )
    return Grid("Every group", caption, columns, rows)

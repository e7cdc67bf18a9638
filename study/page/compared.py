"""The tables of the comparison, as the sections of its page share them, and tables by method."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from study import labels, results
from study.page.cells import Place, attributes_of
from study.page.grid import TEXT, Column, Grid, figures
from study.params import Params
from study.results import PLACE, Row

TABLES = (
    "fronts", "best", "honest_summary", "hypervolume", "ranks", "pairs", "goal", "grids",
    "unprocessed",
)  # fmt: skip


@dataclass(frozen=True)
class Found:
    """The results that the sections share, by the names of their tables."""

    params: Params
    tables: Mapping[str, pd.DataFrame]

    @cached_property
    def attributes(self) -> dict[Place, str]:
        return attributes_of(self.tables["honest_summary"])

    @cached_property
    def paper(self) -> list[str]:
        """The paper's datasets that were run."""
        return [dataset for dataset in self.params.datasets if dataset in labels.DATASETS]

    @cached_property
    def honest(self) -> pd.DataFrame:
        """The honest table, without the rows that have no figures."""
        table = self.tables["honest_summary"]
        return table[table["micro_f1"].notna()]

    def row(self, key: Place) -> list[str]:
        """The first two cells of a row."""
        return [labels.dataset_name(key[0]), self.attributes[key]]

    def by_method(
        self,
        table: pd.DataFrame,
        text: Callable[[Row], str],
        label: str,
        caption: str,
        begins: str = "",
        known: bool = False,
    ) -> Grid:
        """A line per method, a column per dataset and setting.

        begins: what ids of cells begin with, if something leads to them. known: with a column that
        says whether the sensitive attribute must be known when deciding.
        """
        there = {*places_of(table)}
        places = [place for place in self.attributes if place in there]
        shown = {
            (row["method"], (row["dataset"], row["setting"])): text(row)
            for row in table.to_dict("records")
        }
        methods = labels.in_order(table["method"])
        rows, ids = [], {}
        for line, method in enumerate(methods):
            cells = [shown.get((method, place), "") for place in places]
            s = ["yes" if labels.needs_s(method) else "no"] * known
            rows.append([labels.full_method_name(method), *s, *cells])
            for column, place in enumerate(places, 1 + known):
                if begins and (method, place) in shown:
                    ids[line, column] = f"{begins}-{place[0]}-{place[1]}-{method}"
        columns = [Column("Method", TEXT), *[Column("Needs s", TEXT)] * known]
        for place in places:
            columns += figures(self.attributes[place], group=labels.dataset_name(place[0]))
        return Grid(label, caption, columns, rows, ids=ids)


def read(params: Params) -> Found:
    return Found(params, {name: results.read(name) for name in TABLES})


def of_methods(table: pd.DataFrame, test: Callable[[str], bool]) -> pd.DataFrame:
    """The rows of the methods that pass a test."""
    return table[np.array([test(method) for method in table["method"]], dtype=bool)]


def places_of(table: pd.DataFrame) -> list[Place]:
    return list(table[PLACE].drop_duplicates().itertuples(index=False, name=None))

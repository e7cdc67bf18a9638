"""The paper's part of the results, as the sections of its page share them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from infofair.metrics import average_gap_released
from study import labels, paths, results
from study.files import needed_json
from study.page import cells as counted
from study.page.cells import Cell, Place
from study.params import Params
from study.results import Row


@dataclass(frozen=True)
class Found:
    """The results that the sections share."""

    params: Params
    summary: pd.DataFrame
    settings: Mapping[Place, Row]  # of results/statistics.csv
    validations: Mapping[str, Any]  # results/validation/<dataset>.json

    @cached_property
    def cells(self) -> list[Cell]:
        return counted.cells(self.summary)

    @cached_property
    def printed(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.printed]

    @cached_property
    def constant(self) -> list[Cell]:
        return [cell for cell in self.printed if cell.constant_in_print]

    @cached_property
    def attributes(self) -> dict[Place, str]:
        return counted.attributes_of(pd.DataFrame(list(self.settings), columns=results.PLACE))

    @cached_property
    def paper(self) -> list[str]:
        """The paper's datasets that were run."""
        return [dataset for dataset in self.params.datasets if dataset in labels.DATASETS]

    @cached_property
    def vanilla(self) -> dict[Place, Cell]:
        return self.of("vanilla")

    @cached_property
    def infofair(self) -> dict[Place, Cell]:
        return self.of("infofair")

    @cached_property
    def rivals(self) -> list[Cell]:
        """Methods of their own, without those that are constant."""
        known = set(labels.VARIANTS) - {"infofair"}
        return [c for c in self.cells if c.method not in known and not c.mean["note"]]

    def of(self, method: str) -> dict[Place, Cell]:
        return {cell.key: cell for cell in self.cells if cell.method == method}

    def row(self, key: Place) -> list[str]:
        """The first two cells of a row."""
        return [labels.dataset_name(key[0]), self.attributes[key]]


def read(params: Params) -> Found:
    settings = {}
    for row in results.read("statistics").to_dict("records"):
        # no prediction scores less: a group without members is 1/2 away from every other
        present = row["groups"] - row["empty_test"]
        least = float(average_gap_released(0, present, row["groups"]))
        settings[row["dataset"], row["setting"]] = row | {"least": least}
    validations = {
        dataset: needed_json(paths.validation_report(dataset), paths.stage("validate", dataset))
        for dataset in params.datasets
    }
    return Found(params, results.read("summary"), settings, validations)

"""What reports/luck.html and docs/results-luck.md say: how much is luck, and what was tried.

Reads what the stages of luck/dvc.yaml make, and the raw data's SOURCE.json.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from study import labels, paths, results
from study.page import seeds, sources, tried
from study.page.cells import Place, attributes_of
from study.params import Params

TABLES = ("luck_summary", "tried")


def facts(params: Params) -> dict[str, Any]:
    """Everything that the page and the document show, but for the figure."""
    summary, readings = (results.read(name) for name in TABLES)
    both = pd.concat([summary[results.PLACE], readings[results.PLACE]])
    attributes = attributes_of(both)

    def row(key: Place) -> list[str]:
        return [labels.dataset_name(key[0]), attributes[key]]

    return {
        "params": params,
        "attributes": attributes,
        "unlike": unlike(readings),
        "luck": seeds.facts(summary, row),
        "tried": tried.facts(readings, row),
    }


def unlike(readings: pd.DataFrame) -> list[tuple[str, str, str]]:
    """The datasets whose data or split is not the paper's: name, data, split."""
    of = set(readings[["dataset", *results.MARKS]].itertuples(index=False, name=None))
    return sorted(marks for marks in of if marks[1:] != ("real", "authors"))


def of_page(params: Params) -> dict[str, Any]:
    """What the page shows and the document does not."""
    return {
        "strips": sources.drawing(paths.figure("luck", "svg"), "luck/dvc.yaml:figure"),
        **sources.made(params, paths.LOCKS[2], "luck/dvc.yaml:luck_table", outputs(params)),
    }


def outputs(params: Params) -> Iterator[Path]:
    """The models and the tables that the page is made from."""
    for dataset in params.datasets:
        yield from (paths.beyond("luck", dataset, method) for method in params.luck.methods)
    yield from (paths.table(name) for name in TABLES)
    yield paths.figure("luck", "svg")

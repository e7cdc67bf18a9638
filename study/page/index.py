"""What reports/index.html and docs/results.md say: the paper's part, a function for each section.

Reads what the stages of dvc.yaml make, and nothing of beyond/dvc.yaml.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from study import labels, paths, results
from study.page import cells as counted
from study.page import deviations, fairness, groups, printed, sources
from study.page.found import Found, read
from study.page.grid import TEXT, Column, Grid, by_place, figures
from study.params import Params
from study.people import shown
from study.results import Row
from study.tables import layout
from study.tables import results as table
from study.tables.layout import number, percent

TABLES = (
    "runs",
    "summary",
    "statistics",
    "subsets",
    "selection",
    "as_run",
    "groups",
)  # whose hashes are shown
FIGURES = ("tradeoff", "ablation")


def facts(params: Params) -> dict[str, Any]:
    """Everything that the page and the document show, but for tables and figures of other rooms."""
    found = read(params)
    return {
        "params": params,
        "paper": found.paper,
        "attributes": found.attributes,
        "vanilla": found.vanilla,
        "infofair": found.infofair,
        "unlike": unlike(found),
        **printed.facts(found.attributes),
        **short(found),
        **fairness.facts(found),
        **data(found),
        **deviations.facts(found),
        "findings": {m: said for m in params.method_names if (said := labels.finding(m))},
    }


def unlike(found: Found) -> list[tuple[str, str, str]]:
    """The datasets whose data or split is not the paper's: name, data, split."""
    all_of = {
        (c.dataset, c.mean["data"], c.mean["partition"])
        for c in found.cells
        if c.dataset in found.paper or c.mean["data"] != "real"
    }
    return sorted(all_of - {(dataset, "real", "authors") for dataset in found.params.datasets})


# -- in short -------------------------------------------------------------------------------------


def short(found: Found) -> dict[str, Any]:
    claimed = [cell for cell in found.infofair.values() if cell.dataset in found.paper]
    own = {
        d: [cell for cell in found.infofair.values() if cell.dataset == d]
        for d in found.params.datasets
        if d not in found.paper
    }
    vanilla = found.vanilla
    return {
        "own": {d: (of, counted.below(of, vanilla) if vanilla else None) for d, of in own.items()},
        "constant": found.constant,
        "claimed": claimed,
        "beaten": {cell: by for cell in claimed if (by := counted.better(cell, found.rivals))},
        "fairest": counted.fairest(found.rivals),
        "leaks": {
            dataset: [column for column in report["audit"] if column["column"] in report["leaks"]]
            for dataset, report in found.validations.items()
            if report["leaks"]
        },
    }


# -- data -----------------------------------------------------------------------------------------


def data(found: Found) -> dict[str, Any]:
    first = {row["dataset"]: row for row in reversed(list(found.settings.values()))}
    of_dataset = [first[dataset] for dataset in dict.fromkeys(d for d, _ in found.settings)]
    return {
        "settings": found.settings,
        "validations": found.validations,
        "statistics": statistics(found, of_dataset),
        "counts_columns": [
            row["dataset"]
            for row in of_dataset
            if row["attributes"] != row["paper_attributes"] == row["features"]
        ],
        "groups": by_place(
            "Groups",
            "The groups of each setting. The smallest group is the smallest that has members.",
            figures("Groups", "Smallest in training", "Smallest in test", "Without test rows"),
            [
                [
                    *found.row(key), str(row["groups"]), shown(row["smallest_train"]),
                    shown(row["smallest_test"]), str(row["empty_test"]),
                ]
                for key, row in found.settings.items()
            ],
        ),
    }  # fmt: skip


def statistics(found: Found, of_dataset: list[Row]) -> Grid:
    both = ("ours", "paper")
    columns = [
        Column("Dataset", TEXT), *figures(*both, group="Samples"),
        *figures(*both, group="Attributes"), Column("Columns"), *figures(*both, group="Classes"),
        *figures("Positive", "Training", "Validation", "Test", "Removed by filters"),
    ]  # fmt: skip
    rows = []
    for row in of_dataset:
        report = found.validations[row["dataset"]]
        rows.append(
            [
                labels.dataset_name(row["dataset"]),
                number(row["samples"], 0), number(row["paper_samples"], 0),
                str(row["attributes"]), number(row["paper_attributes"], 0), str(row["features"]),
                str(row["classes"]), number(row["paper_classes"], 0), percent(row["positives"]),
                *(number(row[part], 0) for part in ("train", "validation", "test")),
                number(report["rows_read"] - report["rows"], 0),
            ]
        )  # fmt: skip
    return Grid(
        "Dataset statistics",
        "The datasets after the paper’s filters, and the figures it prints. Columns are those of "
        "the feature matrix, attributes what they encode.",
        columns,
        rows,
    )


# -- the page -------------------------------------------------------------------------------------


def of_page(params: Params) -> dict[str, Any]:
    """What the page shows and the document does not."""
    summary = results.read("summary")
    found = counted.cells(summary)
    return {
        "cells": found,
        "picture": picture(),
        "group_grids": groups.by_place({cell.key for cell in found}),
        "filters": {
            "dataset": {c.dataset: labels.dataset_name(c.dataset) for c in found},
            "setting": {c.setting: labels.attribute_name(c.setting) for c in found},
            "method": {c.method: labels.full_method_name(c.method) for c in found},
        },
        "results_table": layout.to_html(table.blocks(summary), table.LAYOUT, boxed=True),
        **{name: sources.drawing(paths.figure(name, "svg"), f"figure@{name}") for name in FIGURES},
        **sources.made(params, paths.LOCKS[0], "summarize", outputs(params)),
    }


def picture() -> dict[str, Any]:
    """The columns of the picture of all printed cells, and which of them are of which dataset."""
    table = results.read("as_run")
    places = list(table[results.PLACE].drop_duplicates().itertuples(index=False, name=None))
    places.sort(key=lambda place: list(table["dataset"]).index(place[0]))
    datasets = [dataset for dataset, _ in places]
    return {
        "places": places,
        "datasets": {d: (datasets.index(d), datasets.count(d)) for d in dict.fromkeys(datasets)},
    }


def outputs(params: Params) -> Iterator[Path]:
    """The data, the predictions and the tables that the page is made from."""
    for dataset in params.datasets:
        yield from (paths.raw(dataset), paths.validated(dataset), paths.processed(dataset))
        yield from (paths.predictions(dataset, method) for method in params.method_names)
    yield from (paths.table(name) for name in TABLES)
    yield from (paths.figure(name, "svg") for name in FIGURES)

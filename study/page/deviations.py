"""What differs from the paper, and why; and the subset lemma: sections of the paper's page."""

from typing import Any

import pandas as pd

from study import labels, paths, results
from study.files import need
from study.page import cells as counted
from study.page.found import Found
from study.page.grid import Grid, by_place, changes, figures, texts
from study.page.words import NONE
from study.tables.layout import number, percent


def facts(found: Found) -> dict[str, Any]:
    sections = (forms, unbounded, selection, floor, lemma)
    return {name: fact for section in sections for name, fact in section(found).items()}


def forms(found: Found) -> dict[str, Any]:
    """Imparity as in the text and as released."""
    rows = []
    for key, cell in found.vanilla.items():
        row, own = found.settings[key], cell.selected
        shown = (own["imparity"], own["imparity_released"], own["paper_imparity"], row["least"])
        counts = [str(row["groups"]), str(row["empty_test"])]
        rows.append([*found.row(key), *counts, *map(number, shown)])
    headings = ("Groups", "Without test rows", "Text", "Released", "Paper")
    return {
        "forms": counted.forms([cell for cell in found.vanilla.values() if cell.printed]),
        "both_forms": by_place(
            "Both forms of imparity",
            "Vanilla’s imparity in both forms, as selected, and the least the released form can "
            "be.",
            figures(*headings, "Least possible, released"),
            rows,
        ),
    }


def unbounded(found: Found) -> dict[str, Any]:
    epochs = found.params.training.epochs
    named = found.params.datasets if found.infofair else []
    return {"objective": {dataset: objective(dataset, epochs) for dataset in named}}


def objective(dataset: str, epochs: int) -> dict[str, float]:
    """InfoFair's objective and task loss in the end, averaged over its models; how many stopped."""
    path = need(paths.curves(dataset, "infofair"), f"train@{dataset}-infofair")
    curves = results.checked(path, ["setting", "seed", "epoch", "T", "total"])
    last = curves.groupby(["setting", "seed"]).last()
    stopped = int((last["epoch"] < epochs).sum())
    return {
        "J": last["total"].mean(), "T": last["T"].mean(), "models": len(last), "stopped": stopped
    }  # fmt: skip


def selection(found: Found) -> dict[str, Any]:
    seeds = results.read("selection").to_dict("records")
    rows = []
    for row in seeds:
        key = row["dataset"], row["setting"]
        own = found.infofair.get(key)
        both = ("reduction_released", "paper_reduction")
        theirs = [own.change(own.selected[name]) if own else NONE for name in both]
        most, least = row["imparity_released"], row["fairest_imparity_released"]
        shown = [number(most), number(least), percent(row["reduction_released"]), *theirs]
        rows.append([*found.row(key), *shown])
    headings = ("Most accurate", "Fairest", "“Reduction”", "InfoFair’s, selected", "Paper’s")
    return {
        "selection": by_place(
            "Selection among vanilla’s seeds",
            "Vanilla’s most accurate and fairest seed on validation rows, and their imparity (as "
            "released) on test rows. In parentheses: no evidence of bias to reduce.",
            figures(*headings),
            rows,
        ),
        "reductions": [
            row["reduction_released"]
            for row in seeds
            if not pd.isna(row["reduction_released"])  # vanilla's own imparity is 0
        ],
    }


def floor(found: Found) -> dict[str, Any]:
    """Vanilla and InfoFair beside what an exactly fair predictor scores."""
    rows = []
    for key, cell in found.vanilla.items():
        own, mean = found.infofair.get(key), cell.mean
        f1, theirs = (
            own.over_seeds(name) if own else NONE for name in ("micro_f1", "imparity_released")
        )
        shown = [cell.over_seeds("micro_f1"), f1, cell.over_seeds("imparity_released"), theirs]
        fair = [number(mean[name]) for name in ("floor_released", "null_95_released", "p_value")]
        rows.append([*found.row(key), *shown, *fair, mean["evidence"] or NONE])
    both = ("Vanilla", "InfoFair")
    return {
        "floor": by_place(
            "Noise floor",
            "Means over seeds ± their standard deviation, imparity as released; the mean and the "
            "95 % quantile of an exactly fair predictor at vanilla’s selection rate; and the "
            "permutation test of vanilla’s mean.",
            [
                *figures(*both, group="Micro F1"), *figures(*both, group="Imparity"),
                *figures("mean", "95 %", group="Fair"), *figures("p"), *texts("Evidence of bias"),
            ],
            rows,
        ),
        "not_told_from_fair": {
            method: [
                cell
                for cell in found.of(method).values()
                if cell.mean["imparity_released"] <= cell.mean["null_95_released"]
            ]
            for method in ("vanilla", "infofair")
        },
    }  # fmt: skip


def lemma(found: Found) -> dict[str, Any]:
    """Models for the intersection, on each attribute alone."""
    places = list(found.settings)
    measured = sorted(
        results.read("subsets").to_dict("records"),
        key=lambda row: places.index((row["dataset"], row["attribute"])),
    )
    rows = []
    for row in measured:
        named = labels.dataset_name(row["dataset"]), labels.attribute_name(row["attribute"])
        shown = [number(row[f"{whose}imparity_released"]) for whose in ("", "vanilla_", "own_")]
        lower = row["lower"] if isinstance(row["lower"], str) else NONE
        rows.append([*named, labels.full_method_name(row["method"]), *shown, lower, row["note"]])
    return {
        "lowered": sum(row["lower"] == "yes" for row in measured),
        "subsets": Grid(
            "Subset lemma",
            "Mean imparity (as released) over seeds, on one attribute.",
            [
                *texts("Dataset", "Attribute", "Method"),
                *figures("Trained on the intersection", "Vanilla", "Trained on the attribute"),
                *texts("Below vanilla", "Note"),
            ],
            rows,
            changes((row[0], row[1]) for row in rows),
        ),
    }

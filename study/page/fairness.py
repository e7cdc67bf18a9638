"""What a method does to groups beside imparity: sections of the paper's page.

Whether there is bias to reduce, whether a threshold alone would do as much, and who is selected.
"""

from collections.abc import Callable, Iterable
from typing import Any

from study import labels
from study.control import more_than_a_threshold
from study.page import cells as counted
from study.page.cells import Cell
from study.page.found import Found
from study.page.grid import Column, Grid, by_place, figures, texts
from study.page.words import NONE
from study.tables.layout import number
from study.tables.summary import methods_of

# A figure by group -> its heading, and whether more of it is better.
OF_GROUPS = {
    "selection_rate": ("Selection rate", None),
    "parity_ratio": ("Parity ratio", True),
    "differential_fairness": ("ε", False),
    "worst_accuracy": ("Worst group’s accuracy", True),
    "lowest_rate": ("Lowest rate", None),
    "highest_rate": ("Highest rate", None),
}


def facts(found: Found) -> dict[str, Any]:
    sections = (evidence, controls, rates)
    return {name: fact for section in sections for name, fact in section(found).items()}


def evidence(found: Found) -> dict[str, Any]:
    """Where vanilla's imparity says that there is bias, and what InfoFair does there."""
    judged = [cell for cell in found.vanilla.values() if cell.mean["evidence"]]
    claimed = [
        cell for cell in found.infofair.values()
        if cell.dataset in found.paper and cell.mean["evidence"] == "yes"
    ]  # fmt: skip
    return {
        "biased": [cell for cell in judged if cell.mean["evidence"] == "yes"],
        "unbiased": [cell for cell in judged if cell.mean["evidence"] == "no"],
        "reducible": claimed,
        "below": counted.below(claimed, found.vanilla) if found.vanilla else None,
    }


# -- thresholds -----------------------------------------------------------------------------------


def controls(found: Found) -> dict[str, Any]:
    """Each method beside vanilla with one threshold at its selection rate."""
    compared = found.summary[found.summary["method"].isin(methods_of(found.summary))]
    by = {
        (str(row["dataset"]), str(row["setting"])): row
        for row in more_than_a_threshold(compared).to_dict("records")
    }
    own = [cell for cell in found.infofair.values() if cell.mean["more_than_threshold"]]
    rows = []
    for key, row in by.items():
        cell = found.infofair.get(key)
        names = [labels.full_method_name(name) for name in row["names"].split(", ") if name]
        verdict = _verdict(cell) if cell else NONE
        shown = [
            *(_pairs(cell) if cell else [NONE] * 2),
            verdict,
            f"{row['more']} of {row['judged']}",
        ]
        rows.append([*found.row(key), *shown, ", ".join(names) or NONE])
    return {
        "judged_cells": sum(row["judged"] for row in by.values()),
        "doing_more": sum(row["more"] for row in by.values()),
        "own_judged": own,
        "own_more": [cell for cell in own if cell.mean["more_than_threshold"] == "yes"],
        "own_thresholds": _by_dataset(own),
        "vanilla_rates": {key: cell.mean["selection_rate"] for key, cell in found.vanilla.items()},
        "thresholds": by_place(
            "Threshold control",
            "Micro F1 / imparity (as released), means over seeds: InfoFair, and vanilla with one "
            "threshold at InfoFair’s selection rate; and how many of the methods that can be "
            "judged do more than their threshold.",
            [
                *figures("InfoFair", "Threshold"), Column("InfoFair does more"),
                *figures("Methods that do more"), *texts("Which"),
            ],
            rows,
        ),
    }  # fmt: skip


def _verdict(cell: Cell) -> str:
    return cell.mean["more_than_threshold"] or NONE


def _pairs(cell: Cell) -> list[str]:
    """Micro F1 / imparity of a method and of its control."""
    return [
        f"{number(cell.mean[f'{of}micro_f1'])} / {number(cell.mean[f'{of}imparity_released'])}"
        for of in ("", "control_")
    ]


def _by_dataset(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.dataset, []).append(cell)
    return found


# -- who is selected ------------------------------------------------------------------------------


def rates(found: Found) -> dict[str, Any]:
    """Figures by group before (vanilla) and after (InfoFair), and counts for every method."""
    pairs = [(found.vanilla[key], own) for key, own in found.infofair.items() if found.vanilla]
    rows = []
    for before, after in pairs:
        shown = [number(of.mean[name]) for name in OF_GROUPS for of in (before, after)]
        rows.append([*found.row(after.key), *shown, after.mean["levelling_down"] or NONE])
    heads = [
        column
        for heading, _ in OF_GROUPS.values()
        for column in figures("Vanilla", "InfoFair", group=heading)
    ]
    return {
        "compared": pairs,
        "better_in": {
            name: [after for before, after in pairs if _better(name, before, after)]
            for name, (_, more) in OF_GROUPS.items()
            if more is not None
        },
        "levelled": [cell for _, cell in pairs if cell.mean["levelling_down"] == "yes"],
        "rates": by_place(
            "Who is selected",
            "Means over seeds on test rows, before (vanilla) and after (InfoFair). The parity "
            "ratio is the lowest group’s rate over the highest’s, ε that of differential fairness "
            "(smoothed). Levelling down: the highest rate falls and the lowest does not rise.",
            [*heads, Column("Levelling down")],
            rows,
        ),
        "rates_by_method": by_method(found),
    }


def _better(name: str, before: Cell, after: Cell) -> bool:
    more = OF_GROUPS[name][1]
    gain = round(after.mean[name] - before.mean[name], 10)
    return gain > 0 if more else gain < 0


def by_method(found: Found) -> Grid:
    """In how many settings each method does what, against vanilla."""

    def count(of: list[Cell], true: Callable[[Cell], bool]) -> str:
        return str(sum(map(true, of)))

    names = [name for name in methods_of(found.summary) if name != "vanilla" and found.vanilla]
    rows = []
    for method in names:
        of = [cell for cell in found.of(method).values() if cell.key in found.vanilla]
        useful = [cell for cell in of if cell.mean["note"] != "constant"]
        better = [
            count(useful, lambda c, n=name: _better(n, found.vanilla[c.key], c))  # type: ignore[misc]
            for name, (_, more) in OF_GROUPS.items()
            if more is not None
        ]
        judged = [cell for cell in useful if cell.mean["more_than_threshold"]]
        more_than = count(judged, lambda c: c.mean["more_than_threshold"] == "yes")
        down = count(useful, lambda c: c.mean["levelling_down"] == "yes")
        shown = [
            str(len(useful)),
            f"{more_than} of {len(judged)}" if judged else NONE,
            *better,
            down,
        ]
        rows.append([labels.full_method_name(method), *shown])
    return Grid(
        "What methods do to groups",
        "In how many settings a method does more than a threshold, has a higher parity ratio, a "
        "lower ε and a higher accuracy in the worst group than vanilla, and levels down; means "
        "over seeds, without constant predictors.",
        [
            *texts("Method"),
            *figures("Settings", "More than a threshold", "Parity ratio", "ε"),
            *figures("Worst group’s accuracy", "Levelling down"),
        ],
        rows,
    )

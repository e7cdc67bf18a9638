"""The paper's results table from results/summary.csv.

One table per dataset, laid out as the paper's: its methods in its order (your own before InfoFair),
and for every setting Micro/Macro F1, Imparity and Reduction. Each method has three lines: what the
paper's protocol selects, the mean ± standard deviation over seeds, and what the paper prints. The
layout's legend says how to read it.
"""

import re

import numpy as np
import pandas as pd

from study.labels import setting_name
from study.tables.layout import Block, Cell, Layout, Line, percent, spread
from study.tables.summary import (
    Row,
    cell,
    constant_in_print,
    datasets_of,
    front,
    methods_of,
    noise_floor,
    settings_of,
    warnings,
)

LINES = {"selected": "ours, selected", "mean": "ours, mean ± std", "paper": "paper"}
LEGEND = {
    "ours, selected": "the paper's protocol: of all seeds, the model with the lowest validation "
    "imparity (Vanilla: the highest micro F1), on test rows.",
    "ours, mean ± std": "over all seeds, on test rows; no ± where a single model was fitted.",
    "paper": "as printed there.",
    "Imparity": "as the released code computes it, because that is what the paper prints: each "
    "group is also paired with itself, and a group without test rows counts as rate 0.",
    "Bold": "the best trade-offs, which are the Pareto front of mean micro F1 and mean imparity: "
    "no other method in the same setting is at least as good in both and better in one. Methods "
    "with a constant seed are left out, and those whose figures are Vanilla's own.",
    "†": "a constant predictor: one class for every test row (†2/5: in two of five seeds). In the "
    "paper's lines: imparity 0, and the macro F1 of a single class.",
    "N/A": "the method cannot run in this setting.",
    "Noise floor": "the imparity to expect of an exactly fair predictor with Vanilla's selection "
    "rate on test groups of these sizes, and the reduction it would show. Imparity at or below it "
    "cannot be told from fair.",
}
LAYOUT = Layout(
    "results",
    "Debiasing results on",
    "Source",
    {"f1": "Micro/Macro F1", "imparity": "Imparity", "reduction": "Reduction"},
    LEGEND,
)


def _dagger(note: str) -> str:
    some = re.search(r"(\d+) of (\d+)", note)
    return f"†{some[1]}/{some[2]}" if some else "†" if note else ""


def _selected(row: Row) -> list[Cell]:
    f1 = f"{row['micro_f1']:.3f}/{row['macro_f1']:.3f}{_dagger(row['note'])}"
    imparity, reduction = row["imparity_released"], row["reduction_released"]
    return [
        Cell(f1, row["micro_f1"], note=row["note"]),
        Cell(f"{imparity:.3f}", imparity),
        Cell(percent(reduction), reduction),
    ]


def _mean(mean: Row, std: Row, best: bool) -> list[Cell]:
    between = "/" if np.isnan(std["micro_f1"]) else " / "
    f1 = between.join(spread(mean[name], std[name]) for name in ("micro_f1", "macro_f1"))
    imparity, reduction = mean["imparity_released"], mean["reduction_released"]
    change = percent(reduction)
    if not np.isnan(reduction) and not np.isnan(std["reduction_released"]):
        change = f"{change.removesuffix('%')} ± {percent(std['reduction_released'])}"
    return [
        Cell(f1 + _dagger(mean["note"]), mean["micro_f1"], best, mean["note"]),
        Cell(spread(imparity, std["imparity_released"]), imparity, best),
        Cell(change, reduction),
    ]


def _printed(row: Row) -> list[Cell]:
    if np.isnan(row["paper_micro_f1"]):
        return [Cell("–")] * 3
    note = "constant" if constant_in_print(row) else ""
    f1 = f"{row['paper_micro_f1']:.3f}/{row['paper_macro_f1']:.3f}{_dagger(note)}"
    imparity, reduction = row["paper_imparity"], row["paper_reduction"]
    return [
        Cell(f1, row["paper_micro_f1"], note=note),
        Cell(f"{imparity:.3f}", imparity),
        Cell(percent(reduction, "#.4g"), reduction),  # four digits, as there
    ]


def _floor(summary: pd.DataFrame, dataset: str, setting: str) -> list[Cell]:
    floor = noise_floor(summary, dataset, setting)
    if np.isnan(floor):
        return [Cell("")] * 3
    vanilla = float(cell(summary, dataset, setting)["imparity_released"]["vanilla"])
    reduction = 1 - floor / vanilla if vanilla else float("nan")
    return [Cell(""), Cell(f"{floor:.3f}", floor), Cell(percent(reduction), reduction)]


def blocks(summary: pd.DataFrame) -> list[Block]:
    """The whole table, one block per dataset."""
    return [_block(summary, dataset) for dataset in datasets_of(summary)]


def _block(summary: pd.DataFrame, dataset: str) -> Block:
    own = summary[summary["dataset"] == dataset]
    names = settings_of(summary, dataset)
    lines: dict[str, dict[str, list[Cell]]] = {
        method: {line: [] for line in LINES} for method in methods_of(own)
    }
    for setting in names:
        selected, mean, std = (
            cell(summary, dataset, setting, p).to_dict("index") for p in ("paper", "mean", "std")
        )
        best = front(summary, dataset, setting).index
        for method, of_method in lines.items():
            if method not in mean:
                for cells in of_method.values():
                    cells += [Cell("N/A")] * 3
                continue
            of_method["selected"] += _selected(selected[method])
            of_method["mean"] += _mean(mean[method], std[method], method in best)
            of_method["paper"] += _printed(mean[method])
    for of_method in lines.values():
        if all(np.isnan(cell.value) for cell in of_method["paper"]):
            del of_method["paper"]  # a method, or a dataset, that the paper does not have
    return Block(
        dataset,
        [setting_name(name, names) for name in names],
        {
            method: [Line(kind, LINES[kind], cells) for kind, cells in of_method.items()]
            for method, of_method in lines.items()
        },
        [cell for setting in names for cell in _floor(summary, dataset, setting)],
        warnings(own),
    )

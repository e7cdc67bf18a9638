"""The paper's results table from results/summary.csv.

One table per dataset, laid out as the paper's: its methods in its order (your own before InfoFair),
and for every setting Micro/Macro F1, Imparity and Reduction. Each method has four lines: what the
paper's protocol selects, the mean ± standard deviation over seeds, vanilla with a threshold at the
method's selection rate, and what the paper prints. The layout's legend says how to read it.
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
    of_vanilla,
    settings_of,
    threshold_control,
    warnings,
    without_evidence,
)

LINES = {
    "selected": "ours, selected",
    "mean": "ours, mean ± std",
    "control": "threshold control",
    "paper": "paper",
}
NO_EVIDENCE = "‡"  # after a setting's name
VERDICTS = {"yes": "does more", "no": "no more"}
LEGEND = {
    "ours, selected": "the paper's protocol: of all seeds, the model with the lowest validation "
    "imparity (Vanilla: the highest macro F1), on test rows.",
    "ours, mean ± std": "over all seeds, on test rows; no ± where a single model was fitted.",
    "threshold control": "Vanilla with one threshold for all, moved on validation rows to the "
    "method's selection rate: what saying yes less often, or more often, does by itself; mean over "
    "seeds. The method does more if its mean imparity is lower by more than the standard error of "
    "the difference, and its micro F1 not lower by more than its own. A single fit is not judged.",
    "paper": "as printed there.",
    "Imparity": "as the released code computes it, because that is what the paper prints: each "
    "group is also paired with itself, and a group without test rows counts as rate 0.",
    "Bold": "the best trade-offs, which are the Pareto front of mean micro F1 and mean imparity: "
    "no other method in the same setting is at least as good in both and better in one. Methods "
    "with a constant seed are left out, and those whose figures are Vanilla's own.",
    "†": "a constant predictor: one class for every test row (†2/5: in two of five seeds). In the "
    "paper's lines: imparity 0, and the macro F1 of a single class.",
    "N/A": "the method cannot run in this setting.",
    NO_EVIDENCE: "no evidence of bias: if groups are permuted over rows, Vanilla's mean imparity "
    "is no rarity (p ≥ 0.05 after Holm's correction for all columns of all datasets). There is "
    "nothing to reduce, so that what is in parentheses is no reduction.",
    "Noise floor": "the imparity to expect of an exactly fair predictor with Vanilla's selection "
    "rate on test groups of these sizes, and the change against Vanilla it would show.",
    "Fair, 95 %": "what 95 % of such predictors stay below. Imparity at or below it cannot be told "
    "from fair.",
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


def _change(text: str, row: Row) -> str:
    """A reduction, or in parentheses what is none for want of bias."""
    return f"({text})" if row["evidence"] == "no" and text != "–" else text


def _selected(row: Row) -> list[Cell]:
    f1 = f"{row['micro_f1']:.3f}/{row['macro_f1']:.3f}{_dagger(row['note'])}"
    imparity, reduction = row["imparity_released"], row["reduction_released"]
    return [
        Cell(f1, row["micro_f1"], note=row["note"]),
        Cell(f"{imparity:.3f}", imparity),
        Cell(_change(percent(reduction), row), reduction),
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
        Cell(_change(change, mean), reduction),
    ]


def _control(mean: Row) -> list[Cell]:
    if not threshold_control(mean):
        return [Cell("–")] * 3
    f1, imparity = mean["control_micro_f1"], mean["control_imparity_released"]
    return [
        Cell(f"{f1:.3f}/{mean['control_macro_f1']:.3f}", f1),
        Cell(f"{imparity:.3f}", imparity),
        Cell(VERDICTS.get(mean["more_than_threshold"], "–")),
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
        Cell(_change(percent(reduction, "#.4g"), row), reduction),  # four digits, as there
    ]


def _feet(summary: pd.DataFrame, dataset: str, settings: list[str]) -> dict[str, list[Cell]]:
    """What a fair predictor scores; empty without vanilla."""
    feet: dict[str, list[Cell]] = {"Noise floor": [], "Fair, 95 %": []}
    for setting in settings:
        floor, limit, vanilla = (
            of_vanilla(summary, dataset, setting, figure)
            for figure in ("floor_released", "null_95_released", "imparity_released")
        )
        if np.isnan(floor):
            return {}
        change = 1 - floor / vanilla if vanilla else float("nan")
        missing = {"evidence": "no" if without_evidence(summary, dataset, setting) else "yes"}
        shown = Cell(_change(percent(change), missing), change)
        feet["Noise floor"] += [Cell(""), Cell(f"{floor:.3f}", floor), shown]
        feet["Fair, 95 %"] += [Cell(""), Cell(f"{limit:.3f}", limit), Cell("")]
    return feet


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
            of_method["control"] += _control({"method": method, **mean[method]})
            of_method["paper"] += _printed(mean[method])
    for of_method in lines.values():
        # a method, or a dataset, that the paper does not have; vanilla, and constant predictors
        for kind in ("paper", "control"):
            if all(np.isnan(cell.value) for cell in of_method[kind]):
                del of_method[kind]
    marks = [f" {NO_EVIDENCE}" * without_evidence(summary, dataset, name) for name in names]
    return Block(
        dataset,
        [setting_name(name, names) + mark for name, mark in zip(names, marks, strict=True)],
        {
            method: [Line(kind, LINES[kind], cells) for kind, cells in of_method.items()]
            for method, of_method in lines.items()
        },
        _feet(summary, dataset, names),
        warnings(own),
    )

"""Every table of results: its columns, its one reader and its one writer."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from infofair.errors import Damaged
from infofair.storage import whole, write_rows
from study import paths
from study.files import need

Row = dict[Any, Any]
PLACE = ["dataset", "setting"]
CELL = [*PLACE, "method"]
MARKS = ["data", "partition"]  # "real" or "simulated"; the "authors" split or a "random" one
IMPARITIES = ["imparity", "imparity_released"]
METRICS = ["micro_f1", "macro_f1", *IMPARITIES]
OTHERS = [
    "largest_gap", "parity_ratio", "opportunity_gap", "odds_gap", "mutual_information",
    "selection_rate", "floor", "floor_released", "null_95", "null_95_released",
    "differential_fairness", "worst_accuracy", "lowest_rate", "highest_rate",
]  # fmt: skip
# of vanilla with one threshold, at the method's selection rate (study/control.py)
CONTROLS = [f"control_{name}" for name in (*METRICS, "selection_rate")]
BOUNDS = [f"{metric}_{end}" for metric in ("micro_f1", *IMPARITIES) for end in ("low", "high")]
REDUCTIONS = {"imparity": "reduction", "imparity_released": "reduction_released"}
# what the paper prints -> which of our figures it is
PRINTED = {
    "micro_f1": "micro_f1", "macro_f1": "macro_f1", "imparity": "imparity_released",
    "reduction": "reduction_released",
}  # fmt: skip
LEVELLING = ["vanilla_lowest_rate", "vanilla_highest_rate", "levelling_down"]
BESIDE = [f"{prefix}_{name}" for prefix in ("paper", "difference") for name in PRINTED]

# Of each dataset, in results/evaluation.
EVALUATION = {
    "runs": [
        *CELL, "seed", "split", *METRICS, *OTHERS, *BOUNDS, "p_value", *CONTROLS, "note", *MARKS,
    ],
    "groups": [
        *CELL, "seed", "split", "group", "name", "size", "selection_rate", "accuracy", *MARKS,
    ],
    "subsets": [
        "dataset", "setting", "attribute", "method", "seed", "split", *IMPARITIES, *MARKS,
    ],
    "intervals": [*CELL, "split", *BOUNDS, "p_value", *MARKS],
    "statistics": [
        "dataset", "setting", "samples", "features", "attributes", "classes", "positives", "train",
        "validation", "test", "groups", "smallest_train", "smallest_test", "empty_test", *MARKS,
    ],
}  # fmt: skip

# Of one model on one part, in results/measured; `…_null` is the 95 % quantile of an exactly fair
# predictor, the last five are of the scores.
FIGURES = [
    *METRICS, "selection_rate", "largest_gap", "parity_ratio", "opportunity_gap", "odds_gap",
    "differential_fairness", "worst_accuracy", "imparity_null", "largest_gap_null",
    "opportunity_gap_null", "odds_gap_null", "auc", "ks", "abcc", "bits", "ks_null",
]  # fmt: skip
MEASURED = [
    *CELL, "notion", "strength", "partition_seed", "seed", "split", *FIGURES, "constant_micro_f1",
    "note", "groups", "train", "test", *MARKS,
    "rates",  # of an honest split's test rows: group -> selection rate, as JSON
]  # fmt: skip
# `<figure>_width` is half of a 95 % interval over splits (study/comparison/intervals.py)
WITH_WIDTH = ["micro_f1", "imparity", "opportunity_gap", "odds_gap", "ks"]
ON_VALIDATION = ["micro_f1", "imparity", "opportunity_gap", "odds_gap", "auc", "ks"]
# of two methods, split by split
PAIRED = ["above_chord", "micro_f1", "imparity"]
AGAINST = ["infofair_fitted", "infofair"]  # every other method is tested against these
# Of all the others, one per family, which are tested once more by themselves: with few tests at
# once a difference can be told over few cells. Fixed by a rule, not by their results (which were
# known when it was written): thresholds on the networks' base and on the strongest, the plainest
# penalty, the solver that peers have, and no fairness.
RIVALS = ["vanilla_thresholds", "boosting_thresholds", "dp_gap", "expgrad", "vanilla"]

_SWEPT = [*CELL, "strength", "seed", "split", *METRICS, "selection_rate", "note", *MARKS]
_AREAS = ["hypervolume", "above_chord"]
_COMPARED = ["micro_f1", "imparity"]
_SHOWN = ["micro_f1", "macro_f1", "imparity_released"]
_PRINTED = ["paper_micro_f1", "paper_macro_f1", "paper_imparity"]
# Of all of them, in results: the columns, or those that a reader relies on.
TABLES = {
    "runs": EVALUATION["runs"],
    "summary": [
        *CELL, "protocol", *METRICS, *REDUCTIONS.values(), *BESIDE, *OTHERS, *BOUNDS, "p_value",
        "p_holm", "evidence", *CONTROLS, "more_than_threshold", *LEVELLING, "note", *MARKS,
    ],
    "groups": [*CELL, "group", "name", "size", "selection_rate", "accuracy", *MARKS],
    "subsets": [
        "dataset", "attribute", "method",
        *(f"{model}{name}" for model in ("", "vanilla_", "own_") for name in IMPARITIES),
        "lower", "note", *MARKS,
    ],
    "selection": [
        *PLACE, "seed", *IMPARITIES, "fairest_seed", *(f"fairest_{n}" for n in IMPARITIES),
        *REDUCTIONS.values(), *MARKS,
    ],
    "statistics": [
        *(name for name in EVALUATION["statistics"] if name not in MARKS),
        "paper_samples", "paper_attributes", "paper_classes", *MARKS,
    ],
    "as_run_tried": [
        *CELL, "variant", "seed", *_SHOWN, *_PRINTED, "distance", "within", *MARKS,
    ],
    "tried": [
        *CELL, "variant", "what", "seed", *_SHOWN, *_PRINTED, "distance", "within", *MARKS,
    ],
    "as_run": [
        *CELL, "variant", "seed", *_SHOWN, *_PRINTED, *(f"should_{m}" for m in _SHOWN),
        *(f"should_{m}_std" for m in _SHOWN), "distance", "within", "guessed", "possible",
        "explanation", *MARKS,
    ],
    "frontier": _SWEPT,
    "fronts": [
        *CELL, "notion", "strength", "splits", *FIGURES,
        *(f"validation_{m}" for m in ON_VALIDATION),
        *(f"{m}_width" for m in WITH_WIDTH), "constant", "diverged", "data", "rates",
    ],
    "hypervolume": [
        *CELL, *(f"{area}{end}" for area in _AREAS for end in ("", "_width")), "rank", "strengths",
        "splits", "groups", "vanilla_imparity", "vanilla_micro_f1", "constant_micro_f1",
    ],
    "ranks": [
        "cells", "method", "s_at_test", "rank", "above_chord", "blocks", "methods", "friedman",
        "friedman_p",
        *(f"{name}{end}" for name in AGAINST for end in ("_more", "_p", "_holm", "_few")),
    ],
    "pairs": [
        *CELL, "rival", "splits",
        *(f"{m}{end}" for m in PAIRED for end in ("", "_low", "_high", "_p", "_holm")),
    ],
    "best": [
        *CELL, "notion", "budget", "strength", "within", "validation_score", "validation_gap",
        "micro_f1", "micro_f1_width", "macro_f1", "auc", "auc_width", "gap", "gap_width",
        "gap_null", "imparity", "worst_accuracy", "kept", "constant", "dominated_by",
    ],
    "goal": [
        *CELL, "strength", "seeds", "validation_micro_f1", "validation_imparity_released",
        "micro_f1", "imparity_released", "asked_micro_f1", "rival", "rival_imparity", "holds",
        "why",
    ],
    "goal_counts": ["method", "cells", "holds"],
    "grids": ["dataset", "method", "setting", "strength", "micro_f1", "imparity", "constant"],
    "chosen": [*CELL, "partition_seed", "strength"],
    "luck": [*CELL, "seed", "split", *METRICS, "selection_rate", "note", *MARKS],
    "luck_summary": [
        *CELL, "figure", "seeds", "printed", "mean", "std", "low", "high", "below", "expected",
        "expected_std", "as_low",
    ],
    "honest_summary": [
        *CELL, "s_at_test", "strength", "groups", "splits", "seeds",
        *(f"{m}{end}" for m in FIGURES for end in ("", "_low", "_high")),
        *(f"more_{m}{end}" for m in WITH_WIDTH for end in ("", "_low", "_high")),
        "p_imparity", "p_holm", "dominated_by", "constant", "diverged", "data",
    ],
    "unprocessed": [
        *CELL, "notion", "tolerance", "micro_f1", "micro_f1_width", "imparity", "largest_gap",
        "opportunity_gap", "odds_gap", "random", "validation_micro_f1", "validation_imparity",
        "validation_opportunity_gap", "validation_odds_gap",
    ],
}  # fmt: skip
# Of a generalisation. chosen: whether validation rows choose the strength; floor, null_95: a gap's
# mean and its 95 % quantile with s permuted.
GENERAL = [
    *CELL, "strength", "chosen", "metric", "mean", "std", "seeds", "floor", "null_95", "data",
]  # fmt: skip
MADE_BY = {
    **dict.fromkeys(
        ("runs", "summary", "groups", "subsets", "selection", "statistics"), "summarize"
    ),
    **dict.fromkeys(("as_run", "as_run_tried"), "explain"),
    **dict.fromkeys(
        (
            "fronts",
            "best",
            "honest_summary",
            "hypervolume",
            "ranks",
            "pairs",
            "goal",
            "goal_counts",
            "grids",
            "chosen",
            "frontier",
        ),
        "beyond/dvc.yaml:comparison",
    ),
    "tried": "luck/dvc.yaml:tried_table",
    "unprocessed": "beyond/dvc.yaml:unprocessed",
    **dict.fromkeys(("luck", "luck_summary"), "luck/dvc.yaml:luck_table"),
}
# empty where there is nothing to say
TEXTS = (
    "note", "why", "evidence", "more_than_threshold", "levelling_down", "notion", "dominated_by",
    "rates",
)  # fmt: skip


def as_json(rates: dict[str, float]) -> str:
    """Of every group, for a cell of a table."""
    return json.dumps(rates, ensure_ascii=False)


def frame(rows: list[Row], name: str, columns: dict[str, list[str]] = TABLES) -> pd.DataFrame:
    """Rows as the table of this name; what a row does not have is empty."""
    return pd.DataFrame(rows, columns=columns[name])


def write(table: pd.DataFrame, name: str) -> None:
    """With six significant digits; the same figures give the same bytes."""
    with whole(paths.table(name)) as partial:
        table[TABLES[name]].to_csv(partial, index=False, float_format="%.6g", lineterminator="\n")


def read(name: str, path: Path | str | None = None) -> pd.DataFrame:
    """The table of this name, from its own place or another."""
    path = need(Path(path or paths.table(name)), MADE_BY[name])
    return checked(path, TABLES[name])


def evaluation(dataset: str, name: str) -> pd.DataFrame:
    """A table of one dataset."""
    path = need(paths.evaluation(dataset) / f"{name}.csv", f"evaluate@{dataset}")
    return checked(path, EVALUATION[name])


def write_evaluation(rows: list[Row], dataset: str, name: str) -> None:
    """With eight digits: the tables of all datasets follow from it."""
    write_rows(paths.evaluation(dataset) / f"{name}.csv", rows, EVALUATION[name])


def measured(datasets: Iterable[str]) -> pd.DataFrame:
    """Every figure of every model of the comparison, of these datasets."""
    found = []
    for dataset in datasets:
        path = need(paths.measured(dataset), paths.PIPELINE_BEYOND)
        found.append(checked(path, MEASURED))
    return pd.concat(found, ignore_index=True)


def write_measured(rows: list[Row], dataset: str) -> None:
    """With eight digits: the tables of the comparison follow from it."""
    write_rows(paths.measured(dataset), rows, MEASURED)


def general(study: str, path: Path | str | None = None) -> pd.DataFrame:
    """Every figure of a generalisation of the paper, from its own place or another."""
    made_by = f"{paths.PIPELINE_BEYOND}:general@{study}"
    return checked(need(Path(path or paths.general(study)), made_by), GENERAL)


def write_general(rows: list[Row], study: str) -> None:
    table = pd.DataFrame(rows, columns=GENERAL)
    with whole(paths.general(study)) as partial:
        table.to_csv(partial, index=False, float_format="%.6g", lineterminator="\n")


def checked(path: Path, columns: list[str]) -> pd.DataFrame:
    """A table with these columns; a group may be called "None" or "NA"."""
    texts = dict.fromkeys(TEXTS, "str")
    try:
        table = pd.read_csv(path, keep_default_na=False, na_values=["", "nan"], dtype=texts)
    except ValueError as error:  # of pandas: empty, or no table
        raise Damaged(path, error) from None
    if missing := [name for name in columns if name not in table]:
        raise Damaged(path, f"no column {missing[0]!r}")
    return table.fillna({name: "" for name in TEXTS if name in table})


def paper() -> pd.DataFrame:
    """The paper's table, as it is printed."""
    return pd.read_csv(paths.PAPER)


def paper_statistics() -> pd.DataFrame:
    """The paper's table of datasets, as it is printed."""
    return pd.read_csv(paths.PAPER_STATISTICS)

"""What results/summary.csv, and any table like it, says of one dataset and setting."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from infofair.pareto import pareto
from study.labels import DATASETS, VARIANTS, in_order

Row = Mapping[Any, Any]
SIMULATED = "SIMULATED DATA, not the real dataset."


def datasets_of(table: pd.DataFrame) -> list[str]:
    return [str(dataset) for dataset in dict.fromkeys(table["dataset"])]


def settings_of(table: pd.DataFrame, dataset: str) -> list[str]:
    return list(dict.fromkeys(table.loc[table["dataset"] == dataset, "setting"]))


def methods_of(table: pd.DataFrame) -> list[str]:
    """Those that are compared, in order: all but the ablations."""
    return [m for m in in_order(table["method"]) if m == "infofair" or m not in VARIANTS]


def cell(summary: pd.DataFrame, dataset: str, setting: str, protocol: str = "mean") -> pd.DataFrame:
    """The rows of one dataset, setting and protocol, by method, in the order of the table."""
    chosen = (summary["dataset"] == dataset) & (summary["setting"] == setting)
    rows = summary[chosen & (summary["protocol"] == protocol)].set_index("method")
    return rows.loc[[method for method in methods_of(summary) if method in rows.index]]


# -- what is marked ------------------------------------------------------------------------------


def front(summary: pd.DataFrame, dataset: str, setting: str) -> pd.DataFrame:
    """The methods on the Pareto front of one setting, by micro F1.

    None with a constant seed, and none that changes nothing against vanilla.
    """
    rows = cell(summary, dataset, setting)
    rows = rows[rows["note"] == ""]
    axes = ["micro_f1", "imparity_released"]
    best = rows[pareto(*rows[axes].to_numpy().T)]
    if "vanilla" in best.index:
        same = (best[axes] == best.loc["vanilla", axes]).all(axis=1)
        best = best[~same | (best.index == "vanilla")]
    return best.sort_values(axes, kind="stable")


def constant_in_print(row: Row) -> bool:
    """Whether the paper's figures are those of a constant predictor.

    Predicting one class, of share p, has micro F1 p and macro F1 p / (1 + p): half that class's F1.
    """
    p = row["paper_micro_f1"]
    return bool(row["paper_imparity"] == 0 and abs(row["paper_macro_f1"] - p / (1 + p)) < 0.0015)


def of_vanilla(summary: pd.DataFrame, dataset: str, setting: str, figure: str) -> float:
    """Its mean; NaN without vanilla.

    Of an exactly fair predictor with vanilla's selection rate, `floor_released` is the imparity to
    expect, and `null_95_released` the one that 95 % of such models stay below.
    """
    return float(cell(summary, dataset, setting)[figure].get("vanilla", float("nan")))


def without_evidence(summary: pd.DataFrame, dataset: str, setting: str) -> bool:
    """Whether nothing says that there is any bias to reduce: study/protocol.py, `evidence`."""
    return bool((cell(summary, dataset, setting)["evidence"] == "no").any())


def threshold_control(row: Row) -> bool:
    """Whether a mean has one: vanilla is its own, and that of a constant predictor is constant."""
    known = not pd.isna(row["control_micro_f1"])
    return bool(known and row["method"] != "vanilla" and row["note"] != "constant")


def warnings(summary: pd.DataFrame) -> list[str]:
    """What a reader must know before reading any figure of these rows."""
    said = []
    if (summary["data"] != "real").any():
        said.append(SIMULATED)
    # a dataset that is not the paper's has no other split
    if (summary["dataset"].isin(DATASETS) & (summary["partition"] != "authors")).any():
        said.append("Random split, not the authors'.")
    return said

"""The table of the honest profile (study/honest.py) from results/honest_summary.csv.

One block per dataset and one line per method. `legend` says how to read it, and what is not as in
the paper's table.
"""

import numpy as np
import pandas as pd

from study.labels import in_order, setting_name
from study.tables.layout import Block, Cell, Layout, Line
from study.tables.summary import SIMULATED, Row, datasets_of, settings_of

COLUMNS = {"f1": "Micro F1", "imparity": "Imparity", "more": "Against Vanilla"}
LOWER, HIGHER = "▼", "▲"


def mark(low: float, high: float) -> str:
    """Which side of 0 the whole interval is on; empty if on none, or if there is no interval."""
    return LOWER if high < 0 else HIGHER if low > 0 else ""


def _with_interval(row: Row, name: str) -> str:
    """The mean ± half of its interval; only the mean if there is a single split."""
    half = row[f"{name}_high"] - row[name]
    text = f"{row[name]:z.3f}" + ("" if np.isnan(half) else f" ± {half:z.3f}")
    return text.replace("-", "−")


def _cells(row: Row) -> list[Cell]:
    if row["diverged"]:
        return [Cell("diverged"), Cell("–"), Cell("–")]
    models = row["splits"] * row["seeds"]
    constant = round(row["constant"] * models)
    note = f"constant in {constant} of {models} models" if constant else ""
    f1, imparity, more = (
        _with_interval(row, name) for name in ("micro_f1", "imparity", "more_imparity")
    )
    side = mark(row["more_imparity_low"], row["more_imparity_high"])
    return [
        Cell(f1 + (f" †{constant}/{models}" if constant else ""), row["micro_f1"], note=note),
        Cell(imparity, row["imparity"]),
        # Vanilla's own is 0 by definition
        Cell("–") if row["method"] == "vanilla"
        else Cell(f"{more} {side}".strip(), row["more_imparity"]),
    ]  # fmt: skip


def blocks(summary: pd.DataFrame) -> list[Block]:
    """The whole table, one block per dataset."""
    return [_block(summary, dataset) for dataset in datasets_of(summary)]


def _block(summary: pd.DataFrame, dataset: str) -> Block:
    own = summary[summary["dataset"] == dataset]
    names = settings_of(summary, dataset)
    by = {(row["setting"], row["method"]): row for row in own.to_dict("records")}
    groups = own.groupby("setting")["groups"].first()
    lines = {}
    for method in in_order(own["method"]):
        cells: list[Cell] = []
        for setting in names:
            row = by.get((setting, method))
            cells += [Cell("N/A")] * 3 if row is None else _cells(row)
        strength = own.loc[own["method"] == method, "strength"].iloc[0]
        label = "–" if method == "vanilla" else f"{strength:g}"
        lines[method] = [Line("honest", label, cells)]
    return Block(
        dataset,
        [f"{setting_name(name, names)} ({groups[name]} groups)" for name in names],
        lines,
        {},
        [SIMULATED] if (own["data"] != "real").any() else [],
    )


def layout(summary: pd.DataFrame) -> Layout:
    return Layout("honest", "The honest profile on", "Strength", COLUMNS, legend(summary))


def legend(summary: pd.DataFrame) -> dict[str, str]:
    splits, seeds = summary["splits"].max(), summary["seeds"].max()
    return {
        "Not as in the paper": "no column that gives the label away is a feature; features are "
        "scaled by the training rows alone; the splits are random, stratified by group and label, "
        "and several; all networks share a backbone that is trained well (backbone in "
        "params.yaml, with the exceptions that frontier names there); nothing is selected among "
        "seeds.",
        "Groups": "those with too few test rows (honest.smallest_group in params.yaml) are pooled "
        "into one, and while that is too small, with the next larger group. The number of groups "
        "that are left is in the head.",
        "Strength": "a network's alpha, or a solver's own knob. The paper's methods have the "
        "paper's, others the one that their authors or libraries give, or 1. Vanilla has none.",
        "±": f"half of a 95 % interval of the mean over splits ({splits} of them), of which each "
        f"counts with the mean over its seeds ({seeds} at most). Student's t, with the variance "
        "corrected for splits that share rows (Nadeau and Bengio 2003).",
        "Imparity": "as the paper's text defines it: the mean gap over pairs of different groups.",
        "Against Vanilla": "the imparity minus that of Vanilla on the same split. "
        f"{LOWER}: the whole interval is below 0. {HIGHER}: it is above 0.",
        "†": "constant predictors, one class for every test row: so many of so many models.",
        "N/A": "the method cannot run in this setting.",
    }

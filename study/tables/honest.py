"""The table of the honest data (study/comparison) from results/honest_summary.csv.

One block per dataset and one line per method, at its operating point. `legend` says how to read it,
and what is not as in the paper's table.
"""

import numpy as np
import pandas as pd

from study.labels import dataset_name, full_method_name, in_order, setting_name
from study.tables.layout import Block, Cell, Layout, Line
from study.tables.summary import SIMULATED, Row, datasets_of, settings_of

COLUMNS = {"f1": "Micro F1", "imparity": "Imparity", "more": "Against Vanilla"}
VANILLAS = ("vanilla", "vanilla_paper", "vanilla_unaware")
LOWER, HIGHER, DOMINATED = "▼", "▲", "▣"
ALPHA = 0.05  # of the test that a mark stands for
# at the operating point (study/comparison/picking.py)
GIVEN_UP = 0.02  # of vanilla's micro F1,
OF_LEAD = 0.25  # and of its lead over the constant predictor


def mark(more: float, p: float) -> str:
    """Which side of 0 a difference is on, if p is small enough to tell."""
    if not p < ALPHA:
        return ""
    return LOWER if more < 0 else HIGHER


def _with_interval(row: Row, name: str) -> str:
    """The mean ± half of its interval; only the mean if there is a single split."""
    if np.isnan(row[name]):
        return "–"
    half = row[f"{name}_high"] - row[name]
    text = f"{row[name]:z.3f}" + ("" if np.isnan(half) else f" ± {half:z.3f}")
    return text.replace("-", "−")


def _cells(row: Row) -> list[Cell]:
    if np.isnan(row["micro_f1"]):
        return [Cell("diverged"), Cell("–"), Cell("–")]
    models = row["splits"] * row["seeds"]
    constant = round(row["constant"] * models)
    note = f"constant in {constant} of {models} models" if constant else ""
    f1, imparity, more = (
        _with_interval(row, name) for name in ("micro_f1", "imparity", "more_imparity")
    )
    by = [full_method_name(name) for name in row["dominated_by"].split(",") if name]
    said = f"dominated by {'; '.join(by)}" if by else ""
    f1 += f" †{constant}/{models}" * bool(constant) + f" {DOMINATED}" * bool(by)
    side = mark(row["more_imparity"], row["p_holm"])
    return [
        Cell(f1, row["micro_f1"], note=note, said=said),
        Cell(imparity, row["imparity"]),
        # Vanilla's own is 0 by definition, whatever its training
        Cell("–") if row["method"] in VANILLAS
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
    known = own.groupby("method")["s_at_test"].first()
    lines = {}
    for method in in_order(own["method"]):
        cells: list[Cell] = []
        for setting in names:
            row = by.get((setting, method))
            cells += [Cell("N/A")] * 3 if row is None else _cells(row)
        lines[method] = [Line("honest", known[method], cells)]
    return Block(
        dataset,
        [f"{setting_name(name, names)} ({groups[name]} groups)" for name in names],
        lines,
        {},
        [SIMULATED] if (own["data"] != "real").any() else [],
    )


def linear(summary: pd.DataFrame) -> dict[str, float]:
    """How much more micro F1 than vanilla logistic regression has, by dataset; on few it was not
    run, and these are not there.

    Both are the same in all settings of a dataset.
    """
    found = summary.pivot_table(index="dataset", columns="method", values="micro_f1", sort=False)
    if not {"vanilla", "logistic"} <= set(found):
        return {}
    more = (found["logistic"] - found["vanilla"]).dropna()
    return {str(dataset): float(value) for dataset, value in more.items()}


def layout(summary: pd.DataFrame) -> Layout:
    return Layout("honest", "The honest table of", "s", COLUMNS, legend(summary))


def legend(summary: pd.DataFrame) -> dict[str, str]:
    splits, least = summary["splits"].max(), summary["splits"].min()
    count = f"{splits}" if splits == least else f"{least} to {splits}"
    more = linear(summary)
    at_least = [dataset_name(dataset) for dataset, value in more.items() if value >= 0]
    backbone = {
        "Backbone": "what all networks share. Logistic regression has no less micro F1 on "
        f"{', '.join(at_least) or 'none'} (of {len(more)} datasets)."
    }
    return {
        "Not as in the paper": "no column that gives the label away is a feature; features are "
        "scaled by the training rows alone; the splits are random, stratified by group and label, "
        "and several; all networks share one training (backbone in params.yaml), but for rows with "
        "the paper's training; nothing is selected among seeds.",
        **(backbone if more else {}),
        "Operating point": "in each split, of the strengths whose micro F1 on validation rows is "
        f"at most {GIVEN_UP}, and at most {OF_LEAD:.0%} of vanilla's lead over the constant "
        "predictor, below vanilla's there, the one with the least imparity; if there is none, the "
        "one with the highest micro F1. The strengths are in results/honest_summary.csv.",
        "s": "whether the sensitive attribute must be known when deciding: as an input, or by a "
        "rule.",
        "Groups": "those with too few test rows (comparison.smallest_group in params.yaml) are "
        "pooled into one, and while that is too small, with the next larger group. The number of "
        "groups that are left is in the head.",
        "±": f"half of a 95 % interval of the mean over splits ({count} of them): Student's t, "
        "with the variance corrected for splits that share rows (Nadeau and Bengio 2003).",
        "Imparity": "as the paper's text defines it: the mean gap over pairs of different groups.",
        "Against Vanilla": "the imparity minus that of Vanilla of the same training on the same "
        f"split. {LOWER}: clearly below 0; {HIGHER}: clearly above it: p below {ALPHA} in a paired "
        "test, with Holm's correction for all rows that do something about fairness.",
        DOMINATED: "dominated: an unconstrained model with thresholds by group (for who does "
        "without s, with a blind rule) has, in means over splits on test rows, no less micro F1 "
        "and no more imparity. Validation rows choose its tolerance.",
        "†": "constant predictors, one class for every test row: so many of so many models.",
        "N/A": "the method cannot run in this setting.",
    }

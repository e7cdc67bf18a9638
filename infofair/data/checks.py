"""Check raw files against their dataset's schema, apply its filters, type the rows, and look for
columns that give the label away."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pandera.errors
import pandera.pandas as pa

from infofair.data.dataset import Dataset
from infofair.errors import Problem

STRUCTURE = ["column_in_schema", "column_in_dataframe"]  # pandera's names: unknown, missing column
PLAIN = {  # pandera's names for the terminal
    "column_in_schema": "unknown column",
    "column_in_dataframe": "missing column",
    "coerce_dtype('int64')": "not a whole number",
    "coerce_dtype('float64')": "not a number",
    "field_uniqueness": "repeated value",
    "not_nullable": "no value",
}
SHOWN = 5  # failing rows listed per column and rule
LEAK = 0.9  # balanced accuracy from which a single column "gives the label away"
LEAK_R2 = 0.8  # of a label that is a number: the R² from which it does
BINS = 20  # of a column of numbers, for that


def broken(schema: pa.DataFrameSchema, frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows, with their types if nothing is wrong, and pandera's failure cases.

    One per row and rule, and one per missing or unknown column.
    """
    try:
        typed = schema.validate(frame, lazy=True)
    except pandera.errors.SchemaErrors as error:
        cases = error.failure_cases
        # A value that cannot be coerced leaves its column text: that this is the wrong type, and
        # that further checks raise on it (naming no row), are no failures of their own.
        rows = cases["index"].notna() & ~cases["check"].str.startswith("dtype(")
        own = rows | cases["check"].isin(STRUCTURE)
        return frame, cases[own] if own.any() else cases
    return typed, pd.DataFrame(columns=["column", "check", "index", "failure_case"])


def failures(frame: pd.DataFrame, dataset: Dataset) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """The rows with their types, and one entry per column and rule that fails.

    Rules across columns are checked on the rows whose own values are right, so that one wrong value
    is one failure.
    """
    columns = pa.DataFrameSchema(dataset.schema.columns, strict=True)
    rules = pa.DataFrameSchema(checks=dataset.schema.checks)
    frame, cases = broken(columns, frame)
    found = [cases]
    # A wrong type hides what else is wrong in its column: look again without those rows.
    while cases["index"].notna().any():
        frame, cases = broken(columns, frame[~frame.index.isin(cases["index"])])
        found.append(cases)
    if cases.empty:
        _, across = broken(rules, frame)
        # Pandera lists every column of a row that breaks such a rule.
        found.append(across.assign(column="several columns").drop_duplicates(["check", "index"]))
    cases = pd.concat(found)
    structural = cases["check"].isin(STRUCTURE)
    cases = cases.assign(column=cases["column"].mask(structural, cases["failure_case"]))
    entries = []
    for (column, rule), group in cases.groupby(["column", "check"], sort=False, dropna=False):
        rows = group["index"].dropna()
        hidden = column in dataset.identifying or column == "several columns" or not len(rows)
        entries.append(
            {
                "column": str(column),
                "rule": str(rule),
                "count": len(group),
                "rows": [str(row) for row in rows[:SHOWN]],
                "first_value": None if hidden else str(group["failure_case"].iloc[0])[:80],
            }
        )
    return frame, entries


def apply_filters(frame: pd.DataFrame, dataset: Dataset) -> tuple[pd.DataFrame, list[dict]]:
    counts = []
    for rule in dataset.filters:
        kept = frame[rule.keep(frame)]
        counts.append({"rule": rule.rule, "removed": len(frame) - len(kept)})
        frame = kept
    return frame, counts


def audit(frame: pd.DataFrame, label: str) -> list[dict[str, Any]]:
    """How well the best rule on each single column predicts the label, best first.

    Balanced accuracy (1 + max |TPR − FPR|) / 2 over thresholds: on the value of a number, on the
    label's rate per value of a category.
    """
    y = frame[label].to_numpy() == 1
    found = []
    for column in frame.columns.drop(label):
        codes, values = pd.factorize(frame[column], sort=True)
        ones = np.bincount(codes[y], minlength=len(values))
        zeros = np.bincount(codes[~y], minlength=len(values))
        if isinstance(frame[column].dtype, pd.CategoricalDtype):
            order = np.argsort(ones / np.maximum(ones + zeros, 1), kind="stable")
            ones, zeros = ones[order], zeros[order]
        gap = np.abs(np.cumsum(ones) / ones.sum() - np.cumsum(zeros) / zeros.sum()).max()
        found.append({"column": column, "balanced_accuracy": round(float(1 + gap) / 2, 4)})
    return sorted(found, key=lambda entry: -entry["balanced_accuracy"])


def audit_number(frame: pd.DataFrame, label: str) -> list[dict[str, Any]]:
    """How much of the variance of a label that is a number each single column explains, best first.

    R² of the label's mean per value of a category, or per bin of a number (quantiles), adjusted for
    how many there are: a column of many values explains something by chance. With fewer than two
    rows for each it is not asked, and counts as 0.
    """
    y = frame[label].to_numpy(float)
    total = ((y - y.mean()) ** 2).sum() / (len(y) - 1)
    found = []
    for column in frame.columns.drop(label):
        x = frame[column]
        if not isinstance(x.dtype, pd.CategoricalDtype) and x.nunique() > BINS:
            x = pd.qcut(x, BINS, labels=False, duplicates="drop")
        codes, values = pd.factorize(x, sort=True)
        free = len(y) - len(values)
        r2 = 0.0
        if free >= len(values):
            means = np.bincount(codes, y) / np.bincount(codes)
            r2 = float(1 - ((y - means[codes]) ** 2).sum() / free / total)
        found.append({"column": column, "r2": round(r2, 4)})
    return sorted(found, key=lambda entry: -entry["r2"])


def label_of(clean: pd.DataFrame, dataset: Dataset) -> dict[str, Any]:
    """The report's entries on the label and on what gives it away."""
    y = clean[dataset.label]
    if not dataset.number:
        found = audit(clean, dataset.label)
        leaks = [e["column"] for e in found if e["balanced_accuracy"] >= LEAK]
        label: dict[str, Any] = {"column": dataset.label, "ones": int(y.sum())}
    else:
        found = audit_number(clean, dataset.label)
        leaks = [e["column"] for e in found if e["r2"] >= LEAK_R2]
        mean, std = float(y.mean()), float(y.std(ddof=0))
        label = {"column": dataset.label, "mean": round(mean, 4), "std": round(std, 4)}
    return {"label": label, "audit": found, "leaks": leaks}


def validate(folder: Path, dataset: Dataset, real: bool) -> tuple[pd.DataFrame | None, dict]:
    """The validated rows (None if the schema fails) and the report."""
    raw = dataset.read(folder)
    typed, failed = failures(raw, dataset)
    report: dict[str, Any] = {"passed": not failed, "rows_read": len(raw), "failures": failed}
    if failed:
        return None, report
    kept, report["filters"] = apply_filters(typed, dataset)
    clean = dataset.clean(kept).reset_index(drop=True)
    found = (len(raw), len(clean))
    if real and dataset.rows and found != dataset.rows:
        raise Problem(f"{folder}: {found} rows before and after filters, expected {dataset.rows}")
    if clean[dataset.label].nunique() < 2:
        what = "values of the label" if dataset.number else "classes"
        raise Problem(f"{folder}: fewer than two {what} are left after the filters")
    return clean, report | {"rows": len(clean)} | label_of(clean, dataset)


def describe(report: dict[str, Any]) -> str:
    """The report for the terminal."""
    if not report["passed"]:
        lines = [f"{report['rows_read']} rows read; these rules fail:"]
        for entry in report["failures"]:
            rows = ", ".join(entry["rows"])
            value = entry["first_value"]  # none is shown of a column that identifies people
            value = "" if value is None else f", first value {value!r}"
            more = " …" if entry["count"] > len(entry["rows"]) > 0 else ""
            rule = PLAIN.get(entry["rule"], entry["rule"])
            lines.append(
                f"  {entry['column']}: {rule}: {entry['count']} failures{value}"
                + (f" ({rows}{more})" if rows else "")
            )
        return "\n".join(lines)
    lines = [f"{report['rows_read']} rows read, all rules of the schema hold"]
    lines += [f"  removed {e['removed']:>6} rows: {e['rule']}" for e in report["filters"]]
    label = report["label"]
    of_label = (
        f"{label['ones']} with label 1"
        if "ones" in label
        else (f"label {label['mean']:.3f} ± {label['std']:.3f} (mean, standard deviation)")
    )
    lines.append(f"{report['rows']} rows kept, {of_label}")
    for entry in report["audit"][:3]:
        mark = "  <- gives the label away" if entry["column"] in report["leaks"] else ""
        found = (
            f"R² {entry['r2']:.3f}"
            if "r2" in entry
            else f"balanced accuracy {entry['balanced_accuracy']:.3f}"
        )
        lines.append(f"  {entry['column']} alone: {found}{mark}")
    return "\n".join(lines)

"""How the strengths were chosen: each method's first look, and the grid that it led to."""

import pandas as pd

from study import paths
from study.files import needed_json
from study.results import TABLES, Row


def grids(asked: dict[str, list[str]]) -> pd.DataFrame:
    """asked: the methods of each dataset. A row per setting and strength of the look, and, without
    a setting, per strength of the grid."""
    rows: list[Row] = []
    for dataset, methods in asked.items():
        for method in methods:
            plan = needed_json(paths.plan("sweep", dataset, method), "check")
            for name in _looking(plan):
                path = paths.beyond("sweep", dataset, method) / name / "grid.json"
                rows += _rows(needed_json(path, paths.PIPELINE_BEYOND), dataset, name)
    return pd.DataFrame(rows, columns=TABLES["grids"])


def _looking(plan: Row) -> list[str]:
    """Of the forms that are trained alike the first looks, for all of them (study/sweep.py)."""
    first: dict[str, str] = {}
    for form in plan["forms"] if plan["strengths"] else ():
        first.setdefault(repr(form.get("training")), form["name"])
    return list(first.values())


def _rows(look: Row, dataset: str, method: str) -> list[Row]:
    cell = {"dataset": dataset, "method": method}
    found = [
        cell | {"setting": setting, "strength": strength} | (seen or {})
        for setting, of in look["seen"].items()
        for strength, seen in zip(look["tried"], of, strict=True)
    ]
    return found + [cell | {"setting": "", "strength": s} for s in look["strengths"]]

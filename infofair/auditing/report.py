"""The result: what is told and what is protected, and the three files.

A cell is the people that a figure is about: the members of a group, those of them with label 1,
those with label 0. Tiny groups are pooled, so that every figure that is shown is about five people
at least. Where any cell of the data has one to four people, totals could still give it away: then
counts are rounded to the nearest five and rates to two digits (three from 50,000 rows on), pooled
groups of fewer than five are counted but not named, and the imparity of the groups as they are is
left out. `show_small` turns that off.
"""

import json
import math
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from infofair.auditing import chance, groups, power, remedies
from infofair.auditing.groups import Setting
from infofair.auditing.rows import Rows
from infofair.storage import whole
from infofair.uncertainty import SIGNIFICANT

SCHEMA = "infofair.audit/1"
SMALL = 5  # people
MANY = 50_000  # rows from which a third digit tells of five people
COUNTS = ("rows",)
# what tells of no one person, however many digits it has
FINE = ("p_value", "p_joint", "p_holm", "mutual_information")
EXACT = ("cuts", "rules")
DIGITS = 6  # significant


def rules(rows: Rows, asked: int, seed: int, notion: str) -> dict[str, Any]:
    """Every choice that is not the user's data."""
    return {
        "smallest_group": groups.SMALLEST,
        "smallest_class": groups.SMALLEST_CLASS,
        "most_groups": groups.MOST,
        "significance": SIGNIFICANT,
        "draws": chance.DRAWS,
        "score_draws": chance.score_draws(asked),
        "score_bins": chance.BINS,
        "power": power.POWER,
        "interval": 0.95,
        "folds": len(rows.split_names) or remedies.FOLDS,
        "notion": notion,
        "null": "permutation" if rows.weights is None else "effective rows",
        "seed": seed,
    }


def small_cells(rows: Rows, settings: list[Setting]) -> bool:
    """Whether one to four people share all their groups, and the label."""
    for setting in settings:
        cells = [np.bincount(setting.unpooled)]
        if rows.task == "classification":
            cells.append(np.bincount(setting.unpooled * 2 + rows.y))
        if any(((of > 0) & (of < SMALL)).any() for of in cells):
            return True
    return False


def tidy(content: dict[str, Any], small: bool, show_small: bool) -> dict[str, Any]:
    """Numbers with as many digits as they should have, and nobody who could be found."""
    hide = small and not show_small
    found = dict(content)
    found["protected"] = hide
    if hide:
        found["settings"] = [_hidden(setting) for setting in content["settings"]]
    digits = 2 if content["rows"] < MANY else 3
    rounded = _rounded(found, "", digits if hide else None)
    assert isinstance(rounded, dict)
    return rounded


def unnamed(setting: dict[str, Any]) -> dict[str, Any]:
    """With the pooled groups of fewer than five people counted, not named."""
    named = [own for own in setting["pooled"] if own["rows"] >= SMALL]  # largest first
    fewer = len(setting["pooled"]) - len(named)
    if fewer:
        named.append({"name": f"{fewer} of fewer than {SMALL} people", "rows": None})
    return setting | {"pooled": named}


def _hidden(setting: dict[str, Any]) -> dict[str, Any]:
    return unnamed(setting) | {"unpooled": None}


def _rounded(value: Any, key: str, digits: int | None) -> Any:
    if isinstance(value, dict):
        exact = key in EXACT
        # a measure's own name decides about its value
        measure = str(value.get("measure", "value"))
        own = {k: measure if k in ("value", "null_95") else k for k in value}
        return {k: v if exact else _rounded(v, own[k], digits) for k, v in value.items()}
    if isinstance(value, list):
        return value if key in EXACT else [_rounded(of, key, digits) for of in value]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return round(value / SMALL) * SMALL if digits is not None and key in COUNTS else value
    if not math.isfinite(value):
        return None
    if digits is None or key in FINE:
        return float(f"{value:.{DIGITS if digits is None else digits}g}") + 0.0  # no −0
    return round(value, digits) + 0.0


def to_json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write(content: dict[str, Any], folder: Path) -> Path:
    from infofair.auditing import card, page  # which a caller of to_dict does not need

    texts = {
        "index.html": page.page(content),
        "audit.json": to_json(content),
        "model_card.md": card.card(content),
    }
    with ExitStack() as written:  # all are written before the first takes its place
        for name, text in texts.items():
            partial = written.enter_context(whole(folder / name))
            partial.write_text(text, encoding="utf-8", newline="\n")
    return folder / "index.html"

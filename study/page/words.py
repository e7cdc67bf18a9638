"""Figures and names as a reader sees them."""

from collections.abc import Iterable, Mapping

import pandas as pd
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from study.tables.layout import number

NONE = "–"  # what is not there


def short(value: float) -> str:
    """A strength, or a budget: as few digits as it has."""
    return NONE if pd.isna(value) else f"{value:g}"


def p_value(value: float) -> str:
    """To three digits, and never 0."""
    return NONE if pd.isna(value) else "< 0.001" if value < 0.0005 else number(value)


def interval(row: Mapping[str, float], figure: str) -> str:
    low, high = row[f"{figure}_low"], row[f"{figure}_high"]
    return NONE if pd.isna(low) else f"{number(low)}–{number(high)}"


def as_json(data: object) -> Markup:
    """For a script element: nothing in it can end that."""
    return htmlsafe_json_dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def listed(words: Iterable[object]) -> str:
    """a, b and c; or, if there are commas in them: a; b; and c"""
    *most, last = [str(word) for word in words]
    if any("," in word for word in (*most, last)):
        return "; ".join([*most, f"and {last}" if most else last])
    return f"{', '.join(most)} and {last}" if most else last

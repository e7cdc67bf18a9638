"""Knobs: the fields of a method that its users may set, with their bounds."""

import math
from collections.abc import Callable
from dataclasses import Field, field, fields
from typing import Any

BOUNDS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "gt": ("greater than", lambda value, bound: value > bound),
    "ge": ("greater than or equal to", lambda value, bound: value >= bound),
    "lt": ("less than", lambda value, bound: value < bound),
    "le": ("less than or equal to", lambda value, bound: value <= bound),
}


def knob(default: Any, *, unit: str = "", source: str = "", **bounds: float) -> Any:
    """A field that users may set: its default, in which unit, where the default comes from.

    Bounds are gt, ge, lt and le; those of a tuple hold for each of its values.
    """
    assert bounds.keys() <= BOUNDS.keys(), f"unknown bounds {bounds}"
    return field(default=default, metadata={"unit": unit, "source": source, "bounds": bounds})


def knobs_of(method: Any) -> list[Field[Any]]:
    """The fields of a method that were made with `knob`."""
    return [own for own in fields(method) if "bounds" in own.metadata]


def wrong(own: Field[Any], value: Any) -> str | None:
    """What is wrong with the value of a knob, if anything."""
    several = isinstance(own.default, tuple)
    if several != isinstance(value, tuple) or (several and not value):
        return f"{own.name} = {value!r}: expected {'numbers' if several else 'a number'}"
    whole = isinstance(own.default, int)
    for each in value if several else (value,):
        if isinstance(each, bool) or not isinstance(each, int if whole else int | float):
            return f"{own.name} = {value!r}: expected a {'whole ' if whole else ''}number"
        if not math.isfinite(each):
            return f"{own.name} = {value!r}: expected a finite number"
        for name, bound in own.metadata["bounds"].items():
            said, holds = BOUNDS[name]
            if not holds(each, bound):
                return f"{own.name} = {value!r}: should be {said} {bound:g}"
    return None

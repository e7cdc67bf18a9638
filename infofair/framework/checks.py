"""What users get wrong, said once and clearly, in the kind that scikit-learn expects."""

import math
from typing import Any

from infofair.errors import Problem


class Invalid(Problem, ValueError):
    """What was given is not what was expected; scikit-learn's contract asks for a ValueError."""


def among(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise Invalid(f"{name} is {value!r}; expected {' or '.join(map(repr, choices))}")


def number(
    name: str, value: Any, *, least: float, above: bool = False, whole: bool = False
) -> None:
    """A finite number that is at least, or above, a bound."""
    kinds = (int,) if whole else (int, float)
    try:
        fits = isinstance(value.item() if hasattr(value, "item") else value, kinds)
        fits = fits and not isinstance(value, bool) and math.isfinite(value)
        fits = fits and (value > least if above else value >= least)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        kind = "whole number" if whole else "number"
        bound = f"above {least:g}" if above else f"of at least {least:g}"
        raise Invalid(f"{name} is {value!r}; expected a {kind} {bound}")

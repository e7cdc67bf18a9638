"""The methods, one file each: see infofair/methods/base.py."""

from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules
from typing import Any

from infofair.errors import Problem
from infofair.methods.base import Method

# The paper's ablations: InfoFair with these terms.
ABLATIONS = {"infofair_ts": ("T", "S"), "infofair_td": ("T", "D")}


def names() -> list[str]:
    """Every method that has a file here."""
    return sorted(module.name for module in iter_modules(__path__) if module.name != "base")


def load(name: str) -> type[Method]:
    """The class of a method; an ablation's is InfoFair's."""
    if name not in (known := [*names(), *ABLATIONS]):
        raise Problem(f"no method {name!r}; there are {', '.join(sorted(known))}")
    module = import_module(f"{__name__}.{'infofair' if name in ABLATIONS else name}")
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Method)
        and value.__module__ == module.__name__
        and not isabstract(value)
    ]
    if len(found) != 1:
        raise Problem(f"{module.__file__}: {len(found)} methods; expected one class that is one")
    return found[0]


def make(name: str, **knobs: Any) -> Method:
    """A method with these knobs; those that are not given have their defaults."""
    fixed = {"terms": ABLATIONS[name]} if name in ABLATIONS else {}
    given = {key: tuple(v) if isinstance(v, list) else v for key, v in knobs.items()}
    return load(name)(**fixed, **given)

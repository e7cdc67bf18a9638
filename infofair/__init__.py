"""InfoFair, reproduced: information-theoretic intersectional fairness as a library.

Nothing is loaded before it is used, and nothing outside is changed.
"""

from importlib import import_module
from typing import Any

_PUBLIC: dict[str, tuple[str, str | None]] = {  # name: module, and what of it (None: itself)
    "audit": ("infofair.auditing.run", "audit"),
    "metrics": ("infofair.metrics", None),
    "methods": ("infofair.methods", None),
    "thresholds": ("infofair.thresholds", None),
    "load_dataset": ("infofair.data.load", "load_dataset"),
    "fit": ("infofair.training.fit", "fit"),
    "load_model": ("infofair.training.model", "load_model"),
    "InfoFairClassifier": ("infofair.estimators", "InfoFairClassifier"),
    "InfoFairRegressor": ("infofair.estimators", "InfoFairRegressor"),
    "fit_many": ("infofair.estimators", "fit_many"),
}
__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PUBLIC[name]
    found = import_module(module)
    return found if attribute is None else getattr(found, attribute)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])

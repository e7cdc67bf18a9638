"""From raw files to rows that a model can be trained on."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infofair.data.load import load_dataset, load_rows

__all__ = ["load_dataset", "load_rows"]


def __getattr__(name: str) -> Any:  # so that a stage which needs one module loads no other
    if name in __all__:
        from infofair.data import load

        return getattr(load, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

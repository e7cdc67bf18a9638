"""From raw files to rows that a model can be trained on."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infofair.data.load import load_dataset

__all__ = ["load_dataset"]


def __getattr__(name: str) -> Any:  # so that a stage which needs one module loads no other
    if name == "load_dataset":
        from infofair.data.load import load_dataset

        return load_dataset
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

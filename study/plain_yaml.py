"""YAML that stands for what it says: no vast thing made of a few bytes."""

from ruamel.yaml import YAML
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    NodeEvent,
    ScalarEvent,
)

DEEPEST = 20  # levels of lists and sections in each other; params.yaml has four


def parsed(text: str) -> object:
    """What the YAML holds, unless a few bytes of it stand for something vast."""
    depth = 0
    single: dict[str | None, bool] = {}  # whether each anchor stands for one value
    for event in YAML(typ="safe").parse(text):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError(f"more than {DEEPEST} levels of nesting")
        if isinstance(event, AliasEvent):
            if not single.get(event.anchor):
                raise ValueError(f"*{event.anchor} does not stand for a single value")
        elif isinstance(event, NodeEvent):
            single[event.anchor] = isinstance(event, ScalarEvent)
    # The parser DVC uses, so that both read the same values; it refuses repeated keys.
    return YAML(typ="safe").load(text)

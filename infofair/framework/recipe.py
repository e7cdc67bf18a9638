"""How models are trained, if nobody says otherwise: what trials led to (docs/estimators.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from infofair.framework.checks import Invalid, number
from infofair.framework.sensitive import Part

DECISION, SCORE, REPRESENTATION, PREDICTION = "decision", "score", "representation", "prediction"
EXTRACTED = "extracted"  # what the extractor gives, as it is: there to be compared with
LANES = 16  # rows of a minibatch are a multiple of it: nobody's are the odd ones of a register
LEAST_STEPS = 10  # minibatches of an epoch, if the batch size is not told


@dataclass(frozen=True)
class Training:
    """How models are trained."""

    epochs: int = 40
    batch_size: int = 1024
    learning_rate: float = 0.003
    weight_decay: float = 0.0
    critic_learning_rate: float = 0.02
    critic_steps: int = 8  # before each step of the others
    warm_up: int = 5  # epochs before alpha counts
    patience: int | None = None  # epochs without a better validation objective; None: never stop
    sharpness: float = 4.0  # κ: 4 frees the decision, 1 the score
    beta: float = 0.01  # of the bottleneck's KL


DEFAULTS: dict[str, dict[str, Any]] = {  # what is different where z is not the decision
    DECISION: {},
    SCORE: {},
    REPRESENTATION: {"epochs": 20, "critic_learning_rate": 0.01, "critic_steps": 4},
    EXTRACTED: {"epochs": 20, "critic_learning_rate": 0.01, "critic_steps": 4},
    PREDICTION: {
        "epochs": 30, "batch_size": 512, "critic_learning_rate": 0.01, "critic_steps": 4,
    },
}  # fmt: skip
# where s is nothing but numbers
NUMBERS: dict[str, Any] = {"epochs": 30, "critic_steps": 6, "sharpness": 1.0}

# name -> the least it may be, whether it must be above that, whether it is a whole number
BOUNDS: dict[str, tuple[float, bool, bool]] = {
    "epochs": (1, False, True),
    "batch_size": (1, False, True),
    "learning_rate": (0, True, False),
    "weight_decay": (0, False, False),
    "critic_learning_rate": (0, True, False),
    "critic_steps": (1, False, True),
    "warm_up": (0, False, True),
    "patience": (1, False, True),
    "sharpness": (0, True, False),
    "beta": (0, False, False),
}


def training(outcome: str, parts: Sequence[Part], rows: int, **asked: Any) -> Training:
    """The defaults for this outcome and kind of s, except for what was asked (not None)."""
    given = {name: value for name, value in asked.items() if value is not None}
    for name, value in given.items():
        least, above, whole = BOUNDS[name]
        number(name, value, least=least, above=above, whole=whole)
    only_numbers = bool(parts) and all(part.numbers and part.groups == 1 for part in parts)
    defaults = (NUMBERS if only_numbers else {}) | DEFAULTS[outcome]
    size = given.pop("batch_size", None)
    found = Training(**(defaults | given))
    if "warm_up" not in given:  # of few epochs alpha must have its share
        found = replace(found, warm_up=min(found.warm_up, found.epochs // 4))
    if parts and found.warm_up >= found.epochs:
        raise Invalid(
            f"warm_up is {found.warm_up} and epochs is {found.epochs}: alpha would never count; "
            "expected fewer epochs of warm-up"
        )
    # few rows are cut into several minibatches, many into those that were asked for
    size = size or min(found.batch_size, max(2 * LANES, rows // LEAST_STEPS))
    whole_lanes = -(-min(size, rows) // LANES) * LANES
    return replace(found, batch_size=whole_lanes)

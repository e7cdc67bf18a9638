"""What a study of a generalisation is: cells, methods, rules, and figures.

A method trains models: at several strengths, on several splits, all in one call. A rule makes
others of what a method predicts, knowing the groups (thresholds, a barycentre). Figures say how
good predictions are; gaps how unfair, and are measured again with s permuted, which is their floor.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd

from infofair import grids
from infofair.framework.sensitive import Part

VANILLA = "vanilla"
Key = tuple[float, int]  # strength, split
Outputs = dict[str, np.ndarray]  # what is predicted, by "validation", "test" and the study's own
Figures = dict[str, float]


@dataclass(frozen=True)
class Rows:
    """A dataset in one random split."""

    X: np.ndarray  # float32, rows × …, scaled by the training rows
    y: np.ndarray  # int64: classes; float32: a number, standardised by the training rows
    parts: list[Part]  # what critics are about, and gaps are measured of
    split: Mapping[str, np.ndarray]  # "train", "validation", "test": row numbers
    more: Mapping[str, Any] = field(default_factory=dict)  # the study's own

    def at(self, part: str) -> np.ndarray:
        """y of the rows of a part."""
        return self.y[self.split[part]]

    def s(self, part: str) -> list[Part]:
        return [own.at(self.split[part]) for own in self.parts]


class Train(Protocol):
    """Models of every strength on every split, whose number is their seed, too.

    steps: minibatches of a model at most.
    """

    def __call__(
        self, splits: Mapping[int, Rows], strengths: Sequence[float], steps: int
    ) -> dict[Key, Outputs]: ...


@dataclass(frozen=True)
class Method:
    train: Train
    strength: bool = True  # whether it has one; at 0 it is then vanilla
    ends: tuple[float, float] | None = None  # the weakest and strongest looked at; None: as planned


@dataclass(frozen=True)
class Rule:
    """Fitted on the validation rows of what a method predicts, for each of its strengths."""

    apply: Callable[[Outputs, Rows, float], Outputs]  # outputs, rows, strength
    strengths: Sequence[float]
    of: str = VANILLA


@dataclass(frozen=True)
class Models:
    """What a study trains."""

    settings: Mapping[str, Sequence[str]]  # dataset -> settings
    rows: Callable[[str, str, pd.DataFrame, int], Rows]  # dataset, setting, validated rows, split
    methods: Mapping[str, Method]  # vanilla first
    look: Callable[[Outputs, Rows], grids.Row]  # validation rows, as the rule of grids sees them
    # method, or rule -> its look, where it pursues another gap than the others
    looks: Mapping[str, Callable[[Outputs, Rows], grids.Row]] = field(default_factory=dict)
    few: Mapping[str, Sequence[str]] = field(default_factory=dict)  # method -> its only settings

    def look_of(self, method: str) -> Callable[[Outputs, Rows], grids.Row]:
        return self.looks.get(method, self.look)

    def has(self, method: str, setting: str) -> bool:
        return setting in self.few.get(method, [setting])


@dataclass(frozen=True)
class Measured:
    """What a study measures."""

    figures: Callable[[Outputs, Rows], Figures]  # of the test rows
    gaps: Callable[[Outputs, Rows, list[Part]], Figures]  # likewise, with the parts of s given
    rules: Mapping[str, Rule] = field(default_factory=dict)
    permutations: int = 20  # of s, for the floors

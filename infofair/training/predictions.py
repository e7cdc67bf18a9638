"""What a method's models predict: the file that training writes and evaluation reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from infofair.data.prepared import PARTS, Prepared
from infofair.errors import Damaged
from infofair.storage import load_arrays, save_arrays

Key = tuple[str, float, int]  # setting, strength, seed


@dataclass(frozen=True)
class Predictions:
    settings: list[str]  # that models were trained for, or ALL
    strengths: list[float]
    seeds: list[int]
    # part -> settings × strengths × seeds × rows, float32: the probability of class 1; NaN if the
    # model diverged
    probabilities: dict[str, np.ndarray]

    @classmethod
    def of(cls, models: Mapping[Key, Mapping[str, np.ndarray]], data: Prepared) -> "Predictions":
        """models: part -> probability of class 1 of every row; empty if the model diverged."""
        settings = list(dict.fromkeys(setting for setting, _, _ in models))
        strengths = sorted({strength for _, strength, _ in models})
        seeds = sorted({seed for _, _, seed in models})
        found = {}
        for part in PARTS:
            rows = len(data.split[part])
            lost = np.full(rows, np.nan, np.float32)
            each = [
                models[setting, strength, seed].get(part, lost)
                for setting in settings
                for strength in strengths
                for seed in seeds
            ]
            # no setting: an empty array
            shape = (len(settings), len(strengths), len(seeds), rows)
            found[part] = np.array(each, np.float32).reshape(shape)
        return cls(settings, strengths, seeds, found)

    def model(self, setting: str, strength: float, seed: int) -> dict[str, np.ndarray]:
        """One model's, by part; empty if it diverged."""
        place = (
            self.settings.index(setting), self.strengths.index(strength), self.seeds.index(seed)
        )  # fmt: skip
        found = {part: of[place] for part, of in self.probabilities.items()}
        return {} if any(np.isnan(rows).any() for rows in found.values()) else found

    def save(self, path: Path) -> None:
        named = {
            "settings": np.array(self.settings, str),
            "strengths": np.array(self.strengths, float),
            "seeds": np.array(self.seeds, np.int64),
        }
        save_arrays(path, named | self.probabilities)

    @classmethod
    def load(cls, path: Path) -> "Predictions":
        stored = load_arrays(path)
        named = ("settings", "strengths", "seeds")
        if missing := {*named, *PARTS} - stored.keys():
            raise Damaged(path, f"no array {min(missing)!r}")
        settings, strengths, seeds = (stored[name].tolist() for name in named)
        return cls(settings, strengths, seeds, {part: stored[part] for part in PARTS})

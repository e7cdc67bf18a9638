"""A dataset that is ready for training: features, label, groups and split."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from infofair.errors import Damaged
from infofair.storage import load_arrays, save_arrays

INTERSECTION = "intersection"  # the setting that combines all sensitive attributes
ALL = "all"  # the setting of models that do not depend on one
PARTS = ("validation", "test")  # the rows that predictions are made for


@dataclass(frozen=True)
class Prepared:
    X: np.ndarray  # float32, rows × features, scaled
    y: np.ndarray  # int8, rows: 0 or 1
    features: list[str]
    groups: dict[str, np.ndarray]  # setting -> int16, rows: the group of every row
    group_names: dict[str, list[str]]  # setting -> readable name of each group
    split: dict[str, np.ndarray]  # "train", "validation", "test" -> int32, row numbers
    data: str  # "real" or "simulated"
    partition: str  # "authors" or "random": where the split comes from
    # X is an np.memmap of more than memory should hold: networks read rows as they need them
    mapped: bool = False

    @property
    def settings(self) -> list[str]:
        return list(self.groups)

    def attributes(self, setting: str) -> list[str]:
        """The attributes that make up a setting: itself, or all of them for the intersection."""
        return [s for s in self.settings if s != INTERSECTION and setting in (s, INTERSECTION)]

    def save(self, path: Path) -> None:
        arrays: dict[str, np.ndarray] = {
            "X": self.X,
            "y": self.y,
            "features": np.array(self.features),
            "settings": np.array(self.settings),
            "data": np.array(self.data),
            "partition": np.array(self.partition),
            **{f"split.{name}": rows for name, rows in self.split.items()},
            **{f"groups.{setting}": group for setting, group in self.groups.items()},
            **{f"names.{setting}": np.array(names) for setting, names in self.group_names.items()},
        }
        save_arrays(path, arrays)

    @classmethod
    def load(cls, path: Path) -> "Prepared":
        arrays = load_arrays(path)
        try:
            settings = arrays["settings"].tolist()
            return cls(
                X=arrays["X"],
                y=arrays["y"],
                features=arrays["features"].tolist(),
                groups={setting: arrays[f"groups.{setting}"] for setting in settings},
                group_names={setting: arrays[f"names.{setting}"].tolist() for setting in settings},
                split={name: arrays[f"split.{name}"] for name in ("train", "validation", "test")},
                data=str(arrays["data"]),
                partition=str(arrays["partition"]),
            )
        except KeyError as error:
            raise Damaged(path, f"no array {error}") from None

    def members(self, setting: str, part: str) -> tuple[np.ndarray, int]:
        """The group of each row of a part, and the number of groups."""
        group = self.groups[setting][self.split[part]].astype(int)
        return group, len(self.group_names[setting])

    def sizes(self, setting: str, part: str) -> np.ndarray:
        """The number of rows of each group in a part."""
        group, groups = self.members(setting, part)
        return np.bincount(group, minlength=groups)

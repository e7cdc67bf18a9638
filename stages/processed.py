"""The processed file of one dataset: what `preprocess` writes and `train` and `evaluate` read."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stages import files

INTERSECTION = "intersection"  # the setting that combines all sensitive attributes


@dataclass(frozen=True)
class Processed:
    X: np.ndarray  # float32, rows × features, scaled
    y: np.ndarray  # int8, rows: 0 or 1
    features: list[str]
    groups: dict[str, np.ndarray]  # setting -> int16, rows: the group of every row
    group_names: dict[str, list[str]]  # setting -> readable name of each group
    split: dict[str, np.ndarray]  # "train", "validation", "test" -> int32, row numbers
    data: str  # "real" or "simulated"
    partition: str  # "authors" or "random": where the split comes from

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
    def load(cls, dataset: str) -> "Processed":
        path = files.need(files.processed(dataset), f"preprocess@{dataset}")
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
            raise files.damaged(path, f"no array {error}") from None


def save_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """A compressed .npz without pickle; the same arrays give the same bytes."""
    with files.whole(path) as partial, partial.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load_arrays(path: Path) -> dict[str, np.ndarray]:
    try:
        # Opened here, because np.load leaves a file open that is no archive.
        with path.open("rb") as file, np.lib.npyio.NpzFile(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception as error:  # zlib, zipfile and numpy raise a dozen kinds on wrong bytes
        raise files.damaged(path, error) from None

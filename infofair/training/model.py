"""Trained networks: kept in a file without pickle, loaded in one call, ready to predict.

    model = load_model("results/networks/adult/infofair.npz", setting="race", seed=0)
    model.predict_proba(X)

X are rows as the network was trained on them: features in the order of `model.features`, scaled
(and, for a method that repairs them, repaired).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from infofair.errors import Damaged, Problem
from infofair.storage import load_arrays, save_arrays

Key = tuple[str, float, int]  # setting, strength, seed
Parameters = dict[str, np.ndarray]  # layers: outputs × (inputs + 1), the bias last; heads: no bias


@dataclass(frozen=True)
class Model:
    """One network: feature extractor and target predictor."""

    parameters: Parameters  # of all its parts, by name
    features: list[str]

    @property
    def layers(self) -> list[np.ndarray]:
        """Of the feature extractor, from the input on."""
        names = [name for name in self.parameters if name.startswith("layer")]
        return [self.parameters[name] for name in sorted(names, key=lambda n: int(n[5:]))]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """The probability of class 1 of every row."""
        if X.ndim != 2 or X.shape[1] != len(self.features):
            raise Problem(f"X has shape {X.shape}; expected rows × {len(self.features)} features")
        z = np.asarray(X, np.float32)
        for layer in self.layers:
            z = np.maximum(z @ layer[:, :-1].T + layer[:, -1], 0)
        logits = z @ self.parameters["target"].T
        odds = (logits[:, 0] - logits[:, 1]).astype(float)
        return 1 / (1 + np.exp(np.clip(odds, -700, 700)))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The class of every row, 0 or 1."""
        return (self.predict_proba(X) > 0.5).astype(int)


def save_models(path: Path, models: Mapping[Key, Parameters], features: list[str]) -> None:
    """Models of one method; those that diverged have no parameters and are left out."""
    arrays = {
        f"{setting}/{strength!r}/{seed}/{name}": values
        for (setting, strength, seed), parameters in models.items()
        for name, values in parameters.items()
    }
    save_arrays(path, {"features": np.array(features, str), **arrays})


def load_models(path: str | Path) -> dict[Key, Model]:
    """Every model of a file, by setting, strength and seed."""
    path = Path(path)
    arrays = load_arrays(path)
    if "features" not in arrays:
        raise Damaged(path, "no array 'features'")
    features = arrays.pop("features").tolist()
    found: dict[Key, Parameters] = {}
    for key, values in arrays.items():
        setting, strength, seed, name = key.split("/")
        found.setdefault((setting, float(strength), int(seed)), {})[name] = values
    return {key: Model(parameters, features) for key, parameters in found.items()}


def load_model(
    path: str | Path,
    *,
    setting: str | None = None,
    strength: float | None = None,
    seed: int | None = None,
) -> Model:
    """The one model of a file that is of this setting, strength and seed."""
    asked = {"setting": setting, "strength": strength, "seed": seed}
    models = load_models(path)
    found = [
        model
        for key, model in models.items()
        if all(a is None or a == k for a, k in zip(asked.values(), key, strict=True))
    ]
    if not models:
        raise Problem(f"{path}: it holds no models")
    if len(found) != 1:
        given = ", ".join(f"{name} {value}" for name, value in asked.items() if value is not None)
        there = {
            name: ", ".join(str(value) for value in dict.fromkeys(values))
            for name, values in zip(asked, zip(*models, strict=True), strict=True)
        }
        listed = "; ".join(f"{name}: {values}" for name, values in there.items())
        raise Problem(f"{path}: {len(found)} models of {given or 'any kind'}; there are {listed}")
    return found[0]

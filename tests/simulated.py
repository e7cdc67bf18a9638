"""A small made-up dataset for tests of training and evaluation."""

import numpy as np

from infofair.data.prepared import Prepared


def prepared(rows: int = 700, features: int = 11, races: int = 3, seed: int = 0) -> Prepared:
    """Three settings, of 2, `races` and 2 × `races` groups; the label depends on all of it."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, rows), rng.integers(0, races, rows)
    X = rng.random((rows, features), dtype=np.float32)
    X[:, 0], X[:, 1] = a, b / (races - 1)
    score = 3 * X[:, 2] + a + X[:, 1] + rng.normal(0, 0.5, rows)
    order = rng.permutation(rows).astype(np.int32)
    cut = [rows * 8 // 10, rows * 9 // 10]
    return Prepared(
        X=X,
        y=(score > np.median(score)).astype(np.int8),
        features=[f"x{i}" for i in range(features)],
        groups={
            "gender": a.astype(np.int16),
            "race": b.astype(np.int16),
            "intersection": (a * races + b).astype(np.int16),
        },
        group_names={
            "gender": ["f", "m"],
            "race": [f"r{i}" for i in range(races)],
            "intersection": [f"{sex} & r{i}" for sex in "fm" for i in range(races)],
        },
        split=dict(zip(("train", "validation", "test"), np.split(order, cut), strict=True)),
        data="simulated",
        partition="random",
    )

"""Small plans for tests of the framework: rows that depend on their groups."""

from typing import Any

import numpy as np
import torch

from infofair.framework import notions, recipe
from infofair.framework.plan import Plan, Replaced
from infofair.framework.sensitive import Part

CPU = torch.device("cpu")


def rows(
    n: int = 320, groups: int = 3, numbers: int = 0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, Part]:
    """X, two classes, and s; the class depends on both."""
    rng = np.random.default_rng(seed)
    g = rng.integers(0, groups, n)
    c = rng.normal(size=(n, numbers)).astype(np.float32)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    X[:, 0] += g
    y = (X[:, 0] + X[:, 1] + c.sum(1) + rng.normal(size=n) > groups / 2).astype(np.int64)
    return X, y, Part("s", groups, g, c)


def plan(
    *, fair: str = notions.PARITY, outcome: str = recipe.DECISION, groups: int = 3,
    numbers: int = 0, n: int = 320, replaced: Replaced | None = None, y: np.ndarray | None = None,
    **training: Any,
) -> Plan:  # fmt: skip
    X, drawn, part = rows(n, groups, numbers)
    y = drawn if y is None else y
    split = {"train": np.arange(n * 4 // 5), "validation": np.arange(n * 4 // 5, n)}
    asked = {"epochs": 2, "batch_size": 64, "warm_up": 0, "critic_steps": 2} | training
    how = recipe.training(outcome, [part], n, **asked)
    classes = 0 if outcome == recipe.PREDICTION else int(y.max()) + 1
    return Plan(
        X, y, [part], split, classes, fair, 1, outcome, how, replaced or Replaced(hidden=(8,))
    )


def entropy(shares: np.ndarray) -> float:
    kept = shares[shares > 0]
    return float(-(kept * np.log(kept)).sum())


def plug_in(z: np.ndarray, s: np.ndarray) -> float:
    """I(z; s) of two columns of whole numbers, in nats."""
    joint = np.zeros((z.max() + 1, s.max() + 1))
    np.add.at(joint, (z, s), 1 / len(z))
    return entropy(joint.sum(0)) + entropy(joint.sum(1)) - entropy(joint.ravel())

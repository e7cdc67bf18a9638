"""Made-up people to audit: fair ones, unfair ones, and their tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest

from infofair.auditing import chance, power


def people(
    rows: int = 900,
    groups: int = 3,
    *,
    seed: int = 0,
    gap: float = 0.0,
    rate: float = 0.4,
    equal: bool = False,
) -> pd.DataFrame:
    """y, p and a group; the score of the last group is `gap` higher, that of others is fair."""
    rng = np.random.default_rng(seed)
    shares = np.ones(groups) if equal else rng.dirichlet(np.full(groups, 3.0)) + 0.3 / groups
    group = rng.choice(groups, rows, p=shares / shares.sum())
    y = (rng.random(rows) < rate).astype(int)
    score = np.clip(0.25 + 0.3 * y + rng.normal(0, 0.2, rows) + gap * (group == groups - 1), 0, 1)
    return pd.DataFrame({"y": y, "p": np.round(score, 4), "g": [f"g{i}" for i in group]})


def loans(rows: int = 1200, seed: int = 0, **changes: Any) -> pd.DataFrame:
    """Two attributes of text and one of numbers, some groups tiny."""
    rng = np.random.default_rng(seed)
    found = people(rows, 2, seed=seed, gap=0.2).rename(columns={"g": "sex"})
    found["race"] = rng.choice(["a", "b", "c", "rare"], rows, p=[0.55, 0.3, 0.147, 0.003])
    found["age"] = rng.integers(18, 80, rows)
    return found.assign(**changes)


@contextmanager
def quick() -> Iterator[None]:
    """Little is drawn of scores and for power, for tests that look at other things."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chance, "SCORE_DRAWS", 19)
        patch.setattr(chance, "PER_QUESTION", 1)
        patch.setattr(chance, "BINS", 4)
        patch.setattr(power, "STEPS", 1)
        patch.setattr(power, "NULL_DRAWS", 199)
        patch.setattr(power, "DRAWS", 50)
        yield

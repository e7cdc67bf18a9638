"""Rows in random splits whose class depends on their group."""

import numpy as np
import pandas as pd

from study.general.rows import split_at_random
from study.general.study import Rows


def rows(seed: int, n: int = 500, groups: int = 2) -> Rows:
    rng = np.random.default_rng(1)
    g = rng.integers(0, groups, n)
    X = rng.normal(size=(n, 4)) + np.outer(g, [1, 0, 0, 0])
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n) > groups / 2).astype(int)
    return split_at_random(X, y, pd.DataFrame({"s": g.astype(str)}), seed)

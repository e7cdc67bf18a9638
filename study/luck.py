"""How much of the printed table is luck: the paper's training with many seeds.

The paper chooses among five seeds by the validation rows and prints no spread. With n seeds in the
order of its protocol, the i-th best of them all is the best of five that are drawn from them with
probability C(n − i, 4) / C(n, 5), so the figure to expect of its protocol, and how often it would
be as low as the printed one, are exact sums over the seeds.
"""

from math import comb

import numpy as np
import pandas as pd

from study.protocol import on_test, ranked
from study.results import CELL, PRINTED, TABLES, Row

FIVE = 5  # seeds that the paper chooses among
FIGURES = {name: ours for name, ours in PRINTED.items() if name != "reduction"}


def best_of_five(n: int) -> np.ndarray:
    """How likely each of n, in order, is the best of five that are drawn from them."""
    return np.array([comb(n - i, FIVE - 1) / comb(n, FIVE) for i in range(1, n + 1)])


def summarize(luck: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """One row per cell and printed figure: where in the distribution over seeds it lies.

    `below` is the share of seeds whose figure is lower than the printed one, printed digits aside
    (a figure that rounds to it counts half); `expected` and `expected_std` are of the protocol's
    choice among five seeds, and `as_low` is how likely that is at most the printed figure.
    """
    of_cells = paper.dropna(subset=["micro_f1"]).set_index(CELL).to_dict("index")
    rows: list[Row] = []
    ordered = ranked(luck)[[*CELL, "seed"]].merge(on_test(luck), on=[*CELL, "seed"])
    for cell, seeds in ordered.groupby(CELL, sort=False):
        if cell not in of_cells:
            continue
        likely = best_of_five(len(seeds))
        for name, ours in FIGURES.items():
            figures, found = seeds[ours].to_numpy(), of_cells[cell][name]
            shown = figures.round(3)
            expected = float(likely @ figures)
            rows.append(
                dict(zip(CELL, cell, strict=True))
                | {
                    "figure": name,
                    "seeds": len(figures),
                    "printed": found,
                    "mean": figures.mean(),
                    "std": figures.std(ddof=1),
                    "low": np.quantile(figures, 0.05),
                    "high": np.quantile(figures, 0.95),
                    "below": np.mean(shown < found) + np.mean(shown == found) / 2,
                    "expected": expected,
                    "expected_std": np.sqrt(likely @ (figures - expected) ** 2),
                    "as_low": likely @ (shown <= found),
                }
            )
    order = {cell: i for i, cell in enumerate(map(tuple, luck[CELL].drop_duplicates().to_numpy()))}
    rows.sort(key=lambda row: order[tuple(row[name] for name in CELL)])  # stable: figures stay
    return pd.DataFrame(rows, columns=TABLES["luck_summary"])

"""Thresholds on every method's scores: means over splits, however many seeds each has."""

import numpy as np
import pandas as pd
import pytest

from study.comparison.intervals import half_width
from study.comparison.unprocessed import COLUMNS, unprocessed
from study.results import TABLES


def test_means_are_those_of_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    figures = ["micro_f1", "imparity", "largest_gap", "opportunity_gap", "odds_gap"]
    keys = [
        ("adult", "race", method, notion, tolerance, split, seed, part)
        for method in ("vanilla", "gdp")
        for notion in ("parity", "odds")
        for tolerance in (0.1, 0.0)
        for split in range(3)
        for seed in range(1 + split)
        for part in ("validation", "test")
    ]
    rows = pd.DataFrame(keys, columns=COLUMNS[:8])
    rows[figures] = rng.random((len(rows), 5))
    rows = rows.assign(random=(rows["notion"] == "odds").astype(float), train=800, test=100)
    table = unprocessed(rows)
    assert list(table) == TABLES["unprocessed"]
    assert table["tolerance"].tolist() == [0.0, 0.1] * 4
    for row in table.to_dict("records"):
        same = [rows[key] == row[key] for key in ("method", "notion", "tolerance")]
        own = rows[np.logical_and.reduce(same)]
        test, before = (
            own[own["split"] == part].groupby("partition_seed")[figures].mean()
            for part in ("test", "validation")
        )
        for name in figures:
            assert row[name] == pytest.approx(test[name].mean())
        assert row["micro_f1_width"] == pytest.approx(half_width(test["micro_f1"], 1 / 8))
        assert row["validation_odds_gap"] == pytest.approx(before["odds_gap"].mean())
        assert row["random"] == (row["notion"] == "odds")

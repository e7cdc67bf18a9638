"""Luck: the exact expectation of a choice among five seeds, and where a printed figure lies."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from study import luck, paths
from study.results import MARKS, TABLES
from tests.conftest import ROOT

PAPER = ROOT / paths.PAPER


def made_up(seeds: int, method: str = "infofair") -> pd.DataFrame:
    """Adult's gender: validation and test figures that have nothing to do with each other."""
    rng = np.random.default_rng(3)
    rows = [
        {
            "dataset": "adult", "setting": "gender", "method": method, "seed": seed, "split": part,
            "micro_f1": rng.uniform(0.8, 0.84), "macro_f1": rng.uniform(0.7, 0.78),
            "imparity": 3 * gap, "imparity_released": gap, "selection_rate": 0.2, "note": "",
            **dict.fromkeys(MARKS, "real"),
        }
        for seed in range(seeds)
        for part in ("validation", "test")
        for gap in [rng.uniform(0.03, 0.06)]
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=TABLES["luck"])


@pytest.mark.parametrize(("method", "by"), [("infofair", "imparity"), ("vanilla", "macro_f1")])
def test_the_expected_choice_is_the_mean_over_all_choices_of_five(method: str, by: str) -> None:
    runs = made_up(9, method)
    validation = runs[runs["split"] == "validation"].set_index("seed")[by]
    test = runs[runs["split"] == "test"].set_index("seed")["imparity_released"]
    order = validation if method == "infofair" else -validation
    chosen = [test[order[list(five)].idxmin()] for five in combinations(range(9), 5)]
    found = luck.summarize(runs, pd.read_csv(PAPER)).set_index("figure").loc["imparity"]
    assert found["expected"] == pytest.approx(np.mean(chosen))
    assert found["expected_std"] == pytest.approx(np.std(chosen))
    assert found["as_low"] == pytest.approx(np.mean(np.round(chosen, 3) <= found["printed"]))
    assert found["mean"] == pytest.approx(test.mean())
    assert found["std"] == pytest.approx(test.std())


def test_a_figure_that_rounds_to_the_printed_one_counts_half() -> None:
    runs = made_up(6)
    runs["imparity_released"] = [0.0] * 4 + [0.0466, 0.0474] * 2 + [1.0] * 4  # printed 0.047
    found = luck.summarize(runs, pd.read_csv(PAPER)).set_index("figure").loc["imparity"]
    assert found["below"] == pytest.approx(2 / 6 + 2 / 6 / 2)


@pytest.mark.parametrize("n", [5, 6, 100])
def test_one_of_them_is_the_best_of_five(n: int) -> None:
    likely = luck.best_of_five(n)
    assert likely.sum() == pytest.approx(1)
    assert (np.diff(likely) <= 0).all()
    assert (likely[n - 4 :] == 0).all()


def test_a_cell_that_is_not_printed_has_no_row() -> None:
    runs = made_up(6).assign(dataset="somebodys")
    assert luck.summarize(runs, pd.read_csv(PAPER)).empty

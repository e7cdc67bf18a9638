"""Vanilla with one threshold, at another model's selection rate."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.control import more_than_a_threshold, moved, threshold, verdicts
from study.results import CELL

SCORES = st.lists(st.integers(0, 8).map(lambda eighths: eighths / 8), min_size=1, max_size=20)


@given(SCORES, st.data())
def test_the_threshold_selects_as_many_as_ties_allow(
    scores: list[float], data: st.DataObject
) -> None:
    count = data.draw(st.integers(0, len(scores)))
    possible = {sum(s > t for s in scores) for t in [-1.0, *scores]}
    nearest = min(possible, key=lambda n: (abs(n - count), n))  # of two as near, the fewer
    found = threshold(np.array(scores, np.float32), count)
    assert sum(s > found for s in scores) == nearest
    assert threshold(np.array(scores, np.float32), sum(s > 0.5 for s in scores)) == 0.5


def test_the_threshold_moves_no_further_than_it_has_to() -> None:
    scores = np.array([0.1, 0.3, 0.6, 0.9])
    assert threshold(scores, 1) == 0.6
    assert threshold(scores, 0) == 0.9
    assert threshold(scores, 2) == 0.5
    assert threshold(scores, 3) == np.nextafter(0.3, 0)
    assert threshold(scores, 4) == np.nextafter(0.1, 0)


def test_the_threshold_of_the_validation_rows_is_that_of_the_test_rows() -> None:
    scores = {"validation": np.array([0.2, 0.7, 0.8, 0.4]), "test": np.array([0.75, 0.65, 0.3])}
    found = moved(scores, np.array([True, False, False, False]))
    assert found["validation"].tolist() == [False, False, True, False]
    assert found["test"].tolist() == [True, False, False]
    found = moved(scores, np.ones(4, bool))
    assert found["validation"].all() and found["test"].all()


def runs(less: list[float], better: list[float], method: str = "infofair") -> pd.DataFrame:
    """Runs that differ by so much from their control, seed by seed."""
    rows = [
        {
            "dataset": "adult", "setting": "race", "method": method, "seed": seed, "split": split,
            "imparity": 0.2 - gap, "control_imparity": 0.2, "micro_f1": 0.8 + f1,
            "control_micro_f1": 0.8,
        }
        for seed, (gap, f1) in enumerate(zip(less, better, strict=True))
        for split in ("validation", "test")
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("less", "better", "verdict"),
    [
        ([0.03, 0.05, 0.04], [0.00, 0.01, -0.01], "yes"),
        ([0.03, 0.05, 0.04], [-0.02, -0.02, -0.021], "no"),  # it pays with micro F1
        ([0.03, 0.05, 0.04], [-0.03, 0.02, 0.0], "yes"),  # as much as chance takes
        ([-0.03, 0.05, 0.00], [0.01, 0.01, 0.01], "no"),  # within the standard error
        ([-0.03, -0.05, -0.04], [0.01, 0.01, 0.01], "no"),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], "no"),  # the same, as a constant predictor is
        ([0.04], [0.01], ""),  # a single fit
        ([np.nan, np.nan], [np.nan, np.nan], None),  # no control
    ],
)
def test_a_method_does_more_if_it_beats_its_control_by_more_than_the_standard_error(
    less: list[float], better: list[float], verdict: str | None
) -> None:
    table = runs(less, better)
    if verdict is None:
        table[["control_imparity", "control_micro_f1"]] = np.nan
    found = verdicts(table)
    assert list(found.columns) == [*CELL, "more_than_threshold"]
    assert found["more_than_threshold"].tolist() == ([] if verdict is None else [verdict])


def test_vanilla_is_not_judged() -> None:
    assert verdicts(runs([0.1, 0.2], [0, 0], "vanilla")).empty


def test_methods_that_do_more_are_counted_by_dataset_and_setting() -> None:
    rows = [
        ("adult", "race", "infofair", "no", "no"), ("adult", "race", "gdp", "yes", "no"),
        ("adult", "race", "vanilla", "", "no"), ("dutch", "gender", "gdp", "yes", "yes"),
        ("dutch", "gender", "infofair", "yes", "yes"), ("dutch", "gender", "fcfc", "", "yes"),
    ]  # fmt: skip
    columns = [*CELL, "more_than_threshold", "evidence"]
    table = pd.DataFrame(rows, columns=columns)
    table = pd.concat([table.assign(protocol=name) for name in ("paper", "mean", "std")])
    found = more_than_a_threshold(table)
    assert found.to_dict("records") == [
        {
            "dataset": "adult", "setting": "race", "judged": 2, "more": 1, "names": "gdp",
            "evidence": "no",
        },
        {
            "dataset": "dutch", "setting": "gender", "judged": 2, "more": 2,
            "names": "gdp, infofair", "evidence": "yes",
        },
    ]  # fmt: skip

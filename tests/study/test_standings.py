"""Who is ahead of a front, from the tables alone."""

import numpy as np
import pandas as pd
import pytest

from study import standings


def chosen(**figures: tuple[float, float, float, float, float]) -> pd.DataFrame:
    """One cell of results/best.csv: method -> strength, micro F1, its std, imparity, constant."""
    names = ["strength", "micro_f1", "micro_f1_std", "imparity", "constant"]
    cell = {"dataset": "adult", "setting": "race", "budget": 0.1}
    return pd.DataFrame(
        [cell | {"method": m} | dict(zip(names, of, strict=True)) for m, of in figures.items()]
    )


NAN = float("nan")


@pytest.mark.parametrize(
    ("rival", "is_ahead"),
    [
        ((1, 0.83, 0.005, 0.05, 0), True),
        ((1, 0.83, 0.005, 0.04, 0), True),
        ((1, 0.83, NAN, 0.05, 0), True),  # a single fit
        ((1, 0.83, 0.03, 0.05, 0), False),  # it may be chance
        ((1, 0.83, 0.005, 0.051, 0), False),  # it pays with imparity
        ((1, 0.70, 0.005, 0.01, 0), False),  # another trade-off
        ((NAN, NAN, NAN, NAN, NAN), False),
    ],
)
def test_a_rival_is_ahead_if_it_is_clearly_better_and_no_less_fair(
    rival: tuple[float, float, float, float, float], is_ahead: bool
) -> None:
    best = chosen(mine=(2, 0.80, 0.01, 0.05, 0), rival=rival)
    cell = {"dataset": "adult", "setting": "race", "budget": 0.1, "rival": "rival"}
    assert standings.ahead(best, "mine") == [cell] * is_ahead
    assert standings.ahead(best, "lost") == []


@pytest.mark.parametrize(("constant", "is_ahead"), [(0, True), (0.2, False), (NAN, False)])
def test_a_rival_is_ahead_where_the_method_has_nothing_within_the_budget(
    constant: float, is_ahead: bool
) -> None:
    rival = (1, 0.7, 0.01, 0.05, constant) if constant == constant else (NAN,) * 5
    found = standings.ahead(chosen(mine=(NAN,) * 5, rival=rival), "mine")
    assert bool(found) == is_ahead


def test_standings_name_the_first_and_the_methods_own_rank() -> None:
    cell = {"dataset": "adult", "setting": "race"}
    areas = pd.DataFrame(
        [
            cell | {"method": method, "hypervolume": area, "above_chord": above}
            for method, area, above in [
                ("vanilla", 9.0, 9.0), ("gdp", 0.5, NAN), ("di", 0.7, 0.1), ("mine", 0.5, 0.2)
            ]
        ]
    )  # fmt: skip
    assert standings.standings(areas, "mine") == [
        cell
        | {"hypervolume_first": "di", "hypervolume_most": 0.7, "hypervolume_own": 0.5}
        | {"hypervolume_rank": 2, "hypervolume_of": 3, "above_chord_first": "mine"}
        | {"above_chord_most": 0.2, "above_chord_own": 0.2, "above_chord_rank": 1}
        | {"above_chord_of": 2}
    ]
    (lost,) = standings.standings(areas, "lost")
    assert np.isnan(lost["hypervolume_rank"])
    (none,) = standings.standings(areas.assign(hypervolume=NAN), "mine")
    assert none["hypervolume_first"] == ""


def test_strengths_that_would_hold_are_judged_by_test_rows_alone() -> None:
    rows = []
    for strength, f1, gap in ((1.0, 0.82, 0.05), (3.0, 0.82, 0.03), (9.0, 0.80, 0.01)):
        for split in ("validation", "test"):
            cell = {"dataset": "adult", "setting": "race", "method": "infofair_fitted"}
            cell |= {"strength": strength, "split": split, "seeds": 5, "diverged": 0.0}
            figures = {"micro_f1": f1, "imparity_released": gap, "imparity": gap}
            if split == "validation":
                figures = dict.fromkeys(figures, 0.0)  # nobody looks at these
            rows.append(cell | figures | {"data": "real", "partition": "authors"})
    columns = ["dataset", "setting", "method", "micro_f1", "imparity"]
    paper = pd.DataFrame([("adult", "race", "infofair", 0.81, 0.042)], columns=columns)
    assert standings.would_hold(pd.DataFrame(rows), paper) == {("adult", "race"): [3.0]}

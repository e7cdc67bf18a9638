"""Values to groups: ranges, intersections, and pooling that loses nobody."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infofair.auditing import groups
from infofair.auditing.groups import MOST, SMALLEST, SMALLEST_CLASS
from infofair.auditing.rows import Rows, check
from infofair.errors import Problem
from tests.infofair.auditing.people import loans


def rows_of(sensitive: dict[str, list], y: np.ndarray | None = None) -> Rows:
    n = len(next(iter(sensitive.values())))
    label = np.arange(n) % 2 if y is None else y
    return check(label, decision=label, sensitive_features=sensitive)


def test_many_numbers_become_quartiles_and_few_stay_values() -> None:
    ages = pd.Series(np.arange(18, 98))
    found = groups.attribute("age", ages)
    assert found.values == ["under 37", "37 to under 57", "57 to under 77", "77 and over"]
    assert np.bincount(found.group).tolist() == [19, 20, 20, 21]
    assert found.cuts == (37.0, 57.0, 77.0)
    few = groups.attribute("children", pd.Series([0, 1, 2, 3] * 10))
    assert (few.values, few.cuts) == (["0", "1", "2", "3"], ())


def test_a_number_that_most_rows_share_is_a_range_of_its_own() -> None:
    found = groups.attribute("debt", pd.Series([0.0] * 90 + list(range(1, 21))))
    assert found.values == ["under 1", "1 and over"]
    assert np.bincount(found.group).tolist() == [90, 20]


def test_tiny_groups_are_pooled_and_named_with_their_rows() -> None:
    race = ["a"] * 200 + ["b"] * 100 + ["c"] * 15 + ["d"] * 12
    [found], notes = groups.settings(rows_of({"race": race}))
    assert found.names == ["a", "b", "2 groups pooled"]
    assert found.pooled == {"c": 15, "d": 12}
    assert np.bincount(found.group).tolist() == [200, 100, 27]
    assert notes == []


def test_a_group_with_one_row_is_pooled_with_the_smallest_of_the_others() -> None:
    race = ["a"] * 200 + ["b"] * 100 + ["c"] * 30 + ["d"]
    [found], _ = groups.settings(rows_of({"race": race}))
    assert found.pooled == {"c": 30, "d": 1}
    assert np.bincount(found.group).tolist() == [200, 100, 31]


def test_a_group_without_enough_of_a_label_is_tiny() -> None:
    y = np.array([0, 1] * 100 + [1] * 60 + [0, 1] * 30)
    race = ["a"] * 200 + ["b"] * 60 + ["c"] * 60
    [found], _ = groups.settings(rows_of({"race": race}, y))
    assert found.pooled == {"b": 60, "c": 60}


def test_an_intersection_that_cannot_be_compared_is_said_not_raised() -> None:
    y = np.array([0, 0, 1, 1] * 15)
    second = [str(i // 4) for i in range(60)]
    with pytest.raises(Problem, match=r"^two: fewer than two groups have 20 rows, 5 of the"):
        groups.settings(rows_of({"one": ["a", "b"] * 30, "two": second}, y))
    found, notes = groups.settings(
        rows_of({"one": ["a"] * 30 + ["b"] * 30, "two": ["c", "d"] * 30}, y)
    )
    assert [own.name for own in found] == ["one", "two"]
    assert notes == [
        "The intersection one × two is not compared: fewer than two of its groups have 20 rows, "
        "5 of them of each label."
    ]


def test_the_intersection_has_the_combinations_that_occur() -> None:
    frame = loans(2000)
    found, _ = groups.settings(
        check(frame["y"], score=frame["p"], sensitive_features=frame[["sex", "race"]])
    )
    assert [own.name for own in found] == ["sex", "race", "sex × race"]
    both = found[-1]
    assert both.names[0] == "g0 × a"
    codes = frame["sex"] + " × " + frame["race"]
    for place, name in enumerate(both.names[:-1]):
        assert (codes[both.group == place] == name).all()


@given(
    st.lists(st.integers(1, 400), min_size=2, max_size=140),
    st.integers(0, 2**32 - 1),
)
def test_pooling_keeps_everyone_and_leaves_nobody_tiny(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    y = (rng.random(len(group)) < rng.choice([0.1, 0.5])).astype(np.int8)
    rows = Rows("classification", y, y, None, {})
    kept, together = groups._kept(group, len(sizes), rows)
    assert sorted([*kept, *together]) == list(range(len(sizes)))
    assert len(kept) + bool(len(together)) <= MOST
    parts = [[g] for g in kept] + ([list(together)] if len(together) else [])
    if len(parts) < 2:
        return
    assert len(together) != 1
    for part in parts:
        own = np.isin(group, part)
        assert own.sum() >= SMALLEST
        assert min(y[own].sum(), (1 - y[own]).sum()) >= SMALLEST_CLASS
    ones = np.bincount(group[y == 1], minlength=len(sizes))
    for g in together:  # who is not tiny is pooled before anyone larger
        alone = sizes[g] >= SMALLEST and SMALLEST_CLASS <= ones[g] <= sizes[g] - SMALLEST_CLASS
        assert not alone or sizes[g] <= min(sizes[h] for h in kept)

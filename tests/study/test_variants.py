"""The honest form of a dataset: without tiny groups."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infofair.data.prepared import Prepared
from study.variants import pooled
from tests.simulated import prepared

# -- pooling --------------------------------------------------------------------------------------


def with_sizes(sizes: list[int], test: float = 0.1) -> Prepared:
    """Rows of one setting with groups of these sizes, a tenth of all rows for tests."""
    data = prepared(sum(sizes))
    group = np.repeat(np.arange(len(sizes)), sizes).astype(np.int16)
    names = {"race": [f"r{g}" for g in range(len(sizes))]}
    order = np.arange(sum(sizes), dtype=np.int32)
    cut = round(sum(sizes) * (1 - test))
    split = {"train": order[: cut // 2], "validation": order[cut // 2 : cut], "test": order[cut:]}
    return Prepared(
        data.X, data.y, data.features, {"race": group}, names, split, data.data, data.partition
    )


def test_groups_that_are_large_enough_stay() -> None:
    data = with_sizes([300, 200, 250])
    found = pooled(data, 20)
    assert found.group_names == data.group_names
    np.testing.assert_array_equal(found.groups["race"], data.groups["race"])


def test_small_groups_are_pooled() -> None:
    found = pooled(with_sizes([600, 110, 500, 120]), 20)
    assert found.group_names["race"] == ["r0", "r2", "r1 or r3"]
    assert np.bincount(found.groups["race"]).tolist() == [600, 500, 230]


def test_what_is_small_even_together_takes_in_the_next_larger() -> None:
    found = pooled(with_sizes([3175, 31, 2103, 509, 343, 11]), 20)  # COMPAS, race
    assert found.group_names["race"] == ["r0", "r2", "r3", "r1 or r4 or r5"]


def test_empty_groups_vanish() -> None:
    found = pooled(with_sizes([600, 0, 500, 300]), 20)
    assert found.group_names["race"] == ["r0", "r2", "r3"]
    assert np.bincount(found.groups["race"]).min() > 0


def test_a_setting_left_with_one_group_is_left_out() -> None:
    assert pooled(with_sizes([600, 5]), 20).settings == []


@given(st.lists(st.integers(0, 400), min_size=2, max_size=9), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_pooling_keeps_rows_together_and_leaves_no_small_group(
    sizes: list[int], smallest: int
) -> None:
    if sum(sizes) < 100:
        sizes = [*sizes, 100]
    data = with_sizes(sizes)
    found = pooled(data, smallest)
    if not found.settings:
        return
    before, after = data.groups["race"], found.groups["race"]
    counts = np.bincount(after, minlength=len(found.group_names["race"]))
    share = len(data.split["test"]) / len(data.y)
    assert counts.sum() == len(data.y) and (counts * share >= smallest).all()
    for group in np.unique(before):  # a group is never torn apart
        assert len(np.unique(after[before == group])) == 1


@pytest.mark.real
def test_small_groups_of_the_real_data_are_pooled(real_data: Callable[[str], Prepared]) -> None:
    found = pooled(real_data("compas"), 20)
    assert found.group_names["race"][-1] == "Asian or Native American or Other"
    assert all(np.bincount(found.groups[s][found.split["test"]]).min() > 0 for s in found.settings)

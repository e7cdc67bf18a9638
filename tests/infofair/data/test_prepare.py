import hashlib
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from infofair import metrics
from infofair.data import checks, prepare
from infofair.data import dataset as datasets
from infofair.data.dataset import Attribute
from infofair.data.prepare import Preparation, RandomSplit
from infofair.data.prepared import Prepared
from infofair.data.tabular import source
from infofair.errors import Problem
from tests.raw import ALL, NAMES

PARTS = ("train", "validation", "test")
each_dataset = pytest.mark.parametrize("name", ALL)


def rows_of(folder: Path, name: str, real: bool) -> pd.DataFrame:
    rows, report = checks.validate(folder, datasets.load(name), real)
    assert report["passed"]
    return rows


@cache
def simulated_rows(name: str) -> pd.DataFrame:
    dataset = datasets.load(name)
    with TemporaryDirectory() as folder:
        dataset.write(dataset.simulate(700, 0), Path(folder))
        return rows_of(Path(folder), name, real=False)


@cache
def real_rows(folder: Path, name: str) -> pd.DataFrame:
    return rows_of(folder / name, name, real=True)


def prepared(
    name: str,
    folder: Path = Path(),
    rows: pd.DataFrame | None = None,
    split: str = "random",
    **how: Any,
) -> Prepared:
    """Simulated rows; the folder has the authors' split, if that is asked for."""
    rows = simulated_rows(name) if rows is None else rows
    how_to = Preparation(split=split, **how)
    return prepare.prepare(rows, datasets.load(name), how_to, folder=folder, data="simulated")


def place_split(folder: Path, train: list[int], test: list[int]) -> None:
    """The authors' two files."""
    np.save(folder / "train_idx.npy", np.array(train))
    np.save(folder / "test_idx.npy", np.array(test))


# The authors' numbers.


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "shape", "sha256"),
    [
        (
            "compas",
            (6_172, 52),
            "162f93f95900462cbb3088d5a81ee18916736be448bd80198abe68fcc17b6537",
        ),
        (
            "adult",
            (45_222, 104),
            "4465048df15403c105a799439018ee0e07b140c62b182a67fbe631cf05db6e4f",
        ),
        (
            "dutch",
            (60_420, 73),
            "e35358e9eac67ee847ad6c88d21efb458e9342dd232144ddc22d8a0e8b3c375e",
        ),
    ],
    ids=NAMES,
)
def test_real_features_are_the_authors_bit_for_bit(
    name: str, shape: tuple[int, int], sha256: str, real: Path
) -> None:
    encoded = datasets.load(name).encode(real_rows(real, name))
    matrix = np.ascontiguousarray(np.column_stack(list(encoded.values())), dtype="<i4")
    saved = BytesIO()
    np.save(saved, matrix)
    assert matrix.shape == shape
    assert hashlib.sha256(saved.getvalue()).hexdigest() == sha256


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "sizes", "everywhere", "in_test"),
    [
        (
            "compas",
            (4_938, 617, 617),
            [482, 82, 2, 549, 2, 58, 1621, 427, 29, 2626, 9, 285],
            [52, 10, 0, 49, 0, 8, 172, 43, 3, 249, 0, 31],
        ),
        (
            "adult",
            (36_178, 4_522, 4_522),
            [11883, 436, 166, 126, 2084, 27020, 867, 269, 227, 2144],
            [1183, 44, 13, 14, 215, 2710, 86, 28, 19, 210],
        ),
        (
            "dutch",
            (48_336, 6_042, 6_042),
            [171, 19403, 9281, 1292, 372, 17252, 10375, 2274],
            [21, 1950, 882, 106, 39, 1806, 1017, 221],
        ),
    ],
    ids=NAMES,
)
def test_real_groups_and_split_are_the_authors(
    name: str,
    sizes: tuple[int, int, int],
    everywhere: list[int],
    in_test: list[int],
    real_data: Callable[[str], Prepared],
) -> None:
    result = real_data(name)
    assert tuple(len(result.split[part]) for part in PARTS) == sizes
    group = result.groups["intersection"]
    assert np.bincount(group, minlength=len(everywhere)).tolist() == everywhere
    test = group[result.split["test"]]
    assert np.bincount(test, minlength=len(everywhere)).tolist() == in_test
    assert len(result.group_names["intersection"]) == len(everywhere)
    assert (result.data, result.partition) == ("real", "authors")


@pytest.mark.real
def test_one_leaking_column_is_the_papers_vanilla_on_compas(
    real_data: Callable[[str], Prepared],
) -> None:
    result = real_data("compas")
    leak = result.X[:, result.features.index("is_recid")][result.split["test"]] > 0.5
    assert round(np.mean(leak == result.y[result.split["test"]]), 3) == 0.972
    found = [metrics.imparity_released(leak, *result.members(s, "test")) for s in result.settings]
    assert [round(value, 3) for value in found] == [0.050, 0.181, 0.234]


# Splits.


def assert_each_row_once(split: dict[str, np.ndarray], rows: int) -> None:
    assert tuple(split) == PARTS
    assert sorted(np.concatenate(list(split.values()))) == list(range(rows))


@pytest.mark.parametrize("name", NAMES)
def test_the_authors_split_halves_their_test_rows_in_order(name: str, tmp_path: Path) -> None:
    rows = len(simulated_rows(name))
    order = np.random.default_rng(1).permutation(rows).tolist()
    place_split(tmp_path, order[:-101], order[-101:])
    result = prepared(name, tmp_path, split="authors")
    assert_each_row_once(result.split, rows)
    assert result.split["train"].tolist() == order[:-101]
    assert result.split["validation"].tolist() == order[-101:-51]
    assert result.split["test"].tolist() == order[-51:]
    assert result.partition == "authors"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda train, test: (train[1:], test),
        lambda train, test: (train, test[:-1]),
        lambda train, test: ([*train, train[0]], test),
        lambda train, test: ([*train[1:], test[0]], test),
        lambda train, test: ([*train[:-1], train[-1] + 10_000], test),
        lambda train, test: ([-1, *train[1:]], test),
    ],
    ids=["train row missing", "test row missing", "row twice", "in both", "too large", "negative"],
)
def test_a_split_that_does_not_cover_the_rows_is_refused(
    spoil: Callable[[list[int], list[int]], tuple[list[int], list[int]]], tmp_path: Path
) -> None:
    rows = len(simulated_rows("adult"))
    place_split(tmp_path, *spoil(list(range(rows - 100)), list(range(rows - 100, rows))))
    with pytest.raises(Problem, match=f"{tmp_path}: .* each of {rows} rows once"):
        prepared("adult", tmp_path, split="authors")


def test_a_damaged_split_file_is_named(tmp_path: Path) -> None:
    rows = len(simulated_rows("adult"))
    place_split(tmp_path, list(range(rows - 100)), list(range(rows - 100, rows)))
    path = tmp_path / "test_idx.npy"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(Problem, match=str(path)):
        prepared("adult", tmp_path, split="authors")


@st.composite
def stratified(draw: st.DrawFn) -> tuple[np.ndarray, RandomSplit]:
    sizes = draw(st.lists(st.integers(1, 60), min_size=1, max_size=8))
    strata = np.repeat(np.arange(len(sizes)) * 3, sizes)
    order = np.random.default_rng(draw(st.integers(0, 9))).permutation(len(strata))
    train = draw(st.floats(0.05, 0.9))
    validation = draw(st.floats(0.02, 0.98)) * (1 - train)
    seed = draw(st.integers(0, 2**32))
    return strata[order], RandomSplit(seed=seed, train=train, validation=validation)


@settings(deadline=None, max_examples=150)
@given(stratified())
def test_a_random_split_keeps_shares_overall_and_in_each_stratum(
    case: tuple[np.ndarray, RandomSplit],
) -> None:
    strata, knobs = case
    split = prepare.random_split(strata, knobs)
    assert_each_row_once(split, len(strata))
    shares = (knobs.train, knobs.validation, 1 - knobs.train - knobs.validation)
    for part, share in zip(PARTS, shares, strict=True):
        rounding = 1e-6
        assert abs(len(split[part]) - share * len(strata)) <= 1 + rounding
        for stratum in np.unique(strata):
            size = (strata == stratum).sum()
            dealt = (strata[split[part]] == stratum).sum()
            assert abs(dealt - share * size) <= 2 + rounding
    again = prepare.random_split(strata, knobs)
    assert all(np.array_equal(again[part], split[part]) for part in PARTS)


@each_dataset
def test_another_seed_gives_another_random_split(name: str) -> None:
    shares = {"train": 0.8, "validation": 0.1}
    first, again, other = (
        prepared(name, random_split=RandomSplit(seed, **shares)).split for seed in (0, 0, 1)
    )
    for part in PARTS:
        assert first[part].tobytes() == again[part].tobytes()
        assert not np.array_equal(first[part], other[part])


@each_dataset
def test_a_random_split_deals_out_groups_and_classes(name: str) -> None:
    result = prepared(name, random_split=RandomSplit(0, 0.5, 0.25))
    strata = result.groups["intersection"].astype(int) * 2 + result.y
    for part, share in zip(PARTS, (0.5, 0.25, 0.25), strict=True):
        dealt = np.bincount(strata[result.split[part]], minlength=strata.max() + 1)
        assert np.abs(dealt - share * np.bincount(strata)).max() <= 2


def test_a_random_split_too_thin_for_its_rows_is_refused() -> None:
    thin = RandomSplit(0, train=0.9995, validation=0.0003)
    with pytest.raises(Problem, match="random_split leaves no validation rows"):
        prepared("compas", random_split=thin)


# Groups.


def parts_of(joint: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    """The attributes' groups that a joint group is made of: the last one changes fastest."""
    parts = []
    for size in reversed(sizes):
        parts.insert(0, joint % size)
        joint = joint // size
    return parts


@each_dataset
def test_the_intersection_is_made_of_its_attributes(name: str) -> None:
    dataset, frame = datasets.load(name), simulated_rows(name)
    numbers, names = prepare.groups(frame, dict(dataset.sensitive))
    first, second = dataset.sensitive
    assert list(numbers) == list(names) == [first, second, "intersection"]
    n = len(dataset.sensitive[second].values)
    np.testing.assert_array_equal(numbers["intersection"] // n, numbers[first])
    np.testing.assert_array_equal(numbers["intersection"] % n, numbers[second])
    for setting, attribute in dataset.sensitive.items():
        values = list(attribute.values)
        assert [values[i] for i in numbers[setting]] == frame[attribute.column].to_list()
    for i in range(len(names["intersection"])):
        assert names["intersection"][i] == f"{names[first][i // n]} & {names[second][i % n]}"


def made_up_attributes(sizes: list[int]) -> tuple[pd.DataFrame, dict[str, Attribute]]:
    rng = np.random.default_rng(0)
    # Values are listed in falling order, so that a group's number differs from its value.
    sensitive = {
        f"setting {i}": Attribute(f"column {i}", {v: f"{i}:{v}" for v in reversed(range(size))})
        for i, size in enumerate(sizes)
    }
    columns = {f"column {i}": rng.integers(0, size, 200) for i, size in enumerate(sizes)}
    return pd.DataFrame(columns), sensitive


@pytest.mark.parametrize("sizes", [[2, 3, 4], [5, 1, 2], [2, 2, 2, 3]])
def test_more_than_two_attributes_intersect(sizes: list[int]) -> None:
    frame, sensitive = made_up_attributes(sizes)
    numbers, names = prepare.groups(frame, sensitive)
    joint = numbers["intersection"]
    assert len(names["intersection"]) == len(set(names["intersection"])) == np.prod(sizes)
    for part, setting in zip(parts_of(joint, sizes), sensitive, strict=True):
        np.testing.assert_array_equal(part, numbers[setting])
    readable = [" & ".join(f"{i}:{v}" for i, v in enumerate(row)) for row in frame.to_numpy()]
    assert [names["intersection"][i] for i in joint] == readable


def test_a_single_attribute_has_no_intersection() -> None:
    numbers, names = prepare.groups(*made_up_attributes([3]))
    assert list(numbers) == list(names) == ["setting 0"]


# Scaling.

# Integers as encoded; the counts of a census are far below these bounds.
integers = arrays(
    np.int32, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=8),
    elements=st.integers(-(10**6), 10**6),
)  # fmt: skip


@settings(deadline=None)
@given(integers, st.data())
def test_train_only_scaling_never_looks_at_test_rows(
    before: np.ndarray, data: st.DataObject
) -> None:
    train = np.arange(data.draw(st.integers(1, len(before) - 1)))
    after = before.copy()
    after[len(train) :] = data.draw(
        arrays(np.int32, after[len(train) :].shape, elements=st.integers(-(10**6), 10**6))
    )
    scaled = prepare.scaled(before, train)
    assert prepare.scaled(after, train)[train].tobytes() == scaled[train].tobytes()
    assert np.abs(scaled[train]).max() <= 1


@settings(deadline=None)
@given(integers)
def test_scaling_over_all_rows_reaches_one_and_stays_within(numbers: np.ndarray) -> None:
    scaled = prepare.scaled(numbers, slice(None))
    assert scaled.dtype == np.float32
    largest = np.abs(scaled).max(axis=0)
    np.testing.assert_array_equal(largest, (numbers != 0).any(axis=0).astype(np.float32))
    np.testing.assert_array_equal(np.sign(scaled), np.sign(numbers))


@pytest.mark.parametrize("rows", [slice(None), np.array([0, 1])])
def test_a_column_of_zeros_is_divided_by_one(rows: slice | np.ndarray) -> None:
    numbers = np.array([[0, 2], [0, -4], [0, 1]], np.int32)
    expected = np.array([[0, 0.5], [0, -1], [0, 0.25]], np.float32)
    np.testing.assert_array_equal(prepare.scaled(numbers, rows), expected, strict=True)
    # A column may be zero in the training rows only: its other values are kept as they are.
    numbers[2, 0] = 7
    assert prepare.scaled(numbers, np.array([0, 1]))[2, 0] == 7


@pytest.mark.parametrize(("scale", "sees_test_rows"), [("train_rows", False), ("all_rows", True)])
def test_the_scale_decides_which_rows_are_looked_at(scale: str, sees_test_rows: bool) -> None:
    frame = simulated_rows("adult").copy()
    first = prepared("adult", rows=frame, scale=scale)
    row = first.split["test"][0]
    frame.loc[row, "fnlwgt"] = 10 * frame["fnlwgt"].max()
    second = prepared("adult", rows=frame, scale=scale)
    train = first.split["train"]
    assert np.array_equal(second.split["train"], train)
    same = first.X[train].tobytes() == second.X[train].tobytes()
    assert same != sees_test_rows


# Features.


@each_dataset
def test_without_sensitive_inputs_exactly_the_sensitive_columns_go(name: str) -> None:
    every, fewer = prepared(name), prepared(name, sensitive_as_input=False)
    sensitive = {attribute.column for attribute in datasets.load(name).sensitive.values()}
    assert {source(feature) for feature in every.features} >= sensitive
    kept = [i for i, feature in enumerate(every.features) if source(feature) not in sensitive]
    assert fewer.features == [every.features[i] for i in kept]
    np.testing.assert_array_equal(fewer.X, every.X[:, kept], strict=True)
    assert fewer.settings == every.settings  # the groups stay


def test_exactly_the_leaking_columns_of_compas_can_be_dropped() -> None:
    every = prepared("compas")
    fewer = prepared("compas", drop_leaking_columns=True)
    dropped = ["is_recid", "is_violent_recid"]
    assert [feature for feature in every.features if feature not in fewer.features] == dropped
    kept = [i for i, feature in enumerate(every.features) if feature not in dropped]
    np.testing.assert_array_equal(fewer.X, every.X[:, kept], strict=True)


@pytest.mark.parametrize("name", ["adult", "dutch", "kdd"])
def test_leaks_cannot_be_dropped_where_none_is_known(name: str) -> None:
    with pytest.raises(Problem, match="drop_leaking_columns is true, but no column is known"):
        prepared(name, drop_leaking_columns=True)


@each_dataset
def test_the_label_is_no_feature(name: str) -> None:
    dataset, result = datasets.load(name), prepared(name)
    assert dataset.label not in {source(feature) for feature in result.features}
    assert result.y.tolist() == simulated_rows(name)[dataset.label].to_list()

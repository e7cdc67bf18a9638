"""DI against BlackBoxAuditing's repairer, value for value, and what a repair may and may not do."""

import dataclasses
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infofair.data.prepared import ALL, Prepared
from infofair.methods.di import DI, repair_column
from infofair.methods.vanilla import Vanilla
from tests.simulated import prepared
from tests.steps import run, same_bits

LEVELS = [0, 0.0909, 1 / 3, 0.5, 0.8, 1]
EVERYONE = DI(smallest_group=1)
seeds, levels = st.integers(0, 10_000), st.sampled_from(LEVELS)


@pytest.fixture(scope="module")
def repairer() -> ModuleType:
    name = "BlackBoxAuditing.repairers.CategoricRepairer"
    return pytest.importorskip(name, reason="the extra `oracles` is not installed")


def official(repairer: ModuleType, X: np.ndarray, group: np.ndarray, level: float) -> np.ndarray:
    """The repair of Python floats; the sensitive column goes first, and not into the result."""
    rows = [[int(g), *row] for g, row in zip(group, X.astype(float).tolist(), strict=True)]
    repaired = repairer.Repairer(rows, 0, level, False).repair(rows)
    return np.array([row[1:] for row in repaired], X.dtype)


def dataset(seed: int, rows: int = 60) -> Prepared:
    """2 to 5 groups, each in every part of the split, of any size; columns of many kinds."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(2, 6)
    rare = rng.dirichlet(np.ones(groups))
    group = np.concatenate([np.tile(np.arange(groups), 3), rng.choice(groups, rows, p=rare)])
    n = len(group)
    columns = [
        rng.random(n),
        rng.random(n) + group,
        rng.integers(0, 5, n),
        rng.integers(0, 12, n) * (1 + group),
        np.where(rng.random(n) < 0.8, 0, rng.integers(0, 30, n)),
        rng.integers(0, 2, n),
        rng.integers(0, 2, n) * (group > 0),  # group 0 has only one of both values
        (group == 1),
        np.zeros(n),
    ]
    train = np.concatenate([np.arange(groups), rng.permutation(np.arange(3 * groups, n))[: n // 2]])
    validation = np.arange(groups, 2 * groups)
    test = np.setdiff1d(np.arange(n), np.concatenate([train, validation]))
    return Prepared(
        X=np.stack(columns, 1).astype(np.float32),
        y=rng.integers(0, 2, n).astype(np.int8),
        features=[f"x{i}" for i in range(len(columns))],
        groups={"gender": group.astype(np.int16)},
        group_names={"gender": [str(i) for i in range(groups)]},
        split={"train": train, "validation": validation, "test": test},
        data="simulated",
        partition="random",
    )


def members(data: Prepared) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Each group's rows, of the training rows and of all."""
    group, train = data.groups["gender"], data.split["train"]
    numbers = np.unique(group)
    return [train[group[train] == g] for g in numbers], [
        np.flatnonzero(group == g) for g in numbers
    ]


def repaired(data: Prepared, level: float) -> np.ndarray:
    return np.stack([repair_column(column, *members(data), level) for column in data.X.T], 1)


def is_the_group(column: np.ndarray, group: np.ndarray) -> bool:
    return all(len(np.unique(column[group == g])) == 1 for g in np.unique(group))


# -- against BlackBoxAuditing -------------------------------------------------------------------


def assert_official(
    repairer: ModuleType, data: Prepared, found: np.ndarray, rows: np.ndarray, level: float
) -> None:
    """On these rows, found is the official repair of all columns but those that are the group."""
    [group] = data.groups.values()
    X, group = data.X[rows], group[rows]
    ours = np.array([not is_the_group(column, group) for column in X.T])
    expected = official(repairer, X[:, ours], group, level)
    np.testing.assert_array_equal(found[rows][:, ours], expected)
    np.testing.assert_array_equal(found[rows][:, ~ours], X[:, ~ours])


@given(seed=seeds, level=levels)
@settings(max_examples=250)
def test_a_repaired_column_is_the_official_one(
    repairer: ModuleType, seed: int, level: float
) -> None:
    data = dataset(seed)
    assert_official(repairer, data, repaired(data, level), data.split["train"], level)


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.5, 1.0, 4.0])
def test_the_repair_is_the_official_one_at_the_papers_level(
    alpha: float, repairer: ModuleType
) -> None:
    for seed in range(10):
        data = dataset(seed)
        found = EVERYONE.repair(data, "gender", alpha)
        assert_official(repairer, data, found, data.split["train"], alpha / (1 + alpha))


@pytest.mark.real
@pytest.mark.parametrize("alpha", [0.1, 4.0])
@pytest.mark.parametrize(("setting", "taking_part"), [("gender", 2), ("intersection", 6)])
def test_real_training_rows_are_repaired_as_officially(
    setting: str,
    taking_part: int,
    alpha: float,
    real_data: Callable[[str], Prepared],
    repairer: ModuleType,
) -> None:
    data = real_data("adult")
    sample = np.random.default_rng(0).permutation(data.split["train"])[:4000]
    data = dataclasses.replace(
        data, split=data.split | {"train": sample}, groups={setting: data.groups[setting]}
    )
    large = np.flatnonzero(np.bincount(data.groups[setting][sample]) >= 40)
    assert len(large) == taking_part
    rows = sample[np.isin(data.groups[setting][sample], large)]
    found = DI(smallest_group=40).repair(data, setting, alpha)
    assert_official(repairer, data, found, rows, alpha / (1 + alpha))
    others = np.isin(data.groups[setting], large, invert=True)
    np.testing.assert_array_equal(found[others], data.X[others])


@pytest.mark.real
def test_on_adult_the_papers_repair_changes_three_columns(
    real_data: Callable[[str], Prepared],
) -> None:
    data = real_data("adult")
    found = DI().repair(data, "gender", 0.1)
    changed = (found != data.X).any(0)
    names = [name for name, here in zip(data.features, changed, strict=True) if here]
    assert sorted(names) == ["capital-loss", "fnlwgt", "hours-per-week"]


# -- what a repair may do -----------------------------------------------------------------------


@given(seeds)
@settings(max_examples=40)
def test_at_level_zero_nothing_changes(seed: int) -> None:
    data = dataset(seed)
    np.testing.assert_array_equal(repaired(data, 0), data.X)
    np.testing.assert_array_equal(EVERYONE.repair(data, "gender", 0.0), data.X)


@given(seeds, levels)
@settings(max_examples=60)
def test_the_order_within_a_group_is_preserved(seed: int, level: float) -> None:
    data = dataset(seed)
    found = repaired(data, level)
    for rows in members(data)[0]:
        for before, after in zip(data.X[rows].T, found[rows].T, strict=True):
            ordered = after[np.argsort(before, kind="stable")]
            assert (np.diff(ordered) >= 0).all()


@given(seeds, levels)
@settings(max_examples=60)
def test_a_value_becomes_one_of_the_training_rows_or_stays(seed: int, level: float) -> None:
    data = dataset(seed)
    for before, after in zip(data.X.T, repaired(data, level).T, strict=True):
        assert np.isin(after, before[data.split["train"]])[after != before].all()


@given(seeds)
@settings(max_examples=40)
def test_full_repair_leaves_groups_of_equally_many_values_alike(seed: int) -> None:
    rng = np.random.default_rng(seed)
    group, column = np.repeat([0, 1, 2], 7), rng.permutation(1000)[:21].astype(np.float32)
    rows = [np.flatnonzero(group == g) for g in range(3)]
    found = repair_column(column, rows, rows, 1.0)
    distinct = [np.sort(found[r]).tolist() for r in rows]
    assert distinct[0] == distinct[1] == distinct[2]


@given(seeds, st.sampled_from([level for level in LEVELS if level <= 0.5]))
@settings(max_examples=60)
def test_up_to_one_half_columns_of_two_values_stay(seed: int, level: float) -> None:
    data = dataset(seed)
    binary = [i for i, column in enumerate(data.X.T) if len(np.unique(column)) <= 2]
    assert len(binary) >= 4
    np.testing.assert_array_equal(repaired(data, level)[:, binary], data.X[:, binary])


def test_above_one_half_a_group_without_a_value_takes_it_from_the_others() -> None:
    column, group = np.array([1, 1, 0, 1, 0, 1], np.float32), np.array([0, 0, 1, 1, 2, 2])
    rows = [np.flatnonzero(group == g) for g in range(3)]
    assert repair_column(column, rows, rows, 0.5).tolist() == column.tolist()
    assert repair_column(column, rows, rows, 0.51).tolist() == [0] * 6


# -- whom it concerns ---------------------------------------------------------------------------


def test_other_rows_take_the_buckets_of_the_training_values_next_to_or_below_them() -> None:
    training = {0: [0, 1, 2, 3], 1: [10, 11, 12, 13]}
    # full repair takes each of group 1's values to the one of the same rank in group 0
    others = {0: {2.5: 2.5, -5: -5, 7: 7}, 1: {11: 1, 11.5: 1, 9: 0, 99: 3}}
    values = [v for g in (0, 1) for v in [*training[g], *others[g]]]
    group = np.repeat([0, 1], [4 + len(others[0]), 4 + len(others[1])])
    every = [np.flatnonzero(group == g) for g in (0, 1)]
    found = repair_column(np.array(values, np.float32), [r[:4] for r in every], every, 1.0)
    expected = [v for g in (0, 1) for v in [*training[0], *others[g].values()]]
    assert found.tolist() == expected


@given(seeds, levels)
@settings(max_examples=60)
def test_other_rows_are_repaired_as_training_rows_of_their_group_and_value(
    seed: int, level: float
) -> None:
    data = dataset(seed)
    found = repaired(data, level)
    for train, every in zip(*members(data), strict=True):
        for before, after in zip(data.X.T, found.T, strict=True):
            as_in_training = dict(zip(before[train], after[train], strict=True))
            for row in every:
                assert after[row] == as_in_training.get(before[row], after[row])


@given(seeds, levels)
@settings(max_examples=40)
def test_other_rows_have_no_say_in_the_repair(seed: int, level: float) -> None:
    data = dataset(seed)
    changed = data.X.copy()
    rest = np.setdiff1d(np.arange(len(changed)), data.split["train"])
    changed[rest[::2]] += 1000
    found = repaired(dataclasses.replace(data, X=changed), level)
    kept = np.setdiff1d(np.arange(len(changed)), rest[::2])
    np.testing.assert_array_equal(found[kept], repaired(data, level)[kept])


@given(seeds)
@settings(max_examples=40)
def test_small_groups_take_no_part(seed: int) -> None:
    data = dataset(seed)
    group, train = data.groups["gender"], data.split["train"]
    smallest = 8
    large = [g for g in np.unique(group) if (group[train] == g).sum() >= smallest]
    found = DI(smallest_group=smallest).repair(data, "gender", 4.0)
    part = np.isin(group, large)
    np.testing.assert_array_equal(found[~part], data.X[~part])
    if len(large) < 2:
        np.testing.assert_array_equal(found, data.X)
    else:
        without = dataclasses.replace(
            data, groups={"gender": group[part]}, X=data.X[part], y=data.y[part],
            split={"train": np.flatnonzero(np.isin(np.flatnonzero(part), train))},
        )  # fmt: skip
        alone = EVERYONE.repair(without, "gender", 4.0)
        np.testing.assert_array_equal(found[part], alone)


def test_the_sensitive_columns_stay() -> None:
    data = prepared()
    for setting, columns in {"gender": [0], "race": [1], "intersection": [0, 1]}.items():
        found = EVERYONE.repair(data, setting, 1e9)
        np.testing.assert_array_equal(found[:, columns], data.X[:, columns])
        assert (found[:, 2:] != data.X[:, 2:]).any()


def test_every_setting_is_trained_on_its_own_repair() -> None:
    """As a plain classifier on the repaired features, and the rows given are left as they are."""
    data, method = prepared(), DI(learning_rate=1e-3, smallest_group=20)
    before = data.X.copy()
    found = run(method, ("gender", "race"), alphas=(1.0, 4.0), data=data)
    assert len(found) == 2 * 2 * 2
    for (seed, setting, alpha), model in found.items():
        repaired = dataclasses.replace(data, X=method.repair(data, setting, alpha))
        plain = run(Vanilla(learning_rate=1e-3), (ALL,), seeds=(seed,), data=repaired)
        assert same_bits(model, plain[seed, ALL, 0.5])
    np.testing.assert_array_equal(data.X, before)

"""DI's repair of categories against BlackBoxAuditing's, whose draws are its own: by counts."""

import random
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infofair.data.prepared import Prepared
from infofair.data.tabular import source
from study.tried.di import DIByCategories, DIWithoutSensitive, repair_categories
from tests.simulated import prepared
from tests.steps import run

LEVELS = [0.0, 0.0909, 0.5, 0.909]
Rows = list[np.ndarray]


def column(seed: int, rows: int = 80) -> tuple[np.ndarray, np.ndarray, Rows]:
    """Categories that depend on groups; each group has at least two rows."""
    rng = np.random.default_rng(seed)
    groups, K = rng.integers(2, 5), rng.integers(2, 5)
    group = np.concatenate([np.tile(np.arange(groups), 2), rng.integers(0, groups, rows)])
    chances = rng.dirichlet(np.ones(K), groups)
    category = np.array([rng.choice(K, p=chances[g]) for g in group])
    category[:K] = np.arange(K)
    return category, group, [np.flatnonzero(group == g) for g in range(groups)]


def counts(category: np.ndarray, members: Rows, K: int) -> np.ndarray:
    return np.stack([np.bincount(category[rows], minlength=K) for rows in members])


@pytest.fixture(scope="module")
def repairer() -> ModuleType:
    name = "BlackBoxAuditing.repairers.CategoricRepairer"
    return pytest.importorskip(name, reason="the extra `oracles` is not installed")


@pytest.mark.parametrize("sensitive", [False, True])
@pytest.mark.parametrize(
    ("seed", "level"),
    [
        pytest.param(seed, level, marks=[pytest.mark.slow] * (seed != 1))
        for seed, level in enumerate(LEVELS)
    ],
)
def test_on_average_groups_have_the_official_counts(
    seed: int, level: float, sensitive: bool, repairer: ModuleType
) -> None:
    """Means over 150 repairs of both, within five of their standard errors."""
    category, group, members = column(seed)
    if sensitive:
        category = group
    K, times = category.max() + 1, 150
    rows = [[f"g{g}", f"c{c}"] for g, c in zip(group, category, strict=True)]
    official, ours = [], []
    random.seed(seed)
    for draw in range(times):
        repaired = repairer.Repairer(rows, 0, level, False).repair(rows)
        place = 0 if sensitive else 1
        official.append(counts(np.array([int(r[place][1:]) for r in repaired]), members, K))
        rng = np.random.default_rng(draw)
        found = repair_categories(category, members, level, rng, sensitive=sensitive)
        ours.append(counts(found, members, K))
    gap = np.mean(ours, 0) - np.mean(official, 0)
    error = np.sqrt((np.var(ours, 0) + np.var(official, 0)) / times)
    assert (np.abs(gap) <= 5 * error + 1e-9).all()


@given(seed=st.integers(0, 10_000), level=st.floats(0, 1))
@settings(max_examples=50)
def test_a_group_has_at_least_what_is_wanted_of_its_categories(seed: int, level: float) -> None:
    category, _, members = column(seed)
    K = category.max() + 1
    before = counts(category, members, K)
    shares = before / before.sum(1, keepdims=True)
    found = repair_categories(category, members, level, np.random.default_rng(seed))
    after = counts(found, members, K)
    for g, rows in enumerate(members):
        for k in range(K):
            median = sorted(shares[:, k])[(len(members) - 1) // 2]
            wanted = int((1 - level) * before[g, k] + level * median * len(rows))
            assert after[g, k] >= min(wanted, before[g, k]) - 1  # floor of a rounded product


def encoded(seed: int = 0) -> Prepared:
    """Simulated rows with a sex, a race and a job of one column per value, and a constant."""
    data = prepared(seed=seed)
    a, b = data.groups["gender"], data.groups["race"]
    job = np.random.default_rng(seed).integers(0, 3, len(a)) * (a + 1) % 4
    columns = {
        "age": data.X[:, 2],
        "sex=1": a,
        **{f"race={value}": b == value for value in range(3)},
        **{f"job={value}": job == value for value in range(1, 4)},  # 0 is not known
        "here=1": np.ones(len(a)),
    }
    X = np.stack(list(columns.values()), 1).astype(np.float32)
    return replace(data, X=X, features=list(columns))


def of(data: Prepared, *attributes: str) -> list[int]:
    return [i for i, name in enumerate(data.features) if source(name) in attributes]


@pytest.mark.parametrize("setting", ["gender", "race", "intersection"])
def test_without_repair_nothing_changes(setting: str) -> None:
    data = encoded()
    assert np.array_equal(DIByCategories().repair(data, setting, 0.0), data.X)


@pytest.mark.parametrize("setting", ["gender", "race", "intersection"])
def test_a_row_has_one_category_of_every_attribute(setting: str) -> None:
    data = encoded()
    found = DIByCategories().repair(data, setting, 10.0)
    assert found.shape == data.X.shape and not np.array_equal(found, data.X)
    assert (found[:, of(data, "race")].sum(1) == 1).all()
    assert (found[:, of(data, "job")].sum(1) <= 1).all()
    assert np.array_equal(found[:, of(data, "here")], data.X[:, of(data, "here")])


def test_of_the_sensitive_attribute_the_most_common_value_is_left() -> None:
    data = encoded()
    [sex] = of(data, "sex")
    common = round(float(data.X[:, sex].mean()))
    found = DIByCategories().repair(data, "gender", 1e6)[:, sex]
    assert np.mean(found == common) > 0.99


@pytest.mark.parametrize(
    ("setting", "own"), [("gender", ["sex"]), ("race", ["race"]), ("intersection", ["sex", "race"])]
)
def test_the_sensitive_attributes_can_be_left_out(setting: str, own: list[str]) -> None:
    data = encoded()
    kept = np.delete(data.X, of(data, *own), 1)
    assert np.array_equal(DIWithoutSensitive().repair(data, setting, 0.0), kept)


def test_a_repair_is_another_with_another_seed_only() -> None:
    data = encoded()
    first, again, other = (
        DIByCategories(repair_seed=seed).repair(data, "gender", 1.0) for seed in (0, 0, 1)
    )
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_models_are_trained_on_fewer_columns() -> None:
    for model in run(DIWithoutSensitive(), data=encoded()).values():
        assert np.isfinite(model.probabilities["test"]).all()

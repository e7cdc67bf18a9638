"""Of which group a row may be: fitted on training rows, without the columns that say it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from infofair.data.prepared import PARTS, Prepared
from infofair.errors import Problem
from stages import posteriors as door
from study import paths, posteriors
from tests.conftest import compared, write_plans
from tests.simulated import prepared


def data(seed: int = 0) -> Prepared:
    """Its first two features are the sensitive columns; the third tells of the first."""
    found = prepared(rows=500, features=5, seed=seed)
    X = found.X.copy()
    X[:, 2] = found.groups["gender"] + np.random.default_rng(seed).normal(0, 0.4, len(X))
    return replace(found, X=X, features=["sex", "race=b", *found.features[2:]])


@pytest.fixture(autouse=True)
def quick(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posteriors, "ROUNDS", 5)
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")
    write_plans(
        datasets=["compas"],
        methods={"trained": ["vanilla"], "ablations": [], "solved": []},
        beyond={"trained": [], "solved": []},
        comparison=compared(splits=[0, 1]),
    )


def made(*splits: Prepared) -> dict[str, dict[str, dict[str, np.ndarray]]]:
    """Through the door: split -> setting -> part -> rows × groups × 2."""
    for number, rows in enumerate(splits):
        rows.save(paths.variant("compas", f"split{number}"))
    door.main("compas")
    return {
        f"split{number}": {s: posteriors.read("compas", f"split{number}", s) for s in rows.settings}
        for number, rows in enumerate(splits)
    }


def test_every_row_has_a_chance_of_every_group_and_they_sum_to_one() -> None:
    splits = data(0), data(1)
    found = made(*splits)
    for number, rows in enumerate(splits):
        for setting in rows.settings:
            groups = len(rows.group_names[setting])
            for part in PARTS:
                chance = found[f"split{number}"][setting][part]
                assert chance.shape == (len(rows.split[part]), groups, 2)
                assert (chance >= 0).all()
                np.testing.assert_allclose(chance.sum(axis=1), 1, atol=1e-5)


def test_a_group_that_no_training_row_has_has_no_chance() -> None:
    rows = data()
    race = rows.groups["race"].copy()
    race[rows.split["train"]] %= 2
    found = made(replace(rows, groups=rows.groups | {"race": race}), data(1))["split0"]["race"]
    for part in PARTS:
        assert (found[part][:, 2] == 0).all()
        np.testing.assert_allclose(found[part].sum(axis=1), 1, atol=1e-5)


def test_it_knows_more_than_nothing() -> None:
    rows = data()
    found = made(rows, data(1))["split0"]["gender"]
    for part in PARTS:
        group, _ = rows.members("gender", part)
        y = rows.y[rows.split[part]]
        own = found[part][np.arange(len(group)), :, y]  # at the row's own label
        assert (own.argmax(axis=1) == group).mean() > 0.75


def test_the_sensitive_columns_are_not_used() -> None:
    rows = data()
    other = rows.X.copy()
    other[:, :2] = np.random.default_rng(3).random((len(other), 2))
    first, second = made(rows, replace(rows, X=other)).values()
    for setting in rows.settings:
        for part in PARTS:
            np.testing.assert_array_equal(first[setting][part], second[setting][part])


def test_the_label_is_used_and_only_of_training_rows() -> None:
    """A row is asked at both labels; its own, which a user would not know, has no say."""
    rows = data()
    for part, alike in {"test": True, "validation": True, "train": False}.items():
        y = rows.y.copy()
        y[rows.split[part]] = 1 - y[rows.split[part]]
        first, second = made(rows, replace(rows, y=y)).values()
        for p in PARTS:
            same = np.array_equal(first["race"][p], second["race"][p])
            assert same == alike
    assert not np.array_equal(first["race"]["test"][..., 0], first["race"]["test"][..., 1])


def test_only_groups_of_training_rows_are_used() -> None:
    rows = data()
    groups = {s: of.copy() for s, of in rows.groups.items()}
    for of in groups.values():
        for part in PARTS:
            of[rows.split[part]] = 0
    first, second = made(rows, replace(rows, groups=groups)).values()
    for setting in rows.settings:
        for part in PARTS:
            np.testing.assert_array_equal(first[setting][part], second[setting][part])


def test_the_same_rows_give_the_same_bytes() -> None:
    made(data(0), data(1))
    path = posteriors.path("compas", "split1")
    before = path.read_bytes()
    door.main("compas")
    assert path.read_bytes() == before


def test_what_is_missing_names_its_pipeline() -> None:
    with pytest.raises(Problem, match=r"dvc repro beyond/dvc\.yaml$"):
        posteriors.read("compas", "split0", "gender")


def test_of_many_training_rows_some_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, whole = data(), made(data(), data())["split0"]["gender"]["test"]
    monkeypatch.setattr(posteriors, "ROWS", 200)
    some, again = (made(rows, rows)["split0"]["gender"]["test"] for _ in range(2))
    np.testing.assert_array_equal(some, again)
    assert (some != whole).any()
    # they tell the group as well as all rows do, or nearly
    group, _ = rows.members("gender", "test")
    told = [(chance[:, 1, 0] > 0.5) == group for chance in (some, whole)]
    assert told[0].mean() > told[1].mean() - 0.1 > 0.6

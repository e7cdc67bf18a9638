"""Columns of any kind to groups and numbers."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infofair.errors import Problem
from infofair.framework.sensitive import parts, read

SEX = ["f", "m", "m", "f"]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (SEX, ["sensitive_feature_0"]),
        (np.array(SEX), ["sensitive_feature_0"]),
        (pd.Series(SEX, name="sex", index=[9, 8, 7, 6]), ["sex"]),
        (pd.Series(SEX), ["sensitive_feature_0"]),
        (pd.DataFrame({"sex": SEX, "old": [True, False, True, True]}), ["sex", "old"]),
        ({"sex": SEX}, ["sex"]),
        ([["f", 1], ["m", 2], ["m", 2], ["f", 1]], ["sensitive_feature_0", "sensitive_feature_1"]),
        (tuple(SEX), ["sensitive_feature_0"]),
        (pd.Series(pd.Categorical(SEX), name="sex"), ["sex"]),
    ],
)
def test_columns_come_in_any_form_and_keep_their_names(given: Any, names: list[str]) -> None:
    found = read(given, 4)
    assert [own.name for own in found] == names
    assert found[0].groups is not None
    assert [found[0].values[g] for g in found[0].groups] == SEX


def test_numbers_with_many_values_are_continuous_unless_told() -> None:
    age = np.arange(60)
    (own,) = read(pd.Series(age, name="age"), 60)
    assert own.groups is None and own.numbers is not None
    assert abs(own.numbers.mean()) < 1e-6 and own.numbers.std() == pytest.approx(1, abs=1e-3)
    assert (np.diff(own.numbers) > 0).mean() > 0.6  # U(0, 1) was added, no more
    (own,) = read(pd.Series(age, name="age"), 60, continuous=[])
    assert len(own.values) == 60
    (own,) = read(pd.Series(age % 4, name="age"), 60, continuous=["age"])
    assert own.numbers is not None


def test_very_skewed_numbers_become_normal_scores() -> None:
    income = np.exp(np.random.default_rng(0).normal(size=500) * 2)
    (own,) = read(income, 500)
    assert own.numbers is not None
    assert abs(np.mean(own.numbers**3)) < 0.05
    assert (np.argsort(own.numbers) == np.argsort(income)).all()


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), min_size=4, max_size=40))
@settings(max_examples=30)
def test_groups_of_the_intersection_are_the_combinations_that_occur(rows: list[Any]) -> None:
    rows = [("a", "x"), ("b", "x"), *rows]
    attributes = read(pd.DataFrame(rows, columns=["p", "q"]), len(rows))
    (together,) = parts(attributes, "intersection")
    assert together.name == "p & q" and together.groups == len(set(rows))
    named: dict[int, set[Any]] = {}
    for g, row in zip(together.g, rows, strict=True):
        named.setdefault(int(g), set()).add(row)
    assert all(len(of) == 1 for of in named.values())
    assert [p.name for p in parts(attributes, "parallel")] == ["p"] + ["q"] * (
        len({q for _, q in rows}) > 1
    )


def test_groups_and_numbers_go_together() -> None:
    columns = pd.DataFrame({"sex": ["f", "m"] * 30, "age": np.arange(60)})
    (together,) = parts(read(columns, 60), "intersection")
    assert (together.groups, together.numbers) == (2, 1)
    assert [(p.groups, p.numbers) for p in parts(read(columns, 60), "parallel")] == [(2, 0), (1, 1)]


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        (SEX[:3], {}, "has 3 rows; expected 4"),
        ([1.0, np.nan, 2.0, 1.0], {}, "missing (NaN) in row 1"),
        (["f", None, "m", "f"], {}, "missing (NaN) in row 1"),
        (["f"] * 4, {}, "every row has the same values"),
        (np.zeros((4, 0)), {}, "has no column"),
        (np.zeros((4, 2, 2)), {}, "expected a Series"),
        (3, {}, "expected a Series"),
        ({"a": SEX, "b": SEX[:2]}, {}, "sensitive_features"),
        (pd.DataFrame([SEX, SEX], index=["a", "a"]).T, {}, "two columns 'a'"),
        (SEX, {"continuous": ["age"]}, "continuous names 'age'"),
        (pd.Series(SEX, name="sex"), {"continuous": ["sex"]}, "no number"),
        (SEX, {"continuous": "all"}, "continuous is 'all'; expected 'auto'"),
        (pd.Series([1.0, np.inf, 0, 2], name="a"), {"continuous": ["a"]}, "infinite"),
        (pd.Series([1.0] * 4, name="a"), {"continuous": ["a"]}, "'a' is 1 in every row"),
    ],
)
def test_what_is_wrong_is_said(given: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(Problem) as raised:
        parts(read(given, 4, **options), "intersection")
    assert said in str(raised.value)
    assert isinstance(raised.value, ValueError)

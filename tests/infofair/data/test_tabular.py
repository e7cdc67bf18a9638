"""A CSV of one's own: how it is read, grouped and encoded."""

from pathlib import Path

import pandas as pd
import pytest

from examples import loans
from infofair.data.dataset import Attribute
from infofair.data.prepare import groups
from infofair.data.tabular import ranges, read_csv
from infofair.errors import Problem


def test_the_mark_that_spreadsheets_put_first_is_no_part_of_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('"first, with a comma",b\n1, x\n', encoding="utf-8-sig")
    frame = read_csv(path)
    assert frame.columns.to_list() == ["first, with a comma", "b"]
    assert frame.to_numpy().tolist() == [["1", "x"]]


def test_ranges_are_from_each_cut_to_below_the_next() -> None:
    frame = pd.DataFrame({"age": [18, 24, 25, 59, 60, 80], "income": [0.5, 1, 1.5, 2, 2.5, 3]})
    sensitive = {"age_group": ranges("age", 25, 60), "rich": ranges("income", 2.25)}
    numbers, names = groups(frame, sensitive)
    assert numbers["age_group"].tolist() == [0, 0, 1, 1, 2, 2]
    assert names["age_group"] == ["under 25", "25 to under 60", "60 and over"]
    assert numbers["rich"].tolist() == [0, 0, 0, 0, 1, 1]
    assert numbers["intersection"].tolist() == [0, 0, 2, 2, 5, 5]


def test_a_value_without_a_group_and_too_many_groups_are_problems() -> None:
    attribute = Attribute("x", {"a": "A", "b": "B"})
    frame = pd.DataFrame({"x": ["a", "c"]})
    with pytest.raises(Problem, match=r"attribute s: x is 'c' in some row, which has no group"):
        groups(frame, {"s": attribute})
    many = {f"s{i}": attribute for i in range(15)}
    with pytest.raises(Problem, match="32768 combinations of their values; expected 32767"):
        groups(frame[:1], many)


def test_columns_become_features_as_the_document_says() -> None:
    dataset = loans.DATASET
    frame = pd.DataFrame(
        {
            "customer": ["1", "2"], "age": [20, 30], "income": [0.25, 1.5],
            "years_employed": [1, 2], "purpose": ["car", "study"], "gender": ["male", "female"],
            "region": ["west", "north"], "approved": ["yes", "no"],
        }
    )  # fmt: skip
    clean = dataset.clean(frame)
    assert clean["approved"].to_list() == [1, 0]
    encoded = dataset.encode(clean)
    assert list(encoded) == [
        "age", "income", "years_employed", "purpose=car", "purpose=home", "purpose=business",
        "purpose=study", "gender=male", "region=north", "region=east", "region=south",
        "region=west",
    ]  # fmt: skip
    assert encoded["income"].tolist() == [0.25, 1.5]
    assert encoded["purpose=study"].tolist() == [0, 1]
    assert encoded["gender=male"].tolist() == [1, 0]

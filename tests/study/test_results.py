"""Tables of results: what is written is read, and what is no table is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ruamel.yaml import YAML

from infofair.errors import Problem
from study import paths, results
from study.results import EVALUATION, MEASURED, TABLES
from tests.conftest import ROOT


def made_up(name: str, rows: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((rows, len(TABLES[name]))), columns=TABLES[name])
    texts = {name: "" for name in results.TEXTS if name in table}
    return table.assign(dataset="adult", setting="race", **texts)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_read_as_it_was_written_to_six_digits(name: str, workspace: Path) -> None:
    table = made_up(name)
    results.write(table, name)
    found = results.read(name)
    assert list(found.columns) == TABLES[name]
    pd.testing.assert_frame_equal(found, table[TABLES[name]], rtol=1e-5, check_dtype=False)
    first = paths.table(name).read_bytes()
    results.write(found, name)
    assert paths.table(name).read_bytes() == first
    assert b"\r" not in first


def test_columns_are_written_in_their_order_and_no_others(workspace: Path) -> None:
    table = made_up("summary")
    results.write(table[table.columns[::-1]].assign(more=1), "summary")
    assert list(results.read("summary").columns) == TABLES["summary"]


def test_a_row_lacks_what_it_has_nothing_to_say_of(workspace: Path) -> None:
    table = results.frame(
        [{"dataset": "adult", "note": "diverged"}, {"dataset": "dutch"}], "frontier"
    )
    results.write(table, "frontier")
    found = results.read("frontier")
    assert found["note"].tolist() == ["diverged", ""]
    assert found["imparity"].isna().all()


@pytest.mark.parametrize("name", ["None", "NA", "nan", "null", "-", ""])
def test_a_group_may_have_any_name(name: str, workspace: Path) -> None:
    results.write(made_up("groups", 1).assign(name=name), "groups")
    (found,) = results.read("groups")["name"]
    assert found == name or (name in ("", "nan") and pd.isna(found))


@pytest.mark.parametrize("name", TABLES)
def test_a_missing_table_names_the_stage_that_makes_it(name: str, workspace: Path) -> None:
    made_by = r"(summarize|explain|(beyond|luck)/dvc\.yaml:\w+)"
    with pytest.raises(Problem, match=rf"{name}\.csv does not exist; .*: dvc repro {made_by}$"):
        results.read(name)


def test_a_table_that_is_none_or_lacks_a_column_is_damaged(workspace: Path) -> None:
    path = workspace / "frontier.csv"
    path.write_text("")
    with pytest.raises(Problem, match="is damaged"):
        results.read("frontier", path)
    made_up("frontier").drop(columns="note").to_csv(path)
    with pytest.raises(Problem, match=r"is damaged .*no column 'note'"):
        results.read("frontier", path)


def test_the_tables_of_a_dataset_have_eight_digits(workspace: Path) -> None:
    row = dict.fromkeys(EVALUATION["intervals"], 0.123456789) | {"dataset": "adult"}
    results.write_evaluation([row], "adult", "intervals")
    found = results.evaluation("adult", "intervals")
    assert list(found.columns) == EVALUATION["intervals"]
    assert found["imparity_low"].tolist() == [0.12345679]
    with pytest.raises(Problem, match=r"runs\.csv does not exist; .* dvc repro evaluate@adult$"):
        results.evaluation("adult", "runs")


def test_what_was_measured_has_eight_digits_and_names_its_pipeline(workspace: Path) -> None:
    row = dict.fromkeys(MEASURED, 0.123456789) | {"dataset": "adult", "note": "", "notion": ""}
    results.write_measured([row], "adult")
    results.write_measured([row | {"dataset": "kdd"}], "kdd")
    found = results.measured(["adult", "kdd"])
    assert list(found.columns) == MEASURED
    assert found["dataset"].tolist() == ["adult", "kdd"]
    assert found["imparity"].tolist() == [0.12345679] * 2
    made_by = r"dutch\.csv does not exist; .* dvc repro beyond/dvc\.yaml$"
    with pytest.raises(Problem, match=made_by):
        results.measured(["adult", "dutch"])


def test_every_table_is_made_by_a_stage_that_exists() -> None:
    assert results.MADE_BY.keys() == TABLES.keys()
    stages = {
        path.relative_to(ROOT).as_posix(): YAML(typ="safe").load(path)["stages"]
        for path in (ROOT / lock.with_suffix(".yaml") for lock in paths.LOCKS)
    }
    for name, made_by in results.MADE_BY.items():
        file, _, stage = made_by.rpartition(":")
        outs = stages[file or "dvc.yaml"][stage]["outs"]
        written = [out if isinstance(out, str) else next(iter(out)) for out in outs]
        assert str(paths.table(name)) in written, name

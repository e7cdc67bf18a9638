"""All tables of the comparison are written and read as they are."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from study import paths, results
from study.comparison.measured import IN_SPLIT
from study.comparison.tables import tables
from study.results import FIGURES
from tests.conftest import ROOT
from tests.study.comparison import made_up


@cache
def of_all() -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    return tables(made_up.measured(), pd.read_csv(ROOT / paths.PAPER))


def test_every_table_is_read_as_it_was_written(workspace: Path) -> None:
    found, strengths = of_all()
    assert list(strengths) == [*IN_SPLIT, "strength"]
    for name, table in found.items():
        assert not table.empty
        results.write(table, name)
        pd.testing.assert_frame_equal(
            results.read(name), table, check_dtype=False, rtol=1e-5, atol=1e-9
        )
        read = results.read(name)  # figures are numbers, or they are not rounded
        numbers = [column for column in table if read[column].dtype == float]
        assert list(table[numbers].select_dtypes("float")) == numbers
        assert results.MADE_BY[name].startswith("beyond/dvc.yaml:")


def test_the_frontier_has_the_authors_rows_and_no_others() -> None:
    rows = made_up.measured()
    frontier = of_all()[0]["frontier"]
    plain = rows["partition_seed"].isna() & (rows["notion"] == "")  # what was trained or solved
    assert 0 < len(frontier) == plain.sum()
    assert set(frontier["partition"]) == {"authors"}


def test_what_has_not_run_leaves_tables_that_are_empty_there() -> None:
    """Only one dataset, nothing of the authors' split, and nobody to be compared with."""
    rows = made_up.measured(("vanilla", "gdp"), (("kdd", "gender"),))
    found, _ = tables(rows, pd.read_csv(ROOT / paths.PAPER))
    for name in ("frontier", "goal", "goal_counts", "pairs"):
        assert found[name].empty and list(found[name]) == results.TABLES[name]
    assert len(found["ranks"]) == 2 * 2
    assert len(found["honest_summary"]) == 2 and set(FIGURES) <= set(found["fronts"])


def test_without_random_splits_there_is_the_goal_alone() -> None:
    rows = made_up.measured(("vanilla", "gdp"), (("compas", "gender"),), splits=0)
    rows = rows.assign(notion=np.nan, note=np.nan)  # as a reader makes them of empty columns
    found, strengths = tables(rows, pd.read_csv(ROOT / paths.PAPER))
    assert {name for name, table in found.items() if len(table)} == {
        "frontier", "goal", "goal_counts"
    }  # fmt: skip
    assert strengths.empty
    for name, table in found.items():
        assert list(table) == results.TABLES[name]

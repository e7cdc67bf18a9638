"""What study/results.py says of a table that cannot be read."""

from pathlib import Path

import pytest

from infofair.errors import Problem
from study import paths, results


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist; .* dvc repro beyond/dvc.yaml:comparison$"),
        ("", "is damaged"),
        ("dataset,setting\n", "is damaged.*no column 'method'"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(
    workspace: Path, content: str | None, message: str
) -> None:
    path = paths.table("honest_summary")
    path.parent.mkdir()
    if content is not None:
        path.write_text(content)
    with pytest.raises(Problem, match=rf"^results/honest_summary\.csv {message}"):
        results.read("honest_summary")


@pytest.mark.parametrize("name", results.TABLES)
def test_a_missing_table_names_the_stage_that_makes_it(workspace: Path, name: str) -> None:
    with pytest.raises(Problem, match=rf"^results/{name}\.csv does not exist; .* dvc repro \S+$"):
        results.read(name)

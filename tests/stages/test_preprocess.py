"""The door preprocess: what its plan asks for, of rows that are those of validate."""

import json
from pathlib import Path

import pytest

from infofair.data import dataset as datasets
from infofair.data.prepared import Prepared
from infofair.errors import Damaged, Problem
from infofair.storage import read_json, write_json
from stages import preprocess, validate
from study import files, paths, rows
from tests.conftest import write_plans
from tests.infofair.data.test_prepare import assert_each_row_once, place_split
from tests.raw import NAMES, place, record, spoiled


@pytest.mark.parametrize(
    ("served", "asked", "partition"),
    [
        ("authors", "authors", "authors"),
        ("authors", "random", "random"),
        ("random", "authors", "random"),
    ],
)
def test_the_stage_passes_on_where_data_and_split_come_from(
    served: str, asked: str, partition: str, workspace: Path
) -> None:
    place("compas", datasets.load("compas").simulate(300, 0))
    validate.main("compas")
    report = json.loads(paths.validation_report("compas").read_text())
    if served == "authors":
        place_split(paths.raw("compas"), list(range(200)), list(range(200, report["rows"])))
    record("compas", split=served)
    write_plans(split=asked)
    preprocess.main("compas")
    result = Prepared.load(paths.processed("compas"))
    assert (result.data, result.partition) == ("simulated", partition)
    assert_each_row_once(result.split, report["rows"])
    first = paths.processed("compas").read_bytes()
    paths.processed("compas").unlink()
    preprocess.main("compas")
    assert paths.processed("compas").read_bytes() == first


def test_the_plan_is_followed(workspace: Path) -> None:
    place("compas", datasets.load("compas").simulate(300, 0))
    validate.main("compas")
    write_plans()
    plan, found = read_json(paths.plan("prepare", "compas")), {}
    halves = {"random_split": {"seed": 1, "train": 0.5, "validation": 0.25}}
    for name, changes in {
        "as it is": {},
        "no leak": {"drop_leaking_columns": True},
        "no sensitive input": {"sensitive_as_input": False},
        "halves": halves,
        "halves, scaled by the first": halves | {"scale": "train_rows"},
    }.items():
        write_json(paths.plan("prepare", "compas"), plan | changes)
        preprocess.main("compas")
        found[name] = Prepared.load(paths.processed("compas"))
    plain, _, _, first, second = found.values()
    assert "is_recid" in plain.features
    assert "is_recid" not in found["no leak"].features
    assert "sex=Male" in plain.features
    assert "sex=Male" not in found["no sensitive input"].features
    assert len(first.split["train"]) == pytest.approx(len(plain.y) / 2, abs=1)
    assert first.X.max() == 1 < second.X.max()


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file_names_the_stage_that_makes_it(name: str, workspace: Path) -> None:
    with pytest.raises(Problem, match=rf"data/plans/prepare/{name}\.json .* dvc repro check$"):
        preprocess.main(name)
    write_plans()
    with pytest.raises(Problem, match=f"dvc repro download@{name}"):
        preprocess.main(name)
    place(name, datasets.load(name).simulate(100, 0))
    with pytest.raises(Problem, match=f"dvc repro validate@{name}"):
        preprocess.main(name)
    with pytest.raises(Problem, match=f"dvc repro preprocess@{name}"):
        files.prepared(name)


def test_no_changed_byte_of_validated_rows_is_overlooked(workspace: Path) -> None:
    place("compas", datasets.load("compas").simulate(300, 0))
    validate.main("compas")
    for path in (paths.validated("compas"), paths.seal("compas")):
        for what in spoiled(path, 100):
            with pytest.raises(Damaged, match=f"^{paths.validated('compas')} is damaged"):
                pytest.fail(f"{what}: {rows.validated('compas')}")
    write_plans()
    preprocess.main("compas")


def test_truncated_validated_rows_are_named(workspace: Path) -> None:
    place("compas", datasets.load("compas").simulate(300, 0))
    validate.main("compas")
    write_plans()
    path = paths.validated("compas")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(Damaged, match=str(path)):
        preprocess.main("compas")
    assert not paths.processed("compas").exists()

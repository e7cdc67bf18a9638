"""The door validate: reports, typed rows and their seal; nothing about a person."""

import json
from pathlib import Path

import pandas as pd
import pytest

from infofair.data import dataset as datasets
from infofair.errors import Problem
from infofair.storage import sha256
from stages import download, validate
from study import paths
from study.rows import validated
from tests.conftest import ROOT, write_plans
from tests.raw import ALL, COMPAS, GENERAL, NAMES, PLACE, changed, place, record

each_dataset = pytest.mark.parametrize("name", ALL)


def refused_run(name: str) -> str:
    """The message and the report of a run that fails, as one text."""
    with pytest.raises(Problem) as problem:
        validate.main(name)
    report = paths.validation_report(name)
    return str(problem.value) + (report.read_text() if report.exists() else "")


@each_dataset
def test_a_valid_dataset_leaves_a_report_and_typed_rows(
    name: str, intact: dict[str, pd.DataFrame], workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place(name, intact[name])
    validate.main(name)
    report = json.loads(paths.validation_report(name).read_text())
    rows = pd.read_parquet(paths.validated(name))
    assert (report["dataset"], report["data"], report["passed"]) == (name, "simulated", True)
    assert report["rows_read"] == 240
    assert report["rows"] == len(rows) == 240 - sum(e["removed"] for e in report["filters"])
    assert report["label"]["ones"] == rows[report["label"]["column"]].sum()
    assert report["sha256"] == sha256(paths.validated(name))
    assert paths.seal(name).read_text() == f"{report['sha256']}\n"
    assert f"{name} (simulated data): 240 rows read" in capsys.readouterr().err


@pytest.mark.parametrize("name", GENERAL)
def test_so_does_one_of_the_generalisations_in_a_room_of_its_own(
    name: str, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = datasets.load(name)
    assert dataset.simulate is not None
    place(name, dataset.simulate(240, 0))
    validate.main(name)
    report = json.loads(paths.validation_report(name).read_text())
    found = validated(name)
    assert report["rows"] == len(found) == 240
    assert report["label"]["column"] == dataset.label
    assert paths.validated(name).is_relative_to("data/more")
    assert paths.validation_report(name).is_relative_to("results/more")
    # what was typed is read back with its types: bins, categories and numbers
    typed = dataset.clean(dataset.schema.validate(dataset.read(paths.raw(name))))
    pd.testing.assert_frame_equal(found, typed.reset_index(drop=True))
    assert f"{name} (simulated data): 240 rows read" in capsys.readouterr().err


@each_dataset
def test_a_failing_dataset_leaves_a_report_but_no_rows(
    name: str, intact: dict[str, pd.DataFrame], workspace: Path
) -> None:
    place(name, changed(name, intact[name], sex="999"))
    with pytest.raises(Problem) as problem:
        validate.main(name)
    report = json.loads(paths.validation_report(name).read_text())
    assert report["passed"] is False
    assert report["data"] == "simulated"
    [entry] = report["failures"]
    for part in (entry["column"], entry["rule"], "1 failures", "'999'", PLACE[name]):
        assert part in str(problem.value)
    assert str(paths.validation_report(name)) in str(problem.value)
    assert not paths.validated(name).exists()


@each_dataset
def test_all_failures_are_reported_at_once(
    name: str, intact: dict[str, pd.DataFrame], workspace: Path
) -> None:
    broken: dict[str, list[dict[str, str]]] = {
        "compas": [
            {"race": "Martian"},
            {"start": "-1"},
            {"priors_count": "1", "priors_count again": "2"},
        ],
        "adult": [{"race": "Martian"}, {"age": "5"}, {"education": "9th", "education-num": "1"}],
        "dutch": [
            {"age": "18"},
            {"citizenship": "7"},
            {"household_position": "1210", "household_size": "112"},
        ],
        "kdd": [{"race": "Martian"}, {"age": "91"}, {"capital-gain": "1", "capital-loss": "1"}],
    }
    frame = intact[name]
    for row, cells in enumerate(broken[name]):
        frame = changed(name, frame, row=row, **cells)
    place(name, frame)
    with pytest.raises(Problem) as problem:
        validate.main(name)
    found = json.loads(paths.validation_report(name).read_text())["failures"]
    columns = [next(iter(cells)) for cells in broken[name][:2]]
    assert sorted(e["column"] for e in found) == sorted([*columns, "several columns"])
    assert all(entry["rule"] in str(problem.value) for entry in found)


@pytest.mark.parametrize("spoil", ["values", "no header", "impossible date"])
def test_what_identifies_a_person_is_never_reported(
    spoil: str, intact: dict[str, pd.DataFrame], workspace: Path
) -> None:
    identifying = sorted(datasets.load("compas").identifying)
    if spoil == "impossible date":
        marks = {"c_jail_in": "2013-99-31 01:02:03"}
        frame = changed("compas", intact["compas"], **marks)
    else:
        # Every such column fails its rule; those of free text by their length.
        marks = {column: f"secret{i:02}" + "y" * 200 for i, column in enumerate(identifying)}
        # Without a header, the first row stands in its place.
        frame = changed("compas", intact["compas"], row=0, **marks)
    place("compas", frame)
    if spoil == "no header":
        path = paths.raw("compas") / COMPAS
        path.write_bytes(path.read_bytes().partition(b"\n")[2])
        record("compas")
    with pytest.raises(Exception) as error:  # whatever ends the stage is shown
        validate.main("compas")
    report = paths.validation_report("compas")
    shown = str(error.value) + (report.read_text() if report.exists() else "")
    for column, mark in marks.items():
        assert mark[:8] not in shown, column


@each_dataset
def test_a_raw_file_changed_after_download_is_named(
    name: str, intact: dict[str, pd.DataFrame], workspace: Path
) -> None:
    place(name, intact[name])
    for file in datasets.load(name).files:
        path = paths.raw(name) / file.name
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        message = refused_run(name)
        assert f"{path} has changed since it was downloaded" in message
        assert f"dvc checkout {paths.raw(name)}" in message
        path.write_bytes(content)
    validate.main(name)


@each_dataset
def test_missing_raw_files_name_the_stage_that_makes_them(
    name: str, intact: dict[str, pd.DataFrame], workspace: Path
) -> None:
    assert f"dvc repro {paths.stage('download', name)}" in refused_run(name)
    place(name, intact[name])
    path = paths.raw(name) / datasets.load(name).files[-1].name
    path.unlink()
    assert (
        refused_run(name) == f"{path} does not exist; restore it with: dvc checkout {path.parent}"
    )


@each_dataset
def test_real_data_must_have_the_real_number_of_rows(
    name: str, intact: dict[str, pd.DataFrame], workspace: Path
) -> None:
    place(name, intact[name], data="real")
    assert f"expected {datasets.load(name).rows}" in refused_run(name)
    assert not paths.validated(name).exists()


def test_a_single_class_is_refused(intact: dict[str, pd.DataFrame], workspace: Path) -> None:
    place("adult", intact["adult"].assign(income="<=50K"))
    assert "fewer than two classes" in refused_run("adult")
    assert not paths.validated("adult").exists()


# The real paths.


@pytest.mark.real
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n != "compas")) for n in NAMES]
)
def test_real_rows_are_written_as_the_same_bytes_twice(
    name: str, real: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFOFAIR_MIRROR", str(real))
    write_plans()
    download.main(name)
    written = []
    for _ in range(2):
        validate.main(name)
        outputs = (paths.validated(name), paths.validation_report(name))
        written.append([path.read_bytes() for path in outputs])
        for path in outputs:
            path.unlink()
    same = written[0] == written[1]  # compared first: a failure must not print real rows
    assert same
    report = json.loads(written[0][1])
    committed = json.loads((ROOT / paths.validation_report(name)).read_text())
    # of the rows' file, another version of pyarrow makes other bytes
    assert report | {"sha256": ""} == committed | {"sha256": ""}
    assert list(report) == list(committed)


@pytest.mark.real
def test_no_real_person_can_be_found_in_what_validate_writes(
    real: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFOFAIR_MIRROR", str(real))
    write_plans()
    download.main("compas")
    validate.main("compas")
    dataset = datasets.load("compas")
    people = dataset.read(paths.raw("compas")).sample(200, random_state=0)
    names = [name for name in people["name"] if name]
    names += [
        f"{last}, {first}" for first, last in zip(people["first"], people["last"], strict=True)
    ]
    rows = pd.read_parquet(paths.validated("compas"))
    # The file is compressed, so its values are looked through as well.
    shown = paths.validated("compas").read_bytes().lower() + rows.to_csv().lower().encode()
    shown += paths.validation_report("compas").read_bytes().lower()
    found = sum(name.lower().encode() in shown for name in names)  # not printed on failure
    assert (len(names), found) == (400, 0)
    assert dataset.identifying.isdisjoint(rows.columns)
    dates = rows.apply(lambda column: pd.api.types.is_datetime64_any_dtype(column))
    assert not dates.any()

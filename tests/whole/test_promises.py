"""The table of promises: it is what the tests' own records say, of the tests that there are."""

import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import fuzzing, promises


def test_the_committed_table_is_what_the_committed_records_give() -> None:
    text = promises.PAGE.read_text(encoding="utf-8")
    assert promises.page(text, promises.load()) == text


def test_every_record_is_of_a_test_that_there_is_and_of_what_it_promises() -> None:
    """And of a test without one the table says that it was not tried yet."""
    recorded = {promises.function(test): of["promise"] for test, of in promises.load().items()}
    assert recorded.items() <= promises.marked().items()


def test_tests_with_the_mark_of_the_fuzz_are_among_them() -> None:
    fuzz = [test for test, of in promises.marked().items() if of == fuzzing.PROMISE.args[0]]
    assert {test.partition("::")[0] for test in fuzz} == {
        "tests/infofair/auditing/test_table.py",
        "tests/stages/test_fuzz.py",
        "tests/study/test_fuzz.py",
    }
    assert len(fuzz) == 6


def report(test: str, outcome: str, when: str = "call", why: str = "", **more: Any) -> Any:
    return SimpleNamespace(
        nodeid=f"tests/whole/test_x.py::{test}",
        outcome=outcome,
        passed=outcome == "passed",
        skipped=outcome == "skipped",
        when=when,
        longrepr=("", 1, f"Skipped: {why}"),
        user_properties=list(more.items()),
    )


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Records of another run, and a document without a table."""
    records, page = tmp_path / "promises.json", tmp_path / "page.md"
    old = {"promise": "C.", "passed": 1, "failed": 0, "skipped": 0, "reasons": []}
    old |= {"command": "pytest -m promise tests/c.py", "date": "2020-01-01", "machine": "M"}
    of_b = {"tests/whole/test_x.py::test_b": old, "tests/whole/test_x.py::test_b[9]": old}
    records.write_text(json.dumps({"c": old, "gone": old} | of_b))
    page.write_text(f"before\n{promises.BEGIN}{promises.END}after\n")
    monkeypatch.setattr(promises, "RECORDS", records)
    monkeypatch.setattr(promises, "PAGE", page)
    monkeypatch.setattr(promises, "commit", lambda: "abc1234+")
    tests = {"c": "C.", **{f"tests/whole/test_x.py::test_{n}": f"{n.upper()}." for n in "abd"}}
    monkeypatch.setattr(promises, "marked", lambda: tests)
    return records, page


def test_a_run_replaces_its_own_records_alone_and_the_table_counts_tries(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFOFAIR_FAULTS", "20")
    monkeypatch.delenv("INFOFAIR_FUZZ", raising=False)
    recorder = promises.Recorder(whole=True)
    for of in (
        report("test_a", "passed", "setup", promise="A."),
        report("test_a", "passed", promise="A.", tried=20),
        report("test_b[1]", "passed", promise="B."),
        report("test_b[2]", "failed", promise="B."),
        report("test_b[3]", "skipped", "setup", "no | disk", promise="B."),
        report("test_unmarked", "failed"),
    ):
        recorder.pytest_runtest_logreport(of)
    recorder.pytest_sessionfinish()
    records, page = places
    found = json.loads(records.read_text())
    names = ("a", "b[1]", "b[2]", "b[3]")  # and b as a whole no more, nor a 9 that it has not
    assert list(found) == ["c", *(f"tests/whole/test_x.py::test_{name}" for name in names)]
    assert found["tests/whole/test_x.py::test_a"]["commit"] == "abc1234+"
    rows = [line.split(" | ") for line in page.read_text().splitlines() if line.startswith("| ")]
    command = "`INFOFAIR_FAULTS=20 pytest -m promise tests/whole/test_x.py`"
    assert [row[:4] for row in rows[1:]] == [
        ["| C.", "`pytest -m promise tests/c.py`", "1", "kept"],
        ["| A.", command, "20", "kept"],
        ["| B.", command, "2", "**broken** 1 times, 1 not tried: no \\| disk"],
        ["| D.", "`pytest -m promise tests/whole/test_x.py`", "0", "1 not tried: not yet"],
    ]
    assert rows[1][4] == "2020-01-01 |"
    assert rows[2][4].endswith(" abc1234+ |")
    counted = "4 promises, 4 tests, of which 3 were tried; machines: "
    assert f"\n{counted}" in page.read_text()
    assert page.read_text().startswith("before\n") and page.read_text().endswith("after\n")


def test_what_is_tried_for_one_parameter_leaves_the_records_of_others(
    places: tuple[Path, Path],
) -> None:
    """Which this run skips, as it was not asked for them; or does not collect, as of -k."""
    records, _ = places
    first = promises.Recorder(whole=True)
    for of in (
        report("test_a[luck]", "passed", promise="A.", tried=7),
        report("test_a[beyond]", "skipped", "setup", "not asked for", promise="A."),
    ):
        first.pytest_runtest_logreport(of)
    first.pytest_sessionfinish()
    second = promises.Recorder(whole=True)
    for of in (
        report("test_a[luck]", "skipped", "setup", "not asked for", promise="A."),
        report("test_a[beyond]", "passed", promise="A."),
    ):
        second.pytest_runtest_logreport(of)
    second.pytest_sessionfinish()
    third = promises.Recorder()
    third.pytest_runtest_logreport(report("test_b[1]", "failed", promise="B."))
    third.pytest_sessionfinish()
    found = json.loads(records.read_text())
    counts = {test.rpartition("_")[2]: of["passed"] for test, of in found.items()}
    assert counts == {"c": 1, "a[beyond]": 1, "a[luck]": 7, "b[1]": 0, "b[9]": 1}


def test_a_commit_has_a_mark_if_files_have_changed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promises, "ROOT", tmp_path)
    for name in ("RECORDS", "PAGE"):
        monkeypatch.setattr(promises, name, tmp_path / name)
    assert promises.commit() == ""  # no repository
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost"]
    for command in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "-m", "One"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    head = promises.commit()
    assert re.fullmatch("[0-9a-f]{7,}", head)
    (tmp_path / "PAGE").write_text("the table")
    assert promises.commit() == head
    (tmp_path / "code").write_text("changed")
    assert promises.commit() == f"{head}+"

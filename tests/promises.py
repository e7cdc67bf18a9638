"""The promises of docs/reproducibility.md: which tests try them, how often, and what happened.

A test says which promise it tries, `@pytest.mark.promise("…")` or `@PROMISE` of tests/fuzzing.py,
and with `record_property("tried", n)` how often, if not once. `pytest -m promise --promises` runs
them and writes what became of each to docs/promises.json, and from that the table; a run of some
tests replaces the records of these, one for each of a test's parameters. `python -m tests.promises`
writes the table alone.
"""

import ast
import json
import os
import platform
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from infofair.storage import write_json, write_text
from tests import fuzzing

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "docs/promises.json"
PAGE = ROOT / "docs/reproducibility.md"
BEGIN, END = "<!-- promises: written by `make promises` -->\n", "<!-- end of the promises -->\n"
MARK = "promise"
FUZZ = "PROMISE"  # what every test of tests/fuzzing.py is marked with
FACTORS = ("INFOFAIR_FAULTS", "INFOFAIR_FUZZ", "INFOFAIR_VERIFY")  # how often, and what


# -- while pytest runs -----------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--promises", action="store_true", help="record what became of the promises (docs/)"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("promises") and not hasattr(config, "workerinput"):  # not xdist's workers
        some = config.getoption("keyword") or any("::" in arg for arg in config.args)
        config.pluginmanager.register(Recorder(whole=not some))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What a test promises goes with its report, also from a worker of xdist's."""
    item.user_properties += [(MARK, mark.args[0]) for mark in item.iter_markers(MARK)]


class Recorder:
    """Collects what became of every test that tries a promise, by its parameters.

    whole: of a test all parameters are tried, so that others on record are there no more.
    """

    def __init__(self, whole: bool = False) -> None:
        self.records: dict[str, dict[str, Any]] = {}
        self.whole = whole
        self.commit = commit()  # what is tried: afterwards there may be another one

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        properties = dict(report.user_properties)
        if MARK not in properties or (report.when != "call" and report.passed):
            return
        empty = {"passed": 0, "failed": 0, "skipped": 0, "reasons": []}
        record = self.records.setdefault(report.nodeid, {"promise": properties[MARK], **empty})
        if report.skipped:
            record["skipped"] += 1
            reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else "expected")
            record["reasons"] = sorted({*record["reasons"], reason.removeprefix("Skipped: ")})
        else:
            record[report.outcome] += int(properties.get("tried", 1))

    def pytest_sessionfinish(self) -> None:
        if not self.records:
            return
        about = {"date": datetime.now(UTC).date().isoformat(), "commit": self.commit}
        found = {
            test: record | {"command": command(test, os.environ)} | about | {"machine": machine()}
            for test, record in self.records.items()
        }
        tests, again = marked(), {function(test) for test in found}
        kept = {
            test: of
            for test, of in load().items()
            if function(test) in tests
            and (test in found or function(test) not in again or (not self.whole and "[" in test))
        }
        # what was not tried now may have been on another day, or another machine
        new = {t: of for t, of in found.items() if t not in kept or of["passed"] + of["failed"]}
        write_json(RECORDS, dict(sorted({**kept, **new}.items())))
        write_table()


def function(test: str) -> str:
    """The test without its parameters."""
    return test.partition("[")[0]


def commit() -> str:
    """The last commit, with a + if files have changed since; but for what is written here."""
    written = [f":!{path.relative_to(ROOT)}" for path in (RECORDS, PAGE)]
    try:
        head, changed = (
            subprocess.run(
                ["git", *of], cwd=ROOT, check=True, capture_output=True, text=True
            ).stdout
            for of in (["rev-parse", "--short", "HEAD"], ["status", "--porcelain", ".", *written])
        )
    except (OSError, subprocess.CalledProcessError):  # no git, or no repository
        return ""
    return head.strip() + "+" * bool(changed)


def command(test: str, environment: Mapping[str, str]) -> str:
    """What runs the test, and as often."""
    often = [f"{n}={shlex.quote(environment[n])}" for n in FACTORS if environment.get(n)]
    return " ".join([*often, "pytest", "-m", MARK, test.partition("::")[0]])


def machine() -> str:
    cpu = Path("/proc/cpuinfo")
    names = [line for line in cpu.read_text().splitlines() if line.startswith("model name")]
    model = names[0].partition(":")[2].strip() if names else platform.machine()
    return f"{platform.system()}, {os.cpu_count()} × {model}, Python {platform.python_version()}"


# -- the tests that try them -----------------------------------------------------------------------


def marked() -> dict[str, str]:
    """The promise of every test that is marked with one."""
    return dict(
        found for path in sorted((ROOT / "tests").rglob("test_*.py")) for found in _marked(path)
    )


def _marked(path: Path) -> Iterator[tuple[str, str]]:
    text = path.read_text(encoding="utf-8")
    if f"mark.{MARK}(" not in text and FUZZ not in text:
        return
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            for of in node.decorator_list:
                test = f"{path.relative_to(ROOT)}::{node.name}"
                if isinstance(of, ast.Call) and ast.unparse(of.func) == f"pytest.mark.{MARK}":
                    yield test, ast.literal_eval(of.args[0])
                elif ast.unparse(of) == FUZZ:
                    yield test, fuzzing.PROMISE.args[0]


def load() -> dict[str, dict[str, Any]]:
    return json.loads(RECORDS.read_text(encoding="utf-8")) if RECORDS.exists() else {}


# -- the table -------------------------------------------------------------------------------------


def untried(test: str, promise: str) -> dict[str, Any]:
    """What is known of a test that was not run yet."""
    counts = {"passed": 0, "failed": 0, "skipped": 1, "reasons": ["not yet"]}
    about = {"date": "", "commit": "", "machine": ""}
    return {"promise": promise, **counts, "command": command(test, {}), **about}


def table(records: dict[str, dict[str, Any]]) -> str:
    """One row for each promise; what several tests try of it is counted together."""
    by_promise: dict[str, list[dict[str, Any]]] = {}
    tests = marked()
    by_test: dict[str, list[dict[str, Any]]] = {}
    for test, of in sorted(records.items()):
        by_test.setdefault(function(test), []).append(of)
    for test, promise in tests.items():
        by_promise.setdefault(promise, []).extend(by_test.get(test, [untried(test, promise)]))
    lines = ["| promise | tried by | how often | what happened | last |", "|---|---|---:|---|---|"]
    for promise, tried in by_promise.items():
        often = sum(record["passed"] + record["failed"] for record in tried)
        commands = "<br>".join(f"`{command}`" for command in sorted({r["command"] for r in tried}))
        cells = (promise, commands, f"{often:,}", _happened(tried), _last(tried))
        lines.append(f"| {' | '.join(cells)} |")
    done = {
        test: {of["machine"] for of in records if of["passed"] + of["failed"]}
        for test, records in by_test.items()
        if test in tests
    }
    counted = f"{len(by_promise)} promises, {len(tests)} tests, of which "
    counted += f"{sum(map(bool, done.values()))} were tried; "
    counted += f"machines: {'; '.join(sorted(set().union(*done.values())))}."
    return "\n".join([*lines, "", counted, ""])


def _last(records: list[dict[str, Any]]) -> str:
    """The day on which all had been tried, and the commits then."""
    dated = [record for record in records if record["date"]]
    oldest = min((record["date"] for record in dated), default="–")
    commits = {record.get("commit") for record in dated if record["date"] == oldest} - {None, ""}
    return " ".join([oldest, *sorted(map(str, commits))])


def _happened(records: list[dict[str, Any]]) -> str:
    failed = sum(record["failed"] for record in records)
    passed = sum(record["passed"] for record in records)
    skipped = sum(record["skipped"] for record in records)
    said = [f"**broken** {failed:,} times"] if failed else ["kept"] if passed else []
    reasons = sorted({reason for record in records for reason in record["reasons"]})
    said += [f"{skipped} not tried: {'; '.join(reasons)}"] if skipped else []
    return ", ".join(said).replace("|", "\\|")


def page(text: str, records: dict[str, dict[str, Any]]) -> str:
    """The document with the table of these records."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + "\n" + table(records) + "\n" + END + rest.partition(END)[2]


def write_table() -> None:
    write_text(PAGE, page(PAGE.read_text(encoding="utf-8"), load()))


if __name__ == "__main__":
    write_table()

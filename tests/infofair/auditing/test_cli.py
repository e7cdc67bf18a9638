"""The command: its status, what it writes and says, and what it does without."""

import json
import os
import resource
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import infofair
from infofair.auditing import cli, demo
from tests.conftest import ROOT
from tests.infofair.auditing.people import loans, people

pytestmark = pytest.mark.usefixtures("few_draws")
COMMAND = ["audit", "loans.csv", "--label", "y", "--score", "p", "--sensitive", "sex,race"]
FILES = {"index.html", "audit.json", "model_card.md"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    loans().to_csv("loans.csv", index=False)
    return tmp_path


def test_a_file_becomes_a_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*COMMAND, "--out", "here"]) == 0
    assert {path.name for path in (folder / "here").iterdir()} == FILES
    said = capsys.readouterr()
    assert said.err == ""  # no bar: nobody watches
    assert "sex: Evidence" in said.out
    assert said.out.endswith("page: here/index.html\n")
    content = json.loads((folder / "here/audit.json").read_text())
    assert content["source"]["file"] == "loans.csv"
    assert [own["name"] for own in content["settings"]] == ["sex", "race", "sex × race"]


def test_the_command_and_the_function_say_the_same(folder: Path) -> None:
    assert cli.main([*COMMAND, "--out", "here"]) == 0
    frame = loans()
    found = infofair.audit(
        frame["y"], score=frame["p"], sensitive_features=frame[["sex", "race"]],
        names={"file": "loans.csv", "label": "y", "score": "p"},
    )  # fmt: skip
    assert found.to_dict() == json.loads((folder / "here/audit.json").read_text())


def test_evidence_is_a_status_for_pipelines(folder: Path) -> None:
    assert cli.main([*COMMAND, "--fail-on", "evidence"]) == 1
    assert {path.name for path in Path("audit").iterdir()} == FILES
    people(400, 2, equal=True).to_csv("fair.csv", index=False)
    fair = ["audit", "fair.csv", "--label", "y", "--score", "p", "--sensitive", "g"]
    assert cli.main([*fair, "--fail-on", "evidence"]) == 0


def test_every_option_reaches_the_audit(folder: Path) -> None:
    frame = loans()
    frame = frame.assign(
        d=np.where(frame["p"] > 0.4, "yes", "no"), y=np.where(frame["y"], "yes", "no"),
        w=1.0 + np.arange(len(frame)) % 3, part=np.arange(len(frame)) % 2,
    )  # fmt: skip
    frame.to_parquet("loans.parquet")
    asked = ["audit", "loans.parquet", "--label", "y", "--decision", "d", "--score", "p",
             "--sensitive", "sex", "--weights", "w", "--splits", "part", "--features", "p,race",
             "--positive", "yes", "--notion", "odds", "--seed", "3", "--show-small"]  # fmt: skip
    assert cli.main(asked) == 0
    content = json.loads(Path("audit/audit.json").read_text())
    assert content["source"] == {
        "file": "loans.parquet", "label": "y", "score": "p", "decision": "d", "sensitive": ["sex"],
        "weights": "w", "splits": "part",
    }  # fmt: skip
    assert (content["rules"]["seed"], content["rules"]["notion"]) == (3, "odds")
    assert content["rules"]["null"] == "effective rows"
    [setting] = content["settings"]
    assert [own["name"] for own in setting["splits"]] == ["0", "1"]
    assert {own["column"] for own in content["leaks"]} == {"p", "race"}


def test_a_regression_is_audited(folder: Path) -> None:
    assert cli.main([*COMMAND[:3], "age", *COMMAND[4:], "--task", "regression"]) == 0
    assert json.loads(Path("audit/audit.json").read_text())["task"] == "regression"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--label", "lost"], "error: loans.csv: there is no column 'lost'; there are 'y', 'p'"),
        (["--sensitive", "sex,sex"], "error: --sensitive sex,sex: expected different names"),
        (["--sensitive", "sex,"], "error: --sensitive sex,: expected different names"),
        (["--seed", "-1"], "error: --seed -1: expected 0 or more"),
        (["--score", "age"], "error: age: 1200 scores are not between 0 and 1"),
        (["--out", "loans.csv/x"], "error: loans.csv"),
    ],
)
def test_bad_input_is_status_two_and_one_line(
    folder: Path, change: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*COMMAND, *change]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(message)
    assert said.err.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ["loans.csv"]


def test_a_wrong_option_is_status_two(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main([*COMMAND, "--fail-on", "luck"])
    assert stopped.value.code == 2


def test_control_characters_do_not_reach_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.csv").write_text("y,p,sex\n\x1b[31m,0.5,f\n")
    assert cli.main(["audit", "bad.csv", "--label", "y", "--score", "p", "--sensitive", "sex"]) == 2
    assert "\x1b" not in capsys.readouterr().err


# -- demo -----------------------------------------------------------------------------------------


def test_the_demo_finds_what_was_put_into_it(folder: Path) -> None:
    """Sex and the intersection, but not region."""
    assert cli.main(["demo", "--out", "demo"]) == 0
    content = json.loads(Path("demo/audit.json").read_text())
    found = {
        setting["name"]: any(own["verdict"] == "evidence" for own in setting["measures"])
        for setting in content["settings"]
    }
    assert found["sex"]
    assert not found["region"]
    assert found["sex × region × age"]


def test_the_loan_book_is_the_same_each_time() -> None:
    pd.testing.assert_frame_equal(demo.loan_book(1, 50), demo.loan_book(1, 50))


# -- what it does without -------------------------------------------------------------------------

WITHOUT = """
import sys
from infofair.auditing import cli
status = cli.main({command!r})
others = ("torch", "sklearn", "jinja2", "matplotlib", "pandera", "joblib", "tqdm")
print(status, [name for name in others if name in sys.modules])
"""


@pytest.mark.slow
def test_it_loads_neither_torch_nor_what_is_optional(folder: Path) -> None:
    code = WITHOUT.format(command=COMMAND)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr


def test_the_command_is_installed_with_the_library() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"infofair": "infofair.auditing.cli:main"}


# -- a million rows -------------------------------------------------------------------------------

MILLION = """
import resource, sys, time
import numpy as np, pandas as pd
rng = np.random.default_rng(0)
n = 1_000_000
pd.DataFrame({
    "y": rng.integers(0, 2, n), "p": rng.random(n).round(6),
    "sex": rng.choice(["f", "m"], n), "race": rng.choice(list("abcdef"), n),
    "age": rng.integers(18, 90, n),
}).to_csv("million.csv", index=False)
"""


@pytest.mark.slow
def test_a_million_rows_take_less_than_a_minute_and_two_gigabytes(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", MILLION], cwd=tmp_path, check=True)
    command = [sys.executable, "-m", "infofair.auditing.cli", "audit", "million.csv", "--label",
               "y", "--score", "p", "--sensitive", "sex,race,age"]  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert after.ru_maxrss / 1024**2 < 2  # of the largest process so far, in GiB
    assert seconds < 60

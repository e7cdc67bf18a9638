"""Files: CSV and Parquet are the same to an audit, and what is neither is refused in one line."""

import gzip
import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infofair
from infofair.auditing import cli, table
from infofair.errors import Problem
from tests.fuzzing import (
    ANY_FILE,
    PROMISE,
    assert_clear,
    empty_workspace,
    everything,
    fuzz,
    limited,
    spoiled,
    tried,
)
from tests.infofair.auditing.people import loans
from tests.stages.test_fuzz import TABLE

pytestmark = pytest.mark.usefixtures("few_draws")
COLUMNS = ["y", "p", "sex", "race"]


def written(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_is_written_is_read(tmp_path: Path, kind: str) -> None:
    frame = loans(100)
    path = tmp_path / f"any.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    pd.testing.assert_frame_equal(table.read(path, COLUMNS), frame[COLUMNS], check_dtype=False)


def test_a_spreadsheets_csv_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", '\ufeffy, "the, p"\r\n1, 0.5\r\n0, NA\r\n')
    found = table.read(path, ["y", "the, p"])
    assert found["y"].tolist() == [1, 0]
    assert found["the, p"].tolist() == ["0.5", "NA"]  # no value that silently goes missing


def archive(name: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr(name, "x")
    return made.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        (" \n\n", "the file is empty"),
        ("y,p,sex,race\n", "there are no rows"),
        ("y,p,sex\n1,0.5,f\n", "there is no column 'race'; there are 'y', 'p', 'sex'"),
        ("y,p,sex,race,sex\n1,0.5,f,a,f\n", "line 1 names 'sex' twice"),
        ("y;p;sex;race\n1;0.5;f;a\n", "expected commas between columns"),
        ("y,p,sex,race\n1,0.5,f,a\n1,0.5,f,a,7,8\n", "line 3 has 6 fields; expected 4"),
        ("y,p,sex,race\n1,0.5,f,a\n1,0.5,a\n", "line 3 has 3 fields; expected 4"),
        ("\ny,p,sex,race\n1,0.5,f,a\n", "line 1 is empty"),
        ('"y,p\n1,2\n', "line 2: unexpected end of data"),
        (b"y,p,sex,race\n1,0.5,\xff,a\n", "is not UTF-8 text"),
        ("y,p,sex,race\n1,0.5,f,a\n".encode("utf-16"), "is not UTF-8 text"),
        (b"y,p\0,sex,race\n", "holds NUL bytes"),
        (gzip.compress(b"y,p\n", mtime=0), "is a gzip archive"),
        (archive("xl/workbook.xml"), "is a zip archive or spreadsheet"),
        (pickle.dumps([1]), "is a pickle, which is never opened"),
        (b"PAR1 and then nothing", "is no Parquet file that can be read"),
        (b"%PDF-1.7", "is a PDF"),
    ],
)
def test_a_file_of_another_kind_is_refused(
    tmp_path: Path, content: bytes | str, message: str
) -> None:
    path = written(tmp_path / "given.csv", content)
    with pytest.raises(Problem) as raised:
        table.read(path, COLUMNS)
    said = str(raised.value)
    assert said.startswith(str(path))
    assert message in said
    assert "\n" not in said


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"lost\.csv does not exist$"):
        table.read(tmp_path / "lost.csv", COLUMNS)
    with pytest.raises(Problem, match="is a folder; expected a CSV or Parquet file"):
        table.read(tmp_path, COLUMNS)


def test_a_parquet_file_without_a_column_says_which_there_are(tmp_path: Path) -> None:
    loans(30).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(Problem, match="there is no column 'salary'; there are 'y', 'p', 'sex'"):
        table.read(tmp_path / "a.parquet", ["y", "salary"])


def test_without_pyarrow_a_parquet_file_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loans(30).to_parquet(tmp_path / "a.parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(Problem, match=r"Parquet files need pyarrow \(pip install pyarrow\)"):
        table.read(tmp_path / "a.parquet", COLUMNS)


# -- fuzz -----------------------------------------------------------------------------------------

FEW = 12  # cases
COMMAND = ["audit", "given.csv", "--label", "y", "--score", "p", "--sensitive", "sex,race"]


@PROMISE
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_whatever_a_file_holds_it_is_audited_or_refused_in_clear_words(
    kind: str,
    capsys: pytest.CaptureFixture[str],
    record_property: Callable[[str, object], None],
) -> None:
    record_property("tried", tried(FEW))
    frame = loans(90)[COLUMNS]
    intact = frame.to_csv(index=False).encode() if kind == "csv" else frame.to_parquet()
    edits = [*ANY_FILE, *(TABLE if kind == "csv" else [])]

    @fuzz(FEW)
    @given(st.data())
    def each_case(data: st.DataObject) -> None:
        content = data.draw(spoiled(intact, edits))
        with empty_workspace(), limited():
            Path("given.csv").write_bytes(content)
            before = everything()
            status = cli.main(COMMAND)
            said = capsys.readouterr()
            if status == 0:
                made = {name: text for name, text in everything().items() if name not in before}
                assert set(made) == {
                    f"audit/{n}" for n in ("index.html", "audit.json", "model_card.md")
                }
                assert b"NaN" not in made["audit/audit.json"]
            else:
                assert status == 2
                assert said.err.startswith("error: ")
                assert said.err.count("\n") == 1
                assert_clear(said.err.rstrip("\n"))
                assert everything() == before

    each_case()


@pytest.mark.parametrize("seed", range(3))
def test_whatever_arrays_hold_they_are_audited_or_refused(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    n = 120
    strange: list[object] = [
        0,
        1,
        "0",
        "1",
        True,
        None,
        np.nan,
        np.inf,
        -1,
        2**70,
        "x",
        0.5,
        "",
        b"x",
    ]
    for _ in range(20):
        columns = [
            rng.integers(0, 2, n) if rng.random() < 0.6 else
            np.array([strange[i] for i in rng.integers(0, len(strange), n)], object)
            for _ in range(4)
        ]  # fmt: skip
        y, score, sensitive, weights = columns
        try:
            found = infofair.audit(
                y, score=score, sensitive_features=sensitive, weights=weights if seed else None
            )
        except Problem as problem:
            assert "\n" not in str(problem)
        else:
            assert found.to_dict()["rows"] in (n, round(n / 5) * 5)

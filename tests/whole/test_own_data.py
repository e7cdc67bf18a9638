"""A CSV of the user's own, through the whole pipeline: docs/your-own-data.md, done as it says."""

import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest

from examples import loans, make_loans
from infofair import datasets as room
from infofair.data import dataset as datasets
from infofair.data import fetch
from infofair.data.dataset import Dataset, RawFile
from infofair.data.prepared import Prepared
from infofair.errors import Problem
from infofair.storage import sha256, write_json, write_text
from stages import (
    as_run,
    audit,
    check,
    download,
    evaluate,
    explain,
    preprocess,
    solve,
    summarize,
    train,
    validate,
)
from study import cli, notebooks, params, paths, results
from tests.conftest import ROOT, compared, edit_params, write_plans
from tests.repository import Pipeline, write_small

DOCUMENT = (ROOT / "docs/your-own-data.md").read_text(encoding="utf-8")
METHODS = {
    "trained": ["infofair", "vanilla"], "ablations": ["infofair_ts", "infofair_td"],
    "solved": ["fcfc"],
}  # fmt: skip
NAMES = [name for names in METHODS.values() for name in names]
# of the comparison, as little as there can be
BEYOND = {"beyond": {"trained": [], "solved": []}, "comparison": compared()}


def blocks(language: str) -> list[str]:
    """The code of the document, in its order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


# -- the document, from beginning to end ----------------------------------------------------------


def test_the_document_shows_the_example() -> None:
    assert blocks("python") == [(ROOT / "examples/loans.py").read_text(encoding="utf-8")]


def shell(pipeline: Pipeline, command: str) -> None:
    done = subprocess.run(
        ["bash", "-ec", command], cwd=pipeline.folder, env=pipeline.environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """A copy of the repository in which everything but the run is done as the document says."""
    pipeline = write_small(tmp_path_factory.mktemp("own") / "copy", methods=METHODS, **BEYOND)
    for step in blocks("bash")[:-1]:
        shell(pipeline, step)
    (line,) = blocks("yaml")
    key, path = line.split(":")[0], pipeline.folder / "params.yaml"
    text, count = re.subn(rf"^{key}:.*\n", line, path.read_text("utf-8"), flags=re.MULTILINE)
    assert count == 1
    path.write_text(text, "utf-8")
    return pipeline


@pytest.mark.slow
@pytest.mark.promise("A CSV of yours stays out of git.")
def test_what_the_document_says_leads_to_rows_that_git_does_not_see(followed: Pipeline) -> None:
    followed.repro("preprocess@loans")
    data = Prepared.load(followed.folder / paths.processed("loans"))
    assert data.settings == [*loans.DATASET.sensitive, "intersection"]
    assert (data.data, data.partition) == ("real", "random")
    listed = followed.git("status", "--short", "-uall")
    assert "loans.csv" not in listed
    assert "infofair/datasets/loans.py" in listed


@pytest.mark.slow
@pytest.mark.promise("What docs/your-own-data.md says leads to the figures.")
def test_what_the_document_says_leads_to_the_figures(followed: Pipeline) -> None:
    folder = followed.folder
    assert blocks("bash")[-1] == "dvc repro\n"
    followed.repro()

    summary = pd.read_csv(folder / "results/summary.csv")
    settings = [*loans.DATASET.sensitive, "intersection"]
    assert len(settings) == 4
    found = summary[["dataset", "setting", "method", "protocol"]].to_numpy().tolist()
    assert sorted(found) == sorted(
        ["loans", setting, method, protocol]
        for setting in settings
        for method in NAMES
        for protocol in ("paper", "mean", "std")
    )
    assert set(summary["data"]) == {"real"}
    assert set(summary["partition"]) == {"random"}
    shown = ["gender", "region", "age group", "gender & region & age group"]
    page = (folder / "reports/index.html").read_text("utf-8")
    table = (folder / "results/figures/results_table.md").read_text("utf-8")
    assert "### Loans" in table
    evidence = summary.drop_duplicates("setting").set_index("setting")["evidence"]
    for name, setting in zip(shown, settings, strict=True):
        marked = name if evidence[setting] == "yes" else f"{name} ‡"  # no evidence of bias there
        escaped = marked.replace("&", r"\&")
        assert f"{escaped}: Imparity" in table
        assert f">{name.replace('&', '&amp;')}</td>" in page
    assert "Loans is not a dataset of the paper" in page
    for figure, drawn in {"tradeoff": "point", "ablation": "bar"}.items():
        svg = (folder / f"results/figures/{figure}.svg").read_text("utf-8")
        assert all(f"{drawn}-loans-{setting}-infofair" in svg for setting in settings)
        assert (folder / f"results/figures/{figure}.png").stat().st_size > 10_000
    source = json.loads((folder / "data/raw/loans/SOURCE.json").read_text("utf-8"))
    csv = folder / "data/own/loans/loans.csv"
    assert source["files"]["loans.csv"]["sha256"] == sha256(csv)

    # DVC notices an edited CSV, and git never sees it
    assert "{}" in followed.run("-m", "dvc", "status", "--json", "dvc.yaml")
    with csv.open("a") as rows:
        rows.write("2001,30,1.5,1,car,male,west,no\n")
    followed.repro("download@loans")
    assert (folder / "data/raw/loans/loans.csv").read_bytes() == csv.read_bytes()
    assert "loans.csv" not in followed.git("status", "--short", "-uall")


# -- messages -------------------------------------------------------------------------------------

Lines = list[str]


def cell(row: int, column: str, value: str) -> Callable[[Lines], Lines]:
    """The rows with another value in one cell; the header is row 0."""
    place = make_loans.lines(1)[0].split(",").index(column)

    def change(lines: Lines) -> Lines:
        fields = lines[row].split(",")
        fields[place] = value
        return [*lines[:row], ",".join(fields), *lines[row + 1 :]]

    return change


def without(column: str) -> Callable[[Lines], Lines]:
    place = make_loans.lines(1)[0].split(",").index(column)
    return lambda lines: [
        ",".join(field for i, field in enumerate(line.split(",")) if i != place) for line in lines
    ]


@pytest.fixture
def own(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace in which `mine.py`, a file in this folder, is the one dataset."""
    folder = tmp_path / "package"
    folder.mkdir()
    monkeypatch.setattr(room, "__path__", [*room.__path__, str(folder)])
    monkeypatch.delitem(sys.modules, "infofair.datasets.mine", raising=False)
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")
    short = {"epochs": 2, "patience": 2, "batch_size": 128, "weight_decay": 0.01}
    edit_params(datasets=["mine"], seeds=[0, 1], methods=METHODS, training=short, **BEYOND)
    return folder


def taken(**changes: Any) -> None:
    """The doors check and download, with a params.yaml that has other values for these keys."""
    write_plans(**changes)
    download.main("mine")


def said(call: Callable[[], Any]) -> str:
    with pytest.raises(Problem) as caught:
        call()
    return cli.explain(caught.value)


def refused(lines: Lines) -> str:
    """What validate says of the example with these lines."""
    write_text(paths.own("mine") / "loans.csv", "\n".join([*lines, ""]))
    write_json(paths.plan("download", "mine"), {"fallback": "none", "own": {}})
    download.main("mine")
    return said(lambda: validate.main("mine"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("income"), "income: missing column: 1 failures"),
        (lambda lines: [f"{line},note" for line in lines], "note: unknown column: 1 failures"),
        (
            cell(2, "purpose", "boat"),
            "purpose: isin(['car', 'home', 'business', 'study']): 1 failures, first value 'boat' "
            "(loans.csv:3)",
        ),
        (cell(1, "age", "17"), "age: in_range(18, 80): 1 failures, first value '17' (loans.csv:2)"),
        (cell(1, "income", ""), "income: not a number: 1 failures, first value '' (loans.csv:2)"),
        (
            cell(2, "gender", ""),
            "gender: isin(['female', 'male']): 1 failures, first value '' (loans.csv:3)",
        ),
        (
            cell(1, "approved", "maybe"),
            "approved: isin(['no', 'yes']): 1 failures, first value 'maybe' (loans.csv:2)",
        ),
        (
            lambda lines: [lines[0], *(line for line in lines if line.endswith(",no"))],
            "fewer than two classes are left after the filters",
        ),
        (
            lambda lines: [line.replace(",", ";") for line in lines],
            "line 1 is 'customer;age;income;years_employed;purpose;gender;region;approved'; "
            "expected commas between columns",
        ),
        (
            lambda lines: [lines[0], lines[1].rpartition(",")[0], *lines[2:]],
            "line 2 has 7 fields; expected 8 (customer … approved)",
        ),
    ],
)
def test_what_is_wrong_with_the_csv_is_said_as_in_the_document(
    own: Path, change: Callable[[Lines], Lines], message: str
) -> None:
    shutil.copy(ROOT / "examples/loans.py", own / "mine.py")
    assert message in refused(change(make_loans.lines(50)))
    assert message in DOCUMENT


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (cell(1, "income", "nan"), "income: no value: 1 failures"),
        (cell(1, "income", "inf"), "income: in_range(0, 1000000): 1 failures"),
        (cell(1, "age", "30.5"), "age: not a whole number: 1 failures, first value '30.5'"),
        (cell(0, "age", "income"), "line 1 names 'income' twice; expected each column once"),
        (lambda lines: ["", *lines], "line 1 is ''; expected column names"),
        (lambda lines: lines[:1], "no data rows"),
    ],
)
def test_other_mistakes_in_the_csv_are_said_too(
    own: Path, change: Callable[[Lines], Lines], message: str
) -> None:
    shutil.copy(ROOT / "examples/loans.py", own / "mine.py")
    assert message in refused(change(make_loans.lines(50)))


def test_values_of_columns_that_are_left_out_are_not_shown_and_not_kept(own: Path) -> None:
    shutil.copy(ROOT / "examples/loans.py", own / "mine.py")
    lines = cell(1, "customer", "Jane Doe")(make_loans.lines(50))
    assert "Jane" not in refused(without("income")(lines))
    write_text(paths.own("mine") / "loans.csv", "\n".join(lines))
    taken()
    validate.main("mine")
    assert "customer" not in pd.read_parquet(paths.validated("mine")).columns
    assert "Jane" not in paths.validation_report("mine").read_text("utf-8")


@pytest.mark.parametrize("fallback", ["simulate", "none"])
def test_a_missing_csv_is_never_simulated(own: Path, fallback: str) -> None:
    shutil.copy(ROOT / "examples/loans.py", own / "mine.py")
    message = said(lambda: taken(fallback=fallback))
    assert message.startswith("data/own/mine/loans.csv: no such file")
    assert "`data/own/loans/loans.csv: no such file`" in DOCUMENT
    assert not paths.raw("mine").exists()


def test_a_pinned_hash_must_be_that_of_the_csv(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = paths.own("mine") / "loans.csv"
    write_text(path, "as pinned")
    pinned = Dataset(**vars(loans.DATASET) | {"files": (RawFile("loans.csv", sha256(path)),)})
    (own / "mine.py").write_text("")
    monkeypatch.setattr(datasets, "load", lambda _: pinned)
    taken()
    write_text(path, "something else")
    message = said(lambda: download.main("mine"))
    assert message.startswith(f"{path}: wrong content: sha256 {sha256(path)}, expected ")
    assert message.endswith("in infofair/datasets/mine.py")


def test_a_public_dataset_without_a_simulator_stops_when_no_source_serves_it(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = (RawFile("loans.csv", "0" * 64, "http://127.0.0.1:9/loans.csv"),)
    (own / "mine.py").write_text("")
    monkeypatch.setattr(fetch, "ATTEMPTS", 1)
    monkeypatch.setattr(
        datasets, "load", lambda _: Dataset(**vars(loans.DATASET) | {"files": public})
    )
    message = said(taken)
    assert message.startswith("no source serves mine (it has no simulator). Tried:")
    assert not paths.raw("mine").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"gender": "gender"', '"gender": "sex"', "sensitive attribute gender: 'sex' is no column "
         "of values; expected one of ['purpose', 'gender', 'region'], or ranges(…) of a column of "
         "numbers"),
        ("Numbers(0, 60)", "number(0, 60)", "NameError: name 'number' is not defined"),
        ('ranges("age", 25', 'ranges("years", 25', "sensitive attribute age_group: 'years' is not "
         "among columns"),
        ('ranges("age", 25, 60)', 'ranges("age", 60, 25)', "ranges('age', …): cuts (60, 25); "
         "expected one or more, rising"),
        ('label="approved"', 'label="gender"', "columns names 'gender', which is the label or "
         "left out"),
        ('"income": N', '"a=b": N', "columns names 'a=b'; expected a name without ="),
        ("DATASET", "DATA", "AttributeError: module 'infofair.datasets.mine' has no attribute "
         "'DATASET'"),
        ("DATASET = csv_dataset", "DATASET = dict", "DATASET is a dict; expected a Dataset"),
        ('"age_group": r', '"all": r', "sensitive attribute 'all'; expected a name of letters, "
         "digits and underscores other than all and intersection"),
        ('"age_group": r', '"age group": r', "sensitive attribute 'age group'; expected"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_datasets_file_names_the_file(
    own: Path, old: str, new: str, message: str
) -> None:
    text = (ROOT / "examples/loans.py").read_text("utf-8")
    if "dict" in new:
        text = text.replace('"loans.csv",', "")
    assert old in text
    (own / "mine.py").write_text(text.replace(old, new), "utf-8")
    found = said(lambda: datasets.load("mine"))
    assert found.startswith(f"infofair/datasets/mine.py: {message}")
    if message.startswith(("sensitive attribute gender", "NameError")):
        assert f"`infofair/datasets/loans.py: {message}`" in DOCUMENT


def test_at_least_one_attribute_is_sensitive(own: Path) -> None:
    (own / "mine.py").write_text(
        "from infofair.data.tabular import csv_dataset\n"
        "DATASET = csv_dataset('a.csv', {}, 'y', {})\n"
    )
    assert "no sensitive attribute; expected at least one" in said(lambda: datasets.load("mine"))


def test_a_name_without_a_file_is_said_as_in_the_document(own: Path) -> None:
    (own / "loans.py").write_text("")
    edit_params(datasets=["loan"])
    message = said(params.load)
    assert message in DOCUMENT


# -- any number of attributes, of any size --------------------------------------------------------

VALUES = {"a": ["p", "q"], "b": ["u", "v", "w"], "c": ["k", "l"], "d": ["m", "n", "o"]}


def mine(own: Path, attributes: str, last: str, rows: int = 300, few: int = 0) -> list[str]:
    """A dataset with these attributes; of `a`, the second value is in the last row, if anywhere.

    Of `b`, the third one is in the first few rows alone, if it is to be rare.
    """
    rng = np.random.default_rng(0)
    columns = {name: rng.choice(values, rows) for name, values in VALUES.items()}
    columns["a"] = np.array(["p"] * (rows - 1) + [last]) if last else columns["a"]
    if few:
        columns["b"] = np.where(np.arange(rows) < few, "w", np.where(columns["b"] == "u", "u", "v"))
    x = rng.normal(size=rows).round(3)
    y = (x + (columns["b"] == "u") + rng.normal(size=rows) > 0.3).astype(int)
    header = ",".join(["x", *columns, "y"])
    cells = zip(x, *columns.values(), y, strict=True)
    lines = [header, *(",".join(map(str, row)) for row in cells)]
    write_text(paths.own("mine") / "mine.csv", "\n".join(lines))
    (own / "mine.py").write_text(
        "from infofair.data.tabular import Numbers, csv_dataset\n"
        f"COLUMNS = {{'x': Numbers(-9, 9, whole=False), **{VALUES!r}}}\n"
        f"SENSITIVE = {dict(zip(attributes, attributes, strict=True))!r}\n"
        "DATASET = csv_dataset('mine.csv', COLUMNS, 'y', SENSITIVE)\n"
    )
    return [*attributes, *["intersection"] * (len(attributes) > 1)]


CASES = pytest.mark.parametrize(
    ("attributes", "last"),
    [
        pytest.param("a", "", id="one", marks=pytest.mark.slow),
        pytest.param("abcd", "q", id="four, and a group of one row"),
        pytest.param("ba", "p", id="an empty group", marks=pytest.mark.slow),
    ],
)


def summarized(own: Path, attributes: str, last: str) -> tuple[list[str], pd.DataFrame]:
    """All doors up to explain; the settings, and the summary."""
    settings = mine(own, attributes, last)
    shutil.copytree(ROOT / "data/reference", "data/reference")
    check.main()
    for door in (download, validate, preprocess):
        door.main("mine")
    for method in NAMES:
        door = solve if method in METHODS["solved"] else train
        door.main(str(paths.plan("train", "mine", method)))
    evaluate.main("mine")
    summarize.main()
    as_run.main("mine")
    explain.main()
    return settings, results.read("summary")


@CASES
def test_any_number_of_attributes_goes_through_to_the_page(
    own: Path, attributes: str, last: str
) -> None:
    from stages import page  # with matplotlib, which only this test needs
    from study import figures
    from study.tables import layout
    from study.tables import results as table

    settings, summary = summarized(own, attributes, last)
    data = Prepared.load(paths.processed("mine"))
    assert (data.settings, data.data, data.partition) == (settings, "real", "random")
    assert list(dict.fromkeys(summary["setting"])) == settings
    means = summary[summary["protocol"] == "mean"]
    assert not means[["micro_f1", "imparity"]].isna().any(axis=None)
    blocks = table.blocks(summary)
    assert len(blocks[0].settings) == len(settings)
    assert layout.to_latex(blocks, table.LAYOUT).count(r"\multicolumn{3}") == len(settings)
    write_text(paths.figure("results_table", "html"), layout.to_html(blocks, table.LAYOUT))
    paths.STYLE.parent.mkdir()
    shutil.copy(ROOT / paths.STYLE, paths.STYLE)
    for name in ("tradeoff", "ablation"):
        figures.save(getattr(figures, name)(summary), paths.figure(name, "svg"))
    shutil.copy(ROOT / "pyproject.toml", ".")
    write_text(Path("dvc.lock"), "stages: {}\n")
    page.main("index")
    shown = paths.INDEX.read_text("utf-8")
    assert all(f'id="row-mine-{setting}-infofair"' in shown for setting in settings)
    assert "the paper’s –" not in shown
    assert "nan" not in re.sub(r"<script>.*?</script>|<style>.*?</style>", "", shown, flags=re.S)


@pytest.mark.promise("An audit shows no cell of fewer than five people, unless asked.")
def test_the_audit_of_your_csv_protects_a_group_of_three(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine(own, "ab", "", rows=1500, few=30)
    check.main()
    for door in (download, validate, preprocess):
        door.main("mine")
    train.main(str(paths.plan("train", "mine", "vanilla")))
    data = Prepared.load(paths.processed("mine"))
    rare = int((data.groups["b"][data.split["test"]] == VALUES["b"].index("w")).sum())
    assert rare == 3
    shutil.copytree(ROOT / "notebooks", "notebooks")
    monkeypatch.setattr(notebooks, "execute", lambda path, given: nbformat.v4.new_notebook())
    audit.main("mine")
    text, page = paths.audit("mine").read_text("utf-8"), paths.audit_page("mine").read_text("utf-8")
    content = json.loads(text)
    [of_b] = [setting for setting in content["settings"] if setting["name"] == "b"]
    [joined] = [group["name"] for group in of_b["groups"] if " or " in group["name"]]
    assert "w" in joined.split(" or ")
    groups = [g for own in content["settings"] for g in (*own["groups"], *own["pooled"])]
    assert min(group["rows"] or math.inf for group in groups) >= 5
    assert '"w"' not in text and not re.search(r"(?<! or )\bw \(", page)

"""A CSV of the user's own, through the whole pipeline: docs/your-own-data.md, done as it says."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from examples import loans, make_loans
from stages import (
    cli,
    datasets,
    download,
    evaluate,
    figures,
    files,
    fronts,
    params,
    preprocess,
    report,
    solve,
    summarize,
    tables,
    train,
    validate,
)
from stages.datasets import Dataset, RawFile
from stages.files import Problem
from stages.processed import Processed
from stages.tabular import ranges, read_csv
from tests import frontiers, honests
from tests.conftest import ROOT, yaml
from tests.test_faults import write_pipeline

DOCUMENT = (ROOT / "docs/your-own-data.md").read_text(encoding="utf-8")
METHODS = {
    "regularized": ["infofair"], "ablations": ["infofair_ts", "infofair_td"],
    "fixed": ["vanilla"], "solved": ["fcfc"],
}  # fmt: skip
NAMES = [name for names in METHODS.values() for name in names]


def blocks(language: str) -> list[str]:
    """The code of the document, in its order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


# -- the document, from beginning to end ----------------------------------------------------------


def test_the_document_shows_the_example() -> None:
    assert blocks("python") == [(ROOT / "examples/loans.py").read_text(encoding="utf-8")]


def test_what_the_document_says_leads_to_the_figures(tmp_path: Path) -> None:
    pipeline = write_pipeline(tmp_path / "copy")
    folder = pipeline.folder
    path = folder / "params.yaml"
    yaml.dump(yaml.load(path) | {"methods": METHODS}, path)  # and its few seeds and epochs

    def shell(command: str) -> None:
        done = subprocess.run(
            ["bash", "-ec", command], cwd=folder, env=pipeline.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout

    *steps, run = blocks("bash")
    for step in steps:
        shell(step)
    (line,) = blocks("yaml")
    key = line.split(":")[0]
    text, count = re.subn(rf"^{key}:.*\n", line, path.read_text("utf-8"), flags=re.MULTILINE)
    assert count == 1
    path.write_text(text, "utf-8")
    assert yaml.load(path)[key] == ["loans"]
    shell(run)

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
    names = ["gender", "region", "age group", "gender & region & age group"]
    page = (folder / "reports/index.html").read_text("utf-8")
    table = (folder / "results/figures/results_table.md").read_text("utf-8")
    assert "### Loans" in table
    for name in names:
        assert f"{tables.markdown(name)}: Imparity" in table
        assert f">{name.replace('&', '&amp;')}</td>" in page
    assert "Loans is not a dataset of the paper" in page
    for figure, drawn in {"tradeoff": "point", "ablation": "bar"}.items():
        svg = (folder / f"results/figures/{figure}.svg").read_text("utf-8")
        assert all(f'id="{drawn}-loans-{setting}-infofair' in svg for setting in settings)
        assert (folder / f"results/figures/{figure}.png").stat().st_size > 10_000
    source = json.loads((folder / "data/raw/loans/SOURCE.json").read_text("utf-8"))
    csv = folder / "data/own/loans/loans.csv"
    assert source["files"]["loans.csv"]["sha256"] == files.sha256(csv)

    # DVC notices an edited CSV, and git never sees it
    assert "{}" in pipeline.run("-m", "dvc", "status", "--json")
    with csv.open("a") as rows:
        rows.write("2001,30,1.5,1,car,male,west,no\n")
    pipeline.run("-m", "dvc", "repro", "download@loans")
    assert (folder / "data/raw/loans/loans.csv").read_bytes() == csv.read_bytes()
    listed = subprocess.check_output(["git", "status", "--short", "-uall"], cwd=folder, text=True)
    assert "loans.csv" not in listed
    assert "stages/datasets/loans.py" in listed


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
    monkeypatch.setattr(datasets, "__path__", [*datasets.__path__, str(folder)])
    monkeypatch.delitem(sys.modules, "stages.datasets.mine", raising=False)
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")
    content = yaml.load(Path("params.yaml"))
    content |= {"datasets": ["mine"], "seeds": [0, 1], "methods": METHODS}
    content["training"]["epochs"] = 2
    yaml.dump(content, Path("params.yaml"))
    return folder


def said(call: Callable[[], Any]) -> str:
    with pytest.raises(Problem) as caught:
        call()
    return cli.explain(caught.value)


def refused(lines: Lines) -> str:
    """What validate says of the example with these lines."""
    for path in (files.own("mine"), files.raw("mine")):
        path.mkdir(parents=True, exist_ok=True)
    (files.own("mine") / "loans.csv").write_text("\n".join([*lines, ""]), "utf-8")
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
    (files.own("mine") / "loans.csv").write_text("\n".join(lines), "utf-8")
    download.main("mine")
    validate.main("mine")
    assert "customer" not in pd.read_parquet(files.validated("mine")).columns
    assert "Jane" not in files.validation_report("mine").read_text("utf-8")


@pytest.mark.parametrize("fallback", ["simulate", "none"])
def test_a_missing_csv_is_never_simulated(own: Path, fallback: str) -> None:
    shutil.copy(ROOT / "examples/loans.py", own / "mine.py")
    yaml.dump(yaml.load(Path("params.yaml")) | {"fallback": fallback}, Path("params.yaml"))
    message = said(lambda: download.main("mine"))
    assert message.startswith("data/own/mine/loans.csv: no such file")
    assert "`data/own/loans/loans.csv: no such file`" in DOCUMENT
    assert not files.raw("mine").exists()


def test_a_pinned_hash_must_be_that_of_the_csv(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = files.own("mine") / "loans.csv"
    files.write_text(path, "as pinned")
    pinned = Dataset(**vars(loans.DATASET) | {"files": (RawFile("loans.csv", files.sha256(path)),)})
    (own / "mine.py").write_text("")
    monkeypatch.setattr(datasets, "load", lambda _: pinned)
    download.main("mine")
    files.write_text(path, "something else")
    message = said(lambda: download.main("mine"))
    assert message.startswith(f"{path}: wrong content: sha256 {files.sha256(path)}, expected ")
    assert message.endswith("in stages/datasets/mine.py")


def test_a_public_dataset_without_a_simulator_stops_when_no_source_serves_it(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = (RawFile("loans.csv", "0" * 64, "http://127.0.0.1:9/loans.csv"),)
    (own / "mine.py").write_text("")
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    monkeypatch.setattr(
        datasets, "load", lambda _: Dataset(**vars(loans.DATASET) | {"files": public})
    )
    message = said(lambda: download.main("mine"))
    assert message.startswith("no source serves mine (it has no simulator). Tried:")
    assert not files.raw("mine").exists()


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
        ("DATASET", "DATA", "AttributeError: module 'stages.datasets.mine' has no attribute "
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
    found = said(lambda: download.main("mine"))
    assert found.startswith(f"stages/datasets/mine.py: {message}")
    if message.startswith(("sensitive attribute gender", "NameError")):
        assert f"`stages/datasets/loans.py: {message}`" in DOCUMENT


def test_at_least_one_attribute_is_sensitive(own: Path) -> None:
    (own / "mine.py").write_text(
        "from stages.tabular import csv_dataset\nDATASET = csv_dataset('a.csv', {}, 'y', {})\n"
    )
    assert "no sensitive attribute; expected at least one" in said(lambda: datasets.load("mine"))


def test_a_name_without_a_file_is_said_as_in_the_document(own: Path) -> None:
    (own / "loans.py").write_text("")
    yaml.dump(yaml.load(Path("params.yaml")) | {"datasets": ["loan"]}, Path("params.yaml"))
    message = said(params.load)
    assert message in DOCUMENT


# -- reading and grouping -------------------------------------------------------------------------


def test_the_mark_that_spreadsheets_put_first_is_no_part_of_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('"first, with a comma",b\n1, x\n', encoding="utf-8-sig")
    frame = read_csv(path)
    assert frame.columns.to_list() == ["first, with a comma", "b"]
    assert frame.to_numpy().tolist() == [["1", "x"]]


def test_ranges_are_from_each_cut_to_below_the_next() -> None:
    frame = pd.DataFrame({"age": [18, 24, 25, 59, 60, 80], "income": [0.5, 1, 1.5, 2, 2.5, 3]})
    sensitive = {"age_group": ranges("age", 25, 60), "rich": ranges("income", 2.25)}
    numbers, names = preprocess.groups(frame, sensitive)
    assert numbers["age_group"].tolist() == [0, 0, 1, 1, 2, 2]
    assert names["age_group"] == ["under 25", "25 to under 60", "60 and over"]
    assert numbers["rich"].tolist() == [0, 0, 0, 0, 1, 1]
    assert numbers["intersection"].tolist() == [0, 0, 2, 2, 5, 5]


def test_a_value_without_a_group_and_too_many_groups_are_problems() -> None:
    attribute = datasets.Attribute("x", {"a": "A", "b": "B"})
    frame = pd.DataFrame({"x": ["a", "c"]})
    with pytest.raises(Problem, match=r"attribute s: x is 'c' in some row, which has no group"):
        preprocess.groups(frame, {"s": attribute})
    many = {f"s{i}": attribute for i in range(15)}
    with pytest.raises(Problem, match="32768 combinations of their values; expected 32767"):
        preprocess.groups(frame[:1], many)


def test_columns_become_features_as_the_document_says() -> None:
    dataset = loans.DATASET
    frame = pd.DataFrame(
        {
            "customer": ["1", "2"], "age": [20, 30], "income": [0.25, 1.5],
            "years_employed": [1, 2], "purpose": ["car", "study"], "gender": ["male", "female"],
            "region": ["west", "north"], "approved": ["yes", "no"],
        }
    )  # fmt: skip
    clean = dataset.clean(frame)
    assert clean["approved"].to_list() == [1, 0]
    encoded = dataset.encode(clean)
    assert list(encoded) == [
        "age", "income", "years_employed", "purpose=car", "purpose=home", "purpose=business",
        "purpose=study", "gender=male", "region=north", "region=east", "region=south",
        "region=west",
    ]  # fmt: skip
    assert encoded["income"].tolist() == [0.25, 1.5]
    assert encoded["purpose=study"].tolist() == [0, 1]
    assert encoded["gender=male"].tolist() == [1, 0]


# -- any number of attributes, of any size --------------------------------------------------------

VALUES = {"a": ["p", "q"], "b": ["u", "v", "w"], "c": ["k", "l"], "d": ["m", "n", "o"]}


def mine(own: Path, attributes: str, last: str) -> list[str]:
    """A dataset with these attributes; of `a`, the second value is in the last row, if anywhere."""
    rng = np.random.default_rng(0)
    rows = 300
    columns = {name: rng.choice(values, rows) for name, values in VALUES.items()}
    columns["a"] = np.array(["p"] * (rows - 1) + [last]) if last else columns["a"]
    x = rng.normal(size=rows).round(3)
    y = (x + (columns["b"] == "u") + rng.normal(size=rows) > 0.3).astype(int)
    header = ",".join(["x", *columns, "y"])
    cells = zip(x, *columns.values(), y, strict=True)
    lines = [header, *(",".join(map(str, row)) for row in cells)]
    files.write_text(files.own("mine") / "mine.csv", "\n".join(lines))
    (own / "mine.py").write_text(
        "from stages.tabular import Numbers, csv_dataset\n"
        f"COLUMNS = {{'x': Numbers(-9, 9, whole=False), **{VALUES!r}}}\n"
        f"SENSITIVE = {dict(zip(attributes, attributes, strict=True))!r}\n"
        "DATASET = csv_dataset('mine.csv', COLUMNS, 'y', SENSITIVE)\n"
    )
    return [*attributes, *["intersection"] * (len(attributes) > 1)]


@pytest.mark.parametrize(
    ("attributes", "last"),
    [("a", ""), ("abcd", ""), ("ab", "q"), ("ba", "p")],
    ids=["one", "four", "a group of one row", "an empty group"],
)
def test_any_number_of_attributes_goes_through_to_the_page(
    own: Path, attributes: str, last: str
) -> None:
    settings = mine(own, attributes, last)
    download.main("mine")
    validate.main("mine")
    preprocess.main("mine")
    data = Processed.load("mine")
    assert (data.settings, data.data, data.partition) == (settings, "real", "random")
    for method in NAMES:
        (solve if method in METHODS["solved"] else train).main("mine", method)
    evaluate.main("mine")
    shutil.copytree(ROOT / "data/reference", "data/reference")
    shutil.copy(ROOT / "pyproject.toml", ".")
    summarize.main()
    summary = tables.read("results/summary.csv")
    assert list(dict.fromkeys(summary["setting"])) == settings
    assert (
        not summary[summary["protocol"] == "mean"][["micro_f1", "imparity"]].isna().any(axis=None)
    )
    blocks_of = tables.blocks(summary)
    assert len(blocks_of[0].settings) == len(settings)
    assert tables.to_latex(blocks_of).count(r"\multicolumn{3}") == len(settings)
    assert tables.fronts_to_markdown(summary).count("| Mine |") == len(settings)
    files.write_text(report.FIGURES / "results_table.html", tables.to_html(blocks_of))
    for name in ("tradeoff", "ablation"):
        figures.save(getattr(figures, name)(summary), report.FIGURES / f"{name}.svg")
    honests.write({"mine": settings})
    frontiers.write({"mine": settings})
    swept = [fronts.read(path) for path in (fronts.SUMMARY, fronts.HYPERVOLUME)]
    figures.save(figures.frontier(*swept), report.FIGURES / "frontier.svg")
    files.write_text(Path("dvc.lock"), "stages: {}\n")
    report.main()
    page = report.PAGE.read_text("utf-8")
    assert all(f'id="row-mine-{setting}-infofair"' in page for setting in settings)
    assert "the paper’s –" not in page
    assert "nan" not in re.sub(r"<script>.*?</script>|<style>.*?</style>", "", page, flags=re.S)

import itertools
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from infofair.data import checks
from infofair.data import dataset as datasets
from infofair.errors import Problem
from tests.raw import ALL, COMPAS, PLACE, changed

each_dataset = pytest.mark.parametrize("name", ALL)


def failures(name: str, frame: pd.DataFrame, folder: Path) -> list[dict[str, Any]]:
    """The report's failures for these rows, written to disk and read back."""
    dataset = datasets.load(name)
    dataset.write(frame, folder)
    clean, report = checks.validate(folder, dataset, real=False)
    assert report["passed"] == (clean is not None) == (not report["failures"])
    return report["failures"]


def refusal(name: str, folder: Path) -> str:
    """The message with which the files in the folder are refused before any rule is checked."""
    with pytest.raises(Problem) as problem:
        checks.validate(folder, datasets.load(name), real=False)
    return str(problem.value)


# Values and columns.


@each_dataset
def test_intact_rows_pass(name: str, intact: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    assert failures(name, intact[name], tmp_path) == []


@pytest.mark.parametrize("value", ["old", "", "30.0", "nan", "?", "1e1", "9" * 30])
@pytest.mark.parametrize("name", ["compas", "adult", "kdd"])  # Dutch has no column of numbers
def test_a_wrong_type_is_reported_with_column_rule_count_and_row(
    name: str, value: str, intact: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    found = failures(name, changed(name, intact[name], age=value), tmp_path)
    expected = {"column": "age", "count": 1, "rows": [PLACE[name]], "first_value": value}
    assert expected | {"rule": "coerce_dtype('int64')"} in found


@pytest.mark.parametrize(
    ("name", "column"),
    [("compas", "age"), ("compas", "decile_score"), ("compas", "is_recid"), ("compas", "id"),
     ("adult", "age"), ("adult", "education-num"), ("adult", "capital-gain"), ("kdd", "age"),
     ("kdd", "weeks-worked")],
)  # fmt: skip
def test_a_wrong_type_blames_no_other_row_and_no_other_column(
    name: str, column: str, intact: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    found = failures(name, changed(name, intact[name], **{column: "x"}), tmp_path)
    assert {row for entry in found for row in entry["rows"]} == {PLACE[name]}
    assert {entry["column"] for entry in found} <= {column, "several columns"}


def test_a_wrong_type_hides_no_other_failure_of_its_column(
    intact: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    frame = changed("adult", intact["adult"], age="x", education="HS-grad")
    frame = changed("adult", frame, row=3, age="200")
    frame = changed("adult", frame, row=4, **{"capital-gain": "1", "capital-loss": "1"})
    found = failures("adult", frame, tmp_path)
    assert [(entry["column"], entry["rows"]) for entry in found] == [
        ("age", ["adult.data:20"]),
        ("age", ["adult.data:4"]),
        ("several columns", ["adult.data:5"]),
    ]


@pytest.mark.parametrize(
    ("name", "column", "value", "rule"),
    [
        ("compas", "race", "Martian", "isin(['Caucasian'"),
        ("compas", "c_charge_degree", "X", "isin(['F', 'M', 'O'])"),
        ("compas", "start", "-1", "in_range(0, 9999)"),
        ("compas", "end", "10000", "in_range(0, 9999)"),
        ("compas", "days_b_screening_arrest", "soon", "str_matches"),
        ("compas", "days_b_screening_arrest", "\N{ARABIC-INDIC DIGIT THREE}", "str_matches"),
        ("compas", "r_charge_degree", "F3", "str_matches"),
        ("compas", "violent_recid", "1", "str_matches"),
        ("adult", "sex", "male", "isin(['Female', 'Male'])"),
        ("adult", "native-country", "Atlantis", "isin(['United-States'"),
        ("adult", "income", ">50k", "isin(['<=50K', '>50K'])"),
        ("adult", "age", "16", "in_range(17, 90)"),
        ("adult", "hours-per-week", "100", "in_range(1, 99)"),
        ("dutch", "age", "18", "isin(['17'"),
        ("dutch", "occupation", "2_2", "isin(['5_4_9', '2_1'])"),
        ("dutch", "citizenship", "", "isin(['3', '2', '1'])"),
        ("kdd", "sex", "male", "isin(['Female', 'Male'])"),
        ("kdd", "income", "50000+", "isin(['- 50000.', '50000+.'])"),
        ("kdd", "citizenship", "Foreign born- Not a citizen of U S", "isin(['Native- Born"),
        ("kdd", "born-mother", "Atlantis", "isin(['United-States'"),
        ("kdd", "state-before", "Ontario", "isin(['Not in universe'"),
        ("kdd", "instance-weight", "1e3", "str_matches"),
        ("kdd", "wage-per-hour", "10000", "in_range(0, 9999)"),
    ],
)
def test_a_value_outside_the_domain_is_reported_with_its_place(
    name: str,
    column: str,
    value: str,
    rule: str,
    intact: dict[str, pd.DataFrame],
    tmp_path: Path,
) -> None:
    [entry] = failures(name, changed(name, intact[name], **{column: value}), tmp_path)
    assert entry.pop("rule").startswith(rule)
    place = [PLACE[name]]
    assert entry == {"column": column, "count": 1, "rows": place, "first_value": value}
    line = (tmp_path / PLACE[name].split(":")[0]).read_text().splitlines()[19]
    assert value in line  # the place is where an editor finds the value


# COMPAS columns of free text, for which the schema only bounds the length.
FREE_TEXT = {
    "name", "first", "last", "c_case_number", "r_case_number", "vr_case_number", "c_charge_desc",
    "r_charge_desc", "vr_charge_desc",
}  # fmt: skip


@each_dataset
@pytest.mark.parametrize("nonsense", ["#", "#" * 201])
def test_every_column_refuses_nonsense(
    name: str, nonsense: str, intact: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    columns = set(intact[name].columns)
    cells = dict.fromkeys(columns, nonsense)
    found = failures(name, changed(name, intact[name], **cells), tmp_path)
    accepting = FREE_TEXT if nonsense == "#" else set()
    assert {e["column"] for e in found if e["column"] in columns} == columns - accepting


@pytest.mark.parametrize(
    ("name", "cells", "rule"),
    [
        ("compas", {"age": "30", "age_cat": "Less than 25"}, "age_cat is the category of age"),
        ("compas", {"age": "45", "age_cat": "25 - 45"}, "age_cat is the category of age"),
        (
            "compas",
            {"decile_score": "2", "decile_score again": "2", "score_text": "High"},
            "score_text is the band of decile_score",
        ),
        (
            "compas",
            {"v_decile_score": "8", "v_score_text": "Medium"},
            "v_score_text is the band of v_decile_score",
        ),
        (
            "compas",
            {"decile_score": "5", "decile_score again": "6", "score_text": "Medium"},
            "the two decile_score columns are equal",
        ),
        (
            "compas",
            {"priors_count": "1", "priors_count again": "2"},
            "the two priors_count columns are equal",
        ),
        (
            "compas",
            {"two_year_recid": "1", "is_recid": "0", "is_violent_recid": "0"},
            "two_year_recid implies is_recid",
        ),
        (
            "compas",
            {"two_year_recid": "0", "is_recid": "-1", "is_violent_recid": "1"},
            "is_violent_recid implies is_recid",
        ),
        ("compas", {"c_jail_out": ""}, "c_jail_in and c_jail_out are given together"),
        (
            "compas",
            {"days_b_screening_arrest": ""},
            "c_jail_in and days_b_screening_arrest are given together",
        ),
        (
            "adult",
            {"education": "HS-grad", "education-num": "13"},
            "education-num is the number of education",
        ),
        (
            "adult",
            {"relationship": "Husband", "marital-status": "Divorced"},
            "a husband or wife is married",
        ),
        (
            "adult",
            {"relationship": "Wife", "marital-status": "Widowed"},
            "a husband or wife is married",
        ),
        (
            "adult",
            {"workclass": "?", "occupation": "Sales"},
            "without a workclass there is no occupation",
        ),
        (
            "adult",
            {"workclass": "Never-worked", "occupation": "Sales"},
            "without a workclass there is no occupation",
        ),
        (
            "adult",
            {"capital-gain": "1", "capital-loss": "1"},
            "not both a capital gain and a capital loss",
        ),
        (
            "dutch",
            {"household_position": "1210", "household_size": "112"},
            "who lives alone is a household of one",
        ),
        (
            "dutch",
            {"household_position": "1110", "household_size": "111"},
            "who lives alone is a household of one",
        ),
        (
            "dutch",
            {"household_position": "1122", "household_size": "114", "Marital_status": "1"},
            "a partner in a married couple is married",
        ),
        ("kdd", {"weeks-worked": "0", "employer-size": "3"}, "who worked has an employer"),
        ("kdd", {"weeks-worked": "9", "employer-size": "0"}, "who worked has an employer"),
        (
            "kdd",
            {"major-industry": "Mining", "major-occupation": "Not in universe"},
            "industry and occupation are given together",
        ),
        ("kdd", {"age": "15", "education": "Children"}, "children are under 15"),
        ("kdd", {"age": "14", "education": "9th grade"}, "children are under 15"),
        (
            "kdd",
            {"household": "Spouse of householder", "marital-status": "Widowed"},
            "a householder's spouse is married",
        ),
        (
            "kdd",
            {"capital-gain": "1", "capital-loss": "1"},
            "not both a capital gain and a capital loss",
        ),
    ],
)
def test_a_broken_rule_across_columns_is_reported_by_its_name(
    name: str,
    cells: dict[str, str],
    rule: str,
    intact: dict[str, pd.DataFrame],
    tmp_path: Path,
) -> None:
    found = failures(name, changed(name, intact[name], **cells), tmp_path)
    several = {"column": "several columns", "rule": rule, "count": 1, "rows": [PLACE[name]]}
    assert found == [several | {"first_value": None}]


@each_dataset
def test_every_rule_across_columns_has_a_test_above(name: str) -> None:
    [mark] = test_a_broken_rule_across_columns_is_reported_by_its_name.pytestmark
    tested = {rule for dataset, _, rule in mark.args[1] if dataset == name}
    assert {check.name for check in datasets.load(name).schema.checks} == tested


def test_a_duplicated_compas_id_is_reported_at_both_rows(
    intact: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    [entry] = failures("compas", changed("compas", intact["compas"], id="1"), tmp_path)
    assert (entry["column"], entry["rule"]) == ("id", "field_uniqueness")
    assert (entry["count"], entry["rows"]) == (2, [f"{COMPAS}:2", PLACE["compas"]])


@pytest.mark.parametrize(
    "cells",
    [
        {"c_jail_in": "2013-99-99 10:00:00"},
        {"c_jail_out": "2013-02-30 10:00:00"},
        {"c_jail_out": "2013-01-04 25:00:00"},
        # The screening says the arrest is known, so the row is kept and needs its stay.
        {"c_jail_in": "", "c_jail_out": ""},
    ],
)
def test_a_kept_compas_row_without_a_possible_stay_is_reported(
    cells: dict[str, str], intact: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    found = failures("compas", changed("compas", intact["compas"], **cells), tmp_path)
    assert [entry["rows"] for entry in found] == [[PLACE["compas"]]]


# Columns of the COMPAS header; the other two datasets are read by position.


@pytest.mark.parametrize("columns", [["age"], ["event"], ["race", "sex"], ["decile_score again"]])
def test_each_missing_column_is_reported(
    columns: list[str], intact: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    found = failures("compas", intact["compas"].drop(columns=columns), tmp_path)
    missing = [e["column"] for e in found if e["rule"] == "column_in_dataframe"]
    assert sorted(missing) == sorted(columns)


@pytest.mark.parametrize("columns", [["extra"], ["extra", "more"]])
def test_each_extra_column_is_reported(
    columns: list[str], intact: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    found = failures("compas", intact["compas"].assign(**dict.fromkeys(columns, "1")), tmp_path)
    extra = [e["column"] for e in found if e["rule"] == "column_in_schema"]
    assert sorted(extra) == sorted(columns)


def test_a_renamed_column_is_reported_as_extra_and_missing(
    intact: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    found = failures("compas", intact["compas"].rename(columns={"race": "Race"}), tmp_path)
    named = {(entry["column"], entry["rule"]) for entry in found}
    assert named == {("Race", "column_in_schema"), ("race", "column_in_dataframe")}


# decile_score would be there for a third time, the others for a second.
@pytest.mark.parametrize("column", ["sex", "age", "event", "decile_score"])
def test_a_header_given_too_often_is_refused(
    column: str, intact: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    frame = pd.concat([intact["compas"], intact["compas"][[column]]], axis="columns")
    try:
        found = failures("compas", frame, tmp_path)
    except Problem as problem:
        assert COMPAS in str(problem)
        assert column in str(problem)
    else:
        assert column in [entry["column"].removesuffix(" again") for entry in found]


@pytest.mark.parametrize("name", ["adult", "dutch", "kdd"])
def test_a_column_too_few_or_too_many_is_refused_at_the_first_line(
    name: str, intact: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    dataset, frame = datasets.load(name), intact[name]
    for other in (frame.iloc[:, :-1], frame.assign(extra="1")):
        dataset.write(other, tmp_path)
        line = 18 if name == "dutch" else 1
        message = refusal(name, tmp_path)
        assert f"{tmp_path / dataset.files[0].name}: line {line} has " in message
        assert f"expected {len(frame.columns)}" in message


# Files.


def on_line_20(spoil: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def edit(content: bytes) -> bytes:
        lines = content.split(b"\n")
        lines[19] = spoil(lines[19].rstrip(b"\r"))
        return b"\n".join(lines)

    return edit


@each_dataset
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (on_line_20(lambda line: line[:4] + b"\0" + line[4:]), "line 20 holds a NUL byte"),
        (on_line_20(lambda line: line[:4] + b"\xe9" + line[4:]), "line 20 is not UTF-8"),
        (lambda content: content.decode().encode("utf-16"), "expected text"),
        (on_line_20(lambda line: line.rpartition(b",")[0]), "line 20 has "),
        (on_line_20(lambda line: line + b",1"), "line 20 has "),
        (on_line_20(lambda line: b'"' + line), "unexpected end of data"),
        (on_line_20(lambda line: b'"a"' + line), "line 20: "),
        (lambda content: content.rstrip()[:-12], " fields; expected "),
        (lambda content: content[:2], ""),
        (lambda content: b"", "the file is empty"),
        (lambda content: b"\r\n \n", "the file is empty"),
    ],
    ids=[
        "NUL", "latin-1", "utf-16", "field missing", "field too many", "open quote",
        "text after quote", "truncated", "two bytes", "empty", "blank",
    ],
)  # fmt: skip
def test_a_spoiled_file_is_refused_by_name_and_line(
    name: str,
    edit: Callable[[bytes], bytes],
    message: str,
    intact: dict[str, pd.DataFrame],
    tmp_path: Path,
) -> None:
    dataset = datasets.load(name)
    dataset.write(intact[name], tmp_path)
    path = tmp_path / dataset.files[0].name
    path.write_bytes(edit(path.read_bytes()))
    found = refusal(name, tmp_path)
    assert found.startswith(f"{path}: ")
    assert message in found


@each_dataset
def test_a_file_cut_anywhere_is_never_taken_for_whole(
    name: str, intact: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    dataset = datasets.load(name)
    dataset.write(intact[name], tmp_path)
    path = tmp_path / dataset.files[0].name
    content = path.read_bytes().rstrip()
    last = content.rindex(b"\n") + 1
    place = f"{path.name}:{len(content.splitlines())}"
    # KDD's lines are long: of those before its last cells, every third
    ends = range(last + 1, len(content))
    for end in (*ends[: -20 : 1 if name != "kdd" else 3], *ends[-20:]):
        path.write_bytes(content[:end])
        try:
            _, failed = checks.failures(dataset.read(tmp_path), dataset)
        except Problem as problem:
            assert f"{path}: line " in str(problem)
        else:
            assert [place] in [entry["rows"] for entry in failed]


@pytest.mark.parametrize(
    ("name", "file", "header"),
    [
        ("compas", COMPAS, lambda text: text[: text.index("\n") + 1]),
        ("adult", "adult.test", lambda text: text[: text.index("\n") + 1]),
        ("dutch", "dutch_census_2001.arff", lambda text: text[: text.index("@data") + 6]),
    ],
)
def test_a_header_without_rows_is_refused(
    name: str,
    file: str,
    header: Callable[[str], str],
    intact: dict[str, pd.DataFrame],
    tmp_path: Path,
) -> None:
    datasets.load(name).write(intact[name], tmp_path)
    path = tmp_path / file
    path.write_text(header(path.read_text()))
    assert refusal(name, tmp_path) == f"{path}: no data rows"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@data", "", "no line @data"),
        ("@attribute sex {2,1}", "@attribute sex {1,2}", "expected '@attribute sex {2,1}'"),
        ("@attribute sex {2,1}", "@attribute sex {2,1,3}", "found '@attribute sex {2,1,3}'"),
        ("@attribute sex {2,1}", "@attribute gender {2,1}", "found '@attribute gender {2,1}'"),
        ("@attribute sex {2,1}", "@attribute sex numeric", "found '@attribute sex numeric'"),
        ("@attribute sex {2,1}", "@attribute", "expected '@attribute sex {2,1}'"),
        ("@attribute occupation {5_4_9,2_1}\n", "", "11 attributes declared; expected 12"),
        ("@data", "@attribute more {1}\n@data", "13 attributes declared; expected 12"),
        (
            "@attribute citizenship {3,2,1}\n@attribute country_birth {3,2,1}",
            "@attribute country_birth {3,2,1}\n@attribute citizenship {3,2,1}",
            "found '@attribute country_birth {3,2,1}'",
        ),
    ],
)
def test_another_arff_header_is_refused(
    old: str, new: str, message: str, intact: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    datasets.load("dutch").write(intact["dutch"], tmp_path)
    path = tmp_path / "dutch_census_2001.arff"
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    found = refusal("dutch", tmp_path)
    assert found.startswith(f"{path}: ")
    assert message in found


def test_only_the_first_failing_rows_are_listed_but_all_are_counted(
    intact: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    [entry] = failures("adult", intact["adult"].assign(sex="male"), tmp_path)
    assert entry["count"] == 240
    assert entry["rows"] == [f"adult.data:{line}" for line in range(1, 6)]


# The label audit.


def balanced(frame: pd.DataFrame) -> dict[str, float]:
    return {e["column"]: e["balanced_accuracy"] for e in checks.audit(frame, "label")}


def test_the_audit_tells_leaks_from_noise() -> None:
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 4_000)
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=4_000),
            "category of noise": pd.Categorical(rng.integers(0, 5, 4_000)),
            "constant": 1,
            "equal": label,
            "opposite": 1 - label,
            "close": np.where(rng.random(4_000) < 0.05, 1 - label, label),
            "shifted": label * 10 + rng.random(4_000),
            "category": pd.Categorical(np.array(["b", "a"])[label], ["a", "b", "never"]),
            "label": label,
        }
    )
    found = balanced(frame)
    assert "label" not in found
    leaks = {column for column, score in found.items() if score >= checks.LEAK}
    assert leaks == {"equal", "opposite", "close", "shifted", "category"}
    assert [found[c] for c in ("equal", "opposite", "shifted", "category")] == [1, 1, 1, 1]
    assert 0.93 < found["close"] < 0.97
    assert found["constant"] == 0.5
    assert found["noise"] < 0.55
    assert found["category of noise"] < 0.55
    assert list(found.values()) == sorted(found.values(), reverse=True)


def explained(frame: pd.DataFrame) -> dict[str, float]:
    return {entry["column"]: entry["r2"] for entry in checks.audit_number(frame, "label")}


def test_what_a_column_explains_of_a_number_is_the_r2_of_a_regression_on_its_values() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 500)
    y = np.array([1.0, -2.0, 0.5, 3.0])[codes] + rng.normal(size=500)
    category = pd.Series(codes).map(dict(enumerate("abcd"))).astype(pd.CategoricalDtype([*"dcba"]))
    frame = pd.DataFrame({"number": codes, "category": category, "label": y})
    dummies = np.eye(4)[codes]
    r2 = LinearRegression(fit_intercept=False).fit(dummies, y).score(dummies, y)
    adjusted = 1 - (1 - r2) * 499 / 496
    assert explained(frame) == pytest.approx({"number": adjusted, "category": adjusted}, abs=6e-5)


def test_a_number_is_given_away_by_itself_in_any_form_and_not_by_chance() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=2_000)
    columns = {
        "equal": y, "opposite": -3 * y, "bent": np.exp(y), "close": y + rng.normal(0, 0.1, 2_000),
        "noise": rng.normal(size=2_000), "constant": np.ones(2_000),
        # of every row another value: it explains all and says nothing
        "name": pd.Categorical([f"row {i}" for i in range(2_000)]),
    }  # fmt: skip
    found = explained(pd.DataFrame(columns | {"label": y}))
    assert all(found[c] >= checks.LEAK_R2 for c in ("equal", "opposite", "bent", "close"))
    assert found["constant"] == found["name"] == 0
    assert abs(found["noise"]) < 0.02
    assert list(found.values()) == sorted(found.values(), reverse=True)


rows_of_three = st.lists(
    st.tuples(st.integers(-2, 3), st.sampled_from("abcde"), st.booleans()), min_size=2, max_size=25
).filter(lambda rows: len({label for *_, label in rows}) == 2)


@settings(deadline=None, max_examples=60)
@given(rows_of_three)
def test_the_audit_agrees_with_a_search_over_all_rules(rows: list[tuple[int, str, bool]]) -> None:
    frame = pd.DataFrame(rows, columns=["number", "category", "label"])
    frame["category"] = frame["category"].astype(pd.CategoricalDtype(list("edcbaz")))
    positive = frame["label"].to_numpy()

    def accuracy(predicted: pd.Series) -> float:
        chosen = predicted.to_numpy(bool)
        return (chosen[positive].mean() + (~chosen)[~positive].mean()) / 2

    limits = [-3, *sorted(frame["number"].unique())]
    number = [accuracy(frame["number"] > limit) for limit in limits]
    number += [accuracy(frame["number"] <= limit) for limit in limits]
    subsets = (s for size in range(6) for s in itertools.combinations("abcde", size))
    category = [accuracy(frame["category"].isin(subset)) for subset in subsets]
    expected = {"number": max(number), "category": max(category)}
    assert balanced(frame) == pytest.approx(expected, abs=5.1e-5)  # the audit rounds to 4 digits


# The real files.


@cache
def real_report(folder: Path, name: str) -> dict[str, Any]:
    return checks.validate(folder / name, datasets.load(name), real=True)[1]


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "before", "after", "ones"),
    [
        ("compas", 7_214, 6_172, 2_809),
        ("adult", 48_842, 45_222, 11_208),
        ("dutch", 60_420, 60_420, 28_763),
    ],
)
def test_real_rows_and_positives_are_those_of_the_paper(
    name: str, before: int, after: int, ones: int, real: Path
) -> None:
    report = real_report(real, name)
    assert (report["rows_read"], report["rows"]) == (before, after)
    assert report["label"]["ones"] == ones
    assert report["rows_read"] - sum(e["removed"] for e in report["filters"]) == after


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "leaks"), [("compas", ["is_recid"]), ("adult", []), ("dutch", [])]
)
def test_is_recid_is_the_only_real_column_that_gives_its_label_away(
    name: str, leaks: list[str], real: Path
) -> None:
    report = real_report(real, name)
    assert report["leaks"] == leaks
    assert [entry["column"] for entry in report["audit"][: len(leaks)]] == leaks

"""Which conclusions survive in the honest table."""

import pytest

from study.page import render, survival
from study.page.render import environment
from study.page.words import listed
from study.tables.layout import number
from tests import compared
from tests.study.page.inputs import COMPARED, SETTINGS, text_of


def honest_rows(**methods: list[tuple[float, float]]) -> survival.Rows:
    """method -> for each place, the differences from vanilla in imparity (± 0.01) and micro F1."""
    return {
        method: {
            ("adult", f"s{i}"): {
                "constant": 0.0, "more_imparity": gap, "p_holm": 0.01 if abs(gap) > 0.01 else 0.3,
                "p_imparity": 0.01, "more_imparity_low": gap - 0.01, "dominated_by": "",
                "more_micro_f1": f1, "more_micro_f1_low": f1 - 0.01,
                "more_micro_f1_high": f1 + 0.01, "imparity": 0.1 + gap, "micro_f1": 0.8 + f1,
            }
            for i, (gap, f1) in enumerate(figures)
        }
        for method, figures in methods.items()
    }  # fmt: skip


def test_what_the_splits_do_not_tell_is_on_no_side() -> None:
    nan = float("nan")
    rows = honest_rows(gdp=[(-0.02, 0.005), (-0.005, -0.02), (0.03, 0.02), (nan, nan)])["gdp"]
    assert survival.sides(rows, "imparity") == {
        "lower": [("adult", "s0")],
        "higher": [("adult", "s2")],
    }
    assert survival.sides(rows, "micro_f1") == {
        "lower": [("adult", "s1")],
        "higher": [("adult", "s2")],
    }


def test_who_predicts_one_class_for_everybody_has_not_mitigated() -> None:
    rows = honest_rows(gdp=[(-0.05, -0.2), (0.05, 0.0)])["gdp"]
    for row in rows.values():
        row["constant"] = 0.2
    assert survival.sides(rows, "imparity") == {"lower": [], "higher": [("adult", "s1")]}
    assert survival.sides(rows, "micro_f1")["lower"] == [("adult", "s0")]


def test_where_the_splits_leave_open_a_large_reduction_it_cannot_be_told() -> None:
    """Vanilla's imparity is 0.1 in all of them."""
    rows = honest_rows(gdp=[(-0.005, 0.0), (-0.005, 0.0), (-0.06, 0.0), (-0.06, 0.0)])["gdp"]
    wide, narrow, clear, corrected = rows.values()
    wide["more_imparity_low"] = -0.05  # half of vanilla's
    narrow["more_imparity_low"] = -0.049
    corrected["p_holm"] = 0.3  # clear only before the correction
    found = survival.judged_form(rows, 0.02)
    assert found["untold"]["imparity"] == [("adult", "s0"), ("adult", "s3")]
    assert found["imparity"]["lower"] == [("adult", "s2")] and clear["p_holm"] < 0.05
    assert found["before"]["lower"] == list(rows)
    # of micro F1: within the interval is the limit
    loss = honest_rows(gdp=[(0, -0.005), (0, -0.015), (0, -0.035)])["gdp"]
    found = survival.judged_form(loss, 0.02)
    assert found["small"] == [("adult", "s0")]
    assert found["untold"]["micro_f1"] == [("adult", "s1")]


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((9, 9), "survives"),
        ((0, 9), "does not survive"),
        ((0, 9, 9), "cannot be told"),
        ((3, 9), "survives in 3 of 9 settings"),
        ((3, 9, 2), "survives in 3 of 9 settings, cannot be told in 2"),
        ((0, 9, 2), "survives in no setting, cannot be told in 2 of 9"),
    ],
)
def test_a_verdict_is_one_of_three(counts: tuple[int, ...], said: str) -> None:
    sentences = environment([render.HERE]).get_template("sentences.jinja")
    verdict = sentences.make_module().verdict(*counts)  # type: ignore[attr-defined]
    assert str(verdict).strip() == said


def test_who_matches_a_method_lowers_imparity_as_often_and_may_pay_less() -> None:
    rows = honest_rows(
        vanilla=[(0, 0), (0, 0)],
        infofair=[(-0.05, -0.02), (0, -0.04)],
        gdp=[(0, 0), (-0.05, -0.06)],  # as often, and pays 0.03 on average, too
        di=[(-0.05, -0.05), (-0.05, -0.05)],
        lfr=[(-0.05, -0.01)],  # in one setting only, where InfoFair pays 0.02
        fcfc=[(0, 0), (0, 0)],
    )
    found = survival.matching(rows, "infofair")
    assert {m: (of["lowered"], of["settings"], of["no_dearer"]) for m, of in found.items()} == {
        "gdp": (1, 2, True), "di": (2, 2, False), "lfr": (1, 1, True)
    }  # fmt: skip
    # where InfoFair lowers nothing, to lower nothing does not match it
    rows |= honest_rows(infofair=[(0, 0), (0, 0)])
    assert set(survival.matching(rows, "infofair")) == {"gdp", "di", "lfr"}


def test_the_share_of_constant_models_is_of_models() -> None:
    rows = [
        {"splits": 5, "seeds": 5, "constant": 0.2},
        {"splits": 5, "seeds": 1, "constant": 1.0},
    ]
    assert survival.constant_share(rows) == pytest.approx(10 / 30)


def test_bases_and_versions_of_a_method_do_not_match_it_but_thresholds_do() -> None:
    lower = [(-0.05, 0.0)]
    rows = honest_rows(
        infofair=lower, infofair_paper=lower, infofair_unaware=lower, logistic=lower,
        vanilla_paper=lower, boosting_blind=lower, boosting_thresholds=lower, mine=lower,
    )  # fmt: skip
    assert set(survival.matching(rows, "infofair")) == {"boosting_thresholds", "mine"}


def test_what_survives_is_counted_on_the_papers_datasets_from_the_honest_summary(
    beyond: str,
) -> None:
    table = compared.table("honest_summary", COMPARED)
    text = text_of(beyond)
    for form, name in (("infofair", "With the backbone"), ("infofair_paper", "With the paper’s")):
        own = table[(table["method"] == form) & table["dataset"].isin(SETTINGS)]
        clear = own["p_holm"] < 0.05
        lower, higher = (
            (clear & side).sum() for side in (own["more_imparity"] < 0, own["more_imparity"] > 0)
        )
        said = text.split(f"{name}", 1)[1].split("Thresholds dominate", 1)
        assert f"in {lower} of 5 settings" in said[0]
        assert f"and above it in {higher}" in said[0]
        before = (own["p_imparity"] < 0.05) & (own["more_imparity"] < 0)
        assert f"without the correction (p below 0.05) below in {before.sum()}" in said[0]
        assert said[1].startswith(f" it in {(own['dominated_by'] != '').sum()}.")
        changes = [number(end(own["more_micro_f1"]), sign="+") for end in (min, max)]
        assert f"on the same test rows is {changes[0]} to {changes[1]}" in text
    # those that are constant in the paper's table
    assert "does so is 0.0% of LFR’s, 0.0% of FCFC’s" in text


def test_names_with_commas_are_listed_apart() -> None:
    assert listed(["GDP", "DI"]) == "GDP and DI"
    assert listed(["GDP", "InfoFair, fitted"]) == "GDP; and InfoFair, fitted"
    assert listed(["InfoFair, fitted"]) == "InfoFair, fitted"

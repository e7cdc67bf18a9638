"""Which conclusions survive in the honest table."""

import pandas as pd
import pytest

from study.page import survival
from study.page.words import listed
from study.tables.layout import number
from tests import honests
from tests.study.page.inputs import SETTINGS, SWEPT_METHODS, text_of


def honest_rows(**methods: list[tuple[float, float]]) -> survival.Rows:
    """method -> for each place, the differences from vanilla in imparity (± 0.01) and micro F1."""
    return {
        method: {
            ("adult", f"s{i}"): {
                "more_imparity": gap, "more_imparity_low": gap - 0.01,
                "more_imparity_high": gap + 0.01, "more_micro_f1": f1,
                "imparity": 0.1 + gap, "micro_f1": 0.8 + f1,
            }
            for i, (gap, f1) in enumerate(figures)
        }
        for method, figures in methods.items()
    }  # fmt: skip


def test_an_interval_that_holds_0_is_on_no_side() -> None:
    rows = honest_rows(gdp=[(-0.02, 0), (-0.005, 0), (0.03, 0), (float("nan"), 0)])["gdp"]
    assert survival.sides(rows, "imparity") == {
        "lower": [("adult", "s0")],
        "higher": [("adult", "s2")],
    }


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


def test_one_method_beside_another_is_better_or_clearly_fairer() -> None:
    rows = honest_rows(
        infofair=[(0.0, -0.02), (0.0, -0.02), (0.0, -0.02)],
        fitted=[(-0.01, -0.02), (-0.05, -0.03), (0.01, 0.0), (-0.09, 0.0)],
    )
    found = survival.beside(rows, "fitted", "infofair")
    assert [(row["lower"], row["better"], row["clearly"]) for row in found] == [
        (True, True, False), (True, False, True), (False, False, False)
    ]  # fmt: skip
    assert survival.beside(rows, "fitted", "lost") == survival.beside(rows, "lost", "fitted") == []


def test_what_survives_is_counted_on_the_papers_datasets_from_the_honest_summary(
    beyond: str,
) -> None:
    parts = [honests.summary((d,), SWEPT_METHODS, tuple(of)) for d, of in SETTINGS.items()]
    own = pd.concat(parts).query("method == 'infofair'")
    lower = int((own["more_imparity_high"] < 0).sum())
    higher = int((own["more_imparity_low"] > 0).sum())
    text = text_of(beyond)
    assert f"with the whole interval of the difference, in {lower} of 5 settings" in text
    assert f"and above it in {higher}" in text
    changes = [number(end(own["more_micro_f1"]), sign="+") for end in (min, max)]
    assert f"on the same splits is {changes[0]} to {changes[1]}" in text
    # those that are constant in the paper's table
    assert "does so is 0.0% of LFR’s, 0.0% of FCFC’s" in text


def test_names_with_commas_are_listed_apart() -> None:
    assert listed(["GDP", "DI"]) == "GDP and DI"
    assert listed(["GDP", "InfoFair, fitted"]) == "GDP; and InfoFair, fitted"
    assert listed(["InfoFair, fitted"]) == "InfoFair, fitted"

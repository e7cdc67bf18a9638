"""Predicted numbers: means with intervals, and gaps beside chance."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap, ttest_ind
from scipy.stats import t as student
from sklearn.metrics import mutual_info_score

import infofair
from infofair.auditing import chance, regression
from infofair.auditing.groups import settings
from infofair.auditing.regression import Means, bits
from infofair.auditing.rows import check


def salaries(rows: int, seed: int, gap: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], rows, p=[0.6, 0.3, 0.1])
    true = rng.gamma(4, 10, rows)
    said = true + rng.normal(0, 5, rows) * (1 + (group == "c")) + gap * (group == "b")
    return pd.DataFrame({"g": group, "true": true, "said": said})


def test_intervals_are_students() -> None:
    values = np.random.default_rng(0).gamma(3, size=40)
    [[low, high]] = Means.of(values, np.zeros(40, int), 1, None).intervals()
    expected = student.interval(0.95, 39, values.mean(), values.std(ddof=1) / np.sqrt(40))
    assert (low, high) == pytest.approx(expected)
    drawn = bootstrap((values,), np.mean, rng=0).confidence_interval
    assert (low, high) == pytest.approx((drawn.low, drawn.high), rel=0.08)


def test_bits_are_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 4, 300), rng.integers(0, 3, 300)
    table = np.bincount(one * 3 + other, minlength=12).reshape(4, 3)
    assert bits(table) == pytest.approx(mutual_info_score(one, other) / np.log(2))


def test_of_two_groups_the_p_value_of_a_gap_is_welchs() -> None:
    frame = salaries(300, 3)
    frame = frame[frame["g"] != "c"].assign(said=lambda f: f["said"] + 3.0 * (f["g"] == "b"))
    rows = check(
        frame["true"], score=frame["said"], sensitive_features=frame["g"], task="regression"
    )
    [setting] = settings(rows)[0]
    figures = regression.Figures.of(rows, setting)
    tests = regression.tests(np.random.default_rng(0), rows, setting, figures, regression.QUESTIONS)
    found = {test.measure: test for test in tests}
    assert chance.questions([tests]) == regression.QUESTIONS
    one, other = (frame.loc[frame["g"] == g, "said"] for g in "ab")
    expected = ttest_ind(one, other, equal_var=False)
    assert found["largest_gap"].value == pytest.approx(abs(one.mean() - other.mean()))
    assert found["largest_gap"].p_value == pytest.approx(expected.pvalue, abs=0.03)


def test_a_gap_is_found_and_a_fair_prediction_is_not_accused() -> None:
    unfair = salaries(1500, 0, gap=8.0)
    found = infofair.audit(
        unfair["true"], score=unfair["said"], sensitive_features=unfair["g"], task="regression"
    )
    [setting] = found.to_dict()["settings"]
    assert found.evidence
    verdicts = {own["measure"]: own["verdict"] for own in setting["measures"]}
    assert verdicts["error_gap"] == verdicts["mutual_information"] == "evidence"
    assert setting["remedy"] is setting["unpooled"] is None
    [error] = [g["mean_error"] for g in setting["groups"] if g["name"] == "b"]
    assert error["low"] < 8 < error["high"]


def test_fair_predictions_are_accused_in_at_most_six_of_a_hundred(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chance, "SCORE_DRAWS", 199)
    monkeypatch.setattr(chance, "PER_QUESTION", 0)
    monkeypatch.setattr(chance, "BINS", 8)
    monkeypatch.setattr(regression, "BINS", 4)
    accused = 0
    for seed in range(60):
        frame = salaries(240, seed)
        # errors must not differ by group either
        frame["said"] = frame["true"] + np.random.default_rng([seed, 1]).normal(0, 5, 240)
        rows = check(
            frame["true"], score=frame["said"], sensitive_features=frame["g"], task="regression"
        )
        [setting] = settings(rows)[0]
        figures = regression.Figures.of(rows, setting)
        rng = np.random.default_rng(seed)
        tests = regression.tests(rng, rows, setting, figures, regression.QUESTIONS)
        accused += any(test.evidence for test in chance.family([tests])[0])
    assert accused / 60 <= 0.06

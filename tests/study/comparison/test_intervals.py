"""Intervals and tests over splits that share rows, and Holm's correction."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from study.comparison.intervals import half_width, holm, over_splits, p_value

FIGURES = st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=2, max_size=8)


def naive(values: list[float], overlap: float) -> tuple[float, float]:
    """Standard error and degrees of freedom."""
    return float(np.sqrt((1 / len(values) + overlap) * np.var(values, ddof=1))), len(values) - 1


@given(FIGURES, st.floats(0, 0.5))
def test_the_interval_is_nadeau_and_bengios(values: list[float], overlap: float) -> None:
    error, freedom = naive(values, overlap)
    wanted = stats.t.ppf(0.975, freedom) * error
    assert half_width(pd.Series(values), overlap) == pytest.approx(wanted)


@given(FIGURES)
def test_without_overlap_the_test_is_students(values: list[float]) -> None:
    if np.std(values) > 1e-6:
        wanted = stats.ttest_1samp(values, 0).pvalue
        assert p_value(pd.Series(values), 0.0) == pytest.approx(wanted, abs=1e-12)


@given(FIGURES, st.floats(0, 0.5))
def test_the_interval_excludes_0_where_the_test_does(values: list[float], overlap: float) -> None:
    series = pd.Series(values)
    p, width = p_value(series, overlap), half_width(series, overlap)
    if abs(p - 0.05) > 1e-9:
        assert (p < 0.05) == (abs(series.mean()) > width)


def test_without_spread_a_difference_is_certain_and_none_is_none() -> None:
    assert p_value(pd.Series([0.0, 0.0, 0.0]), 0.1) == 1
    assert p_value(pd.Series([0.5, 0.5, 0.5]), 0.1) == 0


def test_a_single_split_has_neither() -> None:
    for figures in ([0.3], [0.3, np.nan], [0.0]):
        assert np.isnan(half_width(pd.Series(figures), 0.1))
        assert np.isnan(p_value(pd.Series(figures), 0.1))


def test_many_at_once_are_as_one_by_one_and_a_missing_figure_is_no_split() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"of": np.repeat(["a", "b"], 5), "x": rng.random(10), "y": rng.random(10)})
    rows = rows.assign(train=np.repeat([800, 600], 5), test=100)
    rows.loc[3, "y"] = np.nan
    found = over_splits(rows, ["of"], ["x", "y"])
    for name, own in rows.groupby("of"):
        for figure in ("x", "y"):
            values, overlap = own[figure].dropna(), 100 / own["train"].iloc[0]
            assert found.count.loc[name, figure] == len(values)
            assert found.mean.loc[name, figure] == pytest.approx(values.mean())
            assert found.width.loc[name, figure] == pytest.approx(half_width(values, overlap))
            assert found.p.loc[name, figure] == pytest.approx(p_value(values, overlap))


# -- Holm ----------------------------------------------------------------------------------------


def test_holm_by_hand() -> None:
    p = pd.Series([0.04, 0.01, np.nan, 0.03, 0.5], index=list("abcde"))
    # 0.01 × 4, 0.03 × 3, 0.04 × 2 but no less than the last, 0.5 × 1
    wanted = pd.Series([0.09, 0.04, np.nan, 0.09, 0.5], index=list("abcde"))
    pd.testing.assert_series_equal(holm(p), wanted)
    assert holm(pd.Series([], dtype=float)).empty
    assert holm(pd.Series([np.nan])).isna().all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.randoms())
def test_holm_rejects_step_by_step_whatever_the_order(p: list[float], random: object) -> None:
    series = pd.Series(p)
    found = holm(series)
    assert (found >= series).all() and (found <= 1).all()
    rejected, left = set(), len(p)
    for i in sorted(range(len(p)), key=p.__getitem__):  # Holm's own words: stop at the first
        if p[i] * left > 0.05:
            break
        rejected.add(i)
        left -= 1
    assert set(found.index[found <= 0.05]) == rejected
    mixed = list(range(len(p)))
    random.shuffle(mixed)  # type: ignore[attr-defined]
    pd.testing.assert_series_equal(holm(series[mixed]).sort_index(), found)

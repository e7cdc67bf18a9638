import numpy as np
import pytest
from fairlearn.metrics import MetricFrame, demographic_parity_difference, selection_rate
from hypothesis import given
from hypothesis import strategies as st

from stages.metrics import imparity, imparity_released, selection_rates

GROUPS = 5


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Predictions and groups of 2 to 60 rows; some groups may have no member."""
    rows = draw(st.integers(2, 60))
    bits = st.lists(st.integers(0, 1), min_size=rows, max_size=rows)
    numbers = st.lists(st.integers(0, GROUPS - 1), min_size=rows, max_size=rows)
    return np.array(draw(bits)), np.array(draw(numbers))


def naive(predicted: np.ndarray, group: np.ndarray, *, released: bool) -> float:
    """The definition, loop by loop: classes, pairs of groups, share of the class in each."""
    gaps = []
    for c in (0, 1):
        for first in range(GROUPS):
            for second in range(first, GROUPS):
                if first == second and not released:
                    continue
                rates = []
                for g in (first, second):
                    members = [p for p, h in zip(predicted, group, strict=True) if h == g]
                    if not members and not released:
                        break
                    hits = sum(p == c for p in members)
                    rates.append(hits / len(members) if members else 0.0)
                else:
                    gaps.append(abs(rates[0] - rates[1]))
    return sum(gaps) / len(gaps) if gaps else 0.0


@given(cases())
def test_both_imparities_are_their_definitions(case: tuple[np.ndarray, np.ndarray]) -> None:
    assert imparity(*case, GROUPS) == pytest.approx(naive(*case, released=False))
    assert imparity_released(*case, GROUPS) == pytest.approx(naive(*case, released=True))


@given(cases())
def test_selection_rates_agree_with_fairlearn(case: tuple[np.ndarray, np.ndarray]) -> None:
    predicted, group = case
    frame = MetricFrame(
        metrics=selection_rate, y_true=predicted, y_pred=predicted, sensitive_features=group
    )
    rates = selection_rates(predicted, group, GROUPS)
    for g in range(GROUPS):
        if g in frame.by_group.index:
            assert rates[g] == pytest.approx(frame.by_group[g])
        else:
            assert np.isnan(rates[g])


@given(cases())
def test_with_two_groups_imparity_is_the_demographic_parity_difference(
    case: tuple[np.ndarray, np.ndarray],
) -> None:
    predicted, group = case[0], case[1] % 2
    if len(set(group)) == 2:
        gap = demographic_parity_difference(predicted, predicted, sensitive_features=group)
        assert imparity(predicted, group, 2) == pytest.approx(gap)
        assert imparity_released(predicted, group, 2) == pytest.approx(gap / 3)


@given(cases())
def test_without_empty_groups_the_released_form_is_a_fixed_share_of_the_definition(
    case: tuple[np.ndarray, np.ndarray],
) -> None:
    predicted, group = case
    present = np.unique(group)
    renumbered, k = np.searchsorted(present, group), len(present)
    expected = (k - 1) / (k + 1) * imparity(predicted, renumbered, k)
    assert imparity_released(predicted, renumbered, k) == pytest.approx(expected)


@pytest.mark.parametrize(("groups", "empty", "released"), [(6, 1, 0.119), (12, 3, 0.173)])
def test_a_constant_prediction_is_fair_by_the_definition_but_not_as_released(
    groups: int, empty: int, released: float
) -> None:
    # COMPAS, race and gender & race: every pair with a group without test rows counts 1/2
    group = np.repeat(np.arange(groups - empty), 7)
    constant = np.ones(len(group), int)
    assert imparity(constant, group, groups) == 0
    assert imparity_released(constant, group, groups) == pytest.approx(released, abs=5e-4)


def test_one_group_alone_has_no_imparity() -> None:
    assert imparity(np.array([0, 1]), np.array([2, 2]), GROUPS) == 0

import itertools

import numpy as np
import pytest
from fairlearn.metrics import (
    MetricFrame,
    count,
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equalized_odds_difference,
    selection_rate,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, mutual_info_score

from infofair.metrics import (
    by_group,
    differential_fairness,
    highest_rate,
    imparity,
    imparity_released,
    largest_gap,
    lowest_rate,
    mutual_information,
    odds_gap,
    opportunity_gap,
    parity_ratio,
    released,
    selection_rates,
    worst_accuracy,
)

GROUPS = 5
few = settings(max_examples=25)  # fairlearn takes its time


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Predictions and groups of 2 to 60 rows; some groups may have no member."""
    rows = draw(st.integers(2, 60))
    bits = st.lists(st.integers(0, 1), min_size=rows, max_size=rows)
    numbers = st.lists(st.integers(0, GROUPS - 1), min_size=rows, max_size=rows)
    return np.array(draw(bits)), np.array(draw(numbers))


@st.composite
def labelled(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictions, labels and groups."""
    predicted, group = draw(cases())
    bits = st.lists(st.integers(0, 1), min_size=len(group), max_size=len(group))
    return predicted, np.array(draw(bits)), group


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


@few
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


@few
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


# -- the other metrics --------------------------------------------------------------------------


@few
@given(cases())
def test_gap_and_ratio_agree_with_fairlearn(case: tuple[np.ndarray, np.ndarray]) -> None:
    predicted, group = case
    gap = demographic_parity_difference(predicted, predicted, sensitive_features=group)
    assert largest_gap(predicted, group, GROUPS) == pytest.approx(gap)
    if predicted.any():
        ratio = demographic_parity_ratio(predicted, predicted, sensitive_features=group)
        assert parity_ratio(predicted, group, GROUPS) == pytest.approx(ratio)


def test_the_ratio_is_one_where_nobody_is_selected() -> None:
    assert parity_ratio(np.zeros(4, int), np.array([0, 0, 1, 1]), GROUPS) == 1


def naive_gap(predicted: np.ndarray, y: np.ndarray, group: np.ndarray, label: int) -> float:
    rates = []
    for g in range(GROUPS):
        members = [p for p, c, h in zip(predicted, y, group, strict=True) if (c, h) == (label, g)]
        if members:
            rates.append(sum(members) / len(members))
    return max(rates) - min(rates) if rates else 0.0


@given(labelled())
def test_opportunity_and_odds_leave_out_groups_without_such_rows(
    case: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    true_positive, false_positive = naive_gap(*case, 1), naive_gap(*case, 0)
    assert opportunity_gap(*case, GROUPS) == pytest.approx(true_positive)
    assert odds_gap(*case, GROUPS) == pytest.approx(max(true_positive, false_positive))


@few
@given(labelled())
def test_opportunity_and_odds_agree_with_fairlearn_where_all_groups_have_both_classes(
    case: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    _, y, group = case
    kept = np.isin(group, [g for g in range(GROUPS) if len(set(y[group == g])) == 2])
    predicted, y, group = (column[kept] for column in case)
    if kept.any():
        gap = equal_opportunity_difference(y, predicted, sensitive_features=group)
        assert opportunity_gap(predicted, y, group, GROUPS) == pytest.approx(gap)
        gap = equalized_odds_difference(y, predicted, sensitive_features=group)
        assert odds_gap(predicted, y, group, GROUPS) == pytest.approx(gap)


@given(cases())
def test_the_released_imparity_follows_from_the_texts(case: tuple[np.ndarray, np.ndarray]) -> None:
    present = len(set(case[1]))
    found = released(imparity(*case, GROUPS), present, GROUPS)
    assert found == pytest.approx(imparity_released(*case, GROUPS))


@given(cases())
def test_differential_fairness_is_the_largest_log_ratio_of_smoothed_shares(
    case: tuple[np.ndarray, np.ndarray],
) -> None:
    predicted, group = case
    ratios = [0.0]
    for c in (0, 1):
        for first, second in itertools.combinations(sorted(set(group)), 2):
            shares = []
            for g in (first, second):
                of_group = [p for p, h in zip(predicted, group, strict=True) if h == g]
                shares.append((of_group.count(c) + 1) / (len(of_group) + 2))
            ratios.append(abs(np.log(shares[0] / shares[1])))
    assert differential_fairness(*case, GROUPS) == pytest.approx(max(ratios), abs=1e-12)


def test_differential_fairness_of_two_groups_by_hand() -> None:
    predicted, group = np.array([1, 1, 1, 0, 0, 0]), np.array([0, 0, 0, 0, 3, 3])
    # selected: (3 + 1) / (4 + 2) and (0 + 1) / (2 + 2); refused: 2 / 6 and 3 / 4
    assert differential_fairness(predicted, group, GROUPS) == pytest.approx(np.log(8 / 3))


@few
@given(labelled())
def test_the_worst_groups_accuracy_and_the_extreme_rates_agree_with_fairlearn(
    case: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    predicted, y, group = case
    of = {"rate": selection_rate, "accuracy": accuracy_score}
    frame = MetricFrame(metrics=of, y_true=y, y_pred=predicted, sensitive_features=group)
    lowest, highest = frame.group_min(), frame.group_max()
    assert worst_accuracy(*case, GROUPS) == pytest.approx(lowest["accuracy"])
    assert lowest_rate(predicted, group, GROUPS) == pytest.approx(lowest["rate"])
    assert highest_rate(predicted, group, GROUPS) == pytest.approx(highest["rate"])


@given(cases())
def test_mutual_information_agrees_with_scikit_learn(case: tuple[np.ndarray, np.ndarray]) -> None:
    bits = mutual_info_score(*case) / np.log(2)
    assert mutual_information(*case, GROUPS) == pytest.approx(bits, abs=1e-12)


def test_mutual_information_is_one_bit_where_the_group_decides_and_zero_where_it_says_nothing() -> (
    None
):
    group = np.array([0, 0, 1, 1])
    assert mutual_information(group, group, GROUPS) == pytest.approx(1)
    assert mutual_information(np.array([0, 1, 0, 1]), group, GROUPS) == pytest.approx(0)


@few
@given(labelled())
def test_every_group_is_listed_and_agrees_with_fairlearn(
    case: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    predicted, y, group = case
    of = {"size": count, "selection_rate": selection_rate, "accuracy": accuracy_score}
    frame = MetricFrame(metrics=of, y_true=y, y_pred=predicted, sensitive_features=group).by_group
    rows = by_group(*case, GROUPS)
    assert len(rows) == GROUPS
    for g, row in enumerate(rows):
        if g in frame.index:
            assert row == pytest.approx(frame.loc[g].to_dict())
        else:
            assert row["size"] == 0
            assert np.isnan([row["selection_rate"], row["accuracy"]]).all()

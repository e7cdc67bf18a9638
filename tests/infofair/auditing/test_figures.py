"""Figures and measures against fairlearn, scikit-learn, scipy and our own metrics of rows."""

import numpy as np
import pytest
from fairlearn import metrics as theirs
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, ks_2samp, wasserstein_distance
from sklearn.metrics import accuracy_score

from infofair import metrics, scores
from infofair.auditing import measures
from infofair.auditing.figures import Figures, Shares
from infofair.auditing.measures import SELECTION, of_shares, score_gaps
from infofair.auditing.rows import Rows
from tests.infofair.auditing.people import people

COUNTS = st.lists(st.integers(1, 60), min_size=2, max_size=12)


def some(groups: int = 5, rows: int = 1500) -> tuple[Rows, np.ndarray]:
    frame = people(rows, groups, gap=0.1)
    group = frame["g"].str[1:].to_numpy(int)
    decision = (frame["p"] > 0.5).to_numpy(np.int8)
    return Rows(
        "classification", frame["y"].to_numpy(np.int8), decision, frame["p"].to_numpy(), {}
    ), group


@pytest.mark.parametrize("weighted", [False, True])
def test_rates_are_fairlearns_of_every_group(weighted: bool) -> None:
    rows, group = some()
    weights = np.random.default_rng(1).random(len(rows)) + 0.5 if weighted else None
    found = Figures.among(
        Rows("classification", rows.y, rows.decision, rows.score, {}, weights), group, 5
    )
    functions = {
        "selection_rate": theirs.selection_rate, "tpr": theirs.true_positive_rate,
        "fpr": theirs.false_positive_rate, "accuracy": accuracy_score,
    }  # fmt: skip
    frame = theirs.MetricFrame(
        metrics=functions, y_true=rows.y, y_pred=rows.decision, sensitive_features=group,
        sample_params={name: {"sample_weight": weights} for name in functions},
    )  # fmt: skip
    for name in functions:
        shares: Shares = getattr(found, name)
        np.testing.assert_allclose(shares.rates, frame.by_group[name].astype(float))
        assert shares.overall == pytest.approx(frame.overall[name])


def test_disparities_are_fairlearns() -> None:
    rows, group = some()
    found = Figures.among(rows, group, 5)
    given_ = {"y_true": rows.y, "y_pred": rows.decision, "sensitive_features": group}
    selected, tpr, fpr = (
        of_shares(measures.largest_gap, own) for own in (found.selection_rate, found.tpr, found.fpr)
    )
    assert selected == pytest.approx(theirs.demographic_parity_difference(**given_))
    assert tpr == pytest.approx(theirs.equal_opportunity_difference(**given_))
    assert max(tpr, fpr) == pytest.approx(theirs.equalized_odds_difference(**given_))
    ratio = of_shares(measures.parity_ratio, found.selection_rate)
    assert ratio == pytest.approx(theirs.demographic_parity_ratio(**given_))


@given(COUNTS, st.integers(0, 2**32 - 1))
def test_measures_of_rates_are_those_of_rows(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    decision = (rng.random(len(group)) < rng.random()).astype(np.int8)
    shares = Shares.of(decision, group, len(sizes), None)
    for name, measure in SELECTION.items():
        expected = getattr(metrics, name)(decision, group, len(sizes))
        assert of_shares(measure, shares) == pytest.approx(expected, abs=1e-12), name
        many = measure(np.stack([shares.rates] * 3), shares.trials, shares.parts)
        assert many == pytest.approx([expected] * 3, abs=1e-12)


@given(st.integers(1, 200), st.data())
def test_intervals_are_wilsons(trials: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, trials))
    success = np.arange(trials) < hits
    [[low, high]] = Shares.of(success, np.zeros(trials, int), 1, None).intervals()
    expected = binomtest(hits, trials).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_equal_weights_change_nothing_and_unequal_ones_cost_rows() -> None:
    rows, group = some()
    plain = Shares.of(rows.y, group, 5, None)
    same = Shares.of(rows.y, group, 5, np.full(len(rows), 3.0))
    np.testing.assert_allclose(same.rates, plain.rates)
    np.testing.assert_allclose(same.trials, plain.trials)
    uneven = Shares.of(rows.y, group, 5, np.random.default_rng(0).exponential(size=len(rows)))
    assert (uneven.trials < 0.7 * plain.trials).all()


def test_calibration_is_the_rate_less_the_mean_score() -> None:
    rows, group = some()
    found = Figures.among(rows, group, 5).calibration()
    assert found is not None and rows.score is not None
    value, between = found
    for g in range(5):
        own = group == g
        assert value[g] == pytest.approx(rows.y[own].mean() - rows.score[own].mean())
        assert between[g, 0] < value[g] < between[g, 1]
    without = Rows("classification", rows.y, rows.decision, None, {})
    assert Figures.among(without, group, 5).calibration() is None


# -- scores ---------------------------------------------------------------------------------------


def test_ks_and_abcc_of_two_groups_are_scipys() -> None:
    rows, group = some(2)
    assert rows.score is not None
    one, other = rows.score[group == 0], rows.score[group == 1]
    ks, abcc = score_gaps(rows.score, group, 2)
    assert ks == pytest.approx(ks_2samp(one, other).statistic)
    assert abcc == pytest.approx(wasserstein_distance(one, other))


@given(COUNTS, st.integers(0, 2**32 - 1), st.sampled_from([7, 1 << 21]))
def test_ks_and_abcc_are_those_of_our_scores_in_chunks_of_any_size(
    sizes: list[int], seed: int, chunk: int
) -> None:
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    score = rng.integers(0, 30, len(group)) / 30
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measures, "CHUNK", chunk)
        ks, abcc = score_gaps(score, group, len(sizes))
    assert ks == pytest.approx(scores.ks(score, group, len(sizes)))
    assert abcc == pytest.approx(scores.abcc(score, group, len(sizes)))


def test_weighted_ks_and_abcc_are_those_of_repeated_rows() -> None:
    rows, group = some(3, 300)
    assert rows.score is not None
    times = np.random.default_rng(2).integers(1, 5, len(rows))
    weighted = score_gaps(rows.score, group, 3, times.astype(float))
    again = score_gaps(np.repeat(rows.score, times), np.repeat(group, times), 3)
    assert weighted == pytest.approx(again)

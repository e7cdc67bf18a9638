"""Gaps and rows are announced at which four of five audits find something: do they?"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from infofair.auditing import chance, power
from infofair.auditing.figures import Figures, Shares
from infofair.auditing.measures import SELECTION, imparity
from infofair.auditing.power import POWER, Means, Sample
from infofair.auditing.rows import Rows
from tests.infofair.auditing.test_chance import with_draws

QUESTIONS = 2


def shares_of(sizes: list[int], rate: float) -> Shares:
    trials = np.array(sizes, float)
    return Shares(np.full(len(sizes), rate), trials, trials, False)


def found_by_audits(sizes: np.ndarray, group: int, rate: float, gap: float, audits: int) -> float:
    """The share of real audits with evidence by a measure of selection rates."""
    members = np.repeat(np.arange(len(sizes)), sizes)
    chances = np.where(members == group, rate + gap, rate)
    found = 0
    for seed in range(audits):
        rng = np.random.default_rng([seed, 77])
        decision = (rng.random(len(members)) < chances).astype(np.int8)
        y = rng.integers(0, 2, len(members)).astype(np.int8)
        rows = Rows("classification", y, decision, None, {})
        [tests] = chance.family(
            [chance.decision_tests(rng, Figures.among(rows, members, len(sizes)))]
        )
        found += any(test.evidence for test in tests if test.measure in SELECTION)
    return found / audits


def announced(sizes: list[int], rate: float, group: int) -> Sample:
    shares = shares_of(sizes, rate)
    return Sample(rate, shares.trials, group, 0.05 / QUESTIONS, SELECTION, seed=0)


@pytest.mark.parametrize(
    ("sizes", "rate", "group"), [([300, 500], 0.3, 0), ([400, 80, 150], 0.2, 1)]
)
def test_the_smallest_gap_is_found_as_often_as_announced(
    sizes: list[int], rate: float, group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_draws(monkeypatch, 1999, 1)
    gap = announced(sizes, rate, group).smallest_gap()
    assert gap is not None
    share = found_by_audits(np.array(sizes), group, rate, gap, 200)
    assert share == pytest.approx(POWER, abs=0.08)  # three standard deviations of 200 audits


@pytest.mark.thorough
@pytest.mark.parametrize(
    "sizes", [[300, 500], [400, 80, 150], [500, 200, 90, 60, 40], [60] * 10, [400, *[40] * 20]]
)
@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_power_is_within_five_points(
    sizes: list[int], rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_draws(monkeypatch, 1999, 1)
    for group in (0, len(sizes) - 1):
        sample = announced(sizes, rate, group)
        gap = sample.smallest_gap()
        assert gap is not None
        share = found_by_audits(np.array(sizes), group, rate, gap, 1500)
        assert share == pytest.approx(POWER, abs=0.05)
        times = sample.times_for(0.1)
        assert times is not None
        more = np.rint(np.array(sizes) * times).astype(int)
        share = found_by_audits(more, group, rate, 0.1, 1500)
        assert share == pytest.approx(POWER, abs=0.05)


def test_of_two_large_groups_the_gap_is_the_textbooks() -> None:
    gap = announced([20_000, 20_000], 0.3, 0).smallest_gap()
    critical = norm.ppf(1 - 0.05 / QUESTIONS / 2) + norm.ppf(POWER)
    assert gap == pytest.approx(critical * np.sqrt(0.3 * 0.7 * 2 / 20_000), rel=0.05)


def test_more_rows_show_smaller_gaps() -> None:
    gaps = [announced([n, 2 * n], 0.4, 0).smallest_gap() for n in (100, 400, 1600)]
    assert gaps == sorted(gaps, reverse=True)  # type: ignore[type-var]
    for few, many in pairwise(gaps):
        assert few is not None and many is not None
        assert few / many == pytest.approx(2, rel=0.15)


def test_the_rows_for_a_gap_and_the_gap_for_these_rows_agree() -> None:
    sample = announced([100, 300], 0.4, 0)
    times = sample.times_for(0.05)
    assert times is not None
    again = announced([round(100 * times), round(300 * times)], 0.4, 0).smallest_gap()
    assert again == pytest.approx(0.05, rel=0.05)


def test_what_cannot_be_shown_is_not_announced() -> None:
    tiny = Sample(0.5, np.array([2.0, 2.0]), 0, 0.001, SELECTION, 0)
    assert tiny.smallest_gap() is None
    assert announced([100, 100], 0.97, 0).times_for(0.98) is None


def test_both_the_best_and_the_smallest_group_are_told() -> None:
    found = power.of_shares(
        "selection_rate", shares_of([500, 100, 30], 0.4), ["a", "b", "c"], 1000, 9, 0
    )
    assert [own["group"] for own in found] == ["a", "c"]
    assert found[0]["smallest_gap"] < found[1]["smallest_gap"]
    assert found[0]["rows_for_gap"] < found[1]["rows_for_gap"]


def test_means_are_found_as_announced() -> None:
    trials = np.array([60.0, 90.0])
    measures = {"imparity": imparity}
    gap = Means(0.0, trials, 0, 0.005, measures, 0).smallest_gap()
    critical = norm.ppf(1 - 0.005 / 2) + norm.ppf(POWER)
    assert gap == pytest.approx(critical * np.sqrt(1 / 60 + 1 / 90), rel=0.08)

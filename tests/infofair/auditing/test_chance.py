"""What chance gives: against scipy's exact tests, and how often fair models are accused."""

import numpy as np
import pytest
from scipy.stats import fisher_exact, ks_2samp, multivariate_hypergeom, permutation_test

from infofair.auditing import chance
from infofair.auditing.chance import Binned, Seen, Test
from infofair.auditing.figures import Figures, Shares
from infofair.auditing.groups import settings
from infofair.auditing.measures import SELECTION, largest_gap
from infofair.auditing.rows import check
from infofair.uncertainty import holm
from tests.infofair.auditing.people import people


def two_groups() -> tuple[np.ndarray, np.ndarray]:
    group = np.repeat([0, 1], [60, 40])
    decision = np.concatenate([np.arange(60) < 33, np.arange(40) < 13]).astype(np.int8)
    return decision, group


def test_of_two_groups_the_p_value_of_the_gap_is_scipys() -> None:
    decision, group = two_groups()
    shares = Shares.of(decision, group, 2, None)
    null = largest_gap(
        chance.fair_rates(np.random.default_rng(0), shares), shares.trials, shares.parts
    )
    [found] = chance.judged("", [Seen("largest_gap", float(np.ptp(shares.rates)), null)])

    def gap(one: np.ndarray, other: np.ndarray, axis: int) -> np.ndarray:
        return np.abs(one.mean(axis=axis) - other.mean(axis=axis))

    expected = permutation_test(
        (decision[group == 0], decision[group == 1]), gap, vectorized=True, n_resamples=9999,
        alternative="greater", rng=1,
    )  # fmt: skip
    assert found.p_value == pytest.approx(expected.pvalue, abs=0.008)
    # Fisher's test orders tables by how likely they are, which is nearly by their gap
    table = [[33, 27], [13, 27]]
    assert found.p_value == pytest.approx(fisher_exact(table).pvalue, abs=0.02)


def test_permutations_are_hypergeometric() -> None:
    sizes, selected = np.array([5, 3, 4]), 6
    group = np.repeat(np.arange(3), sizes)
    decision = (np.arange(12) < selected).astype(np.int8)
    shares = Shares.of(decision, group, 3, None)
    drawn = np.rint(chance.fair_rates(np.random.default_rng(0), shares, 40_000) * sizes).astype(int)
    for table, times in zip(*np.unique(drawn, axis=0, return_counts=True), strict=True):
        expected = multivariate_hypergeom.pmf(table, sizes, selected)
        assert times / len(drawn) == pytest.approx(expected, abs=0.01)


def test_ks_of_two_groups_has_scipys_p_value() -> None:
    rng = np.random.default_rng(5)
    score, group = rng.random(160), np.repeat([0, 1], [90, 70])
    score[group == 1] += 0.12
    tests = chance.score_tests(np.random.default_rng(0), score, group, 2, None, 9)
    [ks] = [test for test in tests if test.measure == "ks"]
    expected = ks_2samp(score[group == 0], score[group == 1], method="exact")
    assert ks.value == pytest.approx(expected.statistic)
    assert ks.p_value == pytest.approx(expected.pvalue, abs=0.03)


@pytest.mark.parametrize("weighted", [False, True])
def test_dealt_bins_keep_their_sums(weighted: bool) -> None:
    frame = people(400, 4)
    group = frame["g"].str[1:].to_numpy(int)
    weights = np.random.default_rng(1).random(400) + 0.5 if weighted else None
    binned = Binned.of(frame["p"].to_numpy(), group, 4, weights, 16)
    dealt = np.stack(list(binned.dealt(np.random.default_rng(0), 2000)), axis=1)
    assert dealt.shape == (2000, *binned.table.shape)
    np.testing.assert_array_equal(dealt.sum(axis=1), np.tile(np.rint(binned.trials), (2000, 1)))
    if not weighted:
        np.testing.assert_array_equal(
            dealt.sum(axis=2), np.tile(binned.table.sum(axis=1), (2000, 1))
        )
    expected = np.outer(binned.table.sum(axis=1), np.rint(binned.trials)) / binned.table.sum()
    np.testing.assert_allclose(dealt.mean(axis=0), expected, atol=0.25)


def test_the_lowest_ratio_is_the_worst() -> None:
    null = np.linspace(0.5, 1, 99)

    def p(measure: str, value: float) -> float:
        [test] = chance.judged("", [Seen(measure, value, null)])
        assert test.p_joint == test.p_value
        return test.p_value

    assert p("parity_ratio", 0.4) == 0.01
    assert p("parity_ratio", 1.0) == 1
    assert p("largest_gap", 1.1) == 0.01
    [test] = chance.judged("", [Seen("parity_ratio", 0.4, null)])
    assert test.null_95 == pytest.approx(0.525)


def test_measures_that_say_the_same_are_corrected_for_nothing_and_others_for_each_other() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 9999))
    same = chance.judged("", [Seen("ks", 2.5, one), Seen("abcc", 25.0, 10 * one)])
    assert [test.p_joint for test in same] == [test.p_value for test in same]
    apart = chance.judged("", [Seen("ks", 2.5, one), Seen("abcc", 0.1, other)])
    assert apart[0].p_joint == pytest.approx(1 - (1 - apart[0].p_value) ** 2, rel=0.1)  # Šidák
    assert apart[1].p_joint >= apart[1].p_value


def test_holm_is_over_the_questions_of_all_settings() -> None:
    def test(question: str, p: float) -> Test:
        return Test("ks", question, 0, 0, 0, p)

    each = [[test("a", 0.02), test("a", 0.01), test("b", 0.2)], [test("a", 0.015)]]
    assert chance.questions(each) == 3
    found = chance.family(each)
    assert [[round(t.p_holm, 9) for t in of] for of in found] == [[0.06, 0.03, 0.2], [0.03]]
    assert [[t.evidence for t in of] for of in found] == [[False, True, False], [True]]


def test_with_one_measure_a_question_it_is_holms() -> None:
    p = np.random.default_rng(1).random(12) ** 3
    tests = [[Test("ks", "a", 0, 0, q, q)] for q in p]
    found = [of[0].p_holm for of in chance.family(tests)]
    np.testing.assert_allclose(found, holm(p))


def test_the_unpooled_imparity_counts_every_group() -> None:
    group = np.append(np.repeat([0, 1], [60, 40]), [7, 9])
    decision = np.array([1, 0, 0, 1, 0] * 20 + [1, 0], np.int8)
    found = chance.unpooled_imparity(np.random.default_rng(0), decision, group, None)
    assert found["groups"] == 4
    rates = np.array([0.4, 0.4, 1, 0])
    expected = np.mean([abs(a - b) for i, a in enumerate(rates) for b in rates[:i]])
    assert found["value"] == pytest.approx(expected)
    assert found["above_chance"] is False
    assert found["null_95"] > 0.5  # groups of one row


# -- how often fair models are accused ------------------------------------------------------------


def accused(
    audits: int, groups: int, *, weighted: bool = False, attributes: int = 2, scores: bool = True
) -> float:
    """The share of audits of a fair model that find evidence of anything."""
    found = 0
    for seed in range(audits):
        frame = people(60 * groups, groups, seed=1000 * groups + seed)
        rng = np.random.default_rng(seed)
        weights = rng.gamma(4, size=len(frame)) if weighted else None
        sensitive = {"g": frame["g"], "h": rng.integers(0, 2, len(frame))}
        rows = check(
            frame["y"], score=frame["p"], weights=weights,
            sensitive_features=dict(list(sensitive.items())[:attributes]),
        )  # fmt: skip
        assert rows.score is not None
        tests = []
        for setting in settings(rows)[0]:
            tests.append(chance.decision_tests(rng, Figures.of(rows, setting)))
            if scores:
                tests[-1] += chance.score_tests(
                    rng, rows.score, setting.group, setting.groups, rows.weights, 9
                )
        found += any(test.evidence for of in chance.family(tests) for test in of)
    return found / audits


def with_draws(patch: pytest.MonkeyPatch, draws: int, bins: int) -> None:
    """A permutation test is exact with any number of draws, as long as p can be small enough."""
    function = chance.fair_rates
    patch.setattr(chance, "fair_rates", lambda rng, shares: function(rng, shares, draws))
    patch.setattr(chance, "SCORE_DRAWS", draws)
    patch.setattr(chance, "PER_QUESTION", 0)
    patch.setattr(chance, "BINS", bins)


@pytest.mark.parametrize("groups", [2, 12, 40])
def test_at_most_six_of_a_hundred_fair_models_are_accused(
    groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_draws(monkeypatch, 199, 8)
    assert accused(50, groups, attributes=1) <= 0.06


@pytest.mark.parametrize(
    ("groups", "weighted"),
    [
        pytest.param(3, True, marks=pytest.mark.slow),
        *(
            pytest.param(groups, weighted, marks=pytest.mark.thorough)
            for groups in (2, 3, 5, 10, 20, 40)
            for weighted in (False, True)
        ),
    ],
)
def test_at_most_six_of_a_hundred_fair_models_are_accused_counted_thoroughly(
    groups: int, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_draws(monkeypatch, 999, 16)
    assert accused(400, groups, weighted=weighted, scores=groups <= 10) <= 0.06


@pytest.mark.parametrize("measure", SELECTION)
def test_each_test_by_itself_has_its_level(measure: str) -> None:
    """p ≤ 0.05 in at most 5 % of fair tables."""
    rng = np.random.default_rng(3)
    sizes = np.array([30, 50, 200, 20])
    shares = Shares(np.full(4, 0.3), sizes.astype(float), sizes.astype(float), False)
    function = SELECTION[measure]
    drawn = function(chance.fair_rates(rng, shares, 100_000), shares.trials, shares.parts)
    each = drawn.reshape(500, 200)  # one that is observed, and the null of its test
    p = np.array([chance.p_values(Seen(measure, own[0], own[1:]))[-1] for own in each])
    for level in (0.01, 0.05, 0.2):
        assert np.mean(p <= level) <= level + 3 * np.sqrt(level * (1 - level) / len(p))

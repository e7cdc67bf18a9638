"""Generalisation F, numbers to predict, as a study: its rows and gaps, and the reference."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from sklearn.metrics import r2_score

from infofair.data import checks
from infofair.data import dataset as datasets
from infofair.framework.sensitive import Part
from study.general.figures.regression import AMOUNTS, barycentre, distance, figures, gaps
from study.general.models.regression import MODELS, TARGETS, Fitted, look, rows
from study.general.numbers import FEWEST, kept, mean_ks, r2
from study.general.rows import split_at_random
from study.general.study import Rows

NOISE = 0.02  # of R² on a few thousand rows


def toy(seed: int, n: int) -> Rows:
    """y = x + s + ε, p = .3: Bayes R² = 1.21 / 2.21, and 1 / 2.21 of those independent of s."""
    rng = np.random.default_rng(seed)
    x, s = rng.normal(size=n), (rng.random(n) < 0.3).astype(int)
    y = x + s + rng.normal(size=n)
    return split_at_random(np.stack([x, s], 1), y, pd.DataFrame({"s": s.astype(str)}), seed)


def test_r2_is_scikit_learns() -> None:
    y, other = np.random.default_rng(0).normal(size=(2, 50))
    assert r2(y + other, y) == pytest.approx(r2_score(y, y + other))


@pytest.mark.parametrize("digits", [1, 12])
def test_ks_is_the_mean_over_pairs_of_scipys(digits: int) -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, 300)
    predicted = rng.normal(group / 3).round(digits)
    pairs = [ks_2samp(predicted[group == g], predicted[group == h]).statistic
             for g, h in combinations(range(4), 2)]  # fmt: skip
    assert mean_ks(predicted, group) == pytest.approx(np.mean(pairs))
    assert mean_ks(predicted, np.zeros(300, int)) == 0


def test_small_groups_are_not_compared() -> None:
    group = np.repeat([0, 1, 2], [FEWEST, FEWEST - 1, 40])
    assert np.unique(group[kept(group)]).tolist() == [0, 2]


def test_gaps_are_of_the_test_rows() -> None:
    own = toy(0, 2000)
    (part,) = own.s("test")
    found = gaps({"test": own.at("test")}, own, [part])
    means = [own.at("test")[part.g == g].mean() for g in (0, 1)]
    assert found["mean_gap"] == pytest.approx(abs(means[0] - means[1]))
    assert figures({"test": own.at("test")}, own) == {"r2": 1}


def test_the_mean_gap_is_over_pairs_of_groups_with_enough_rows() -> None:
    g = np.repeat([0, 1, 2, 3], [40, 30, FEWEST, FEWEST - 1])
    predicted = np.array([0.0, 1.0, 4.0, 100.0])[g]
    part = Part("s", 4, g, np.zeros((len(g), 0)))
    found = gaps({"test": predicted}, toy(0, 100), [part])
    assert found["mean_gap"] == pytest.approx(4)
    assert found["mean_gap_pairs"] == pytest.approx((1 + 3 + 4) / 3)


def test_the_distance_of_gaussian_groups_is_the_spread_of_their_moments() -> None:
    """W₂² of N(μ, σ²) and N(μ', σ'²) is (μ − μ')² + (σ − σ')²; the barycentre has their means."""
    rng = np.random.default_rng(0)
    means, scales, shares = np.array([-1.0, 0.5, 2.0]), np.array([0.5, 1.0, 2.0]), [0.2, 0.5, 0.3]
    g = rng.choice(3, 40_000, p=shares)
    spread = sum(np.average((own - own @ shares) ** 2, weights=shares) for own in (means, scales))
    found = distance(rng.normal(means[g], scales[g]), Part("s", 3, g, np.zeros((len(g), 0))))
    assert found == pytest.approx(np.sqrt(spread), abs=0.03)


@pytest.mark.parametrize("dataset", MODELS.settings)
def test_what_is_predicted_is_no_feature(dataset: str, tmp_path: Path) -> None:
    found = datasets.load(dataset)
    found.write(found.simulate(900, 0), tmp_path)
    frame, _ = checks.validate(tmp_path, found, real=False)
    assert frame is not None
    for setting in MODELS.settings[dataset]:
        own = rows(dataset, setting, frame, 0)
        # the largest correlation of a column with the target: never the target itself
        columns = own.X[:, own.X.std(0) > 0]
        assert np.abs(np.corrcoef(columns.T, own.y)[-1, :-1]).max() < 0.99
        known = frame[TARGETS[dataset]].to_numpy(float)[own.split["train"]]
        np.testing.assert_allclose(
            own.y[own.split["train"]], (known - known.mean()) / known.std(), atol=1e-5
        )
        (part,) = own.parts
        assert part.groups == (4 if setting == "white_gender" else part.g.max() + 1)


def test_the_barycentre_of_the_best_regression_is_the_best_that_is_fair() -> None:
    own = toy(0, 30_000)
    X = own.X[:, 1] * 1.0 + own.X[:, 0]  # x has mean 0 and standard deviation 1; s is 0 and 1
    best = {part: X[own.split[part]] / np.sqrt(2.21) for part in ("validation", "test")}
    best = {part: values - best["test"].mean() for part, values in best.items()}
    assert figures(best, own)["r2"] == pytest.approx(0.5475, abs=NOISE)
    fair = barycentre(best, own, 1.0)
    assert figures(fair, own)["r2"] == pytest.approx(0.4525, abs=NOISE)
    assert gaps(fair, own, own.s("test"))["ks"] < 0.05
    half = barycentre(best, own, 0.5)
    assert gaps(half, own, own.s("test"))["mean_gap"] == pytest.approx(
        0.5 / np.sqrt(2.21), abs=0.05
    )


def test_no_method_beats_the_barycentre() -> None:
    """None is as near to parity in W₂, or nearer, and better by more than noise; on the toy."""
    own = toy(0, 6000)
    plain = Fitted(aware=False)({0: own}, [0.0], 150)[0.0, 0]
    assert figures(plain, own)["r2"] == pytest.approx(0.5475, abs=0.04)
    reference = [barycentre(plain, own, amount) for amount in AMOUNTS]
    for method in (Fitted(), Fitted(penalised=True)):
        for outputs in method({0: own}, [1.0, 10.0], 150).values():
            apart = gaps(outputs, own, own.s("test"))["w2"]
            for fair in reference:
                if apart <= gaps(fair, own, own.s("test"))["w2"]:
                    assert figures(outputs, own)["r2"] < figures(fair, own)["r2"] + NOISE
        seen, before = look(outputs, own), look(plain, own)  # of the strongest
        assert seen["imparity"] < before["imparity"] / 2
        assert 0.3 < seen["micro_f1"] < before["micro_f1"]
        assert seen["constant"] == 0

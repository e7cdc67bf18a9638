"""Generalisation D as a study: its rows, bins and gaps."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from infofair.data import checks
from infofair.data import dataset as datasets
from infofair.framework.sensitive import Part
from study.general.figures.continuous import gaps
from study.general.models.continuous import (
    AGE,
    BINS,
    MODELS,
    SHARE,
    binned,
    bins,
    look,
    normal_scores,
    rows,
)
from study.general.study import VANILLA, Rows


def normal(rho: float, n: int = 6000, *, number: bool = False) -> tuple[Rows, np.ndarray]:
    """Rows of a number s, and scores that are its bivariate normal partners."""
    rng = np.random.default_rng(0)
    s, other = rng.normal(size=(2, n))
    score = rho * s + np.sqrt(1 - rho**2) * other
    y = score.astype(np.float32) if number else (score > 0).astype(np.int64)
    split = {"train": np.arange(n // 2), "validation": np.arange(n // 2, n * 3 // 4)}
    split["test"] = np.arange(n * 3 // 4, n)
    part = Part("s", 1, np.zeros(n, np.int64), s[:, None].astype(np.float32))
    return Rows(np.zeros((n, 1), np.float32), y, [part], split), score


def outputs(rows: Rows, score: np.ndarray) -> dict[str, np.ndarray]:
    return {part: score[rows.split[part]] for part in ("validation", "test")}


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_gaps_of_normal_scores_are_those_of_the_closed_forms(rho: float) -> None:
    own, score = normal(rho, 40_000, number=True)
    found = gaps(outputs(own, score), own, own.s("test"))
    assert rho - 0.03 < found["hgr"] < rho + 0.09  # noise only adds to it
    # bits of eight cells of s, by sixteen of the score: nearly all there are, and never more
    truth = -0.5 * np.log2(1 - rho**2)
    assert truth - 0.06 < found["bits"] < truth + 0.01
    # the first and last of six bins have means of ∓φ(Φ⁻¹(1/6)) · 6
    assert found["mean_gap"] == pytest.approx(2 * 1.499 * rho, abs=0.1)


def test_with_s_permuted_nothing_is_left_but_noise() -> None:
    own, score = normal(0.8)
    order = np.random.default_rng(0).permutation(len(own.split["test"]))
    probability = 1 / (1 + np.exp(-score))
    true = gaps(outputs(own, probability), own, own.s("test"))
    drawn = gaps(outputs(own, probability), own, [part.at(order) for part in own.s("test")])
    assert drawn["bits"] < 0.02 < true["bits"]
    for what in ("imparity", "hgr"):
        assert drawn[what] < 0.3 * true[what]


def test_bins_have_as_many_training_rows_each() -> None:
    own, _ = normal(0.0)
    train = own.split["train"]
    assert np.bincount(bins(own, own.parts[0].c[train])).tolist() == [500] * BINS
    (part,) = binned(own).parts
    assert (part.groups, part.numbers) == (BINS, 0)
    np.testing.assert_array_equal(part.g, bins(own, own.parts[0].c))


def test_normal_scores_keep_the_order_of_shares() -> None:
    share = pd.Series(np.random.default_rng(0).beta(0.3, 2, 2000).round(2))
    found = normal_scores(share)
    assert (found.mean(), found.std()) == pytest.approx((0, 1), abs=0.01)
    lower, higher = share.to_numpy()[:, None] < share.to_numpy(), found[:, None] < found
    assert higher[lower].all()


@pytest.mark.parametrize("dataset", MODELS.settings)
def test_rows_have_their_attribute_as_a_number(dataset: str, tmp_path: Path) -> None:
    found = datasets.load(dataset)
    found.write(found.simulate(900, 0), tmp_path)
    frame, _ = checks.validate(tmp_path, found, real=False)
    assert frame is not None
    for setting in MODELS.settings[dataset]:
        own = rows(dataset, setting, frame, 0)
        (part,) = own.parts
        assert part.numbers == 1
        assert part.groups == (2 if setting == "age_gender" else 1)
        assert (own.y.dtype == np.float32) == found.number
        seen = look({"validation": own.at("validation") * 1.0}, own)
        assert seen["micro_f1"] == 1
        assert seen["imparity"] > 0.01


@pytest.mark.parametrize("number", [False, True])
def test_at_strength_0_every_method_is_vanilla(number: bool) -> None:
    own, _ = normal(0.5, 600, number=number)
    setting = SHARE if number else AGE
    found = {
        name: method.train({0: own}, [0.0], 8)[0.0, 0]["test"]
        for name, method in MODELS.methods.items()
        if MODELS.has(name, setting)
    }
    for score in found.values():
        np.testing.assert_allclose(score, found[VANILLA], atol=1e-5)

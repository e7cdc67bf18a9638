"""On the real Adult: figures that trials led to expect, three seeds each."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from infofair import InfoFairClassifier, fit_many
from infofair.data.prepared import Prepared
from infofair.framework import estimate, modules
from infofair.scores import ks

pytestmark = pytest.mark.real
FEWEST = 20  # rows, or positives, of a group that is compared
SEEDS = (0, 1, 2)


def asked(data: Prepared, setting: str, strengths: list[float], **how: Any) -> dict[Any, Any]:
    """Models that hold the authors' share of validation rows back."""
    rows = np.concatenate([data.split["train"], data.split["validation"]])
    s = pd.Series(np.array(data.group_names[setting])[data.groups[setting][rows]], name=setting)
    own = InfoFairClassifier(validation_fraction=1 / 9, progress=False, **how)
    return fit_many(
        own, data.X[rows], data.y[rows], sensitive_features=s, strengths=strengths, seeds=SEEDS
    )


def measured(model: Any, data: Prepared, setting: str) -> dict[str, float]:
    """Of the test rows; gaps are means over pairs of groups that are large enough."""
    test = data.split["test"]
    y, s = data.y[test], data.groups[setting][test].astype(int)
    p = model.predict_proba(data.X[test])[:, 1]
    decided = p > 0.5
    large = np.flatnonzero(np.bincount(s) >= FEWEST)
    kept = np.isin(s, large)
    rates = [
        decided[own].mean()
        for g in np.unique(s)
        if (own := (s == g) & (y == 1)).sum() >= FEWEST
    ]  # fmt: skip
    return {
        "micro_f1": float((decided == y).mean()),
        "ks": ks(p[kept], np.searchsorted(large, s[kept]), len(large)),
        "bits": estimate.bits(p[:, None], s),
        "tpr_gap": float(np.mean([abs(a - b) for a, b in combinations(rates, 2)])),
    }


def figures(
    data: Prepared, setting: str, strengths: list[float], **how: Any
) -> dict[float, pd.DataFrame]:
    """strength -> seeds × figures."""
    models = asked(data, setting, strengths, **how)
    found = {
        strength: pd.DataFrame(
            [measured(models[strength, seed], data, setting) for seed in SEEDS], index=list(SEEDS)
        )
        for strength in strengths
    }
    for strength, of in found.items():  # for `pytest -s`, and for whoever sees it fail
        print(f"{setting}, alpha {strength:g}", of.round(4).to_string(), sep="\n")
    return found


@pytest.mark.slow
def test_a_fair_score(real_data: Callable[[str], Prepared]) -> None:
    found = figures(real_data("adult"), "gender", [0.0, 4.0], outcome="score")
    fair = found[4.0].mean()
    assert found[0.0]["ks"].mean() > 0.3
    assert fair["ks"] <= 0.08 and fair["bits"] <= 0.01 and fair["micro_f1"] >= 0.825


@pytest.mark.thorough
def test_a_fair_score_is_stable_for_ten_groups(real_data: Callable[[str], Prepared]) -> None:
    found = figures(real_data("adult"), "intersection", [0.0, 4.0], outcome="score")
    vanilla, fair = found[0.0], found[4.0]
    assert (fair["micro_f1"] >= 0.825).all() and fair["micro_f1"].std() < 0.01
    assert (fair["bits"] <= 0.01).all()
    assert (fair["ks"] < vanilla["ks"] / 2).all()  # groups of twenty rows differ by chance


@pytest.mark.thorough
def test_equal_opportunity(real_data: Callable[[str], Prepared]) -> None:
    """On the features as they are, which trials had."""
    found = figures(
        real_data("adult"), "intersection", [0.0, 3.0], fair="equal_opportunity",
        extractor=lambda inputs: modules.extractor(inputs, (32,)),
    )  # fmt: skip
    fair = found[3.0].mean()
    assert found[0.0]["tpr_gap"].mean() > 0.1
    assert fair["tpr_gap"] == pytest.approx(0.053, abs=0.03) and fair["micro_f1"] >= 0.835

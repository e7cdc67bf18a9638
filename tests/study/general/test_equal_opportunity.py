"""Rates of positives by group, what the rule of the grids sees of them, and the methods' terms."""

import numpy as np
import pytest

from study import general
from study.general import networks
from study.general.figures import equal_opportunity as figures
from study.general.models import equal_opportunity as models
from study.general.study import VANILLA
from tests.study.general.simulated import rows

RNG = np.random.default_rng(0)


def test_rates_are_of_groups_with_enough_positives() -> None:
    group = np.repeat([0, 1, 2, 3], [40, 20, 19, 30])
    decided = np.concatenate([np.arange(40) < 10, np.arange(20) < 10, np.ones(19), np.zeros(30)])
    found = figures.rates(decided.astype(int), group, 5)
    assert found.tolist() == [0.25, 0.5, 0.0]
    assert figures.gap(found) == 0.5
    assert figures.mean_gap(found) == pytest.approx((0.25 + 0.25 + 0.5) / 3)
    for few in (found[:0], found[:1]):
        assert figures.gap(few) == figures.mean_gap(few) == 0.0


def test_the_gaps_of_a_study_are_those_of_its_test_rows() -> None:
    own = rows(0, 1000)
    y, (part,) = own.at("test"), own.s("test")
    score = RNG.random(len(y))
    found = figures.gaps({"test": score}, own, [part])
    of = [[(score[(part.g == g) & (y == c)] > 0.5).mean() for g in (0, 1)] for c in (0, 1)]
    fpr, tpr = (abs(a - b) for a, b in of)
    assert found["opportunity_gap"] == pytest.approx(tpr)
    assert found["opportunity_mean_gap"] == pytest.approx(tpr)  # of two groups there is one pair
    assert found["opportunity_sd"] == pytest.approx(tpr / 2)
    assert found["odds_gap"] == pytest.approx(max(tpr, fpr))


def test_how_far_rates_are_apart_is_the_mean_over_pairs_of_rows() -> None:
    group, decided = RNG.integers(0, 4, 60), RNG.random(60) < 0.4
    rate = [decided[group == g].mean() for g in range(4)]
    pairs = [abs(rate[a] - rate[b]) for a in group for b in group if a != b]
    assert models.apart(decided, group) == pytest.approx(np.mean(pairs))
    assert models.apart(decided, np.zeros(60, int)) == 0.0


def test_methods_of_equalised_odds_are_looked_at_by_both_rates() -> None:
    """Here true positive rates are alike and false ones are not."""
    study = general.models_of("equal_opportunity")
    own = rows(0, 2000)
    y, (part,) = own.at("validation"), own.s("validation")
    decided = np.where(y == 1, 1.0, part.g == 0)
    odds = {name for name in (*study.methods, "thresholds_odds") if name.endswith("_odds")}
    assert odds == set(study.looks) == {"fitted_odds", "gap_odds", "thresholds_odds"}
    for name in (*study.methods, "thresholds_opportunity", "thresholds_odds"):
        found = study.look_of(name)({"validation": decided}, own)
        assert found["imparity"] == (1.0 if name in odds else 0.0)
        assert found["micro_f1"] == (decided == y).mean()


def test_equalised_odds_has_what_equal_opportunity_has_everywhere() -> None:
    study = general.models_of("equal_opportunity")
    rules = figures.MEASURED.rules
    for settings in study.settings.values():
        for setting in settings:
            there = {m for m in (*study.methods, *rules) if study.has(m, setting)}
            for kind in ("fitted", "gap", "thresholds"):
                assert {f"{kind}_opportunity", f"{kind}_odds"} <= there


def test_thresholds_for_equalised_odds_have_both_rates_alike_at_a_price() -> None:
    own = rows(0, 20_000)
    fair, exact = figures.gaps, figures.MEASURED.rules["thresholds_odds"]
    part = own.s("test")
    rng = np.random.default_rng(2)  # a score that knows the class, and is higher in one group
    outputs = {}
    for name in ("validation", "test"):
        (of,) = own.s(name)
        noise = rng.normal(scale=0.3, size=len(of.g))
        outputs[name] = 0.25 + 0.3 * own.at(name) + 0.2 * of.g + noise
    found = {e: exact.apply(outputs, own, e) for e in figures.TOLERANCES}
    odds = {e: fair(decided, own, part)["odds_gap"] for e, decided in found.items()}
    assert fair(outputs, own, part)["odds_gap"] > 0.2
    assert odds[0.0] < 0.06 and odds[0.1] < 0.14
    quality = {e: figures.figures(decided, own)["micro_f1"] for e, decided in found.items()}
    assert quality[0.0] <= quality[0.1] + 0.01
    again = exact.apply(outputs, own, 0.0)  # drawn, but the same every time
    assert all(np.array_equal(again[of], found[0.0][of]) for of in again)
    assert all(set(np.unique(of)) <= {0.0, 1.0} for of in again.values())


def test_at_strength_0_every_method_is_vanilla_but_for_its_decay() -> None:
    """So first looks start alike, and a rival has the same backbone and training as ours."""
    study = general.models_of("equal_opportunity")
    splits = {0: rows(0), 1: rows(1)}
    found = {name: own.train(splits, [0.0], 8) for name, own in study.methods.items()}
    for name, outputs in found.items():
        alike = "vanilla_decay" if name in ("joint", "vanilla_decay") else VANILLA
        for key, own in outputs.items():
            np.testing.assert_allclose(own["test"], found[alike][key]["test"], atol=1e-5)


def test_the_printed_form_trains_as_long_as_the_others() -> None:
    given = {
        "fair": "equal_opportunity", "classes": 2, "penalty": None, "aware": True,
    }  # fmt: skip
    splits, usual = {0: rows(0)}, networks.Replaced()
    ours = networks.planned(
        splits, 400, outcome="decision", joint=False, replaced=usual, **given
    ).training  # type: ignore[arg-type]
    printed = networks.planned(
        splits, 400, outcome="extracted", joint=True, replaced=networks.LINEAR,
        epochs=networks.recipe.Training.epochs, **given,
    ).training  # type: ignore[arg-type]  # fmt: skip
    for what in ("epochs", "warm_up", "batch_size", "learning_rate"):
        assert getattr(ours, what) == getattr(printed, what)

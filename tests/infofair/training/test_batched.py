"""The batched pass against the plain loop, early stopping, and what it does about faults."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from infofair import methods
from infofair.data.prepared import ALL
from infofair.errors import Problem
from infofair.methods.base import Network
from infofair.methods.infofair import InfoFair
from infofair.methods.vanilla import Vanilla
from infofair.training.batched import Pass, device, train
from infofair.training.plan import Job, Variant
from tests import steps
from tests.conftest import ROOT
from tests.plain import CPU, probabilities, train_plain
from tests.simulated import prepared
from tests.steps import Found, same_bits, training

METHOD = InfoFair(learning_rate=1e-3, halve_temperature_every=2)
VANILLA = Vanilla(learning_rate=1e-3)
HASTY = Vanilla(learning_rate=0.3)  # a large step makes validation noisy: models stop at any epoch


def run(method: Network = METHOD, *settings: str, **how: Any) -> Found:
    own = settings or (steps.SETTINGS if method.uses_groups else (ALL,))
    return steps.run(method, own, alphas=how.pop("alphas", (0.1,)), **how)


# -- against the plain loop ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hidden", "batch_size"),  # of 560 rows: 16 make more than one chunk; the last of 50 is smaller
    [((8,), 16), ((8, 6), 50)],
)
@pytest.mark.parametrize("name", ["infofair", *methods.ABLATIONS])
def test_the_batched_pass_agrees_with_the_plain_loop(
    name: str, hidden: tuple[int, ...], batch_size: int
) -> None:
    method = methods.make(name, learning_rate=1e-3, halve_temperature_every=2)
    assert isinstance(method, InfoFair)
    batched = run(method, hidden=hidden, epochs=3, batch_size=batch_size)
    for (seed, setting, alpha), model in batched.items():
        plain, history = train_plain(
            prepared(), setting, seed, hidden=list(hidden), alpha=alpha,
            training=training(epochs=3, batch_size=batch_size),
            terms="".join(method.terms), learning_rate=1e-3, halve_every=2,
        )  # fmt: skip
        np.testing.assert_allclose(
            [row["validation"] for row in model.curves], history, rtol=1e-4, atol=1e-5
        )
        steps.assert_predicts(model, plain, prepared())


def test_vanilla_is_the_plain_loop_without_its_fairness_terms() -> None:
    for (seed, _, _), model in run(VANILLA).items():
        plain, _ = train_plain(
            prepared(), "gender", seed, hidden=[8], training=training(), terms="T",
            learning_rate=1e-3,
        )  # fmt: skip
        expected = probabilities(plain, prepared(), "test").numpy()
        np.testing.assert_allclose(model.probabilities["test"], expected, atol=2e-5)


@pytest.mark.promise("The same run twice gives the same bits.")
def test_the_same_run_twice_gives_the_same_bits() -> None:
    first, second = run(), run()
    assert all(same_bits(first[key], second[key]) for key in first)


def test_seeds_and_settings_differ() -> None:
    found = [m.probabilities["test"] for m in run().values()]
    assert all(not np.array_equal(a, b) for i, a in enumerate(found) for b in found[:i])


# -- early stopping -----------------------------------------------------------------------------


def test_every_model_stops_by_its_own_validation_objective() -> None:
    found = run(HASTY, seeds=tuple(range(6)), epochs=40, patience=2)
    lengths = {len(model.curves) for model in found.values()}
    assert len(lengths) > 1
    for model in found.values():
        values = [row["validation"] for row in model.curves]
        waited = [i - int(np.argmin(values[: i + 1])) for i in range(len(values))]
        assert all(w < 2 for w in waited[:-1])
        assert waited[-1] == 2 or len(values) == 40


def test_a_stopped_model_keeps_the_predictions_and_parameters_of_its_last_epoch() -> None:
    seeds = tuple(range(6))
    found = run(HASTY, seeds=seeds, epochs=40, patience=2)
    for seed in seeds:
        model = found[seed, ALL, 0.1]
        alone = run(HASTY, seeds=(seed,), epochs=len(model.curves), patience=99)
        assert same_bits(model, alone[seed, ALL, 0.1])


def test_leaving_the_batch_changes_nothing_for_those_who_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By early stopping, many at a time."""
    hasty = METHOD.with_knobs(learning_rate=0.1, halve_temperature_every=50)
    how: dict[str, Any] = {"seeds": (0, 1, 2, 3), "epochs": 25, "patience": 1, "alphas": (1e-4,)}
    leaving = run(hasty, **how)
    assert len({len(model.curves) for model in leaving.values()}) > 2
    monkeypatch.setattr(Pass, "compact", lambda self: None)
    staying = run(hasty, **how)
    assert all(same_bits(leaving[key], staying[key]) for key in leaving)


# -- faults -------------------------------------------------------------------------------------


def test_a_loss_that_is_not_finite_names_the_model_and_the_epoch() -> None:
    with pytest.raises(Problem, match=r"setting gender, seed 0, alpha 0\.1 .* epoch 1"):
        run(METHOD.with_knobs(learning_rate=1e30))


def test_where_models_may_diverge_the_others_are_as_without_them() -> None:
    job = Job(METHOD, [8], training(), may_diverge=True)
    variants = [Variant("gender", alpha) for alpha in (0.1, 1e39)]
    lost = train(job, prepared(), [(seed, v) for seed in (0, 1) for v in variants], CPU)
    whole = run(METHOD, "gender")
    for model in lost:
        if model.variant.alpha == 0.1:
            assert not model.diverged
            assert same_bits(model, whole[model.seed, "gender", 0.1])
        else:
            assert model.diverged
            assert (model.probabilities, model.parameters, model.curves) == ({}, {}, [])


@pytest.mark.parametrize(("patience", "name"), [(2, "infofair"), (99, "infofair"), (99, "gdp")])
def test_without_curves_a_model_is_the_same_and_stops_and_diverges_alike(
    patience: int, name: str
) -> None:
    """Where nothing stops early, the validation rows are asked after the last epoch alone."""
    method = methods.make(name, learning_rate=0.1)
    assert isinstance(method, Network)
    models = [
        (seed, Variant(setting, alpha))
        for seed in (0, 1)
        for setting in ("gender", "race")
        for alpha in (0.1, 2.0, 1e39)
    ]
    plain = Job(method, [8], training(epochs=8, patience=patience), may_diverge=True)
    with_curves = train(plain, prepared(), models, CPU)
    without = train(replace(plain, curves=False), prepared(), models, CPU)
    for one, other in zip(with_curves, without, strict=True):
        assert other.curves == [] and other.diverged == one.diverged
        other.curves = one.curves
        assert same_bits(one, other)
    assert sum(model.diverged for model in without) == 4


def test_an_unknown_device_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFOFAIR_DEVICE", "abacus")
    with pytest.raises(Problem, match="INFOFAIR_DEVICE=abacus"):
        device()
    monkeypatch.setenv("INFOFAIR_DEVICE", "cpu")
    assert device() == CPU


MEMORY = """
import torch
from infofair import methods
from infofair.training.batched import train
from infofair.training.plan import Job, Training, Variant
from tests.simulated import prepared
data = prepared(45_222, 104)
variants = [Variant(s, a) for s in data.settings for a in (0.1, 0.2, 0.5)]
models = [(seed, variant) for seed in range(5) for variant in variants]
job = Job(methods.make("infofair"), [32], Training(epochs=1))
train(job, data, models, torch.device("cpu"))
import resource
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_forty_five_models_on_rows_like_adults_stay_under_two_gibibytes() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], cwd=ROOT, capture_output=True, text=True, check=True
    )
    kibibytes = int(done.stdout)
    assert kibibytes < 2 * 1024**2

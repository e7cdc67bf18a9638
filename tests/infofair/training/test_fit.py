"""Training for the public: to workers, to GPUs, and `fit`, which gives the networks."""

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from infofair import methods
from infofair.data.prepared import ALL, Prepared
from infofair.errors import Problem
from infofair.methods.base import Penalty
from infofair.methods.gdp import GDP
from infofair.methods.vanilla import Vanilla
from infofair.parallel import workers
from infofair.parallel.progress import Progress
from infofair.training import fit, plan
from infofair.training.batched import train as train_pass
from infofair.training.plan import Trained, Training, Variant
from tests.infofair.training.test_plan import job_of
from tests.plain import CPU
from tests.simulated import prepared
from tests.steps import SETTINGS, run, same_bits

# -- devices ------------------------------------------------------------------------------------


def drivers(monkeypatch: pytest.MonkeyPatch, gpus: int) -> None:
    """As if there were CUDA's driver and so many GPUs."""
    monkeypatch.setattr("ctypes.CDLL", lambda name: None)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (None, ["cuda:0", "cuda:1", "cuda:2"]),
        ("cuda", ["cuda:0", "cuda:1", "cuda:2"]),
        ("cuda:1", ["cuda:1"]),
        ("cpu", ["cpu"]),
    ],
)
def test_every_visible_gpu_is_used_unless_one_device_is_asked_for(
    asked: str | None, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drivers(monkeypatch, 3)
    monkeypatch.delenv("INFOFAIR_DEVICE", raising=False)
    if asked:
        monkeypatch.setenv("INFOFAIR_DEVICE", asked)
    assert fit.devices() == expected


def test_without_a_driver_or_a_gpu_it_is_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INFOFAIR_DEVICE", raising=False)
    drivers(monkeypatch, 0)
    assert fit.devices() == ["cpu"]

    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr("ctypes.CDLL", missing)
    assert fit.devices() == ["cpu"]


def handed_out(monkeypatch: pytest.MonkeyPatch, seeds: int) -> tuple[list[Any], dict[str, Any]]:
    """The calls that training InfoFair would make, and how."""
    kept: dict[str, Any] = {}

    def run(function: Any, calls: list[Any], **how: Any) -> list[Any]:
        kept.update(how, calls=calls)
        return [([Trained(seed, variant) for seed, variant in call[2]], 1.0) for call in calls]

    monkeypatch.setattr(workers, "run", run)
    variants = [Variant(setting, 0.1) for setting in SETTINGS]
    job = job_of("infofair")
    models = plan.models(job, list(range(seeds)), variants)
    [trained], _ = fit.train_all([fit.Run(job, prepared(), models)], "infofair")
    assert [(m.seed, m.variant) for m in trained] == models
    return kept.pop("calls"), kept


def test_models_are_spread_evenly_over_the_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    drivers(monkeypatch, 4)
    monkeypatch.delenv("INFOFAIR_DEVICE", raising=False)
    calls, how = handed_out(monkeypatch, seeds=5)
    assert [device for _, _, _, device, _ in calls] == [f"cuda:{i}" for i in range(4)]
    assert sorted(len(share) for _, _, share, _, _ in calls) == [3, 4, 4, 4]
    assert how["at_most"] == 4  # one process for each


def test_a_sweep_goes_over_the_gpus_in_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    drivers(monkeypatch, 2)
    monkeypatch.delenv("INFOFAIR_DEVICE", raising=False)
    calls, how = handed_out(monkeypatch, seeds=100)
    found = Counter(device for _, _, _, device, _ in calls)
    assert len(found) == 2
    assert len(set(found.values())) == 1
    assert how["at_most"] == 2
    assert how["bar"]  # no board of epochs: not all shares are trained at the same time


def test_a_clusters_worker_uses_its_own_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFOFAIR_SCHEDULER", "tcp://127.0.0.1:1")
    monkeypatch.setattr(workers, "count", lambda: 3)
    calls, how = handed_out(monkeypatch, seeds=2)
    assert [device for _, _, _, device, _ in calls] == [None] * 3
    assert how["shared"] == [calls[0][1]]


def test_a_share_is_trained_on_the_device_it_is_given() -> None:
    progress = Progress(None, 0, 1, 2, "vanilla")
    share = [(0, Variant(ALL, 0.1))]
    job, data = job_of("vanilla"), prepared()
    [found], seconds = fit.work(job, data, share, "cpu", progress)
    [expected] = train_pass(job, data, share, CPU)
    assert same_bits(found, expected)
    assert seconds > 0


# -- fit ------------------------------------------------------------------------------------------

QUICK = Training(epochs=2, batch_size=50)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other processes."""
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")


class Spread(Penalty):
    """A user's, as one would write it in a notebook."""

    def penalty(self, p: Tensor, y: Tensor, s: Tensor) -> Tensor:
        return (s.T @ (p - p.mean()) / s.sum(0).clamp(min=1)).square().sum()


def test_fit_gives_networks_by_setting_strength_and_seed() -> None:
    data = prepared()
    found = fit.fit(GDP(), data, strengths=[0.1, 2.0], seeds=[3, 0], hidden=[8], training=QUICK)
    assert found.keys() == {
        (setting, strength, seed) for setting in SETTINGS for strength in (0.1, 2.0)
        for seed in (3, 0)
    }  # fmt: skip
    expected = run(GDP(), seeds=(0,), alphas=(0.1,), data=data, epochs=2, batch_size=50)
    for setting in SETTINGS:
        model = found[setting, 0.1, 0]
        assert model.features == data.features
        p = model.predict_proba(data.X[data.split["test"]])
        trained = expected[0, setting, 0.1].probabilities["test"]
        np.testing.assert_allclose(p, trained, atol=1e-6)
        assert set(model.predict(data.X)) <= {0, 1}


def test_fit_of_a_method_that_does_not_look_at_groups_is_one_network_a_seed() -> None:
    found = fit.fit(Vanilla(), prepared(), seeds=[0, 1], hidden=[8], training=QUICK)
    assert found.keys() == {(ALL, 1.0, 0), (ALL, 1.0, 1)}


def test_fit_leaves_out_settings_that_a_method_is_not_defined_for() -> None:
    found = fit.fit(methods.make("mindiff"), prepared(), hidden=[8], training=QUICK)
    assert found.keys() == {("gender", 1.0, 0)}


def test_fit_without_settings_is_empty() -> None:
    assert fit.fit(GDP(), without_settings(), training=QUICK) == {}


def without_settings() -> Prepared:
    return dataclasses.replace(prepared(), groups={}, group_names={})


@pytest.mark.slow
def test_fit_of_a_users_method_in_other_processes_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    how: dict[str, Any] = {"strengths": [5.0], "seeds": [0, 1], "hidden": [8], "training": QUICK}
    here = fit.fit(Spread(learning_rate=1e-2), prepared(), **how)
    monkeypatch.setenv("INFOFAIR_WORKERS", "2")
    there = fit.fit(Spread(learning_rate=1e-2), prepared(), **how)
    assert here.keys() == there.keys()
    for key, model in here.items():
        for name, values in model.parameters.items():
            np.testing.assert_array_equal(values, there[key].parameters[name])


def test_fit_of_a_solver_says_who_fits_it() -> None:
    with pytest.raises(Problem, match=r"FCFC is fitted by infofair\.training\.solve\.solve"):
        fit.fit(methods.make("fcfc"), prepared())  # type: ignore[arg-type]


def test_fit_says_which_model_is_not_finite() -> None:
    with pytest.raises(Problem, match=r"GDP: .* setting gender, seed 0, alpha 1e\+39"):
        fit.fit(GDP(), prepared(), strengths=[1e39], hidden=[8], training=QUICK)

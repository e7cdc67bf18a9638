"""How models are dealt out: to workers, to GPUs, and that it makes no difference to any of them."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stages import jobs, methods, train, workers
from stages.jobs import Job, Trained, Variant
from stages.methods import ALL
from stages.params import Training
from stages.progress import Progress
from stages.trainer import train as train_pass
from tests.plain import CPU
from tests.simulated import processed
from tests.steps import same_bits

KNOBS = SimpleNamespace(learning_rate=1e-3, temperature=1.0, halve_temperature_every=2)
TRAINING = Training(epochs=2, patience=5, batch_size=16, weight_decay=0.01)
SETTINGS = ["gender", "race", "intersection"]


def job_of(method: str, hidden: int = 32) -> Job:
    return Job(methods.load(method), KNOBS, [hidden], TRAINING)


# -- shares -------------------------------------------------------------------------------------


@given(st.integers(0, 400), st.integers(1, 70))
def test_shares_are_even_and_as_many_as_keep_every_worker_busy(count: int, busy: int) -> None:
    models = [(seed, Variant("gender", 0.1)) for seed in range(count)]
    shares = jobs.shares(models, busy)
    assert [model for share in shares for model in share] == models
    sizes = [len(share) for share in shares]
    assert all(0 < size <= jobs.MOST for size in sizes)
    assert not sizes or max(sizes) - min(sizes) <= 1
    assert len(shares) % busy == 0 or len(shares) == count


def test_neighbours_have_the_same_minibatches_or_the_same_features() -> None:
    variants = [Variant(setting, 0.1) for setting in SETTINGS]
    by_seed = jobs.models(job_of("infofair"), [0, 1], variants)
    assert [seed for seed, _ in by_seed] == [0, 0, 0, 1, 1, 1]
    by_variant = jobs.models(job_of("di"), [0, 1], variants)
    assert [v.setting for _, v in by_variant] == [s for s in SETTINGS for _ in range(2)]
    assert set(by_seed) == set(by_variant)


@pytest.mark.parametrize("method", ["infofair", "gdp", "adversarial"])
def test_a_model_has_the_same_bits_in_every_share(method: str) -> None:
    """Also where a share has more models of one seed than of another."""
    data, job = processed(), job_of(method)
    variants = [Variant(setting, alpha) for setting in SETTINGS for alpha in (0.1, 0.5)]
    models = jobs.models(job, [0, 1, 2], variants)
    together = dict(zip(models, train_pass(job, data, models, CPU), strict=True))
    for count in (2, 4, 5, 13):
        for share in jobs.shares(models, count):
            for model, found in zip(share, train_pass(job, data, share, CPU), strict=True):
                assert (found.seed, found.variant) == model
                assert same_bits(found, together[model])


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
    assert train.devices() == expected


def test_without_a_driver_or_a_gpu_it_is_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INFOFAIR_DEVICE", raising=False)
    drivers(monkeypatch, 0)
    assert train.devices() == ["cpu"]

    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr("ctypes.CDLL", missing)
    assert train.devices() == ["cpu"]


def handed_out(monkeypatch: pytest.MonkeyPatch, seeds: int) -> tuple[list[Any], dict[str, Any]]:
    """The calls that training InfoFair would make, and how."""
    kept: dict[str, Any] = {}

    def run(function: Any, calls: list[Any], **how: Any) -> list[Any]:
        kept.update(how, calls=calls)
        return [([Trained(seed, variant) for seed, variant in call[2]], 1.0) for call in calls]

    monkeypatch.setattr(workers, "run", run)
    variants = [Variant(setting, 0.1) for setting in SETTINGS]
    job = job_of("infofair")
    models = jobs.models(job, list(range(seeds)), variants)
    trained, _ = train.train_all(job, processed(), models, "infofair")
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
    job, data = job_of("vanilla"), processed()
    [found], seconds = jobs.work(job, data, share, "cpu", progress)
    [expected] = train_pass(job, data, share, CPU)
    assert same_bits(found, expected)
    assert seconds > 0

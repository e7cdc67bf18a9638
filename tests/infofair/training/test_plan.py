"""How models are dealt out, and that it makes no difference to any of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infofair import methods
from infofair.methods.base import Network
from infofair.training import plan
from infofair.training.batched import train
from infofair.training.plan import Job, Variant
from tests.plain import CPU
from tests.simulated import prepared
from tests.steps import SETTINGS, same_bits, training


def job_of(name: str, hidden: int = 32) -> Job:
    method = methods.make(name, learning_rate=1e-3)
    assert isinstance(method, Network)
    return Job(method, [hidden], training(epochs=2, batch_size=50))


@given(st.integers(0, 400), st.integers(1, 70))
def test_shares_are_even_and_as_many_as_keep_every_worker_busy(count: int, busy: int) -> None:
    models = [(seed, Variant("gender", 0.1)) for seed in range(count)]
    shares = plan.shares(models, busy)
    assert [model for share in shares for model in share] == models
    sizes = [len(share) for share in shares]
    assert all(0 < size <= plan.MOST for size in sizes)
    assert not sizes or max(sizes) - min(sizes) <= 1
    assert len(shares) % busy == 0 or len(shares) == count


@given(st.lists(st.tuples(st.integers(1, 100), st.integers(1, 20)), max_size=12), st.integers(1, 6))
def test_runs_are_dealt_out_whole_if_no_worker_is_left_behind(
    sizes: list[tuple[int, int]], busy: int
) -> None:
    runs = [[(seed, Variant("gender", 0.1)) for seed in range(count)] for count, _ in sizes]
    costs = [float(count * each) for count, each in sizes]
    dealt = plan.dealt(runs, costs, busy)
    for number, models in enumerate(runs):
        shares = [share for run, share in dealt if run == number]
        assert [model for share in shares for model in share] == models
        too_large = costs[number] > sum(costs) / busy
        assert not too_large or shares == plan.shares(models, busy)
    order = [costs[run] for run, _ in dealt]
    assert order == sorted(order, reverse=True)
    if len(runs) % busy == 0 and len({*costs}) == 1:
        assert len(dealt) == sum(len(plan.shares(models, 1)) for models in runs)


def test_neighbours_have_the_same_minibatches_or_the_same_features() -> None:
    variants = [Variant(setting, 0.1) for setting in SETTINGS]
    by_seed = plan.models(job_of("infofair"), [0, 1], variants)
    assert [seed for seed, _ in by_seed] == [0, 0, 0, 1, 1, 1]
    by_variant = plan.models(job_of("di"), [0, 1], variants)
    assert [v.setting for _, v in by_variant] == [s for s in SETTINGS for _ in range(2)]
    assert set(by_seed) == set(by_variant)


@pytest.mark.parametrize("method", ["infofair", "gdp", "adversarial"])
@pytest.mark.promise("A model's bits do not depend on which models share its pass.")
def test_a_model_has_the_same_bits_in_every_share(method: str) -> None:
    """Also where a share has more models of one seed than of another."""
    data, job = prepared(), job_of(method)
    variants = [Variant(setting, alpha) for setting in SETTINGS for alpha in (0.1, 0.5)]
    models = plan.models(job, [0, 1, 2], variants)
    together = dict(zip(models, train(job, data, models, CPU), strict=True))
    for count in (5, 13):
        for share in plan.shares(models, count):
            for model, found in zip(share, train(job, data, share, CPU), strict=True):
                assert (found.seed, found.variant) == model
                assert same_bits(found, together[model])

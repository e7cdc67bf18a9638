"""InfoFair with fitted estimators: gradients, what its estimators estimate, and the pass."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from infofair import methods
from infofair.data.prepared import ALL, Prepared
from infofair.data.prepared import PARTS as SPLITS
from infofair.methods.base import Network, Stacked
from infofair.methods.infofair_fitted import PARTS, Fitted
from infofair.methods.vanilla import Vanilla
from infofair.training.streams import Own
from tests import steps
from tests.simulated import prepared
from tests.steps import SETTINGS, minibatch, outputs, run, same_bits, training

METHOD = Fitted(
    learning_rate=1e-3, critic_learning_rate=1e-2, critic_steps=2, warm_up=1, sharpness=3.0
)


def network(name: str, z: Tensor, out: dict[str, Tensor]) -> Tensor:
    """A critic, written down again: rows × groups of one model, from its z."""
    entry, entry_bias, exit, slope, bias = (out[f"{name}_{part}"] for part in PARTS)
    hidden = torch.tanh(F.linear(z[:, None], entry, entry_bias[:, 0]))
    return F.linear(hidden, exit) + F.linear(z[:, None], slope, bias[:, 0])


def outcome(logits: Tensor) -> Tensor:
    """z of one model's rows: 2 σ(κ o) − 1 with o the log-odds."""
    probability = (logits[1] - logits[0]) * METHOD.sharpness
    return 2 * torch.sigmoid(probability) - 1


def of_model(out: dict[str, Tensor], r: int) -> dict[str, Tensor]:
    return {name: tensor[r] for name, tensor in out.items()}


def example(
    seed: int, groups: int = 4, epoch: int = 9, mask: bool = False
) -> tuple[dict[str, Tensor], Stacked]:
    """Critics that are neither zero nor trained; with a mask, the first model's setting lacks the
    last group."""
    out, batch = outputs(METHOD, seed, (groups - mask, groups, groups))
    batch.epoch = epoch
    return out, batch


# -- the objective and its gradients ------------------------------------------------------------


@given(st.integers(0, 1000), st.integers(2, 6), st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_objective_is_the_definition(seed: int, groups: int, mask: bool) -> None:
    out, batch = example(seed, max(groups, 3), mask=mask)
    found = METHOD.values(out, batch)
    for r in range(3):
        own, s = of_model(out, r), batch.s[r, 0]
        z = outcome(own["target"])
        present = max(groups, 3) - (1 if mask and r == 0 else 0)
        log_q = network("g", z, own)[:, :present].log_softmax(1)
        rows = torch.arange(len(s))
        S, D = log_q[rows, s].mean(), network("f", z, own)[rows, s].mean()
        p = batch.shares[r].sum(1)
        entropy = -(p[p > 0] * p[p > 0].log()).sum()
        torch.testing.assert_close(found["S"][r], batch.alpha[r] * S)
        torch.testing.assert_close(found["D"][r], batch.alpha[r] * D)
        bits = (entropy + S + D) / math.log(2)
        torch.testing.assert_close(found["bits"][r], bits, check_dtype=False)


def test_alpha_counts_after_the_warm_up() -> None:
    for epoch, counts in ((0, False), (1, True)):
        out, batch = example(3, epoch=epoch)
        with_alpha = METHOD.gradients(out, batch)["target"]
        batch.weight = batch.weight * 0
        assert torch.equal(with_alpha, METHOD.gradients(out, batch)["target"]) != counts


@given(st.integers(0, 1000), st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_critics_follow_autograd_of_their_own_losses(seed: int, mask: bool) -> None:
    out, batch = example(seed, mask=mask)
    found = METHOD.critic_gradients(out, batch)
    assert set(found) == set(METHOD.critics)
    for r in range(3):
        own = {name: t.clone().requires_grad_() for name, t in of_model(out, r).items()}
        z = outcome(own["target"]).detach()
        present = 3 if mask and r == 0 else 4
        log_q = network("g", z, own)[:, :present].log_softmax(1)
        f = network("f", z, own)[:, :present]
        rows, s = torch.arange(len(z)), batch.s[r, 0]
        drawn = (log_q.exp().detach() * F.softplus(f)).sum(1)  # the mean over s̃ ~ q
        loss = -log_q[rows, s].mean() + (F.softplus(-f[rows, s]) + drawn).mean()
        loss.backward()
        for name in METHOD.critics:
            expected = own[name].grad
            assert expected is not None
            torch.testing.assert_close(found[name][r], expected, msg=name)
        assert own["target"].grad is None  # z is detached


def test_the_mean_over_drawn_pairs_is_what_many_draws_tend_to() -> None:
    out, _ = example(5)
    z = outcome(out["target"][0])
    own = of_model(out, 0)
    q, f = network("g", z, own).softmax(1), network("f", z, own)
    generator = torch.Generator().manual_seed(0)
    drawn = torch.multinomial(q, 200_000, replacement=True, generator=generator)
    by_draws = F.softplus(f.gather(1, drawn)).mean()
    torch.testing.assert_close(by_draws, (q * F.softplus(f)).sum(1).mean(), rtol=5e-3, atol=0)


def test_z_follows_from_the_probability() -> None:
    out, _ = example(2)
    z = METHOD.outcome(out["target"][0].T)[:, 0]
    probability = out["target"][0].softmax(0)[1].numpy()
    np.testing.assert_allclose(METHOD.outcomes(probability), z, atol=1e-6)
    certain = METHOD.outcomes(np.array([0, 1e-30, 0.5, 1], np.float32))
    np.testing.assert_allclose(certain, [-1, -1, 0, 1])


# -- the ablations ------------------------------------------------------------------------------

ABLATIONS = [("T", "S"), ("T", "D")]


@pytest.mark.parametrize(
    "changed", [*({"terms": terms} for terms in ABLATIONS), {"held": True}], ids=str
)
@given(st.integers(0, 1000), st.sampled_from([0, 9]), st.booleans())
@settings(max_examples=15, deadline=None)
def test_gradients_of_an_ablation_are_those_of_its_losses(
    changed: dict[str, Any], seed: int, epoch: int, mask: bool
) -> None:
    method = METHOD.with_knobs(**changed)
    out, batch = outputs(method, seed, (4 - mask, 4, 4))
    batch.epoch = epoch
    for found, expected in (
        (method.gradients(out, batch), Network.gradients(method, out, batch)),
        (method.critic_gradients(out, batch), Network.critic_gradients(method, out, batch)),
    ):
        assert found.keys() == expected.keys()
        for name, gradient in expected.items():
            torch.testing.assert_close(found[name], gradient, rtol=1e-6, atol=1e-9)


@given(st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_an_ablation_has_the_terms_and_the_losses_that_it_keeps(seed: int) -> None:
    out, batch = example(seed)
    whole, critics = METHOD.values(out, batch), METHOD.critic_gradients(out, batch)
    for terms in ABLATIONS:
        method = METHOD.with_knobs(terms=terms)
        own = {name: part for name, part in out.items() if name in ("target", *method.free)}
        found = method.values(own, batch)
        assert list(found) == [*terms, "bits"]
        for name in terms:
            torch.testing.assert_close(found[name], whole[name])
        for name, gradient in method.critic_gradients(own, batch).items():
            torch.testing.assert_close(gradient, critics[name])
        # without f the ratio is taken for 1, whose logarithm is 0
        ratio = whole["D"] / batch.alpha / math.log(2) if terms == ("T", "S") else 0
        torch.testing.assert_close(found["bits"], whole["bits"] - ratio)


def test_an_ablation_fits_what_its_terms_need() -> None:
    of = {terms: methods.make("infofair_fitted", terms=list(terms)) for terms in ABLATIONS}
    assert {name[0] for name in of["T", "S"].critics} == {"g"}
    assert {name[0] for name in of["T", "D"].critics} == {"g", "f"}  # q draws the pairs
    assert methods.make("infofair_fitted") == Fitted()
    for terms, method in of.items():
        assert isinstance(method, Fitted)
        assert method.terms == terms
        assert set(method.zeros) <= set(method.critics) == set(method.free)


@pytest.mark.parametrize("terms", ABLATIONS, ids="+".join)
def test_an_ablation_is_trained_like_any_method(terms: tuple[str, ...]) -> None:
    """Whoever shares the pass; at strength 0 it is vanilla, at others it is not the whole."""
    data, method = prepared(rows=300), METHOD.with_knobs(terms=terms, learning_rate=1e-2)
    found = run(method, data=data, alphas=(0.0, 2.0))
    alone = run(method, ("race",), data=data, alphas=(2.0,), seeds=(1,))
    assert same_bits(found[1, "race", 2.0], alone[1, "race", 2.0])
    whole = run(METHOD.with_knobs(learning_rate=1e-2), data=data, alphas=(2.0,))
    vanilla = run(Vanilla(learning_rate=1e-2), (ALL,), alphas=(0.0,), data=data)
    for (seed, setting, alpha), model in found.items():
        assert list(model.curves[0]) == [*terms, "bits", "total", "validation"]
        other = vanilla[seed, ALL, 0.0] if alpha == 0 else whole[seed, setting, alpha]
        gap = max(np.abs(model.probabilities[p] - other.probabilities[p]).max() for p in SPLITS)
        assert gap < 1e-5 if alpha == 0 else gap > 1e-4


@given(st.integers(0, 1000), st.booleans())
@settings(max_examples=15, deadline=None)
def test_a_q_that_is_held_back_is_the_same_for_every_group_there_is(seed: int, mask: bool) -> None:
    """So S is a constant, the critic tells true pairs from those with a group drawn evenly, and
    without the ratio there is nothing but the task."""
    method = METHOD.with_knobs(held=True)
    out, batch = outputs(method, seed, (4 - mask, 4, 4))
    batch.epoch = 9
    assert set(method.critics) == {name for name in METHOD.critics if name.startswith("f")}
    there = torch.tensor([4 - mask, 4, 4])
    torch.testing.assert_close(
        method.values(out, batch)["S"], batch.alpha * -there.log().to(batch.alpha)
    )
    without = method.with_knobs(terms=("T", "S"))
    own = {"target": out["target"]}
    torch.testing.assert_close(
        without.gradients(own, batch)["target"], Vanilla().gradients(own, batch)["target"]
    )


def test_with_a_q_that_is_held_back_the_ratio_alone_closes_the_gap() -> None:
    """Up to a strength: here twice as much makes constant predictors, unlike where q is fitted."""
    data = prepared(rows=3000)
    knobs = {"held": True, "learning_rate": 3e-3, "critic_learning_rate": 3e-2}
    found = run(
        METHOD.with_knobs(**knobs), ("gender",), alphas=(0.0, 1.0), data=data, epochs=40,
        patience=40, batch_size=256, weight_decay=0.0,
    )  # fmt: skip
    group = data.groups["gender"][data.split["test"]]
    gaps = {}
    for (seed, _, alpha), model in found.items():
        selected = model.probabilities["test"] > 0.5
        assert 0.05 < selected.mean() < 0.95  # no collapse
        gaps[seed, alpha] = abs(selected[group == 1].mean() - selected[group == 0].mean())
    assert all(gaps[seed, 1.0] < gaps[seed, 0.0] / 2 for seed in (0, 1))


# -- the estimate -------------------------------------------------------------------------------


def test_the_estimate_is_the_mutual_information_of_a_known_joint_distribution() -> None:
    """Two values of z and three groups: I(z; s) in closed form, the critics fitted by Adam."""
    joint = torch.tensor([[0.30, 0.15, 0.05], [0.05, 0.15, 0.30]], dtype=torch.float64)
    counts = (joint * 200).round().long()
    z, s = (column.repeat_interleave(counts.flatten()) for column in _cells(2, 3))
    expected = (joint * (joint / (joint.sum(1, keepdim=True) * joint.sum(0))).log2()).sum()
    odds = torch.where(z == 0, -1.0, 1.0).double()
    target = torch.stack([torch.zeros_like(odds), odds])[None]
    batch = minibatch(0, 3, rows=len(s), models=1)[1]
    batch.s = s[None, None]
    batch.shares = joint.T.sum(1).view(1, 3, 1).expand(1, 3, 2) / 2
    for last in (1000, 5):  # when g stops: whatever q is, the ratio makes up for it (lemma 3)
        out = outputs(METHOD, 1, (3,), rows=len(s))[0] | {"target": target}
        for name in METHOD.zeros:
            out[name].zero_()
        for step in range(1000):
            for name, gradient in METHOD.critic_gradients(out, batch).items():
                if step < last or not name.startswith("g"):
                    out[name] -= gradient
        bits = METHOD.values(out, batch)["bits"]
        assert float(bits) == pytest.approx(float(expected), abs=4e-3)


def _cells(first: int, second: int) -> tuple[Tensor, Tensor]:
    grid = torch.cartesian_prod(torch.arange(first), torch.arange(second))
    return grid[:, 0], grid[:, 1]


# -- the pass -----------------------------------------------------------------------------------


def train_plainly(
    data: Prepared, setting: str, seed: int, alpha: float, hidden: tuple[int, ...], epochs: int
) -> steps.Plain:
    """An ordinary loop with two optimisers and autograd."""
    how = training(epochs=epochs, batch_size=50)
    model = steps.plain(data, seed, hidden)
    groups = len(data.group_names[setting])
    sizes = {name: (groups if a == "groups" else a, b) for name, (a, b) in METHOD.free.items()}
    critics = {n: p.requires_grad_() for n, p in Own(seed, steps.CPU).initial(sizes).items()}
    with torch.no_grad():
        for name in METHOD.zeros:
            critics[name].zero_()
    predictor = steps.adam(steps.predictor(model), METHOD.learning_rate, how)
    own = steps.adam(
        list(critics.values()), METHOD.critic_learning_rate, training(weight_decay=0.0)
    )
    for epoch, minibatches in enumerate(steps.epochs(data, setting, seed, how)):
        for X, y, s in minibatches:
            rows = torch.arange(len(s))
            logits = steps.scores(model, X)
            z = outcome(logits.T)
            ends = np.linspace(0, len(s), METHOD.critic_steps + 1).round().astype(int)
            for start, end in pairwise(ends):  # a part of the minibatch each
                own_z, own_s = z.detach()[start:end], s[start:end]
                own_rows = torch.arange(len(own_s))
                log_q = network("g", own_z, critics).log_softmax(1)
                f = network("f", own_z, critics)
                loss = -log_q[own_rows, own_s].mean() + F.softplus(-f[own_rows, own_s]).mean()
                loss = loss + (log_q.exp().detach() * F.softplus(f)).sum(1).mean()
                own.zero_grad()
                loss.backward()
                own.step()
            objective = F.cross_entropy(logits, y)
            if epoch >= METHOD.warm_up:
                log_q = network("g", z, critics).log_softmax(1)[rows, s].mean()
                log_ratio = network("f", z, critics)[rows, s].mean()
                objective = objective + alpha * (log_q + log_ratio)
            predictor.zero_grad()
            objective.backward()
            predictor.step()
    return model


@pytest.mark.parametrize("hidden", [(8,), (8, 6)])
def test_the_pass_agrees_with_a_plain_loop_with_two_optimisers(hidden: tuple[int, ...]) -> None:
    data = prepared()
    found = run(METHOD, SETTINGS, hidden=hidden, data=data, epochs=3, batch_size=50)
    for (seed, setting, alpha), model in found.items():
        expected = train_plainly(data, setting, seed, alpha, hidden, epochs=3)
        steps.assert_predicts(model, expected, data)


def test_the_curves_report_the_information() -> None:
    found = run(METHOD, ("intersection",), epochs=3)
    for model in found.values():
        for row in model.curves:
            assert set(row) == {"T", "S", "D", "bits", "total", "validation"}
            assert row["total"] == pytest.approx(row["T"] + row["S"] + row["D"])


def test_the_gap_shrinks_with_alpha_and_nothing_diverges() -> None:
    data = prepared(rows=3000)
    method = METHOD.with_knobs(learning_rate=3e-3, critic_learning_rate=3e-2)
    found = run(
        method, ("gender",), alphas=(0.0, 3.0, 30.0), data=data, epochs=40, patience=40,
        batch_size=256, weight_decay=0.0,
    )  # fmt: skip
    group = data.groups["gender"][data.split["test"]]
    gaps = {}
    for (seed, _, alpha), model in found.items():
        assert all(math.isfinite(value) for row in model.curves for value in row.values())
        selected = model.probabilities["test"] > 0.5
        assert 0.1 < selected.mean() < 0.9  # no collapse
        gaps[seed, alpha] = abs(selected[group == 1].mean() - selected[group == 0].mean())
    for seed in (0, 1):
        assert gaps[seed, 3.0] < gaps[seed, 0.0] / 2
        assert gaps[seed, 30.0] < gaps[seed, 0.0] / 2

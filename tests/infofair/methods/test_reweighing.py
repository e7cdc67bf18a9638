"""Reweighing against a loop over rows, AIF360, autograd, the vanilla model and a plain loop."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch
import torch.nn.functional as F
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from infofair.data.prepared import ALL, Prepared
from infofair.methods.base import Stacked
from infofair.methods.reweighing import Reweighing, weights
from infofair.methods.vanilla import Vanilla
from infofair.training.batched import Pass
from infofair.training.plan import Job, Trained, Variant
from tests import steps
from tests.plain import CPU
from tests.simulated import prepared
from tests.steps import SETTINGS, minibatch, rows_of, run

METHOD = Reweighing(learning_rate=1e-3)


def naive(y: np.ndarray, s: np.ndarray) -> np.ndarray:
    """p(s) p(y) / p(s, y), row by row."""
    return np.array(
        [
            (s == s[i]).mean() * (y == y[i]).mean() / ((s == s[i]) & (y == y[i])).mean()
            for i in range(len(y))
        ]
    )


def shares(y: Tensor, s: Tensor, groups: int) -> Tensor:
    """R × groups × classes."""
    pairs = [[((s == g) & (y == c)).double().mean(2)[:, 0] for c in (0, 1)] for g in range(groups)]
    return torch.stack([torch.stack(pair, 1) for pair in pairs], 1)


def of_itself(seed: int, groups: int = 3, rows: int = 24) -> tuple[Tensor, Stacked]:
    """A minibatch that is all of the training rows."""
    logits, batch = minibatch(seed, groups, rows)
    batch.shares = shares(batch.y, batch.s, groups)
    return logits, batch


def of_rows(batch: Stacked) -> Tensor:
    """The weight of every row, R × 1 × B."""
    w = weights(batch.shares, batch.alpha)
    return w.flatten(1)[:, None].gather(2, 2 * batch.s + batch.y)


# -- the weights --------------------------------------------------------------------------------


@given(st.integers(0, 1000), st.integers(2, 6))
@settings(max_examples=25)
def test_the_weights_are_those_of_a_loop_over_rows(seed: int, groups: int) -> None:
    _, batch = of_itself(seed, groups, rows=10)  # few rows: groups are often absent
    found = of_rows(batch)
    assert found.shape == batch.y.shape
    for r, alpha in enumerate(batch.alpha.tolist()):
        expected = naive(batch.y[r, 0].numpy(), batch.s[r, 0].numpy()) ** alpha
        np.testing.assert_allclose(found[r, 0].numpy(), expected, rtol=1e-12)


@given(st.integers(0, 1000))
@settings(max_examples=25)
def test_weighted_class_and_group_are_independent(seed: int) -> None:
    _, batch = of_itself(seed, rows=60)
    batch.alpha = torch.ones(3, dtype=torch.float64)
    assume((batch.shares > 0).all())  # else no weights can make them so
    w = of_rows(batch)[:, 0]
    for r in range(3):
        y, s = batch.y[r, 0], batch.s[r, 0]
        assert float(w[r].sum()) == pytest.approx(60)
        rates = [float((w[r] * y)[s == g].sum() / w[r][s == g].sum()) for g in range(3)]
        assert rates == pytest.approx([float(y.double().mean())] * 3)


def test_the_weights_are_aif360s() -> None:
    algorithms = pytest.importorskip("aif360.algorithms.preprocessing")
    dataset = pytest.importorskip("aif360.datasets").BinaryLabelDataset
    rng = np.random.default_rng(0)
    s, x = rng.integers(0, 2, 200), rng.random(200)
    y = (x + 0.3 * s + rng.normal(0, 0.3, 200) > 0.7).astype(int)
    table = pd.DataFrame({"x": x, "s": s.astype(float), "y": y.astype(float)})
    theirs = algorithms.Reweighing([{"s": 0}], [{"s": 1}]).fit_transform(
        dataset(df=table, label_names=["y"], protected_attribute_names=["s"])
    )
    _, batch = minibatch(0, rows=200, models=1)
    batch.y, batch.s = (torch.from_numpy(column)[None, None] for column in (y, s))
    batch.shares, batch.alpha = shares(batch.y, batch.s, 2), torch.ones(1, dtype=torch.float64)
    np.testing.assert_allclose(of_rows(batch)[0, 0].numpy(), theirs.instance_weights)


def test_what_no_training_row_has_counts_as_one() -> None:
    _, batch = minibatch(0, groups=3)
    batch.shares[:, 2] = 0  # a group without training rows
    batch.shares[:, 1] = torch.tensor([0.5, 0.0])  # one without positives
    w = of_rows(batch)
    unseen = (batch.s == 2) | ((batch.s == 1) & (batch.y == 1))
    assert (w[unseen] == 1).all()
    assert (w[~unseen] != 1).all()


# -- what the trainer gives it ------------------------------------------------------------------


def given_by_the_trainer(data: Prepared) -> Pass:
    models = [Trained(seed, Variant(setting, 1.0)) for seed in (0, 1) for setting in SETTINGS]
    return Pass(Job(METHOD, [8], steps.training()), data, models, CPU)


def test_the_shares_are_those_of_the_training_rows_in_each_models_setting() -> None:
    data = prepared()
    owner = given_by_the_trainer(data)
    for model, found in zip(owner.models, owner.shares, strict=True):
        _, y, s = rows_of(data, model.variant.setting, "train")
        expected = shares(y[None, None], s[None, None], 6)[0]  # zero where there is no such group
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)


def test_a_group_without_training_rows_has_no_share() -> None:
    data = prepared()
    rows = data.split["train"]
    data = dataclasses.replace(
        data, split=data.split | {"train": rows[data.groups["race"][rows] != 1]}
    )
    owner = given_by_the_trainer(data)
    of_race = owner.shares[[m.variant.setting == "race" for m in owner.models]]
    assert (of_race[:, 1] == 0).all()
    assert (of_race[:, [0, 2]] > 0).all()
    models = run(METHOD, SETTINGS, data=data)
    assert all(np.isfinite(m.probabilities["test"]).all() for m in models.values())


# -- the objective ------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [2, 3, 6])
def test_the_objective_is_the_weighted_cross_entropy(groups: int) -> None:
    logits, batch = of_itself(0, groups)
    found = METHOD.values({"target": logits}, batch)
    assert list(found) == ["T"]
    for r, alpha in enumerate(batch.alpha.tolist()):
        y, s = batch.y[r, 0], batch.s[r, 0]
        losses = F.cross_entropy(logits[r].T, y, reduction="none").numpy()
        expected = np.mean(naive(y.numpy(), s.numpy()) ** alpha * losses)
        assert float(found["T"][r]) == pytest.approx(expected, abs=1e-12)


def test_without_strength_it_is_the_vanilla_model_to_the_bit() -> None:
    found = run(METHOD, SETTINGS, alphas=(0.0,))
    vanilla = run(Vanilla(learning_rate=1e-3), (ALL,), alphas=(0.0,))
    for (seed, _, alpha), model in found.items():
        assert steps.same_bits(model, vanilla[seed, ALL, alpha])


# -- training -----------------------------------------------------------------------------------


def test_the_batched_pass_agrees_with_the_plain_loop() -> None:
    data, how, alpha = prepared(), steps.training(epochs=4), 0.5
    found = run(METHOD, SETTINGS, data=data, alphas=(alpha,), epochs=how.epochs)
    for (seed, setting, _), model in found.items():
        _, y, s = rows_of(data, setting, "train")
        w = torch.ones(6, 2)
        w[s, y] = torch.from_numpy(naive(y.numpy(), s.numpy()) ** alpha).float()
        expected = steps.plain(data, seed, (8,))
        optimiser = steps.adam(steps.predictor(expected), METHOD.learning_rate, how)

        def loss(X: Tensor, y: Tensor, s: Tensor, model=expected, w=w) -> Tensor:
            return (w[s, y] * F.cross_entropy(steps.scores(model, X), y, reduction="none")).mean()

        history = []
        for epoch in steps.epochs(data, setting, seed, how):
            for columns in epoch:
                optimiser.zero_grad()
                loss(*columns).backward()
                optimiser.step()
            with torch.no_grad():
                history.append(float(loss(*rows_of(data, setting, "validation"))))
        steps.assert_predicts(model, expected, data)
        watched = [row["validation"] for row in model.curves]
        np.testing.assert_allclose(watched, history, rtol=1e-4, atol=1e-5)

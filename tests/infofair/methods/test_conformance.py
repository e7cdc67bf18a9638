"""What every network promises, whoever wrote it: one suite over all of them, and a user's own.

A new method's file in infofair/methods is all that it takes to be here.
"""

import dataclasses
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from bench.closed_forms import without_closed_forms
from infofair import methods
from infofair.data.prepared import ALL, PARTS, Prepared
from infofair.errors import Problem
from infofair.knobs import BOUNDS, knob, knobs_of
from infofair.methods.base import (
    Batch,
    Classifier,
    Method,
    Network,
    Outputs,
    Parameters,
    Penalty,
    Stacked,
    closed_forms,
    task_loss,
)
from infofair.methods.gdp import GDP
from infofair.methods.infofair_fitted import Fitted
from infofair.methods.vanilla import Vanilla
from infofair.training.batched import Pass
from infofair.training.fit import handled
from infofair.training.model import load_models, save_models
from infofair.training.plan import Trained
from tests.simulated import prepared
from tests.steps import Found, outputs, run, same_bits

# -- the methods ----------------------------------------------------------------------------------


class HSIC(Penalty):
    """A user's: the Hilbert-Schmidt independence criterion of prediction and group."""

    width: float = knob(0.1, gt=0, unit="probability", source="a test")

    def penalty(self, p: Tensor, y: Tensor, s: Tensor) -> Tensor:
        K = torch.exp(-(p[:, None] - p).square() / self.width)
        K = K - K.mean(0) - K.mean(1, keepdim=True) + K.mean()
        return (K * (s @ s.T)).mean()


class Decorrelated(Network):
    """A user's: nothing but an objective; z's scores may not go with being in the first group."""

    terms = ("T", "C")

    def objective(self, out: Outputs, batch: Batch) -> dict[str, Tensor]:
        score = out["target"][:, 1] - out["target"][:, 0]
        first = batch.s[:, 0] - batch.s[:, 0].mean()
        return {"T": task_loss(out, batch), "C": batch.alpha * (score * first).mean().square()}


USERS = {"hsic": HSIC, "decorrelated": Decorrelated}
# knobs with which a run of few epochs sees all that a method does; others have their defaults
QUICK: dict[str, dict[str, Any]] = {
    "infofair": {"halve_temperature_every": 1},
    "infofair_td": {"halve_temperature_every": 1},
    "infofair_fitted": {"critic_steps": 3, "warm_up": 1},
    "adversarial_fitted": {"critic_steps": 3, "warm_up": 1},
}
NETWORKS = [
    *(name for name in methods.names() if issubclass(methods.load(name), Network)),
    *methods.ABLATIONS,
    *USERS,
]
CLOSED = [name for name in NETWORKS if name not in USERS and closed_forms(methods.load(name))]
EVERYONE = [*NETWORKS, *(f"{name} by autograd" for name in CLOSED)]


def class_of(name: str) -> type[Network]:
    found = USERS.get(name) or methods.load(name)
    assert issubclass(found, Network)
    return found


def make(called: str, **knobs: Any) -> Network:
    """A network that takes larger steps than by default, so that few of them tell."""
    name = called.removesuffix(" by autograd")
    quick = {"learning_rate": 1e-2} | QUICK.get(name, {}) | knobs
    fixed = {"terms": methods.ABLATIONS[name]} if name in methods.ABLATIONS else {}
    cls = class_of(name)
    return (cls if called == name else without_closed_forms(cls))(**fixed, **quick)


def settings_of(method: Network, data: Prepared) -> tuple[str, ...]:
    return tuple(handled(method, data))


def counts_of(method: Network, *counts: int) -> tuple[int, ...]:
    """Of these numbers of groups, those of settings that the method is defined for."""
    return tuple(n for n in counts if method.handles(n))


# -- one minibatch --------------------------------------------------------------------------------

CASES = [  # groups of each model's setting, rows, epoch
    ((2, 3, 6), 24, 0),
    ((2, 2, 2), 24, 3),
    ((9,), 7, 3),
    ((2, 3, 6), 1, 3),
]


def only_one_class(batch: Stacked) -> None:
    batch.y[:] = torch.arange(len(batch.y))[:, None, None] % 2


def only_one_group(batch: Stacked) -> None:
    batch.s[:] = 1


def empty_groups(batch: Stacked) -> None:
    """Every model's first group has no rows, and its last only one."""
    last = batch.s.amax(2, keepdim=True)
    batch.s.clamp_(min=1)
    batch.s[..., :-1] = batch.s[..., :-1].minimum((last - 1).clamp(min=1))
    batch.s[..., -1:] = last


def as_drawn(batch: Stacked) -> None:
    pass


MINIBATCHES = [as_drawn, only_one_class, only_one_group, empty_groups]


def gradients(method: Network, out: Outputs, batch: Stacked) -> dict[str, Parameters]:
    """All that training asks of a method, by the name of the loss."""
    found = {"objective": method.gradients(out, batch)}
    if method.adversary:
        found["adversary"] = method.adversary_gradients(out, batch)
    if method.critics:
        found["critic"] = method.critic_gradients(out, batch)
    if isinstance(method, Penalty):
        p = out["target"].softmax(1)[:, 1]
        found["penalty"] = {"p": method.penalty_gradient(p, batch)}
    return found


def by_autograd(method: Network, out: Outputs, batch: Stacked) -> dict[str, Parameters]:
    """The same from the losses alone."""
    found = {"objective": Network.gradients(method, out, batch)}
    if method.adversary:
        found["adversary"] = Network.adversary_gradients(method, out, batch)
    if method.critics:
        found["critic"] = Network.critic_gradients(method, out, batch)
    if isinstance(method, Penalty):
        p = out["target"].softmax(1)[:, 1]
        found["penalty"] = {"p": Penalty.penalty_gradient(method, p, batch)}
    return found


def settled(method: Network, found: dict[str, Parameters], alpha: Tensor) -> dict[str, Parameters]:
    """With a second player, what both come to: the first's term of it is projected away there."""
    if not method.adversary:
        return found
    mine = {name: found["objective"].get(name, g * 0) for name, g in found["adversary"].items()}
    each = torch.vmap(method.settle, in_dims=(0, 0, 0, None))
    both = each(mine, dict(found["adversary"]), alpha, torch.tensor(1.0))
    return found | {"objective": both}


@pytest.mark.parametrize("change", MINIBATCHES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", NETWORKS)
def test_closed_forms_are_the_gradients_of_the_losses(name: str, change: Any) -> None:
    """In double precision, for settings of several sizes in one stack, early and late."""
    method = make(name)
    for seed, (counts, rows, epoch) in enumerate(CASES):
        if not (counts := counts_of(method, *counts)):
            continue
        out, batch = outputs(method, seed, counts, rows)
        change(batch)
        batch.epoch = epoch
        found = settled(method, gradients(method, out, batch), batch.alpha)
        expected = settled(method, by_autograd(method, out, batch), batch.alpha)
        assert found.keys() == expected.keys()
        for loss, by in expected.items():
            for part, gradient in by.items():
                own = found[loss][part].expand_as(gradient)
                assert own.isfinite().all()
                torch.testing.assert_close(own, gradient, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("change", MINIBATCHES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", NETWORKS)
def test_terms_and_gradients_are_finite(name: str, change: Any) -> None:
    method = make(name)
    for size in (1.0, 100.0):  # such logits make predictions certain
        out, batch = outputs(method, 0, counts_of(method, 2, 3, 6))
        change(batch)
        out = {part: (values * size).float() for part, values in out.items()}
        batch = in_training(batch)
        found = method.values(out, batch)
        assert found.keys() == {*method.terms, *method.reports}
        assert all(value.isfinite().all() for value in found.values())
        assert method.watched(found).shape == batch.alpha.shape
        for by in gradients(method, out, batch).values():
            assert all(gradient.isfinite().all() for gradient in by.values())


def in_training(batch: Stacked) -> Stacked:
    """In the precision that networks are trained in."""
    changed = {
        f.name: value.float()
        for f in dataclasses.fields(batch)
        if isinstance(value := getattr(batch, f.name), Tensor) and value.is_floating_point()
    }
    return dataclasses.replace(batch, **changed)


@pytest.mark.parametrize("name", NETWORKS)
def test_groups_that_a_setting_lacks_play_no_part(name: str) -> None:
    """Settings of 2, 3 and 6 groups in one stack have the terms and gradients each has alone."""
    method = make(name)
    counts = counts_of(method, 2, 3, 6)
    out, batch = outputs(method, 5, counts)
    batch.epoch = 3
    terms, found = method.values(out, batch), gradients(method, out, batch)
    for r, groups in enumerate(counts):
        alone = {part: only(values, r, max(counts), groups) for part, values in out.items()}
        own = Stacked(
            batch.y[r : r + 1], batch.s[r : r + 1], groups,
            None if batch.noise is None else batch.noise[r : r + 1, :groups], None,
            batch.alpha[r : r + 1], batch.epoch, batch.shares[r : r + 1, :groups],
        )  # fmt: skip
        for term, value in method.values(alone, own).items():
            torch.testing.assert_close(value[0], terms[term][r])
        for loss, by in gradients(method, alone, own).items():
            for part, gradient in by.items():
                whole = found[loss][part]
                torch.testing.assert_close(gradient, only(whole, r, max(counts), groups))
                if (whole.shape[1] == max(counts)) and max(counts) > 2:
                    assert not whole[r, groups:].any()


def only(values: Tensor, r: int, widest: int, groups: int) -> Tensor:
    """One model's, without what pads it to the groups of the widest setting."""
    own = values[r : r + 1]
    if widest > 2 and own.ndim == 3:
        own = own[:, :groups] if own.shape[1] == widest else own
        own = own[:, :, :groups] if own.shape[2] == widest else own
    return own


# -- whoever shares the pass ----------------------------------------------------------------------

LEAVES = {0: 3, 1: 1, 2: 2}  # a seed's models stop after so many epochs; strength 0.5's one earlier


@contextmanager
def stopping() -> Iterator[None]:
    """Models end at different epochs, wherever they are trained."""
    record = Pass._record

    def recorded(self: Pass, model: Trained, epoch: int, *others: Any) -> None:
        record(self, model, epoch, *others)
        last = LEAVES[model.seed] - (model.variant.alpha == 0.5)
        model.running = model.running and epoch + 1 < max(last, 1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pass, "_record", recorded)
        yield


SHAPES = [  # layers, features, rows of a minibatch (of 240: the last has 18, 48 or 40)
    ((8,), 11, 37),
    ((32, 32), 11, 48),
    ((32,), 104, 100),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", EVERYONE)
@pytest.mark.promise("A model's bits do not depend on which models share its pass.")
def test_a_models_bits_are_the_same_whoever_shares_its_pass(name: str, shape: Any) -> None:
    """Probabilities, curves and parameters; also as others leave when they have stopped."""
    hidden, features, batch_size = shape
    method, data = make(name), prepared(rows=300, features=features)
    settings = settings_of(method, data)
    how: dict[str, Any] = {"hidden": hidden, "data": data, "batch_size": batch_size}
    with stopping():
        everyone = run(method, settings, seeds=(0, 1, 2), alphas=(0.1, 0.5), **how)
        assert {len(model.curves) for model in everyone.values()} == {1, 2, 3}
        for seeds, names, alphas in (
            ((0,), settings[:1], (0.1,)),
            ((2, 1), settings[::-1], (0.5,)),
            ((0, 2), settings[-1:], (0.5, 0.1)),
        ):
            for key, model in run(method, names, seeds=seeds, alphas=alphas, **how).items():
                assert same_bits(model, everyone[key]), key


@pytest.mark.parametrize("name", CLOSED)
def test_by_autograd_it_is_the_same_method(name: str) -> None:
    """The pass with closed forms and without: the same but for rounding."""
    data = prepared(rows=300)
    found, expected = (
        run(method, settings_of(method, data), data=data, epochs=2, seeds=(0,))
        for method in (make(each, learning_rate=1e-3) for each in (name, f"{name} by autograd"))
    )
    for key, model in found.items():
        for part in PARTS:
            np.testing.assert_allclose(
                model.probabilities[part], expected[key].probabilities[part], atol=2e-5
            )


# -- whole runs -----------------------------------------------------------------------------------


def assert_finite(found: Found) -> None:
    for model in found.values():
        assert all(np.isfinite(list(row.values())).all() for row in model.curves)
        for part in PARTS:
            p = model.probabilities[part]
            assert ((p >= 0) & (p <= 1)).all()
        assert all(np.isfinite(values).all() for values in model.parameters.values())


@pytest.mark.parametrize("name", NETWORKS)
def test_curves_probabilities_and_parameters_are_finite(name: str) -> None:
    method, data = make(name), prepared(rows=300)
    found = run(method, settings_of(method, data), data=data, alphas=(0.0, 0.5, 5.0), epochs=2)
    assert_finite(found)
    for model in found.values():
        for row in model.curves:
            assert list(row) == [*method.terms, *method.reports, "total", "validation"]
            assert row["total"] == pytest.approx(sum(row[term] for term in method.terms))


@pytest.mark.parametrize("name", NETWORKS)
def test_training_rows_may_lack_a_group_or_a_class(name: str) -> None:
    method, data = make(name), prepared(rows=300)
    rows = data.split["train"]
    for kept in (data.groups["intersection"][rows] > 1, data.groups["gender"][rows] == 1,
                 data.y[rows] == 1):  # fmt: skip
        lacking = dataclasses.replace(data, split=data.split | {"train": rows[kept]})
        settings = settings_of(method, data)
        assert_finite(run(method, settings, seeds=(0,), data=lacking, epochs=2))


@pytest.mark.parametrize("name", [name for name in NETWORKS if class_of(name).uses_alpha])
def test_strength_zero_is_vanilla(name: str) -> None:
    """Also for those whose other heads share the extractor: their gradients are zero then.

    Not for one with a second player who moves at the same time: its strength is what comes on top
    of the projection, which stays.
    """
    method, data = make(name), prepared(rows=300)
    found = run(method, settings_of(method, data), alphas=(0.0,), data=data)
    vanilla = run(Vanilla(learning_rate=1e-2), (ALL,), alphas=(0.0,), data=data)
    for (seed, _, _), model in found.items():
        expected = vanilla[seed, ALL, 0.0]
        gap = max(
            np.abs(model.probabilities[part] - expected.probabilities[part]).max() for part in PARTS
        )
        assert (gap < 1e-5) == (method.adversary is None)


@pytest.mark.parametrize("name", [name for name in NETWORKS if class_of(name).uses_alpha])
def test_the_strength_makes_a_difference(name: str) -> None:
    method, data = make(name), prepared(rows=300)
    found = run(method, settings_of(method, data), alphas=(0.0, 1.0, 10.0), data=data, seeds=(0,))
    for setting in settings_of(method, data):
        own = [found[0, setting, alpha].probabilities["test"] for alpha in (0.0, 1.0, 10.0)]
        assert all(np.abs(a - b).max() > 1e-4 for a, b in pairwise(own))


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.promise("A kept network predicts what was predicted.")
def test_a_kept_network_predicts_what_was_predicted(name: str, tmp_path: Path) -> None:
    method, data = make(name), prepared(rows=300)
    found = run(method, settings_of(method, data), data=data, hidden=(8, 6), epochs=2)
    path = tmp_path / "networks.npz"
    kept = {(setting, alpha, seed): m.parameters for (seed, setting, alpha), m in found.items()}
    save_models(path, kept, data.features)
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            content = archive.read(member)
            assert content.startswith(b"\x93NUMPY")
            assert b"'|O'" not in content[:128]  # objects, which would be pickled
    models = load_models(path)
    assert len(models) == len(found)
    for (setting, alpha, seed), model in models.items():
        X = method.repair(data, setting, alpha) if method.repairs else data.X
        for part, expected in found[seed, setting, alpha].probabilities.items():
            again = model.predict_proba(X[data.split[part]])
            np.testing.assert_allclose(again, expected, atol=1e-6)


# -- knobs ----------------------------------------------------------------------------------------

ANY = [*methods.names(), *methods.ABLATIONS]


@pytest.mark.parametrize("name", ANY)
def test_every_knob_says_where_its_default_comes_from(name: str) -> None:
    assert [own.name for own in knobs_of(methods.make(name)) if not own.metadata["source"]] == []


def outside(bound: str, value: float) -> float:
    return value - 1 if bound.startswith("g") else value + 1


@pytest.mark.parametrize("name", ANY)
def test_a_wrong_value_of_a_knob_is_a_problem_that_names_it(name: str) -> None:
    for own in knobs_of(methods.make(name)):
        bounds = own.metadata["bounds"]
        assert bounds, f"{own.name}: any number will do?"
        for wrong in ("many", True, float("nan"), *(outside(b, v) for b, v in bounds.items())):
            several = isinstance(own.default, tuple)
            with pytest.raises(Problem, match=rf"{own.name} = .*(expected|should be)"):
                methods.make(name, **{own.name: [wrong] if several else wrong})
        for bound, value in bounds.items():
            if bound in ("gt", "lt"):
                with pytest.raises(Problem, match=f"{own.name} .* {BOUNDS[bound][0]} {value:g}"):
                    methods.make(name, **{own.name: (value,) if several else value})


# -- what is refused ------------------------------------------------------------------------------


def test_a_loss_with_somebody_elses_closed_form_is_refused_when_it_is_defined() -> None:
    with pytest.raises(TypeError, match=r"Mine has its own objective .* Classifier\.gradients"):

        class Mine(Classifier):
            def objective(self, out: Outputs, batch: Batch) -> dict[str, Tensor]:
                return {"T": task_loss(out, batch) * (1 + batch.alpha)}

    with pytest.raises(TypeError, match=r"Square has its own penalty .* GDP\.penalty_gradient"):

        class Square(GDP):
            def penalty(self, p: Tensor, y: Tensor, s: Tensor) -> Tensor:
                return super().penalty(p, y, s).square()

    with pytest.raises(TypeError, match=r"Louder has its own critic .* Fitted\.critic_gradients"):

        class Louder(Fitted):
            def critic(self, out: Outputs, batch: Batch) -> Tensor:
                return 2 * super().critic(out, batch)


def test_a_penalty_with_an_objective_of_its_own_is_refused_too() -> None:
    with pytest.raises(TypeError, match=r"Both has its own objective .* Penalty\.gradients"):

        class Both(Penalty):
            def objective(self, out: Outputs, batch: Batch) -> dict[str, Tensor]:
                return {"T": task_loss(out, batch), "F": batch.alpha}


def test_a_loss_and_its_closed_form_may_come_together_or_the_form_alone() -> None:
    class Twice(GDP):
        def penalty(self, p: Tensor, y: Tensor, s: Tensor) -> Tensor:
            return 2 * super().penalty(p, y, s)

        def penalty_gradient(self, p: Tensor, batch: Stacked) -> Tensor:
            return 2 * super().penalty_gradient(p, batch)

    class Faster(GDP):
        def penalty_gradient(self, p: Tensor, batch: Stacked) -> Tensor:
            return super().penalty_gradient(p, batch)

    assert "penalty" in closed_forms(Twice)
    assert "penalty" in closed_forms(Faster)
    assert "penalty" not in closed_forms(HSIC)
    assert not closed_forms(Decorrelated)


def test_a_file_without_a_method_or_with_two_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    module = methods.import_module("infofair.methods.gdp")
    monkeypatch.delattr(module, "GDP")
    with pytest.raises(Problem, match=r"gdp\.py: 0 methods; expected one"):
        methods.load("gdp")


def test_all_methods_are_found() -> None:
    assert {"infofair", "vanilla", "gdp", "fcfc"} <= set(methods.names())
    assert all(issubclass(methods.load(name), Method) for name in ANY)
    assert set(CLOSED) >= {"infofair", "gdp", "infofair_fitted", "adversarial"}

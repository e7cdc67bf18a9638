"""Forms that are there to be compared with, as printed and penalties, and models of many splits."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from infofair.framework import modules, notions, recipe
from infofair.framework.plan import Model, Plan, Replaced
from infofair.framework.stacked import Fitted, Pass, train
from tests.infofair.framework.plans import CPU, entropy, plan

LINEAR = Replaced(
    hidden=(8,),
    sensitive_predictor=modules.linear_predictor,
    density_ratio=modules.LinearRatio,
)


def printed(**changes: Any) -> Plan:
    usual = {"outcome": recipe.EXTRACTED, "replaced": LINEAR, "weight_decay": 0.01}
    return replace(plan(**(usual | changes)), joint=True)


def trained(own: Plan, models: list[Model]) -> dict[Model, Fitted]:
    return train(own, models, CPU, lambda *_: None)


def same(one: Fitted, other: Fitted) -> bool:
    pairs = [(one.predictor, other.predictor)]
    if one.critics is not None and other.critics is not None:
        pairs.append((one.critics, other.critics))  # type: ignore[arg-type]
    return all(
        torch.equal(a, b)
        for mine, theirs in pairs
        for a, b in zip(mine.state_dict().values(), theirs.state_dict().values(), strict=True)
    )


# -- as printed -----------------------------------------------------------------------------------


def by_hand(own: Plan, predictor: nn.Module, critics: nn.Module, rows: Tensor) -> Tensor:
    """J of one model as the paper writes it: T + α (E[log q] + E[w₁ᵀz + w₂ᵀs]), the ratio over true
    and drawn pairs in equal parts, both of the positives."""
    X, y = torch.from_numpy(own.X)[rows], torch.from_numpy(own.y)[rows]
    s = F.one_hot(torch.from_numpy(own.parts[0].g)[rows]).float()
    parts = dict(predictor.named_parameters()) | dict(critics.named_parameters())
    z = torch.relu(X @ parts["extractor.0.weight"].T + parts["extractor.0.bias"])
    T = F.cross_entropy(z @ parts["target.weight"].T + parts["target.bias"], y)
    W, w1, w2 = (
        parts[f"pairs.0.0.{n}"] for n in ("predictor.weight", "ratio.w1.weight", "ratio.w2")
    )
    q = (z @ W.T).softmax(1)
    log_q, ratio = ((q * s).sum(1)).log(), z @ w1[0] + ((s + q) / 2) @ w2
    positive = y == 1
    return T + 2.0 * (log_q[positive].mean() + ratio[positive].mean())


def test_a_step_as_printed_is_one_of_adam_on_the_objective_of_all() -> None:
    own = printed(fair=notions.OPPORTUNITY, n=160, batch_size=128)
    running = Pass(own, [Model(0, 2.0)], CPU, batched=True)
    predictor, critics = own.predictor(0), own.critics(0)
    together = [*predictor.parameters(), *critics.parameters()]
    adam = torch.optim.Adam(together, lr=own.training.learning_rate, weight_decay=0.01)
    for _, rows in zip(range(3), list(running.minibatches()) * 3, strict=False):
        adam.zero_grad()
        by_hand(own, predictor, critics, rows[0]).backward()
        adam.step()
        running.step(rows, 0)
    assert running.critics is not None
    for stack, module in ((running.predictors, predictor), (running.critics, critics)):
        for name, parameter in module.named_parameters():
            torch.testing.assert_close(stack.views[name][0], parameter, rtol=1e-4, atol=2e-6)


def test_as_printed_the_sensitive_predictor_is_trained_to_be_wrong() -> None:
    """It ends below what the groups' shares alone would say; the fitted form's does not."""
    below = {}
    for own in (printed(epochs=12), plan(epochs=12, outcome=recipe.EXTRACTED)):
        ((_, found),) = trained(own, [Model(0, 1.0)]).items()
        assert found.critics is not None
        X, g = torch.from_numpy(own.X), torch.from_numpy(own.parts[0].g)
        with torch.no_grad():
            judged = found.critics(
                found.predictor(X).representation, [(g, torch.zeros(len(g), 0))], [None],
                torch.ones(1, len(g)), torch.ones(1),
            )  # fmt: skip
        below[own.joint] = float(judged.log_q) < -entropy(np.bincount(g) / len(g))
    assert below == {True: True, False: False}


def test_critics_see_what_the_extractor_gives() -> None:
    own = printed()
    predictor = own.predictor(0)
    assert own.dimensions == 8
    X = torch.from_numpy(own.X)
    assert torch.equal(own.z(predictor(X)), predictor.extractor(X))


# -- a penalty ------------------------------------------------------------------------------------


def gap(predicted: Any, z: Tensor, s: list[tuple[Tensor, Tensor]], rows: Tensor) -> Tensor:
    """The squared gap of z's means between two groups, within every condition."""
    ((g, _),) = s
    means = [[notions.mean(z[:, 0], of * (g == k)) for k in (0, 1)] for of in rows]
    return torch.stack([(a - b).square() for a, b in means]).sum()


@pytest.mark.parametrize("fair", notions.NOTIONS)
def test_a_penaltys_step_is_that_of_plain_autograd(fair: str) -> None:
    own = replace(plan(fair=fair, groups=2, n=160, batch_size=128), penalty=gap)
    running = Pass(own, [Model(0, 2.0), Model(1, 5.0)], CPU, batched=True)
    assert running.critics is None
    (rows, *_) = list(running.minibatches())
    predictor = own.predictor(1)
    adam = torch.optim.Adam(predictor.parameters(), lr=own.training.learning_rate)
    X, y = torch.from_numpy(own.X)[rows[1]], torch.from_numpy(own.y)[rows[1]]
    g = torch.from_numpy(own.parts[0].g)[rows[1]]
    logits = predictor(X).output
    z = torch.tanh(own.training.sharpness / 2 * (logits[:, 1] - logits[:, 0]))
    conditions = {notions.PARITY: [y >= 0], notions.OPPORTUNITY: [y == 1]}.get(
        fair, [y == 0, y == 1]
    )
    F_ = sum((z[of & (g == 0)].mean() - z[of & (g == 1)].mean()) ** 2 for of in conditions)
    (F.cross_entropy(logits, y) + 5.0 * F_).backward()
    running.step(rows, 0)
    for name, parameter in predictor.named_parameters():
        assert parameter.grad is not None
        torch.testing.assert_close(
            running.predictors.gradients[name][1], parameter.grad, rtol=1e-4, atol=1e-6
        )
    adam.step()
    for name, parameter in predictor.named_parameters():
        torch.testing.assert_close(
            running.predictors.views[name][1], parameter, rtol=1e-4, atol=1e-5
        )


def test_warm_up_is_the_same_for_all_forms() -> None:
    """Before it ends nobody's strength counts: ours, a penalty and the printed form alike."""
    plain = plan(warm_up=1, epochs=2)
    for own in (plain, replace(plain, penalty=gap), printed(warm_up=1, epochs=2)):
        running = Pass(own, [Model(0, 0.0), Model(0, 9.0)], CPU, batched=True)
        (rows, *_) = list(running.minibatches())
        running.step(rows, 0)
        assert torch.equal(*running.predictors.flat)
        running.step(rows, 1)
        assert not torch.equal(*running.predictors.flat)


# -- models of several splits ---------------------------------------------------------------------

FORMS: dict[str, Plan] = {
    "opportunity": plan(fair=notions.OPPORTUNITY),
    "odds": plan(fair=notions.ODDS),
    "representation": plan(outcome=recipe.REPRESENTATION),
    "penalty": replace(plan(groups=2), penalty=gap),
    "joint": printed(),
}


def halves(own: Plan) -> dict[int, np.ndarray]:
    """Rows for three seeds, with other shares of the classes in each."""
    order = np.argsort(own.y, kind="stable")
    return {1: order[:160], 2: order[80:240], 5: order[160:]}


@pytest.mark.parametrize("form", FORMS)
def test_models_of_several_splits_are_those_trained_alone(form: str) -> None:
    rows = halves(FORMS[form])
    own = replace(FORMS[form], of_seeds=rows, split={"train": rows[1]})
    models = [Model(seed, alpha) for seed in own.of_seeds for alpha in (0.5, 3.0)]
    found = trained(own, models)
    for model in models:
        alone = replace(own, of_seeds={}, split={"train": own.of_seeds[model.seed]})
        assert same(found[model], trained(alone, [model])[model])
    backwards = trained(own, models[::-1])
    assert all(same(found[model], backwards[model]) for model in models)
    assert not same(found[Model(5, 0.5)], found[Model(5, 3.0)])

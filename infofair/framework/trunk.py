"""The same models on infofair/training, the fast trunk, where it can serve.

That is: the default modules, two classes, one part of s that has groups only, statistical parity of
decisions. infofair/methods/infofair_fitted.py is that objective, with closed forms of its
gradients; the parameters it leaves are put into the ordinary modules.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn

from infofair import methods
from infofair.data.prepared import ALL, Prepared
from infofair.framework import notions
from infofair.framework.modules import Critic
from infofair.framework.plan import Model, Plan, seeded
from infofair.framework.players import Critics, Pair, Predictor
from infofair.framework.recipe import DECISION, LANES
from infofair.framework.stacked import Fitted
from infofair.methods.base import Network
from infofair.training import batched
from infofair.training.plan import Job, Training, Variant
from infofair.training.plan import Model as Seat

SETTING = "s"


def serves(plan: Plan) -> bool:
    """Whether the trunk trains what is planned.

    Its critics, if there are any, take their steps on parts of the minibatch, which must not be too
    small.
    """
    one = len(plan.parts) <= 1 and not any(part.numbers for part in plan.parts)
    usual = plan.classes == 2 and plan.fair == notions.PARITY and plan.outcome == DECISION
    large = not plan.parts or plan.training.batch_size // plan.training.critic_steps >= 2 * LANES
    flat = plan.X.ndim == 2 and len(plan.replaced.hidden) > 0
    plain = plan.penalty is None and not plan.joint and not plan.of_seeds
    return one and usual and large and flat and plain and not plan.replaced.any


def train(
    plan: Plan, models: list[Model], on: torch.device, say: Callable[[int, float], None]
) -> dict[Model, Fitted]:
    how = plan.training
    training = Training(how.epochs, how.patience or how.epochs, how.batch_size, how.weight_decay)
    rates = {"learning_rate": how.learning_rate}
    if plan.parts:
        named = ("critic_learning_rate", "critic_steps", "warm_up", "sharpness")
        rates |= {name: getattr(how, name) for name in named}
    method = methods.make("infofair_fitted" if plan.parts else "vanilla", **rates)
    assert isinstance(method, Network)
    job = Job(method, list(plan.replaced.hidden), training)
    asked: list[Seat] = [(m.seed, Variant(SETTING if plan.parts else ALL, m.alpha)) for m in models]
    with as_it_was():
        trained = batched.train(
            job, prepared(plan), asked, on, lambda epoch, _, loss: say(epoch, loss), "fit"
        )
    return {
        model: Fitted(
            predictor(own.parameters, plan),
            critics(own.parameters) if plan.parts else None,
            [row["T"] for row in own.curves],
        )
        for model, own in zip(models, trained, strict=True)
    }


@contextmanager
def as_it_was() -> Iterator[None]:
    """PyTorch's settings, which the trunk changes for its own processes, are put back."""
    filling: Any = torch.utils.deterministic
    threads, mode = torch.get_num_threads(), torch.get_deterministic_debug_mode()
    filled = filling.fill_uninitialized_memory
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_deterministic_debug_mode(mode)
        filling.fill_uninitialized_memory = filled


def prepared(plan: Plan) -> Prepared:
    """The planned rows as the trunk wants them; it asks for test rows, of which one will do."""
    g, groups = (plan.parts[0].g, plan.parts[0].groups) if plan.parts else (plan.y, plan.classes)
    split = plan.split | {"test": plan.split["validation"][:1]}
    return Prepared(
        X=plan.X,
        y=plan.y.astype(np.int8),
        features=[f"x{i}" for i in range(plan.X.shape[1])],
        groups={SETTING: g.astype(np.int16)},
        group_names={SETTING: [str(g) for g in range(groups)]},
        split={name: rows.astype(np.int32) for name, rows in split.items()},
        data="",
        partition="",
    )


def predictor(parameters: dict[str, np.ndarray], plan: Plan) -> Predictor:
    """Layers have their bias as a last column; the target predictor has none."""
    found = plan.predictor(0)
    layers = [layer for layer in found.extractor.children() if isinstance(layer, nn.Linear)]
    for i, layer in enumerate(layers):
        own = parameters[f"layer{i}"]
        _set(layer, own[:, :-1], own[:, -1])
    assert isinstance(found.target, nn.Linear)
    _set(found.target, parameters["target"], np.zeros(2, np.float32))
    return found.train(False)


def critics(parameters: dict[str, np.ndarray]) -> Critics:
    pair = [critic(parameters, name) for name in "gf"]
    return Critics([[Pair(pair[0], pair[1], 0)]])


def critic(parameters: dict[str, np.ndarray], name: str) -> Critic:
    entry, entry_bias, exit, slope, bias = (
        parameters[f"{name}_{part}"] for part in ("in", "in_bias", "out", "slope", "bias")
    )
    with seeded(0, name):  # whatever it starts with is replaced
        found = Critic(1, len(exit))
    _set(found.hidden, entry, entry_bias[:, 0])
    _set(found.out, exit)
    _set(found.slope, slope, bias[:, 0])
    return found


def _set(layer: nn.Linear, weight: np.ndarray, bias: np.ndarray | None = None) -> None:
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(np.ascontiguousarray(weight)))
        if bias is not None:
            layer.bias.copy_(torch.from_numpy(np.ascontiguousarray(bias)))

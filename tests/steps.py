"""What the tests of several networks share: quick passes, made-up minibatches, a plain loop.

The plain loop shares the random streams with stages/trainer.py and takes its module from
tests/plain.py; the penalties it is given are each test's own.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from stages.jobs import Job, Trained, Variant
from stages.methods import Batch, Network, Penalised
from stages.params import Training
from stages.processed import Processed
from stages.trainer import Pass, stream, train
from tests.plain import CPU, Plain, probabilities
from tests.simulated import processed

PARTS = ("validation", "test")
ALPHAS = (0.1, 2.0, 0.5)  # of a made-up minibatch's models
Penalty = Callable[[Tensor, Tensor, Tensor], Tensor]  # p, y, s of one model's rows -> F


def training(**changes: float) -> Training:
    knobs = {"epochs": 3, "patience": 5, "batch_size": 16, "weight_decay": 0.01}
    return Training(**(knobs | changes))


def run(
    method: Network,
    knobs: Any,
    settings: tuple[str, ...],
    *,
    seeds: tuple[int, ...] = (0, 1),
    alphas: tuple[float, ...] = (0.5,),
    hidden: tuple[int, ...] = (8,),
    data: Processed | None = None,
    **changes: float,
) -> dict[tuple[int, str, float], Trained]:
    """One pass; its models by seed, setting and strength."""
    variants = [Variant(setting, alpha) for setting in settings for alpha in alphas]
    job = Job(method, knobs, list(hidden), training(**changes))
    models = [(seed, variant) for seed in seeds for variant in variants]
    found = train(job, data or processed(), models, CPU)
    return {(m.seed, m.variant.setting, m.variant.alpha): m for m in found}


def same_bits(one: Trained, other: Trained) -> bool:
    return one.curves == other.curves and all(
        np.array_equal(one.probabilities[part], other.probabilities[part]) for part in PARTS
    )


# -- one minibatch ------------------------------------------------------------------------------


def minibatch(seed: int, groups: int = 2, rows: int = 24, models: int = 3) -> tuple[Tensor, Batch]:
    """Logits of the target predictor, in double precision, and what else an objective sees."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(models, 2, rows, generator=generator, dtype=torch.float64)
    batch = Batch(
        y=torch.randint(2, (models, 1, rows), generator=generator),
        s=torch.randint(groups, (models, 1, rows), generator=generator),
        groups=groups,
        noise=None,
        mask=None,
        alpha=torch.tensor(ALPHAS[:models], dtype=torch.float64),
        epoch=0,
        shares=torch.full((models, groups, 2), 1 / (2 * groups), dtype=torch.float64),
    )
    return logits, batch


def of_model(batch: Batch, r: int) -> Batch:
    """The minibatch of one model alone."""
    own = slice(r, r + 1)
    mask = None if batch.mask is None else batch.mask[own]
    y, s, alpha, shares = (part[own] for part in (batch.y, batch.s, batch.alpha, batch.shares))
    return Batch(y, s, batch.groups, None, mask, alpha, 0, shares)


def assert_objective_is(
    method: Penalised, knobs: Any, penalty: Penalty, logits: Tensor, batch: Batch
) -> None:
    """T and α F, and the gradient of their sum by the logits, model by model and by autograd."""
    gradients = method.gradients({"target": logits}, batch, knobs)
    found = method.objective({"target": logits}, batch, knobs)
    for r, alpha in enumerate(batch.alpha):
        leaf = logits[r].clone().requires_grad_()
        y, s = batch.y[r, 0], batch.s[r, 0]
        T = F.cross_entropy(leaf.T, y)
        penalised = alpha * penalty(leaf.softmax(0)[1], y, s)
        (T + penalised).backward()
        torch.testing.assert_close(found["T"][r], T.detach(), atol=1e-9, rtol=1e-6)
        torch.testing.assert_close(found["F"][r], penalised.detach(), atol=1e-9, rtol=1e-6)
        torch.testing.assert_close(gradients["target"][r], leaf.grad, atol=1e-9, rtol=1e-6)


def assert_undisturbed_by_more_groups(
    method: Penalised, knobs: Any, rtol: float = 1e-7, atol: float = 0.0
) -> None:
    """Settings of 2, 3 and 6 groups in one pass have the penalties that each has alone."""
    logits, batch = minibatch(0, groups=6)
    batch.s[0] %= 2
    batch.s[1] %= 3
    p = logits.softmax(1)[:, 1].float()
    value, by_p = method.penalty(p, batch, knobs)
    for r, groups in enumerate((2, 3, 6)):
        own = of_model(batch, r)
        own.groups = groups
        alone, by_alone = method.penalty(p[r : r + 1], own, knobs)
        np.testing.assert_allclose(alone[0], value[r], rtol=rtol, atol=atol)
        np.testing.assert_allclose(by_alone[0], by_p[r], rtol=rtol, atol=atol)


# -- the plain loop -----------------------------------------------------------------------------


def rows_of(data: Processed, setting: str, part: str) -> tuple[Tensor, Tensor, Tensor]:
    rows = data.split[part]
    columns = (data.X, data.y.astype("int64"), data.groups[setting].astype("int64"))
    X, y, s = (torch.from_numpy(column[rows]) for column in columns)
    return X, y, s


def epochs(
    data: Processed, setting: str, seed: int, how: Training
) -> Iterator[list[tuple[Tensor, Tensor, Tensor]]]:
    """Each epoch's minibatches, in the trainer's order."""
    columns = rows_of(data, setting, "train")
    shuffle = stream(seed, "shuffle", on=CPU)
    for _ in range(how.epochs):
        order = torch.randperm(len(columns[1]), generator=shuffle)
        yield [tuple(c[rows] for c in columns) for rows in order.split(how.batch_size)]


def plain(data: Processed, seed: int, hidden: tuple[int, ...]) -> Plain:
    """Feature extractor and target predictor; the module's other parts stay unused."""
    return Plain(data.X.shape[1], list(hidden), 2, seed)


def predictor(model: Plain) -> list[torch.nn.Parameter]:
    return [*model.extractor.parameters(), *model.target.parameters()]


def scores(model: Plain, X: Tensor) -> Tensor:
    return model.target(model.extractor(X))


def adam(parameters: list[Any], learning_rate: float, how: Training) -> torch.optim.Adam:
    return torch.optim.Adam(parameters, lr=learning_rate, weight_decay=how.weight_decay, fused=True)


def train_penalised(
    data: Processed,
    setting: str,
    seed: int,
    penalty: Penalty,
    *,
    alpha: float,
    learning_rate: float,
    hidden: tuple[int, ...],
    block: int,
    how: Training,
) -> tuple[Plain, list[float]]:
    """The model that minimises T + α F, and its validation objective in every epoch."""
    model = plain(data, seed, hidden)
    optimiser = adam(predictor(model), learning_rate, how)

    def objective(X: Tensor, y: Tensor, s: Tensor) -> Tensor:
        logits = scores(model, X)
        return F.cross_entropy(logits, y) + alpha * penalty(logits.softmax(1)[:, 1], y, s)

    history = []
    for steps in epochs(data, setting, seed, how):
        for columns in steps:
            optimiser.zero_grad()
            objective(*columns).backward()
            optimiser.step()
        with torch.no_grad():
            columns = rows_of(data, setting, "validation")
            blocks = list(zip(*(c.split(block) for c in columns), strict=True))
            values = [float(objective(*of_block)) for of_block in blocks]
        history.append(float(np.average(values, weights=[len(y) for _, y, _ in blocks])))
    return model, history


def assert_predicts(found: Trained, expected: Plain, data: Processed) -> None:
    for part in PARTS:
        np.testing.assert_allclose(
            found.probabilities[part], probabilities(expected, data, part).numpy(), atol=2e-5
        )


def assert_trains_as_plainly(
    method: Penalised, knobs: Any, penalty: Penalty, settings: tuple[str, ...]
) -> None:
    data, how = processed(), training(epochs=4)
    for hidden in ((8,), (8, 6)):
        found = run(method, knobs, settings, hidden=hidden, data=data, epochs=how.epochs)
        for (seed, setting, alpha), model in found.items():
            expected, history = train_penalised(
                data, setting, seed, penalty, alpha=alpha, learning_rate=knobs.learning_rate,
                hidden=hidden, block=method.block, how=how,
            )  # fmt: skip
            assert_predicts(model, expected, data)
            watched = [row["validation"] for row in model.curves]
            np.testing.assert_allclose(watched, history, rtol=1e-4, atol=1e-5)


# -- every model for itself ---------------------------------------------------------------------


def assert_unaffected_by_neighbours(method: Network, knobs: Any, settings: tuple[str, ...]) -> None:
    """Same bits whichever models share the pass, for several shapes of layers and minibatches."""
    for hidden, features, batch_size in (((8,), 11, 16), ((32, 32), 11, 48), ((32,), 104, 128)):
        how: dict[str, Any] = {"data": processed(features=features), "hidden": hidden, "epochs": 2}
        how["batch_size"] = batch_size
        everyone = run(method, knobs, settings, seeds=(0, 1, 2), alphas=(0.1, 0.5), **how)
        for seeds, names, alphas in (
            ((1,), settings[:1], (0.1,)),
            ((2, 1), settings[::-1], (0.5,)),
            ((0, 2), settings[-1:], (0.5, 0.1)),
        ):
            found = run(method, knobs, names, seeds=seeds, alphas=alphas, **how)
            for key, model in found.items():
                assert same_bits(model, everyone[key]), (hidden, key)


def assert_unaffected_by_who_leaves(
    method: Network, hasty: Any, settings: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """hasty: knobs with a step so large that models stop at different epochs."""
    how: dict[str, Any] = {"seeds": (0, 1, 2, 3), "alphas": (0.1, 0.5), "epochs": 25, "patience": 1}
    leaving = run(method, hasty, settings, **how)
    assert len({len(model.curves) for model in leaving.values()}) > 2
    monkeypatch.setattr(Pass, "compact", lambda self: None)
    staying = run(method, hasty, settings, **how)
    assert all(same_bits(leaving[key], staying[key]) for key in leaving)

"""What the tests of several networks share: quick passes, made-up minibatches, a plain loop.

The plain loop shares the random streams with infofair/training and takes its module from
tests/plain.py; the penalties it is given are each test's own.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from infofair.data.prepared import PARTS, Prepared
from infofair.methods.base import CLASSES, GROUPS, Network, Penalty, Stacked, for_each
from infofair.training.batched import train
from infofair.training.plan import Job, Trained, Training, Variant
from infofair.training.streams import Own, gumbel
from tests.plain import CPU, Plain, probabilities
from tests.simulated import prepared

SETTINGS = ("gender", "race", "intersection")
ALPHAS = (0.1, 2.0, 0.5)  # of a made-up minibatch's models
Term = Callable[[Tensor, Tensor, Tensor], Tensor]  # p, y, s of one model's rows -> F
Found = dict[tuple[int, str, float], Trained]  # by seed, setting and strength


def training(**changes: Any) -> Training:
    knobs = {"epochs": 3, "patience": 5, "batch_size": 16, "weight_decay": 0.01}
    return Training(**(knobs | changes))


def run(
    method: Network,
    settings: tuple[str, ...] = SETTINGS,
    *,
    seeds: tuple[int, ...] = (0, 1),
    alphas: tuple[float, ...] = (0.5,),
    hidden: tuple[int, ...] = (8,),
    data: Prepared | None = None,
    on: torch.device = CPU,
    **changes: Any,
) -> Found:
    """One pass; its models by seed, setting and strength."""
    variants = [Variant(setting, alpha) for setting in settings for alpha in alphas]
    job = Job(method, list(hidden), training(**changes))
    models = [(seed, variant) for seed in seeds for variant in variants]
    found = train(job, data or prepared(), models, on)
    return {(m.seed, m.variant.setting, m.variant.alpha): m for m in found}


def same_bits(one: Trained, other: Trained) -> bool:
    """Curves, probabilities and parameters."""
    return one.curves == other.curves and all(
        mine.keys() == theirs.keys() and all(np.array_equal(mine[n], theirs[n]) for n in mine)
        for mine, theirs in (
            (one.probabilities, other.probabilities),
            (one.parameters, other.parameters),
        )
    )


# -- one minibatch ------------------------------------------------------------------------------


def minibatch(
    seed: int, groups: int = 2, rows: int = 24, models: int = 3
) -> tuple[Tensor, Stacked]:
    """Logits of the target predictor, in double precision, and what else an objective sees."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(models, 2, rows, generator=generator, dtype=torch.float64)
    batch = Stacked(
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


def outputs(
    method: Network, seed: int, counts: tuple[int, ...] = (2, 3, 4), rows: int = 24
) -> tuple[dict[str, Tensor], Stacked]:
    """What a method sees of models whose settings have so many groups, with all its parts.

    Nothing is at the place where it starts: free maps are random, also those that start at zero.
    """
    groups, models = max(counts), len(counts)
    logits, batch = minibatch(seed, groups, rows, models)
    batch.s %= torch.tensor(counts)[:, None, None]
    generator = torch.Generator().manual_seed(seed + 1)
    absent = torch.arange(groups) >= torch.tensor(counts)[:, None]
    padded = torch.zeros(models, groups, 1, dtype=torch.float64)
    batch.mask = padded.masked_fill(absent[..., None], -math.inf) if absent.any() else None
    batch.shares = batch.shares.masked_fill(absent[..., None], 0)
    batch.shares /= batch.shares.sum((1, 2), keepdim=True)
    sizes = {CLASSES: 2, GROUPS: groups}

    def drawn(*shape: str | int) -> Tensor:
        """Zero for groups that a setting lacks."""
        actual = [sizes[n] if isinstance(n, str) else n for n in shape]
        values = torch.randn(models, *actual, generator=generator, dtype=torch.float64)
        for axis, size in enumerate(shape, 1):
            if size == GROUPS:
                view = [models, 1, 1]
                view[axis] = groups
                values = values.masked_fill(absent.view(view), 0)
        return values

    out = {name: drawn(size, rows) for name, size in method.heads.items()}
    for name, size in method.heads.items():
        if size == GROUPS and batch.mask is not None:
            out[name] = out[name] + batch.mask
    out["target"] = logits
    out |= {name: drawn(*shape) for name, shape in method.free.items()}
    if method.uses_noise:
        batch.noise = gumbel((models, groups, rows), generator).double()
        batch.noise = batch.noise.masked_fill(absent[..., None], 0)
    return out, batch


def value_and_gradient(method: Penalty, p: Tensor, batch: Stacked) -> tuple[Tensor, Tensor]:
    """F of every model, R, and what training takes for its gradient by p, R × B."""
    value = for_each(
        lambda p, y, s: method.penalty(p, y, s.T), p, batch.y[:, 0], batch.one_hot().to(p.dtype)
    )
    return value, method.penalty_gradient(p, batch)


def assert_objective_is(method: Penalty, term: Term, logits: Tensor, batch: Stacked) -> None:
    """T and α F, and the gradient of their sum by the logits, model by model and by autograd."""
    gradients = method.gradients({"target": logits}, batch)
    found = method.values({"target": logits}, batch)
    for r, alpha in enumerate(batch.alpha):
        leaf = logits[r].clone().requires_grad_()
        y, s = batch.y[r, 0], batch.s[r, 0]
        T = F.cross_entropy(leaf.T, y)
        penalised = alpha * term(leaf.softmax(0)[1], y, s)
        (T + penalised).backward()
        torch.testing.assert_close(found["T"][r], T.detach(), atol=1e-9, rtol=1e-6)
        torch.testing.assert_close(found["F"][r], penalised.detach(), atol=1e-9, rtol=1e-6)
        torch.testing.assert_close(gradients["target"][r], leaf.grad, atol=1e-9, rtol=1e-6)


# -- the plain loop -----------------------------------------------------------------------------


def rows_of(data: Prepared, setting: str, part: str) -> tuple[Tensor, Tensor, Tensor]:
    rows = data.split[part]
    columns = (data.X, data.y.astype("int64"), data.groups[setting].astype("int64"))
    X, y, s = (torch.from_numpy(column[rows]) for column in columns)
    return X, y, s


def epochs(
    data: Prepared, setting: str, seed: int, how: Training
) -> Iterator[list[tuple[Tensor, Tensor, Tensor]]]:
    """Each epoch's minibatches, in the trainer's order."""
    X, y, s = rows_of(data, setting, "train")
    streams = Own(seed, CPU)
    for _ in range(how.epochs):
        order = streams.order(len(y))
        yield [(X[rows], y[rows], s[rows]) for rows in order.split(how.batch_size)]


def plain(data: Prepared, seed: int, hidden: tuple[int, ...]) -> Plain:
    """Feature extractor and target predictor; the module's other parts stay unused."""
    return Plain(data.X.shape[1], list(hidden), 2, Own(seed, CPU))


def predictor(model: Plain) -> list[torch.nn.Parameter]:
    return [*model.extractor.parameters(), *model.target.parameters()]


def scores(model: Plain, X: Tensor) -> Tensor:
    return model.target(model.extractor(X))


def adam(parameters: list[Any], learning_rate: float, how: Training) -> torch.optim.Adam:
    return torch.optim.Adam(parameters, lr=learning_rate, weight_decay=how.weight_decay, fused=True)


def train_penalised(
    data: Prepared,
    setting: str,
    seed: int,
    term: Term,
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
        return F.cross_entropy(logits, y) + alpha * term(logits.softmax(1)[:, 1], y, s)

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


def assert_predicts(found: Trained, expected: Plain, data: Prepared) -> None:
    for part in PARTS:
        np.testing.assert_allclose(
            found.probabilities[part], probabilities(expected, data, part).numpy(), atol=2e-5
        )


def assert_trains_as_plainly(
    method: Penalty, term: Term, settings: tuple[str, ...] = SETTINGS
) -> None:
    """Minibatches of 50 of 560 rows: the last of an epoch is smaller."""
    data, how = prepared(), training(epochs=3, batch_size=50)
    for hidden in ((8,), (8, 6)):
        found = run(method, settings, hidden=hidden, data=data, epochs=3, batch_size=50)
        for (seed, setting, alpha), model in found.items():
            expected, history = train_penalised(
                data, setting, seed, term, alpha=alpha, learning_rate=method.learning_rate,
                hidden=hidden, block=method.block, how=how,
            )  # fmt: skip
            assert_predicts(model, expected, data)
            watched = [row["validation"] for row in model.curves]
            np.testing.assert_allclose(watched, history, rtol=1e-4, atol=1e-5)

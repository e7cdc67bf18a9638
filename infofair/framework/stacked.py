"""Many models of any modules in one pass, by torch.func: seeds × strengths.

Modules are written for one model; their parameters are stacked and `vmap` runs them for all. A
step:

    forward        output and z of every model's minibatch
    critics        take `critic_steps` on parts of it, z being given
    the others     T + α Σ (E[log q] + E[f]) (+ β KL), with the critics given

Two other forms are there to be compared with: the paper's as it is printed (`Plan.joint`), in which
the critics minimise the same objective in the same step, and a penalty in place of the critics.

Random numbers are a seed's own (infofair/training/streams.py), no operation mixes models, and
minibatches are whole registers wide (the last one of an epoch is filled up with its first rows), so
a model's bits do not depend on who shares its pass. The exception are modules that draw numbers
themselves, such as Dropout: they draw others in another pass. What vmap cannot run (a look at a
number on the way; sparse products, but for `times` in graphs.py) is trained one model after the
other.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from infofair.errors import Problem
from infofair.framework import notions
from infofair.framework.plan import Model, Plan, seeded
from infofair.framework.players import DIMENSIONS, Critics, Judged, Predicted, Predictor
from infofair.framework.recipe import LANES, REPRESENTATION
from infofair.training.streams import Own, stream

ROWS = 4096  # validation rows that the objective sees at a time


@dataclass
class Fitted:
    """What a model leaves behind."""

    predictor: Predictor
    critics: Critics | None  # None where s is not known
    curve: list[float]  # T of every epoch, over the training rows


class Stack:
    """The parameters of R modules, each model's in one row, and its Adam.

    One row, filled up to whole registers, is one kernel instead of many, and nobody's last numbers
    are rounded otherwise than his neighbour's.
    """

    def __init__(self, modules: list[nn.Module], on: torch.device) -> None:
        self.template = modules[0]
        parameters, buffers = stack_module_state(modules)
        self.buffers = {name: own.detach().to(on) for name, own in buffers.items()}
        self.shapes = {name: own.shape[1:] for name, own in parameters.items()}
        self.trained = [n for n, p in self.template.named_parameters() if p.requires_grad]
        rows = [own.detach().flatten(1) for own in parameters.values()]
        missing = -sum(row.shape[1] for row in rows) % LANES
        flat = torch.cat([*rows, torch.zeros(len(modules), missing)], 1)
        self._take(
            flat.to(on), torch.zeros_like(flat, device=on), torch.zeros_like(flat, device=on)
        )

    def _take(self, flat: Tensor, *moments: Tensor) -> None:
        self.flat, self.moments = flat.contiguous(), [own.contiguous() for own in moments]
        self.gradient = torch.zeros_like(self.flat)
        self.views, self.gradients = self._views(self.flat), self._views(self.gradient)
        for name in self.trained:
            self.views[name].requires_grad_()

    def _views(self, flat: Tensor) -> dict[str, Tensor]:
        bounds = np.cumsum([0, *(shape.numel() for shape in self.shapes.values())])
        return {
            name: flat[:, start:end].view(len(flat), *shape).detach()
            for (name, shape), (start, end) in zip(
                self.shapes.items(), pairwise(bounds), strict=True
            )
        }

    def call(self, parameters: dict[str, Tensor], buffers: dict[str, Tensor], *given: Any) -> Any:
        """The module of one model."""
        return functional_call(self.template, {**parameters, **buffers}, given)

    def adam(self, rate: float, weight_decay: float, step: Tensor) -> None:
        """One step by `gradients`. step: its number, from 1 on."""
        # as in infofair/training/networks.py: torch.optim's kernel without its bookkeeping
        torch._fused_adam_(
            [self.flat], [self.gradient], [self.moments[0]], [self.moments[1]], [], [step],
            lr=rate, beta1=0.9, beta2=0.999, weight_decay=weight_decay, eps=1e-8, amsgrad=False,
            maximize=False,
        )  # fmt: skip

    def keep(self, slots: list[int]) -> None:
        """Those in these slots stay."""
        index = torch.tensor(slots, device=self.flat.device)
        self.buffers = {name: own[index] for name, own in self.buffers.items()}
        self._take(self.flat[index], *(own[index] for own in self.moments))

    def load(self, r: int, module: nn.Module) -> None:
        """Put one model's parameters and buffers into a module."""
        own = {name: view[r] for name, view in (self.views | self.buffers).items()}
        module.load_state_dict({name: part.detach().cpu().clone() for name, part in own.items()})


def descend(
    players: list[Stack], losses: Tensor, rate: float, weight_decay: float, step: Tensor
) -> None:
    """One step of all players on every model's loss, R."""
    leaves = [(player, name) for player in players for name in player.trained]
    found = torch.autograd.grad(
        losses.sum(), [player.views[name] for player, name in leaves], allow_unused=True
    )
    for (player, name), gradient in zip(leaves, found, strict=True):
        if gradient is not None:
            player.gradients[name].copy_(gradient)
    for player in players:
        player.adam(rate, weight_decay, step)


class Pass:
    """R models of a plan."""

    def __init__(self, plan: Plan, models: list[Model], on: torch.device, *, batched: bool) -> None:
        self.plan, self.models, self.on, self.batched = plan, models, on, batched
        how = plan.training
        self.X = torch.from_numpy(plan.X).to(on)
        self.y = torch.from_numpy(plan.y).to(on)
        self.s = [
            (torch.from_numpy(part.g).to(on), torch.from_numpy(part.c).to(on))
            for part in plan.parts
        ]
        seeds = list(dict.fromkeys(model.seed for model in models))
        own = [plan.train_rows(seed).astype(np.int64) for seed in seeds]
        self.train_rows = torch.from_numpy(np.stack(own)).to(on)  # seeds × rows
        self.weights = torch.stack(  # of conditions: seeds × conditions
            [notions.weights(plan.fair, self.y[rows], plan.classes) for rows in self.train_rows]
        )
        self.predictors = Stack([plan.predictor(m.seed).train() for m in self.slots], on)
        self.critics = None
        if plan.criticised:
            self.critics = Stack([plan.critics(m.seed).train() for m in self.slots], on)
        self.streams = {seed: Own(seed, on) for seed in seeds}
        self.noises = {seed: stream(seed, "framework", on=on) for seed in seeds}
        self.size = min(how.batch_size, -(-self.train_rows.shape[1] // LANES) * LANES)
        self.steps = 0
        self.fitted: dict[Model, Fitted] = {}
        self.curves: dict[Model, list[float]] = {model: [] for model in models}
        self.best = {model: (float("inf"), 0) for model in models}  # objective, epochs since
        self._arrange()

    @property
    def slots(self) -> list[Model]:
        """Who is in the stack. One product is not rounded as one of several is, so nobody is alone:
        a single model is there twice."""
        return self.models * 2 if self.batched and len(self.models) == 1 else self.models

    def _arrange(self) -> None:
        seeds = list(self.streams)
        self.alpha = torch.tensor([model.alpha for model in self.slots], device=self.on)
        self.of_seed = torch.tensor([seeds.index(m.seed) for m in self.slots], device=self.on)

    # -- random numbers ---------------------------------------------------------------------------

    def minibatches(self) -> Iterator[Tensor]:
        """Row numbers, seeds × B, of an epoch."""
        n = self.train_rows.shape[1]
        steps = -(-n // self.size)
        orders = [own.order(n) for own in self.streams.values()]
        whole = torch.stack(
            [order.repeat(-(-steps * self.size // n))[: steps * self.size] for order in orders]
        )
        yield from self.train_rows.gather(1, whole).split(self.size, 1)

    def at(self, rows: Tensor) -> Tensor:
        """X of these rows, … × B × …; whole rows are copied, not number by number."""
        found = self.X.index_select(0, rows.flatten())
        return found.view(*rows.shape, *self.X.shape[1:])

    def noise(self, *shape: int) -> Tensor:
        """Standard normal numbers, R × shape, each model's from its seed."""
        drawn = [torch.randn(shape, generator=own, device=self.on) for own in self.noises.values()]
        return torch.stack(drawn)[self.of_seed]

    def bottleneck_noise(self, rows: int) -> Tensor | None:
        return self.noise(rows, DIMENSIONS) if self.plan.outcome == REPRESENTATION else None

    def drawing_noise(self, rows: int) -> list[Tensor | None]:
        return [
            self.noise(rows, part.groups, 1 + part.numbers) if part.numbers else None
            for part in self.plan.parts
        ]

    # -- all models -------------------------------------------------------------------------------

    def each(self, function: Callable[..., Any], *given: Any) -> Any:
        """`function` for every model; what is given is stacked, but for None."""
        if self.batched:
            return vmap(function, randomness="different")(*given)
        alone = torch.utils._pytree.tree_map(lambda part: part[0], given)
        return torch.utils._pytree.tree_map(lambda part: part[None], function(*alone))

    def forward(self, X: Tensor, noise: Tensor | None) -> tuple[Predicted, Tensor]:
        """What is predicted, and z, R × B × d."""

        def one(p: Any, b: Any, X: Tensor, *noise: Tensor) -> tuple[Predicted, Tensor]:
            predicted: Predicted = self.predictors.call(p, b, X, *noise)
            return predicted, self.plan.z(predicted)

        drawn = [] if noise is None else [noise]
        return self.each(one, self.predictors.views, self.predictors.buffers, X, *drawn)

    def judge(self, z: Tensor, rows: Tensor, y: Tensor, noise: list[Tensor | None]) -> Judged:
        """The critics' words on every model's z, R each."""
        assert self.critics is not None
        critics, weights = self.critics, self.weights[self.of_seed]

        def one(p: Any, b: Any, z: Tensor, y: Tensor, s: Any, noise: Any, w: Tensor) -> Judged:
            drawn = [noise.get(i) for i in range(len(s))]
            return critics.call(p, b, z, s, drawn, self.plan.conditions(y), w)

        s = [(g[rows], c[rows]) for g, c in self.s]
        named = {i: own for i, own in enumerate(noise) if own is not None}
        return self.each(one, critics.views, critics.buffers, z, y, s, named, weights)

    def penalties(self, predicted: Predicted, z: Tensor, rows: Tensor, y: Tensor) -> Tensor:
        """What stands in the critics' place, of every model, R."""
        penalty = self.plan.penalty
        assert penalty is not None

        def one(predicted: Predicted, z: Tensor, y: Tensor, s: Any) -> Tensor:
            return penalty(predicted, z, s, self.plan.conditions(y))

        return self.each(one, predicted, z, y, [(g[rows], c[rows]) for g, c in self.s])

    def task_losses(self, output: Tensor, y: Tensor) -> Tensor:
        return self.each(self.plan.task_loss, output, y)

    # -- training ---------------------------------------------------------------------------------

    def advise(self, z: Tensor, rows: Tensor, y: Tensor) -> None:
        """Let the critics learn from z before the others follow them, each step on a part of the
        minibatch, or on all of it if the parts would be too small."""
        assert self.critics is not None
        how = self.plan.training
        own = self.size // how.critic_steps // LANES * LANES
        for i in range(how.critic_steps):
            part = slice(None) if own < 2 * LANES else slice(i * own, (i + 1) * own)
            seen = rows[:, part]
            noise = self.drawing_noise(seen.shape[1])
            judged = self.judge(z[:, part], seen, y[:, part], noise)
            number = self.number((self.steps - 1) * how.critic_steps + i + 1)
            descend([self.critics], judged.loss, how.critic_learning_rate, 0.0, number)

    def number(self, step: int) -> Tensor:
        """Of a step, as Adam's kernel wants it."""
        return torch.full((), float(step), device=self.on)  # filled there: no copy from here

    def step(self, of_seeds: Tensor, epoch: int) -> Tensor:
        """One step of everybody; T of every model, R. of_seeds: row numbers, seeds × B."""
        how = self.plan.training
        self.steps += 1
        rows = of_seeds[self.of_seed]
        y = self.y[rows]
        # rows that lie anywhere are fetched once a seed, which costs more than to copy them
        X = self.at(of_seeds).index_select(0, self.of_seed)
        predicted, z = self.forward(X, self.bottleneck_noise(rows.shape[1]))
        T = self.task_losses(predicted.output, y)
        loss = T + how.beta * predicted.kl if self.plan.outcome == REPRESENTATION else T
        if self.critics is not None and not self.plan.joint:
            self.advise(z.detach(), rows, y)
        if epoch >= how.warm_up:
            loss = loss + self.alpha * self.unfairness(predicted, z, rows, y)
        together = [self.critics] if self.critics is not None and self.plan.joint else []
        descend(
            [self.predictors, *together], loss, how.learning_rate, how.weight_decay,
            self.number(self.steps),
        )  # fmt: skip
        return T.detach()

    def unfairness(
        self, predicted: Predicted, z: Tensor, rows: Tensor, y: Tensor
    ) -> Tensor | float:
        """What α weighs, of every model, R; 0 where s is not known."""
        if self.plan.penalty is not None:
            return self.penalties(predicted, z, rows, y)
        if self.critics is None:
            return 0.0
        judged = self.judge(z, rows, y, [None] * len(self.s))
        return judged.log_q + judged.log_ratio

    @torch.no_grad()
    def validate(self, epoch: int) -> np.ndarray:
        """The objective on the validation rows, R."""
        total = torch.zeros(len(self.slots), device=self.on)
        rows = torch.from_numpy(self.plan.split["validation"].astype(np.int64)).to(self.on)
        for own in rows.split(ROWS):
            seen = own.expand(len(self.slots), -1)
            y = self.y[seen]
            predicted, z = self.forward(self.at(seen), None)
            found = self.task_losses(predicted.output, y) + self.plan.training.beta * predicted.kl
            if epoch >= self.plan.training.warm_up:
                found = found + self.alpha * self.unfairness(predicted, z, seen, y)
            total += found * len(own)
        return (total / len(rows))[: len(self.models)].cpu().numpy()

    def run(self, say: Callable[[int, float], None]) -> None:
        """Train until every model has stopped."""
        for epoch in range(self.plan.training.epochs):
            losses = [self.step(of_seeds, epoch) for of_seeds in self.minibatches()]
            table = torch.stack(losses).mean(0)[: len(self.models)].cpu().numpy()
            for model, T in zip(self.models, table, strict=True):
                if not np.isfinite(T):
                    raise Problem(
                        f"the loss of seed {model.seed}, alpha {model.alpha:g} is not finite in "
                        f"epoch {epoch + 1}; try a smaller learning rate or alpha"
                    )
                self.curves[model].append(float(T))
            say(epoch, float(table.mean()))
            self._stop(epoch)
            if not self.models:
                return

    def _stop(self, epoch: int) -> None:
        """Let models leave that have trained long enough, as they are."""
        how = self.plan.training
        stopped = [epoch + 1 == how.epochs] * len(self.models)
        if how.patience is not None:
            for r, value in enumerate(self.validate(epoch)):
                best, waited = self.best[self.models[r]]
                better = value < best or epoch <= how.warm_up  # alpha counts only from then on
                self.best[self.models[r]] = (float(value), 0) if better else (best, waited + 1)
                stopped[r] |= not better and waited + 1 >= how.patience
        for r, model in enumerate(self.models):
            if stopped[r]:
                self.fitted[model] = self._fitted(r, model)
        staying = [r for r in range(len(self.models)) if not stopped[r]]
        if len(staying) < len(self.models):
            self.models = [self.models[r] for r in staying]
            if staying:
                index = staying * (len(self.slots) // len(staying))
                self.predictors.keep(index)
                if self.critics is not None:
                    self.critics.keep(index)
                self._arrange()

    def _fitted(self, r: int, model: Model) -> Fitted:
        predictor, critics = self.plan.predictor(model.seed), None
        self.predictors.load(r, predictor)
        if self.critics is not None:
            critics = self.plan.critics(model.seed)
            self.critics.load(r, critics)
        return Fitted(predictor.train(False), critics, self.curves[model])


def train(
    plan: Plan, models: list[Model], on: torch.device, say: Callable[[int, float], None]
) -> dict[Model, Fitted]:
    """Every model: in one pass if vmap can run the modules, else one after the other."""
    found: dict[Model, Fitted] = {}
    with threads(plan, on):
        batched = batches(plan, on)
        for own in [models] if batched else [[model] for model in models]:
            with seeded(own[0].seed, "training"):  # for modules that draw numbers themselves
                running = Pass(plan, own, on, batched=batched)
                running.run(say)
            found |= running.fitted
    return found


@contextmanager
def threads(plan: Plan, on: torch.device) -> Iterator[None]:
    """Threads on small matrices only fight: one, but for somebody's own extractor."""
    before = torch.get_num_threads()
    if on.type == "cpu" and plan.replaced.extractor is None:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def batches(plan: Plan, on: torch.device) -> bool:
    """Whether vmap can run the modules: tried on a few rows, forward and backward."""
    if not plan.replaced.any:
        return True
    tried = Pass(plan, [Model(0, 1.0), Model(1, 1.0)], on, batched=True)
    tried.size = min(tried.size, 2 * LANES)
    try:
        with seeded(0, "trial"):
            tried.step(next(tried.minibatches()), plan.training.warm_up)
    except (RuntimeError, ValueError, NotImplementedError):
        return False
    return True

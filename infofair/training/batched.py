"""One batched pass trains many models of a method on a dataset: seeds × settings (× strengths).

infofair/training/networks.py has the models' parameters side by side; a method says only how its
objective depends on the heads' outputs. This explicit form takes a fraction of the time of
torch.func (stack_module_state, functional_call, vmap) around an ordinary module: `make bench` shows
both.

A model's numbers depend on its seed, setting and strength alone, never on who shares the pass:
initialisation, shuffling and noise come from streams of its own (infofair/training/streams.py), and
no operation here mixes models.
"""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from infofair.data.prepared import ALL, Prepared
from infofair.errors import Problem
from infofair.methods.base import Stacked
from infofair.training import graphs
from infofair.training.graphs import Graphs
from infofair.training.layout import aligned
from infofair.training.networks import Networks, Seat
from infofair.training.plan import Job, Model, Trained
from infofair.training.rows import rows_of
from infofair.training.streams import KINDS, Streams

CHUNK = 32  # minibatches whose labels are gathered, and whose noise is drawn, at a time
ROWS = 4096  # rows predicted at a time: bounds the memory


def device(name: str | None = None) -> torch.device:
    """The device of this name, else INFOFAIR_DEVICE, else CUDA if there is one, else the CPU."""
    asked = name or os.environ.get("INFOFAIR_DEVICE")
    name = asked or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(name)
        torch.empty(1, device=found)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise Problem(f"INFOFAIR_DEVICE={name}: {reason}; expected cpu, cuda or cuda:1 …") from None
    return found


class Chunk(NamedTuple):
    """Several steps' minibatches of one size, side by side."""

    places: Tensor  # E × (steps·rows) of the training rows: models of the same order see the same
    y: Tensor  # R × 1 × (steps·rows)
    s: Tensor  # R × 1 × (steps·rows)
    noise: Tensor | None  # steps × R × groups × rows
    rows: int  # of a step
    epoch: int

    @property
    def steps(self) -> int:
        return self.places.shape[1] // self.rows


def seated(orders: Sequence[Streams]) -> list[int]:
    """An order of the models that take the rows in these orders: those that share theirs next to
    each other, and then orders with equally many models."""
    sharing: dict[Streams, list[int]] = {}
    for r, own in enumerate(orders):
        sharing.setdefault(own, []).append(r)
    return [r for slots in sorted(sharing.values(), key=len, reverse=True) for r in slots]


class Pass:
    """The models of a pass: their data and generators, and who sits in which slot."""

    def __init__(self, job: Job, data: Prepared, models: list[Trained], on: torch.device) -> None:
        self.job, self.method, self.training, self.on = job, job.method, job.training, on
        self.settings = list(dict.fromkeys(model.variant.setting for model in models))
        nothing = np.zeros(len(data.y), np.int16)
        groups = [data.groups[s] if s != ALL else nothing for s in self.settings]
        # the class of every row, then its group in each setting
        labels = torch.from_numpy(np.stack([data.y, *groups]).astype(np.int16))
        self.group_counts = {s: len(data.group_names[s]) if s != ALL else 1 for s in self.settings}
        self.classes = 2
        widest = max(len(names) for names in data.group_names.values())
        self.groups = widest if job.method.uses_groups else 1
        # of the training rows, settings × groups × classes
        train = data.split["train"]
        cells = self.groups * self.classes
        shares = [
            np.bincount(self.classes * group[train] + data.y[train], minlength=cells) / len(train)
            for group in groups
        ]
        self.shares_of = torch.tensor(np.stack(shares), dtype=torch.float32, device=on)
        inputs = data.X.shape[1]
        columns = aligned(inputs + 1, job.hidden[0])
        self.X, self.labels = {}, {}
        for name, rows in data.split.items():
            self.X[name] = rows_of(data, name, columns, on)
            self.labels[name] = labels[:, torch.from_numpy(rows.astype(np.int64))].to(on)

        seats = self._sit(models)
        widths = [inputs, *job.hidden]
        self.networks = Networks(job.method, widths, self.classes, self.groups, seats, on)
        self.steps = 0
        self.graphs = Graphs() if graphs.wanted(on) and not data.mapped else None
        # of a seed and setting: it is the same at every strength
        self.noise_of = {
            (m.seed, m.variant.setting): seat.streams.noise(m.variant.setting)
            for m, seat in zip(self.models, seats, strict=True)
        }
        self._arrange()

    def _sit(self, models: list[Trained]) -> list[Seat]:
        """Give every model a slot, and its streams."""
        kind = KINDS[self.training.streams]
        drawn = [(m.seed, m.variant.setting if kind.of_setting else ALL) for m in models]
        distinct = {of: kind(of[0], self.on) for of in drawn}
        # where seeds share theirs, it is that of the first of them
        first = next(iter(distinct.values()))
        orders = [distinct[of] if kind.of_seed else first for of in drawn]
        slots = seated(orders)
        self.models = [models[r] for r in slots]
        groups = [self.group_counts[model.variant.setting] for model in self.models]
        return [
            Seat(distinct[drawn[r]], orders[r], count)
            for r, count in zip(slots, groups, strict=True)
        ]

    def _arrange(self) -> None:
        """What follows from which model sits in which slot."""
        of_slots = [seat.order for seat in self.networks.seats]
        self.orders = list(dict.fromkeys(of_slots))
        variants = [model.variant for model in self.models]
        self.alpha = torch.tensor([v.alpha for v in variants], device=self.on)
        # which of its order's label rows are a slot's class, and which its group
        self.setting_of = [self.settings.index(v.setting) for v in variants]
        self.shares = self.shares_of[self.setting_of].view(-1, self.groups, self.classes)
        first = [self.orders.index(own) * (1 + len(self.settings)) for own in of_slots]
        rows = first + [f + 1 + s for f, s in zip(first, self.setting_of, strict=True)]
        self.label_rows = torch.tensor(rows, device=self.on)

    def compact(self) -> None:
        """Let stopped models leave the batch."""
        staying = [r for r, model in enumerate(self.models) if model.running]
        if not staying or len(staying) == len(self.models):
            return
        slots = [staying[i] for i in seated([self.networks.seats[r].order for r in staying])]
        self.networks.keep(slots)
        if self.graphs is not None:
            self.graphs.forget()
        self.models = [self.models[r] for r in slots]
        self._arrange()

    def draw_noise(self, part: str, steps: int, rows: int) -> Tensor | None:
        """steps × R × groups × rows, each model's from its own streams."""
        if not self.method.uses_noise:
            return None
        noise = torch.zeros(steps, len(self.models), self.groups, rows, device=self.on)
        sharing: dict[tuple[int, str], list[int]] = {}
        for r, model in enumerate(self.models):
            sharing.setdefault((model.seed, model.variant.setting), []).append(r)
        for (seed, setting), slots in sharing.items():
            groups = self.group_counts[setting]
            drawn = self.noise_of[seed, setting].draw(part, steps, groups, rows)
            for r in slots:
                noise[:, r, :groups] = drawn
        return noise

    # -- training ---------------------------------------------------------------------------------

    def chunks(self, epoch: int) -> Iterator[Chunk]:
        """An epoch's minibatches, up to CHUNK of one size at a time."""
        labels, B = self.labels["train"], self.training.batch_size
        L, N = labels.shape
        E, R = len(self.orders), len(self.models)
        order = torch.stack([own.order(N) for own in self.orders])
        whole = N // B * B
        starts = [*range(0, whole, CHUNK * B), whole, N]  # the last minibatch may be smaller
        for start, end in pairwise(dict.fromkeys(starts)):
            chunk, size = order[:, start:end], end - start
            rows = min(B, size)
            of_orders = labels.expand(E, L, N).gather(2, chunk[:, None].expand(E, L, size))
            own = of_orders.view(E * L, size).index_select(0, self.label_rows).long()
            y, s = own.view(2, R, 1, size)
            yield Chunk(chunk, y, s, self.draw_noise("train", size // rows, rows), rows, epoch)

    def inputs(self, chunk: Chunk) -> Iterator[Tensor]:
        """Each step's rows, E × rows × features, until the next step's take their place.

        Not all at once: what is in the caches still when it is multiplied need not be fetched.
        """
        all_rows = self.X["train"]
        E, rows = len(chunk.places), chunk.rows
        X = torch.empty(E * rows, all_rows.columns, device=self.on)
        for places in chunk.places.split(rows, 1):
            all_rows.take(places.flatten(), X)
            yield X.view(E, rows, -1)

    def batches(self, chunk: Chunk) -> list[Stacked]:
        """Each step's minibatch."""
        own = self.alpha, chunk.epoch, self.shares, self.alpha[:, None, None] / chunk.rows
        labels = zip(chunk.y.split(chunk.rows, 2), chunk.s.split(chunk.rows, 2), strict=True)
        noise = [None] * chunk.steps if chunk.noise is None else chunk.noise.unbind()
        return [
            Stacked(y, s, self.groups, drawn, self.networks.mask, *own)
            for (y, s), drawn in zip(labels, noise, strict=True)
        ]

    def terms(self, chunk: Chunk, heads: Tensor, free: list[dict[str, Tensor]]) -> Tensor:
        """Each step's terms and reports, steps × them × R.

        All steps at once, as if those after the first were further models.
        """
        R, steps, rows = len(self.models), chunk.steps, chunk.rows
        y, s = (
            label.view(R, 1, steps, rows).permute(2, 0, 1, 3).flatten(0, 1)
            for label in (chunk.y, chunk.s)
        )
        noise = None if chunk.noise is None else chunk.noise.flatten(0, 1)
        mask = None if self.networks.mask is None else self.networks.mask.repeat(steps, 1, 1)
        alpha, shares = self.alpha.repeat(steps), self.shares.repeat(steps, 1, 1)
        batch = Stacked(y, s, self.groups, noise, mask, alpha, chunk.epoch, shares)
        out = self.networks.split(heads.flatten(0, 1))
        out |= {name: torch.cat([at[name] for at in free]) for name in self.method.free}
        found = self.method.values(out, batch)
        named = (*self.method.terms, *self.method.reports)
        return torch.stack([found[name].view(steps, R) for name in named], 1)

    @torch.no_grad()
    def train_epoch(self, epoch: int) -> Tensor:
        """One pass over the training rows; each term's and report's mean over them, × R, if curves
        are wanted."""
        named = (*self.method.terms, *self.method.reports) if self.job.curves else ()
        total = torch.zeros(len(named), len(self.models), device=self.on)
        for chunk in self.chunks(epoch):
            first = self.steps + 1
            self.steps += chunk.steps
            numbers = torch.arange(first, self.steps + 1, device=self.on).float()
            heads, free = (self._from_graph if self.graphs else self.take_steps)(chunk, numbers)
            if not self.job.curves:
                continue
            # one by one: the order in which a sum over them adds depends on the number of models
            for terms in self.terms(chunk, heads, free) * chunk.rows:
                total += terms
        return total / self.labels["train"].shape[1]

    def take_steps(self, chunk: Chunk, numbers: Tensor) -> tuple[Tensor, list[dict[str, Tensor]]]:
        """One step for each of its minibatches; numbers: of the steps, from 1 on.

        Gives, for the curves, the heads' outputs and the free maps as each step saw them.
        """
        sheet = self.networks.sheet(chunk.rows, chunk.steps)
        own = [name for name in self.networks.parameters if name not in self.method.critics]
        free = []
        for step, (X, batch, number) in enumerate(
            zip(self.inputs(chunk), self.batches(chunk), numbers, strict=True)
        ):
            out = self.networks.forward(X, sheet, step)
            if self.method.critics:
                self.networks.advise(out, batch, number)
            by = self.method.gradients(out, batch)
            opposing = self.method.adversary and self.method.adversary_gradients(out, batch)
            self.networks.backward(X, sheet, by, self.networks.gradients)
            if opposing is not None:
                self.networks.backward(X, sheet, opposing, self.networks.opposing)
                self.networks.settle(self.alpha, number)
            if self.job.curves:
                free.append({name: out[name].clone() for name in self.method.free})
            self.networks.adam(own, number, self.method.learning_rate, self.training.weight_decay)
        return sheet.heads, free

    def _from_graph(self, chunk: Chunk, numbers: Tensor) -> tuple[Tensor, list[dict[str, Tensor]]]:
        def work(numbers: Tensor, *given: Any) -> Any:
            places, y, s, noise = given
            return self.take_steps(Chunk(places, y, s, noise, *chunk[4:]), numbers)

        assert self.graphs is not None
        shape = chunk.rows, chunk.steps
        return self.graphs.run(work, [numbers, *chunk[:4]], shape, chunk.epoch)

    @torch.no_grad()
    def validate(self, epoch: int) -> Tensor:
        """What early stopping watches, as a rule the objective, on the validation rows, R."""
        labels = self.labels["validation"].long()
        total = torch.zeros(len(self.models), device=self.on)
        for start in range(0, labels.shape[1], self.method.block):
            y, *s = labels[:, start : start + self.method.block]
            rows = len(y)
            noise = self.draw_noise("validation", 1, rows)
            batch = Stacked(
                y.expand(len(total), 1, -1),
                torch.stack([s[i] for i in self.setting_of])[:, None],
                self.groups,
                None if noise is None else noise[0],
                self.networks.mask,
                self.alpha,
                epoch,
                self.shares,
            )
            X = self.X["validation"].part(start, start + rows)[None]
            out = self.networks.forward(X, self.networks.sheet(rows))
            terms = self.method.values(out, batch)
            total += self.method.watched(terms) * rows
        return total / labels.shape[1]

    @torch.no_grad()
    def predict(self, part: str) -> Tensor:
        """The probability of class 1, R × rows."""
        found = []
        for start in range(0, len(self.X[part]), ROWS):
            X = self.X[part].part(start, start + ROWS)[None]
            out = self.networks.forward(X, self.networks.sheet(X.shape[1]))
            found.append(out["target"].softmax(1)[:, 1])
        return torch.cat(found, 1)

    def run(self, say: Callable[[int, int, float], None], where: str) -> None:
        """Train until every model has stopped; then each holds its curves and probabilities."""
        for epoch in range(self.training.epochs):
            terms = self.train_epoch(epoch)
            if not self.job.watched and epoch + 1 < self.training.epochs:
                say(epoch + 1, len(self.models), math.nan)
                continue
            validation = self.validate(epoch)
            # The one transfer to the host in an epoch.
            table = torch.cat([terms, validation[None]]).cpu().numpy().astype(float).T
            running = [r for r, model in enumerate(self.models) if model.running]
            for r in running:
                self._record(self.models[r], epoch, table[r], where)
            stopped = [r for r in running if not self.models[r].running]
            if stopped:
                predicted = {
                    part: self.predict(part).cpu().numpy() for part in ("validation", "test")
                }
                for r in stopped:
                    if not self.models[r].diverged:
                        own = {part: values[r].copy() for part, values in predicted.items()}
                        self.models[r].probabilities = own
                        self.models[r].parameters = self.networks.parameters_of(r)
            left = len(running) - len(stopped)
            say(epoch + 1, left, float(table[:, 0].mean()) if self.job.curves else math.nan)
            if not left:
                return
            self.compact()

    def _record(self, model: Trained, epoch: int, values: np.ndarray, where: str) -> None:
        if not np.isfinite(values).all():
            if self.job.may_diverge:
                model.diverged, model.running = True, False
                return
            raise Problem(
                f"{where}: the objective of setting {model.variant.setting}, seed {model.seed}, "
                f"alpha {model.variant.alpha:g} is not finite in epoch {epoch + 1}; "
                "try a smaller learning rate or alpha"
            )
        *found, validation = map(float, values)
        if self.job.curves:
            row = dict(zip((*self.method.terms, *self.method.reports), found, strict=True))
            total = sum(row[name] for name in self.method.terms)
            model.curves.append(row | {"total": total, "validation": validation})
        if validation < model.best:
            model.best, model.waited = validation, 0
        else:
            model.waited += 1
        last = epoch + 1 == self.training.epochs
        model.running = not last and model.waited < self.training.patience


def train(
    job: Job,
    data: Prepared,
    models: list[Model],
    on: torch.device,
    say: Callable[[int, int, float], None] = lambda epoch, running, loss: None,
    where: str = "training",
) -> list[Trained]:
    """Every model, in their order: all in one pass, or one pass per variant if that has features
    of its own."""
    if on.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # deterministic cuBLAS
    else:
        torch.set_num_threads(1)  # one worker per core; threads on small matrices only fight
    # What torch.use_deterministic_algorithms(True) does, but for loading a compiler: one second.
    torch.set_deterministic_debug_mode("error")
    # Filling every new tensor with NaN only serves to find reads of uninitialised memory.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    trained = [Trained(seed, variant) for seed, variant in models]
    if not job.method.repairs:
        Pass(job, data, trained, on).run(say, where)
        return trained
    for variant in dict.fromkeys(model.variant for model in trained):
        repaired = job.method.repair(data, variant.setting, variant.alpha)
        of_variant = [model for model in trained if model.variant == variant]
        Pass(job, replace(data, X=repaired), of_variant, on).run(say, where)
    return trained

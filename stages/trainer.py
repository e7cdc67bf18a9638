"""One batched pass trains many models of a method on a dataset: seeds × settings (× strengths).

The models' parameters are stacked, and a step is one forward and backward for all of them. Models
of one seed see the same minibatches, so their first layers are one wide product, and so are those
of all seeds with equally many models (a block):

    E seeds × (K·units) × features   @   E seeds × features × B rows

Activations keep the rows innermost (models × units × B): the wide product then reshapes to models
for free, and every softmax reduces over an outer dimension, which vectorises. The layers are
differentiated by hand; a method says only how its objective depends on the heads' outputs. This
explicit form takes a fraction of the time of torch.func (stack_module_state, functional_call, vmap)
around an ordinary module: `make bench` shows both.

A model's numbers depend on its seed, setting and strength alone, never on who shares the pass:
initialisation, shuffling and noise come from generators of its own (`stream`), and no operation
here mixes models.
"""

import hashlib
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from stages.files import Problem
from stages.jobs import Job, Model, Trained, Variant
from stages.methods import ALL, CLASSES, GROUPS, Batch
from stages.processed import Processed

CHUNK = 32  # minibatches that are gathered, and whose noise is drawn, at a time
LANES = 16  # floats in the widest vector register (AVX-512)
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


def stream(seed: int, *purpose: str, on: torch.device) -> torch.Generator:
    """A generator of its own for each seed and purpose."""
    key = hashlib.sha256("/".join([str(seed), *purpose]).encode()).digest()
    return torch.Generator(on).manual_seed(int.from_bytes(key[:8], "big"))


def uniform(shape: tuple[int, ...], bound: float, generator: torch.Generator) -> Tensor:
    """PyTorch's default initialisation of a linear layer is U(−bound, bound), bound = 1/√inputs."""
    drawn = torch.rand(shape, generator=generator, device=generator.device)
    return (2 * drawn - 1) * bound


def gumbel(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Draws from Gumbel(0, 1): −log(−log u)."""
    drawn = torch.rand(shape, generator=generator, device=generator.device)
    # torch.rand is in [0, 1); a zero would become −inf.
    return drawn.clamp_(min=torch.finfo(drawn.dtype).tiny).log_().neg_().log_().neg_()


def initial(seed: int, sizes: dict[str, tuple[int, int]], on: torch.device) -> dict[str, Tensor]:
    """One model's parameters from its seed. sizes: name -> (outputs, inputs).

    Layers of the extractor have their bias as a last column; heads and free maps have none.
    """
    parameters = {}
    for name, (outputs, inputs) in sizes.items():
        bound = 1 / math.sqrt(inputs)
        columns = inputs + 1 if name.startswith("layer") else inputs
        parameters[name] = uniform((outputs, columns), bound, stream(seed, name, on=on))
    return parameters


def aligned(rows: int, columns: int) -> int:
    """The least number of rows, at least `rows`, whose rows × columns fill whole vector registers.

    Adam's kernel rounds differently in the remainder that does not, which would make a model's bits
    depend on where in the stack it lies.
    """
    return next(n for n in range(rows, rows + LANES) if n * columns % LANES == 0)


def pad(matrix: Tensor, rows: int | None = None, columns: int | None = None) -> Tensor:
    """The matrix with zeros below and to the right."""
    below = (rows or matrix.shape[0]) - matrix.shape[0]
    right = (columns or matrix.shape[1]) - matrix.shape[1]
    return torch.nn.functional.pad(matrix, (0, right, 0, below))


def relu_backward(gradient: Tensor, output: Tensor) -> None:
    """In place: the gradient is zero where the output is."""
    torch.ops.aten.threshold_backward.grad_input(gradient, output, 0, grad_input=gradient)


class Block(NamedTuple):
    """Neighbouring seeds with equally many models: E × K of them, from these places on."""

    seed: int
    slot: int
    E: int
    K: int

    def wide(self, stacked: Tensor) -> Tensor:
        """The block's part of R × units × anything as E × (K·units) × anything."""
        own = stacked[self.slot : self.slot + self.E * self.K]
        return own.view(self.E, -1, own.shape[2])

    def of_seeds(self, X: Tensor) -> Tensor:
        return X[self.seed : self.seed + self.E]


class Gradients(dict[str, Tensor]):
    """The gradient by each parameter, and views of some that every step writes to."""

    def __init__(self, owner: "Pass") -> None:
        super().__init__({name: torch.zeros_like(p) for name, p in owner.parameters.items()})
        self.first = [block.wide(self[owner.layers[0]]) for block in owner.blocks]
        self.free = owner.free(self)


class Sheet:
    """What steps over so many rows compute, and views of it: made once, written over and over.

    The heads' outputs of several steps are kept, the rest is the last step's.
    """

    def __init__(self, owner: "Pass", rows: int, steps: int) -> None:
        R, on = len(owner.models), owner.on
        heads = owner.parameters["heads"].shape[1]
        # each layer's output, R × units × rows, and the gradient by it
        self.layers = [torch.zeros(R, units, rows, device=on) for units in owner.widths[1:]]
        self.by_layers = [torch.zeros_like(layer) for layer in self.layers]
        self.first = [block.wide(self.layers[0]) for block in owner.blocks]
        self.by_first = [block.wide(self.by_layers[0]) for block in owner.blocks]
        # the heads' outputs, steps × R × heads × rows, and the gradient by one step's
        self.heads = torch.zeros(steps, R, heads, rows, device=on)
        self.by_heads = torch.zeros(R, heads, rows, device=on)
        free = owner.free(owner.parameters)
        self.out = [owner.split(step) | free for step in self.heads]
        self.by = owner.split(self.by_heads)


class Chunk(NamedTuple):
    """Several steps' minibatches of one size, side by side."""

    X: Tensor  # E × (steps·rows) × features: models of one seed see the same
    y: Tensor  # R × 1 × (steps·rows)
    s: Tensor  # R × 1 × (steps·rows)
    noise: Tensor | None  # steps × R × groups × rows
    rows: int  # of a step
    epoch: int

    @property
    def steps(self) -> int:
        return self.X.shape[1] // self.rows


def seated(models: list[Trained]) -> list[int]:
    """An order of the models: seed by seed, seeds with equally many models next to each other."""
    of_seed: dict[int, list[int]] = {}
    for r, model in enumerate(models):
        of_seed.setdefault(model.seed, []).append(r)
    return [r for slots in sorted(of_seed.values(), key=len, reverse=True) for r in slots]


class Pass:
    """The stacked models: parameters, optimiser state, generators, and who sits in which slot."""

    def __init__(self, job: Job, data: Processed, models: list[Trained], on: torch.device) -> None:
        self.method, self.knobs, self.training, self.on = job.method, job.knobs, job.training, on
        self.may_diverge = job.may_diverge
        self.models = [models[r] for r in seated(models)]

        self.settings = list(dict.fromkeys(model.variant.setting for model in models))
        nothing = np.zeros(len(data.y), np.int16)
        groups = [data.groups[s] if s != ALL else nothing for s in self.settings]
        # the class of every row, then its group in each setting
        labels = torch.from_numpy(np.stack([data.y, *groups]).astype(np.int16))
        self.group_counts = {s: len(data.group_names[s]) if s != ALL else 1 for s in self.settings}
        self.classes = 2
        # Padding all settings to the dataset's largest, not to this pass's, keeps every product's
        # shape, and so every bit, the same whichever settings share the pass.
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
        # Data, resident on the device. A column of ones makes the first bias a weight.
        inputs = data.X.shape[1]
        columns = aligned(inputs + 1, job.hidden[0])
        self.X, self.labels = {}, {}
        for name, rows in data.split.items():
            X = np.zeros((len(rows), columns), np.float32)
            X[:, :inputs], X[:, inputs] = data.X[rows], 1
            self.X[name] = torch.from_numpy(X).to(on)
            self.labels[name] = labels[:, torch.from_numpy(rows.astype(np.int64))].to(on)

        self.layers = [f"layer{i}" for i in range(len(job.hidden))]
        self.widths = [inputs, *job.hidden]
        stacked = [self._stackable(self._start(m.seed, m.variant)) for m in self.models]
        # name -> R models × outputs × inputs
        self.parameters = {
            name: torch.stack([model[name] for model in stacked]) for name in stacked[0]
        }
        self.moments = [
            {name: torch.zeros_like(p) for name, p in self.parameters.items()} for _ in range(2)
        ]
        self.steps = 0
        self.shuffle = {m.seed: stream(m.seed, "shuffle", on=on) for m in self.models}
        self.noise_of = {
            (m.seed, m.variant, part): stream(m.seed, "noise", part, m.variant.setting, on=on)
            for m in self.models
            for part in ("train", "validation")
        }
        self._arrange()

    # -- parameters -------------------------------------------------------------------------------

    def _size(self, size: str | int, groups: int) -> int:
        return {CLASSES: self.classes, GROUPS: groups}[size] if isinstance(size, str) else size

    def _sizes(self, variant: Variant) -> dict[str, tuple[int, int]]:
        """name -> (outputs, inputs) of one model's parameters."""
        groups = self.group_counts[variant.setting]
        sizes = {n: (self.widths[i + 1], self.widths[i]) for i, n in enumerate(self.layers)}
        for name, size in self.method.heads.items():
            sizes[name] = (self._size(size, groups), self.widths[-1])
        for name in self.method.free:
            sizes[name] = self._shape(name, groups)
        return sizes

    def _start(self, seed: int, variant: Variant) -> dict[str, Tensor]:
        parameters = initial(seed, self._sizes(variant), self.on)
        for name in self.method.zeros:
            parameters[name].zero_()
        return parameters

    def _shape(self, name: str, groups: int) -> tuple[int, int]:
        """(outputs, inputs) of a free map."""
        outputs, inputs = self.method.free[name]
        return self._size(outputs, groups), self._size(inputs, groups)

    def _stackable(self, model: dict[str, Tensor]) -> dict[str, Tensor]:
        """All heads as one matrix, all settings' parameters of one shape, padded with zeros.

        A padded weight has no gradient and stays zero.
        """
        heads = [
            pad(model.pop(name), rows=self._size(size, self.groups))
            for name, size in self.method.heads.items()
        ]
        together = torch.cat(heads)
        model["heads"] = pad(together, rows=aligned(*together.shape))
        for name in self.layers:
            outputs, columns = model[name].shape
            model[name] = pad(model[name], columns=aligned(columns, outputs))
        for name in self.method.free:
            flat = pad(model[name], *self._shape(name, self.groups)).view(1, -1)
            model[name] = pad(flat, columns=aligned(flat.shape[1], 1))
        return model

    def _arrange(self) -> None:
        """What follows from which model sits in which slot."""
        of_seed = [
            (seed, len(list(run))) for seed, run in groupby(model.seed for model in self.models)
        ]
        self.seeds = [seed for seed, _ in of_seed]
        self.blocks, slot = [], 0
        for K, run in groupby(range(len(of_seed)), key=lambda e: of_seed[e][1]):
            seeds = list(run)
            self.blocks.append(Block(seeds[0], slot, len(seeds), K))
            slot += len(seeds) * K
        self.first = [block.wide(self.parameters[self.layers[0]]) for block in self.blocks]
        # weights and bias of the layers after the first
        self.deeper = [
            (self.parameters[name][..., :width], self.parameters[name][..., width : width + 1])
            for name, width in zip(self.layers[1:], self.widths[1:], strict=False)
        ]
        self.sheets: dict[tuple[int, int], Sheet] = {}
        self.gradients, self.opposing = Gradients(self), Gradients(self)
        variants = [model.variant for model in self.models]
        self.alpha = torch.tensor([v.alpha for v in variants], device=self.on)
        # which of a seed's label rows are a slot's class, and which its group
        self.setting_of = [self.settings.index(v.setting) for v in variants]
        self.shares = self.shares_of[self.setting_of].view(-1, self.groups, self.classes)
        first = [self.seeds.index(m.seed) * (1 + len(self.settings)) for m in self.models]
        rows = first + [f + 1 + s for f, s in zip(first, self.setting_of, strict=True)]
        self.label_rows = torch.tensor(rows, device=self.on)
        # −inf for groups that a slot's setting does not have
        counts = torch.tensor([self.group_counts[v.setting] for v in variants])
        absent = torch.arange(self.groups) >= counts[:, None]
        mask = torch.zeros(absent.shape).masked_fill_(absent, -math.inf)[:, :, None].to(self.on)
        self.mask = mask if absent.any() else None
        # the same for all heads, R × heads × 1
        self.masks = None
        if self.mask is not None and GROUPS in self.method.heads.values():
            self.masks = torch.zeros(*self.parameters["heads"].shape[:2], 1, device=self.on)
            for name, part in self.split(self.masks).items():
                if self.method.heads[name] == GROUPS:
                    part.copy_(self.mask)

    def compact(self) -> None:
        """Let stopped models leave the batch."""
        staying = [r for r, model in enumerate(self.models) if model.running]
        if not staying or len(staying) == len(self.models):
            return
        slots = [staying[i] for i in seated([self.models[r] for r in staying])]
        index = torch.tensor(slots, device=self.on)
        self.parameters = {name: p[index] for name, p in self.parameters.items()}
        self.moments = [{name: m[index] for name, m in moment.items()} for moment in self.moments]
        self.models = [self.models[r] for r in slots]
        self._arrange()

    # -- forward and backward ---------------------------------------------------------------------

    def sheet(self, rows: int, steps: int = 1) -> Sheet:
        if (rows, steps) not in self.sheets:
            self.sheets[rows, steps] = Sheet(self, rows, steps)
        return self.sheets[rows, steps]

    def split(self, heads: Tensor) -> dict[str, Tensor]:
        """The part of each head."""
        sizes = [self._size(size, self.groups) for size in self.method.heads.values()]
        return dict(zip(self.method.heads, heads[:, : sum(sizes)].split(sizes, 1), strict=True))

    def free(self, parameters: dict[str, Tensor]) -> dict[str, Tensor]:
        """The free maps, or their gradients, as a method wants them: R × outputs × inputs."""
        named = {}
        for name in self.method.free:
            outputs, inputs = self._shape(name, self.groups)
            flat = parameters[name].flatten(1)[:, : outputs * inputs]
            named[name] = flat.unflatten(1, (outputs, inputs))
        return named

    def forward(self, X: Tensor, sheet: Sheet, step: int = 0) -> dict[str, Tensor]:
        """The heads' outputs and the free maps, as an objective wants them.

        X: E × rows × features; E may be 1 where all seeds see the same rows.
        """
        across = X.transpose(1, 2)
        if len(X) < len(self.seeds):
            across = across.expand(len(self.seeds), -1, -1)
        for block, weights, wide in zip(self.blocks, self.first, sheet.first, strict=True):
            torch.bmm(weights, block.of_seeds(across), out=wide)
        z = sheet.layers[0].relu_()
        for (weights, bias), layer in zip(self.deeper, sheet.layers[1:], strict=True):
            z = torch.baddbmm(bias, weights, z, out=layer).relu_()
        if self.masks is None:
            torch.bmm(self.parameters["heads"], z, out=sheet.heads[step])
        else:
            torch.baddbmm(self.masks, self.parameters["heads"], z, out=sheet.heads[step])
        return sheet.out[step]

    def advise(self, out: dict[str, Tensor], batch: Batch, step: Tensor) -> None:
        """Let the critics learn from the heads' outputs before the others follow them.

        Each of their steps is on a part of the minibatch of its own.
        """
        critics, times = list(self.method.critics), self.knobs.critic_steps
        bounds = torch.linspace(0, batch.s.shape[2], times + 1).round().long().tolist()
        for i, rows in enumerate(slice(*ends) for ends in pairwise(bounds)):
            if rows.start == rows.stop:  # fewer rows than steps
                continue
            seen = {
                name: part if name in critics else part[..., rows] for name, part in out.items()
            }
            own = replace(batch, y=batch.y[..., rows], s=batch.s[..., rows])
            for name, gradient in self.method.criticise(seen, own, self.knobs).items():
                self.gradients.free[name].copy_(gradient)
            number = (step - 1) * times + i + 1
            self.adam(critics, number, self.knobs.critic_learning_rate, weight_decay=0.0)

    def backward(self, X: Tensor, sheet: Sheet, by: dict[str, Tensor], into: Gradients) -> None:
        """From the gradients by the heads' outputs and the free maps to those of all parameters."""
        for name, gradient in into.free.items():
            if name in by:
                gradient.copy_(by[name])
        for name, gradient in sheet.by.items():
            gradient.copy_(by[name])
        torch.bmm(sheet.by_heads, sheet.layers[-1].transpose(1, 2), out=into["heads"])
        gradient = sheet.by_layers[-1]
        torch.bmm(self.parameters["heads"].transpose(1, 2), sheet.by_heads, out=gradient)
        for i in reversed(range(1, len(self.layers))):
            name, width = self.layers[i], self.widths[i]
            relu_backward(gradient, sheet.layers[i])
            into[name][..., :width] = torch.bmm(gradient, sheet.layers[i - 1].transpose(1, 2))
            into[name][..., width] = gradient.sum(2)
            weights, _ = self.deeper[i - 1]
            gradient = torch.bmm(weights.transpose(1, 2), gradient, out=sheet.by_layers[i - 1])
        relu_backward(gradient, sheet.layers[0])
        for block, wide, weights in zip(self.blocks, sheet.by_first, into.first, strict=True):
            torch.bmm(wide, block.of_seeds(X), out=weights)

    def adam(self, names: list[str], step: Tensor, rate: float, weight_decay: float) -> None:
        """One step of Adam on these parameters, in one fused kernel. step: its number.

        torch.optim.Adam(fused=True) calls the same kernel, behind 0.15 ms of bookkeeping a step.
        """
        torch._fused_adam_(
            [self.parameters[name] for name in names],
            [self.gradients[name] for name in names],
            [self.moments[0][name] for name in names],
            [self.moments[1][name] for name in names],
            [],
            [step] * len(names),
            lr=rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=weight_decay,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )

    def draw_noise(self, part: str, steps: int, rows: int) -> Tensor | None:
        """steps × R × groups × rows, each model's from its own generator."""
        if not self.method.uses_noise:
            return None
        noise = torch.zeros(steps, len(self.models), self.groups, rows, device=self.on)
        for r, model in enumerate(self.models):
            groups = self.group_counts[model.variant.setting]
            generator = self.noise_of[model.seed, model.variant, part]
            noise[:, r, :groups] = gumbel((steps, groups, rows), generator)
        return noise

    # -- training ---------------------------------------------------------------------------------

    def chunks(self, epoch: int) -> Iterator[Chunk]:
        """An epoch's minibatches, up to CHUNK of one size at a time."""
        labels, B = self.labels["train"], self.training.batch_size
        L, N = labels.shape
        E, R = len(self.seeds), len(self.models)
        order = torch.stack(
            [torch.randperm(N, generator=self.shuffle[s], device=self.on) for s in self.seeds]
        )
        whole = N // B * B
        starts = [*range(0, whole, CHUNK * B), whole, N]  # the last minibatch may be smaller
        for start, end in pairwise(dict.fromkeys(starts)):
            chunk, size = order[:, start:end], end - start
            rows = min(B, size)
            X = self.X["train"].index_select(0, chunk.flatten()).view(E, size, -1)
            of_seed = labels.expand(E, L, N).gather(2, chunk[:, None].expand(E, L, size))
            own = of_seed.view(E * L, size).index_select(0, self.label_rows).long()
            y, s = own.view(2, R, 1, size)
            yield Chunk(X, y, s, self.draw_noise("train", size // rows, rows), rows, epoch)

    def batches(self, chunk: Chunk) -> list[Batch]:
        """Each step's minibatch."""
        weight = self.alpha[:, None, None] / chunk.rows
        labels = zip(chunk.y.split(chunk.rows, 2), chunk.s.split(chunk.rows, 2), strict=True)
        noise = [None] * chunk.steps if chunk.noise is None else chunk.noise.unbind()
        return [
            Batch(y, s, self.groups, drawn, self.mask, self.alpha, chunk.epoch, self.shares, weight)
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
        mask = None if self.mask is None else self.mask.repeat(steps, 1, 1)
        alpha, shares = self.alpha.repeat(steps), self.shares.repeat(steps, 1, 1)
        batch = Batch(y, s, self.groups, noise, mask, alpha, chunk.epoch, shares)
        out = self.split(heads.flatten(0, 1))
        out |= {name: torch.cat([at[name] for at in free]) for name in self.method.free}
        found = self.method.objective(out, batch, self.knobs)
        named = (*self.method.terms, *self.method.reports)
        return torch.stack([found[name].view(steps, R) for name in named], 1)

    @torch.no_grad()
    def train_epoch(self, epoch: int) -> Tensor:
        """One pass over the training rows; each term's and report's mean over them, × R."""
        named = (*self.method.terms, *self.method.reports)
        total = torch.zeros(len(named), len(self.models), device=self.on)
        own = [name for name in self.parameters if name not in self.method.critics]
        for chunk in self.chunks(epoch):
            sheet = self.sheet(chunk.rows, chunk.steps)
            first = self.steps + 1
            self.steps += chunk.steps
            numbers = torch.arange(first, self.steps + 1, device=self.on).float()
            free = []
            for step, (X, batch, number) in enumerate(
                zip(chunk.X.split(chunk.rows, 1), self.batches(chunk), numbers, strict=True)
            ):
                out = self.forward(X, sheet, step)
                if self.method.critics:
                    self.advise(out, batch, number)
                by = self.method.gradients(out, batch, self.knobs)
                opposing = self.method.opponent(out, batch, self.knobs)
                self.backward(X, sheet, by, self.gradients)
                if opposing is not None:
                    self.backward(X, sheet, opposing, self.opposing)
                    self.method.settle(self.gradients, self.opposing, self.alpha)
                free.append({name: out[name].clone() for name in self.method.free})
                self.adam(own, number, self.knobs.learning_rate, self.training.weight_decay)
            # one by one: the order in which a sum over them adds depends on the number of models
            for terms in self.terms(chunk, sheet.heads, free) * chunk.rows:
                total += terms
        return total / self.labels["train"].shape[1]

    @torch.no_grad()
    def validate(self, epoch: int) -> Tensor:
        """What early stopping watches, as a rule the objective, on the validation rows, R."""
        labels = self.labels["validation"].long()
        total = torch.zeros(len(self.models), device=self.on)
        for start in range(0, labels.shape[1], self.method.block):
            y, *s = labels[:, start : start + self.method.block]
            rows = len(y)
            noise = self.draw_noise("validation", 1, rows)
            batch = Batch(
                y.expand(len(total), 1, -1),
                torch.stack([s[i] for i in self.setting_of])[:, None],
                self.groups,
                None if noise is None else noise[0],
                self.mask,
                self.alpha,
                epoch,
                self.shares,
            )
            X = self.X["validation"][None, start : start + rows]
            out = self.forward(X, self.sheet(rows))
            terms = self.method.objective(out, batch, self.knobs)
            total += self.method.watched(terms) * rows
        return total / labels.shape[1]

    @torch.no_grad()
    def predict(self, part: str) -> Tensor:
        """The probability of class 1, R × rows."""
        X = self.X[part][None]
        found = []
        for start in range(0, X.shape[1], ROWS):
            rows = X[:, start : start + ROWS]
            out = self.forward(rows, self.sheet(rows.shape[1]))
            found.append(out["target"].softmax(1)[:, 1])
        return torch.cat(found, 1)

    def run(self, say: Callable[[int, int, float], None], where: str) -> None:
        """Train until every model has stopped; then each holds its curves and probabilities."""
        for epoch in range(self.training.epochs):
            terms = self.train_epoch(epoch)
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
            left = len(running) - len(stopped)
            say(epoch + 1, left, float(table[:, 0].mean()))
            if not left:
                return
            self.compact()

    def _record(self, model: Trained, epoch: int, values: np.ndarray, where: str) -> None:
        if not np.isfinite(values).all():
            if self.may_diverge:
                model.diverged, model.running = True, False
                return
            raise Problem(
                f"{where}: the objective of setting {model.variant.setting}, seed {model.seed}, "
                f"alpha {model.variant.alpha:g} is not finite in epoch {epoch + 1}; "
                "try a smaller learning rate or alpha"
            )
        *found, validation = map(float, values)
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
    data: Processed,
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
    torch.use_deterministic_algorithms(True)
    # Filling every new tensor with NaN only serves to find reads of uninitialised memory.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    trained = [Trained(seed, variant) for seed, variant in models]
    if not job.method.repairs:
        Pass(job, data, trained, on).run(say, where)
        return trained
    for variant in dict.fromkeys(model.variant for model in trained):
        repaired = job.method.repair(data, variant.setting, variant.alpha, job.knobs)
        of_variant = [model for model in trained if model.variant == variant]
        Pass(job, replace(data, X=repaired), of_variant, on).run(say, where)
    return trained

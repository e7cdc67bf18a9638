"""One batched pass trains every model of a method on a dataset: seeds × settings (× strengths).

The models' parameters are stacked, and a step is one forward and backward for all of them. Models
of one seed see the same minibatches, so their first layers are one wide product:

    E seeds × (K·units) × features   @   E seeds × features × B rows

Activations keep the rows innermost (models × units × B): the wide product then reshapes to models
for free, and every softmax reduces over an outer dimension, which vectorises. The layers are
differentiated by hand; a method says only how its objective depends on the heads' outputs. This
explicit form takes less than half the time of torch.func (stack_module_state, functional_call,
vmap) around an ordinary module: `make bench` shows both.

A model's numbers depend on its seed, setting and strength alone, never on who shares the pass:
initialisation, shuffling and noise come from generators of its own (`stream`), and no operation
here mixes models.
"""

import hashlib
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stages.files import Problem
from stages.methods import ALL, CLASSES, GROUPS, Batch, Network
from stages.params import Training
from stages.processed import Processed

CHUNK = 32  # minibatches that are gathered, and whose noise is drawn, at a time
LANES = 16  # floats in the widest vector register (AVX-512)
ROWS = 4096  # rows predicted at a time: bounds the memory


@dataclass(frozen=True)
class Variant:
    """What tells models of one seed apart."""

    setting: str
    alpha: float


@dataclass(frozen=True)
class Job:
    """What to train: a method on a dataset, one model per variant for each seed."""

    method: Network
    knobs: Any  # the method's `Knobs`
    data: Processed
    variants: list[Variant]
    hidden: list[int]  # units of each layer of the feature extractor
    training: Training


@dataclass
class Trained:
    """What one model leaves behind."""

    seed: int
    variant: Variant
    curves: list[dict[str, float]] = field(default_factory=list)  # one row per epoch
    probabilities: dict[str, np.ndarray] = field(default_factory=dict)  # class 1; split -> rows
    best: float = math.inf  # lowest validation objective so far
    waited: int = 0  # epochs since


def device() -> torch.device:
    """CUDA if there is one, else the CPU; INFOFAIR_DEVICE overrides."""
    name = os.environ.get("INFOFAIR_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu")
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


class Pass:
    """The stacked models: parameters, optimiser state, generators, and who sits in which slot."""

    def __init__(self, job: Job, seeds: list[int], on: torch.device) -> None:
        self.method, self.knobs, self.training, self.on = job.method, job.knobs, job.training, on
        data, variants, hidden = job.data, job.variants, job.hidden
        self.seeds = list(seeds)
        self.models = [[Trained(seed, variant) for variant in variants] for seed in seeds]
        self.running = [[True] * len(variants) for _ in seeds]

        # Data, resident on the device. A column of ones makes the first bias a weight.
        inputs = data.X.shape[1]
        columns = aligned(inputs + 1, hidden[0])
        X = torch.zeros(len(data.X), columns)
        X[:, :inputs], X[:, inputs] = torch.tensor(data.X), 1
        y = torch.from_numpy(data.y.astype(np.int64))
        settings = list(dict.fromkeys(variant.setting for variant in variants))
        nothing = np.zeros(len(data.y), np.int64)
        groups = [data.groups[s] if s != ALL else nothing for s in settings]
        s = torch.from_numpy(np.stack(groups).astype(np.int64))
        self.group_counts = {s: len(data.group_names[s]) if s != ALL else 1 for s in settings}
        self.classes = 2
        # Padding all settings to the dataset's largest, not to this pass's, keeps every product's
        # shape, and so every bit, the same whichever settings share the pass.
        widest = max(len(names) for names in data.group_names.values())
        self.groups = widest if job.method.uses_groups else 1
        self.X, self.y, self.s = {}, {}, {}
        for name, numbers in data.split.items():
            rows = torch.from_numpy(numbers.astype(np.int64))
            self.X[name] = X[rows].to(on)
            self.y[name], self.s[name] = y[rows].to(on), s[:, rows].to(on)

        self.layers = [f"layer{i}" for i in range(len(hidden))]
        self.widths = [inputs, *hidden]
        stacked = [
            [self._stackable(self._start(seed, variant)) for variant in variants] for seed in seeds
        ]
        # name -> E seeds × K models of a seed × outputs × inputs
        self.parameters = {
            name: torch.stack([torch.stack([m[name] for m in row]) for row in stacked])
            for name in stacked[0][0]
        }
        self.moments = [
            {name: torch.zeros_like(p) for name, p in self.parameters.items()} for _ in range(2)
        ]
        self.steps = torch.zeros((), device=on)
        self.setting_of = torch.tensor(
            [[settings.index(v.setting) for v in variants]] * len(seeds), device=on
        )
        self.alpha = torch.tensor([[v.alpha for v in variants]] * len(seeds), device=on)
        self.shuffle = {seed: stream(seed, "shuffle", on=on) for seed in seeds}
        self.noise_of = {
            (seed, variant, part): stream(seed, "noise", part, variant.setting, on=on)
            for seed in seeds
            for variant in variants
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
        self.gradients = {name: torch.zeros_like(p) for name, p in self.parameters.items()}
        self.opposing = {name: torch.zeros_like(p) for name, p in self.parameters.items()}
        # −inf for groups that a slot's setting does not have
        counts = [[self.group_counts[m.variant.setting] for m in row] for row in self.models]
        absent = torch.arange(self.groups) >= torch.tensor(counts)[..., None]
        mask = torch.zeros(absent.shape).masked_fill_(absent, -math.inf)
        self.mask = mask.view(-1, self.groups, 1).to(self.on) if absent.any() else None

    def compact(self) -> None:
        """Let stopped models leave the batch.

        Slots form a grid of seeds × models. A seed leaves with its last model; the others keep
        their running models, and as many stopped ones as the busiest seed's grid row needs.
        """
        rows = [e for e, running in enumerate(self.running) if any(running)]
        width = max((sum(running) for running in self.running), default=0)
        if not rows or (len(rows), width) == self.alpha.shape:
            return
        # running models first, in their order
        columns = [np.argsort(np.logical_not(self.running[e]), kind="stable")[:width] for e in rows]
        index = (
            torch.tensor(rows)[:, None].to(self.on),
            torch.from_numpy(np.stack(columns)).to(self.on),
        )
        self.parameters = {name: p[index] for name, p in self.parameters.items()}
        self.moments = [{name: m[index] for name, m in moment.items()} for moment in self.moments]
        self.setting_of, self.alpha = self.setting_of[index], self.alpha[index]
        self.models = [[self.models[e][k] for k in ks] for e, ks in zip(rows, columns, strict=True)]
        self.running = [
            [self.running[e][k] for k in ks] for e, ks in zip(rows, columns, strict=True)
        ]
        self.seeds = [self.seeds[e] for e in rows]
        self._arrange()

    # -- forward and backward ---------------------------------------------------------------------

    def forward(self, X: Tensor) -> list[Tensor]:
        """The output of every layer and of the heads, each R × outputs × B.

        X: E × B × features; E may be 1 where all seeds see the same rows.
        """
        E, K = self.alpha.shape
        first = self.parameters[self.layers[0]].view(E, -1, X.shape[2])  # E × (K·units) × features
        z = torch.bmm(first, X.transpose(1, 2).expand(E, -1, -1)).relu_()
        outputs = [z.view(E * K, self.widths[1], -1)]
        for name, width in zip(self.layers[1:], self.widths[1:], strict=False):
            weights = self.parameters[name].flatten(0, 1)
            bias = weights[..., width : width + 1]
            outputs.append(torch.baddbmm(bias, weights[..., :width], outputs[-1]).relu_())
        outputs.append(torch.bmm(self.parameters["heads"].flatten(0, 1), outputs[-1]))
        return outputs

    def backward(
        self, X: Tensor, outputs: list[Tensor], by: dict[str, Tensor], gradients: dict[str, Tensor]
    ) -> None:
        """From the gradients by the heads' outputs and the free maps to those of all parameters."""
        E, _ = self.alpha.shape
        into = {name: g.flatten(0, 1) for name, g in gradients.items()}
        gradient = torch.zeros_like(outputs[-1])
        for name, part in self.split(gradient).items():
            if name in by:
                part.copy_(by[name])
        for name in self.method.free:
            if name in by:
                flat = by[name].flatten(1)
                into[name][:, 0, : flat.shape[1]] = flat
        torch.bmm(gradient, outputs[-2].transpose(1, 2), out=into["heads"])
        gradient = torch.bmm(self.parameters["heads"].flatten(0, 1).transpose(1, 2), gradient)
        for i in reversed(range(len(self.layers))):
            name, width = self.layers[i], self.widths[i]
            relu_backward(gradient, outputs[i])
            if i == 0:
                wide = gradients[name].view(E, -1, X.shape[2])
                torch.bmm(gradient.view(E, wide.shape[1], -1), X, out=wide)
            else:
                into[name][..., :width] = torch.bmm(gradient, outputs[i - 1].transpose(1, 2))
                into[name][..., width] = gradient.sum(2)
                weights = self.parameters[name].flatten(0, 1)[..., :width]
                gradient = torch.bmm(weights.transpose(1, 2), gradient)

    def split(self, heads: Tensor) -> dict[str, Tensor]:
        """The part of each head."""
        sizes = [self._size(size, self.groups) for size in self.method.heads.values()]
        return dict(zip(self.method.heads, heads[:, : sum(sizes)].split(sizes, 1), strict=True))

    def named(self, heads: Tensor) -> dict[str, Tensor]:
        """The heads' outputs and the free maps as a method's objective wants them."""
        named = self.split(heads)
        for name, size in self.method.heads.items():
            if size == GROUPS and self.mask is not None:
                named[name] = named[name] + self.mask
        for name in self.method.free:
            outputs, inputs = self._shape(name, self.groups)
            flat = self.parameters[name].flatten(0, 2)[:, : outputs * inputs]
            named[name] = flat.unflatten(1, (outputs, inputs))
        return named

    def adam(self) -> None:
        """One step of Adam on every parameter, in one fused kernel.

        torch.optim.Adam(fused=True) calls the same kernel, behind 0.15 ms of bookkeeping a step.
        """
        self.steps += 1
        torch._fused_adam_(
            list(self.parameters.values()),
            list(self.gradients.values()),
            list(self.moments[0].values()),
            list(self.moments[1].values()),
            [],
            [self.steps] * len(self.parameters),
            lr=self.knobs.learning_rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=self.training.weight_decay,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )

    def draw_noise(self, part: str, steps: int, rows: int) -> Tensor | None:
        """steps × R × groups × rows, each model's from its own generator."""
        if not self.method.uses_noise:
            return None
        models = [model for row in self.models for model in row]
        noise = torch.zeros(steps, len(models), self.groups, rows, device=self.on)
        for r, model in enumerate(models):
            groups = self.group_counts[model.variant.setting]
            generator = self.noise_of[model.seed, model.variant, part]
            noise[:, r, :groups] = gumbel((steps, groups, rows), generator)
        return noise

    # -- training ---------------------------------------------------------------------------------

    def minibatches(self, epoch: int) -> Iterator[tuple[Tensor, Batch]]:
        """An epoch's minibatches: features of each seed, E × B × features, and the rest."""
        N, B = len(self.y["train"]), self.training.batch_size
        E, K = self.alpha.shape
        alpha = self.alpha.flatten()
        order = torch.stack(
            [torch.randperm(N, generator=self.shuffle[s], device=self.on) for s in self.seeds]
        )
        for start in range(0, N, CHUNK * B):
            chunk = order[:, start : start + CHUNK * B]
            X = self.X["train"].index_select(0, chunk.flatten()).view(E, chunk.shape[1], -1)
            y = self.y["train"][chunk][:, None].expand(E, K, -1).flatten(0, 1)[:, None]
            s = self.s["train"][self.setting_of[..., None], chunk[:, None]].flatten(0, 1)[:, None]
            noise = self.draw_noise("train", math.ceil(chunk.shape[1] / B), B)
            for step, first in enumerate(range(0, chunk.shape[1], B)):
                of = slice(first, first + B)  # the epoch's last minibatch is smaller
                drawn = None if noise is None else noise[step, ..., : X[:, of].shape[1]]
                yield (
                    X[:, of],
                    Batch(y[..., of], s[..., of], self.groups, drawn, self.mask, alpha, epoch),
                )

    def train_epoch(self, epoch: int) -> Tensor:
        """One pass over the training rows; each term's mean over them, terms × R."""
        sums = torch.zeros(len(self.method.terms), self.alpha.numel(), device=self.on)
        for X, batch in self.minibatches(epoch):
            outputs = self.forward(X)
            out = self.named(outputs[-1])
            terms, by = self.method.gradients(out, batch, self.knobs)
            opposing = self.method.opponent(out, batch, self.knobs)
            self.backward(X, outputs, by, self.gradients)
            if opposing is not None:
                self.backward(X, outputs, opposing, self.opposing)
                self.method.settle(self.gradients, self.opposing, self.alpha)
            self.adam()
            sums += torch.stack([terms[name] for name in self.method.terms]) * batch.y.shape[2]
        return sums / len(self.y["train"])

    @torch.no_grad()
    def validate(self, epoch: int) -> Tensor:
        """What early stopping watches, as a rule the objective, on the validation rows, R."""
        y, s = self.y["validation"], self.s["validation"]
        total = torch.zeros(self.alpha.numel(), device=self.on)
        for start in range(0, len(y), self.method.block):
            of = slice(start, start + self.method.block)
            rows = len(y[of])
            noise = self.draw_noise("validation", 1, rows)
            batch = Batch(
                y[of].expand(len(total), 1, -1),
                s[:, of][self.setting_of.flatten()][:, None],
                self.groups,
                None if noise is None else noise[0],
                self.mask,
                self.alpha.flatten(),
                epoch,
            )
            X = self.X["validation"][None, of]
            out = self.named(self.forward(X)[-1])
            terms = self.method.objective(out, batch, self.knobs)
            total += self.method.watched(terms) * rows
        return total / len(y)

    @torch.no_grad()
    def predict(self, part: str) -> Tensor:
        """The probability of class 1, R × rows."""
        X = self.X[part][None]
        blocks = [self.forward(X[:, i : i + ROWS])[-1] for i in range(0, X.shape[1], ROWS)]
        return torch.cat([self.split(block)["target"].softmax(1)[:, 1] for block in blocks], 1)

    def run(self, say: Callable[[int, int, float], None], where: str) -> None:
        """Train until every model has stopped; then each holds its curves and probabilities."""
        for epoch in range(self.training.epochs):
            terms = self.train_epoch(epoch)
            validation = self.validate(epoch)
            # The one transfer to the host in an epoch.
            table = torch.cat([terms, validation[None]]).cpu().numpy().astype(float).T
            stopped = []
            flat = [(e, k) for e, row in enumerate(self.models) for k in range(len(row))]
            for r, (e, k) in enumerate(flat):
                if self.running[e][k]:
                    model = self.models[e][k]
                    self._record(model, epoch, table[r], where)
                    if model.waited == self.training.patience or epoch + 1 == self.training.epochs:
                        stopped.append((r, e, k))
            if stopped:
                predicted = {
                    part: self.predict(part).cpu().numpy() for part in ("validation", "test")
                }
                for r, e, k in stopped:
                    self.models[e][k].probabilities = {p: v[r].copy() for p, v in predicted.items()}
                    self.running[e][k] = False
                self.compact()
            running = sum(map(sum, self.running))
            say(epoch + 1, running, float(table[:, 0].mean()))
            if not running:
                return

    def _record(self, model: Trained, epoch: int, values: np.ndarray, where: str) -> None:
        if not np.isfinite(values).all():
            raise Problem(
                f"{where}: the objective of setting {model.variant.setting}, seed {model.seed}, "
                f"alpha {model.variant.alpha:g} is not finite in epoch {epoch + 1}; "
                "try a smaller learning rate or alpha"
            )
        *terms, validation = map(float, values)
        row = dict(zip(self.method.terms, terms, strict=True))
        model.curves.append(row | {"total": sum(terms), "validation": validation})
        if validation < model.best:
            model.best, model.waited = validation, 0
        else:
            model.waited += 1


def train(
    job: Job,
    seeds: list[int],
    on: torch.device,
    say: Callable[[int, int, float], None] = lambda epoch, running, loss: None,
    where: str = "training",
) -> list[Trained]:
    """Every model, seed by seed, variant by variant within a seed."""
    if on.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # deterministic cuBLAS
    else:
        torch.set_num_threads(1)  # one worker per core; threads on small matrices only fight
    torch.use_deterministic_algorithms(True)
    # Filling every new tensor with NaN only serves to find reads of uninitialised memory.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    batched = Pass(job, seeds, on)
    models = [model for row in batched.models for model in row]
    batched.run(say, where)
    return models

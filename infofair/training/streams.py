"""Random numbers: where initial parameters, the order of rows and noise come from.

Of the kinds of streams, `own` serves our own comparisons and `authors` the paper's table; `shared`
trades a part of what seeds differ in for speed. A model's numbers depend on its seed and setting,
never on who shares its pass.
"""

import hashlib
import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

Sizes = dict[str, tuple[int, int]]  # name -> (outputs, inputs)
SHARED = "the order of rows of all seeds"


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


def has_bias(name: str) -> bool:
    """Layers of the extractor have their bias as a last column; heads and free maps have none."""
    return name.startswith("layer")


@dataclass(frozen=True)
class Noise:
    """One model's Gumbel noise."""

    of: dict[str, torch.Generator]  # "train", "validation"
    rows_first: bool  # which of a minibatch's rows and groups is drawn along first

    def draw(self, part: str, steps: int, groups: int, rows: int) -> Tensor:
        """Of so many steps, steps × groups × rows."""
        if self.rows_first:
            return gumbel((steps, rows, groups), self.of[part]).transpose(1, 2)
        return gumbel((steps, groups, rows), self.of[part])


class Own:
    """A generator for each seed and purpose, so that models of one seed start alike and see the
    same minibatches in every setting."""

    of_setting: ClassVar[bool] = False  # whether settings draw different numbers from one seed
    of_seed: ClassVar[bool] = True  # whether seeds take the rows in different orders

    def __init__(self, seed: int, on: torch.device) -> None:
        self.seed, self.on = seed, on
        self.shuffle = stream(seed, "shuffle", on=on) if self.of_seed else stream(0, SHARED, on=on)

    def initial(self, sizes: Sizes) -> dict[str, Tensor]:
        """One model's parameters."""
        return {
            name: uniform(
                (outputs, inputs + has_bias(name)),
                1 / math.sqrt(inputs),
                stream(self.seed, name, on=self.on),
            )
            for name, (outputs, inputs) in sizes.items()
        }

    def order(self, rows: int) -> Tensor:
        """The training rows as the next epoch takes them."""
        return torch.randperm(rows, generator=self.shuffle, device=self.on)

    def noise(self, setting: str) -> Noise:
        """One model's, from its first step on."""
        parts = ("train", "validation")
        of = {part: stream(self.seed, "noise", part, setting, on=self.on) for part in parts}
        return Noise(of, rows_first=False)


class Shared(Own):
    """As `own`, but models of all seeds see the same minibatches, in all settings.

    So a step gathers one minibatch for all models of a pass, and all their first layers are one
    product: many small networks train in a fraction of the time where minibatches are large. What
    it changes: seeds differ in their initial parameters and their noise alone, so that the spread
    over them lacks the part that the order of rows has in it.
    """

    of_seed: ClassVar[bool] = False


class Authors:
    """PyTorch's one CPU generator, seeded once, as the released code draws from it.

    First come the layers, in the order in which they are built; how much they draw depends on the
    groups, so the minibatches differ from setting to setting. Every epoch then draws five numbers:
    the training loader's base seed and its sampler's, the same two for the evaluation on the
    training rows, and the validation loader's base seed.

    Noise came from the GPU's generator, which another device does not have: it is drawn as there,
    rows × groups, from a generator of the device with the same seed, for training and validation in
    turn. It hardly matters: docs/reproduction.md says what other generators change.
    """

    of_setting: ClassVar[bool] = True
    of_seed: ClassVar[bool] = True

    def __init__(self, seed: int, on: torch.device) -> None:
        self.seed, self.on = seed, on
        self.generator = torch.Generator()

    def initial(self, sizes: Sizes) -> dict[str, Tensor]:
        """torch.nn.Linear's own initialisation; what follows is drawn after it."""
        self.generator.manual_seed(self.seed)
        parameters = {}
        for name, (outputs, inputs) in sizes.items():
            drawn = torch.empty(outputs, inputs)
            nn.init.kaiming_uniform_(drawn, a=math.sqrt(5), generator=self.generator)
            if has_bias(name):
                bound = 1 / math.sqrt(inputs)
                bias = torch.empty(outputs)
                nn.init.uniform_(bias, -bound, bound, generator=self.generator)
                drawn = torch.cat([drawn, bias[:, None]], 1)
            parameters[name] = drawn.to(self.on)
        return parameters

    def order(self, rows: int) -> Tensor:
        _, sampler, *_ = [self._number() for _ in range(5)]
        shuffle = torch.Generator().manual_seed(sampler)
        return torch.randperm(rows, generator=shuffle).to(self.on)

    def noise(self, setting: str) -> Noise:
        one = torch.Generator(self.on).manual_seed(self.seed)
        return Noise({"train": one, "validation": one}, rows_first=True)

    def _number(self) -> int:
        return int(torch.empty((), dtype=torch.int64).random_(generator=self.generator))


Streams = Own | Authors
KINDS: dict[str, type[Own] | type[Authors]] = {"own": Own, "authors": Authors, "shared": Shared}

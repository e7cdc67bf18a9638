"""Random numbers: a generator of its own for every seed and purpose."""

import hashlib
import math

import torch
from torch import Tensor


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

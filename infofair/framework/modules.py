"""The four modules of the paper, as ordinary PyTorch for one model.

Any of them can be replaced by a module with the same inputs and outputs, B being the rows:

    feature extractor              X (B, …)           → (B, width)
    target predictor               (B, width)         → (B, classes), or (B, 1) for a number
    sensitive feature predictor    z (B, d)           → (B, groups), the logits of q(s|z);
                                                        a Density if s has numbers
    density ratio estimator        z (B, d)           → (B, groups): f(z, s) for every s;
                                   z, c (B, numbers)    likewise, with c the numbers of s

A module that is handed over starts from the weights it has. A function that makes one is called
for every model, under its seed: `extractor(inputs)`, `target_predictor(width, outputs)`,
`sensitive_predictor(d, groups, numbers)`, `density_ratio(d, groups, numbers)`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

UNITS = 16  # of a critic's hidden layer
RATIO_UNITS = 32  # of a ratio's with numbers
COMPONENTS = 5  # of a mixture
LEAST_SCALE = 0.15  # of its components, in standard deviations of the attribute
LARGEST = 30.0  # what a ratio's inputs are held within: a far draw must not shake it


def extractor(inputs: int, hidden: Sequence[int]) -> nn.Sequential:
    """The MLP of the paper: linear layers, each with a ReLU."""
    layers: list[nn.Module] = []
    for width in hidden:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers)


class Critic(nn.Module):
    """From z to a number for every group: W₂ tanh(W₁ z + b₁) + V z + b₂.

    The slope V keeps it alive where the hidden layer is flat. At first it says nothing: 0.
    """

    def __init__(self, inputs: int, outputs: int, units: int = UNITS) -> None:
        super().__init__()
        self.hidden = nn.Linear(inputs, units)
        self.out = nn.Linear(units, outputs, bias=False)
        self.slope = nn.Linear(inputs, outputs)
        for parameter in (self.out.weight, self.slope.weight, self.slope.bias):
            nn.init.zeros_(parameter)

    def forward(self, z: Tensor) -> Tensor:
        return self.out(self.hidden(z).tanh()) + self.slope(z)


class Density(NamedTuple):
    """q(g, c | z) = q(g|z) q(c | z, g): groups, and for each one a mixture of Gaussians."""

    groups: Tensor  # (B, groups), logits
    weights: Tensor  # (B, groups, components), logits
    means: Tensor  # (B, groups, components, numbers)
    scales: Tensor  # likewise; standard deviations

    def log_prob(self, c: Tensor) -> Tensor:
        """log q(g, c | z) for every g, (B, groups); c: (B, numbers)."""
        apart = (c[:, None, None] - self.means) / self.scales
        each = (-0.5 * (apart.square() + LOG_2PI) - self.scales.log()).sum(3)
        within = (self.weights.log_softmax(2) + each).logsumexp(2)
        return self.groups.log_softmax(1) + within

    def draw(self, noise: Tensor) -> Tensor:
        """c̃ ~ q(·|z, g) for every g, (B, groups, numbers), without gradient.

        noise: (B, groups, 1 + numbers), standard normal; the first chooses the component.
        """
        chance = torch.special.ndtr(noise[..., :1])
        below = self.weights.detach().softmax(2).cumsum(2)[..., :-1]
        component = (below < chance).sum(2, keepdim=True)  # (B, groups, 1)
        chosen = F.one_hot(component, self.weights.shape[2]).transpose(2, 3)
        mean, scale = ((part.detach() * chosen).sum(2) for part in (self.means, self.scales))
        return mean + scale * noise[..., 1:]


LOG_2PI = 1.8378770664093453


class MixturePredictor(nn.Module):
    """q(g, c | z): a tanh layer, from which all of the Density follows.

    At first the components' means are spread over what standardised numbers have.
    """

    def __init__(self, inputs: int, groups: int, numbers: int, units: int = UNITS) -> None:
        super().__init__()
        self.shape = (groups, COMPONENTS, numbers)
        cells = groups * COMPONENTS
        self.sizes = [groups, cells, cells * numbers, cells * numbers]
        self.hidden = nn.Linear(inputs, units)
        self.out = nn.Linear(units + inputs, sum(self.sizes))
        nn.init.zeros_(self.out.weight)
        spread = torch.linspace(-1.5, 1.5, COMPONENTS)[None, :, None].expand(self.shape)
        start = torch.cat(
            [torch.zeros(groups + cells), spread.flatten(), torch.zeros(cells * numbers)]
        )
        with torch.no_grad():
            self.out.bias.copy_(start)

    def forward(self, z: Tensor) -> Density:
        G, K, k = self.shape
        flat = self.out(torch.cat([self.hidden(z).tanh(), z], 1))
        groups, weights, means, scales = flat.split(self.sizes, 1)
        return Density(
            groups,
            weights.unflatten(1, (G, K)),
            means.unflatten(1, (G, K, k)),
            F.softplus(scales.unflatten(1, (G, K, k))) + LEAST_SCALE,
        )


class NumberRatio(nn.Module):
    """f(z, (g, c)) for every g: tanh units over z, c, c²/2, z c and z c²/2, and a slope.

    The log ratio of two Gaussians is quadratic in c, with coefficients that depend on z.
    """

    def __init__(self, inputs: int, groups: int, numbers: int, units: int = RATIO_UNITS) -> None:
        super().__init__()
        self.critic = Critic(inputs + 2 * numbers + 2 * inputs * numbers, groups, units)

    def forward(self, z: Tensor, c: Tensor) -> Tensor:
        powers = torch.cat([c, c.square() / 2], -1)
        crossed = (z[..., :, None] * powers[..., None, :]).flatten(-2)
        return self.critic(torch.cat([z, powers, crossed], -1).clamp(-LARGEST, LARGEST))


class LinearRatio(nn.Module):
    """f(z, s) = w₁ᵀz + w₂ᵀs, as the paper has it; at first w₂ says nothing."""

    def __init__(self, inputs: int, groups: int, numbers: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(inputs, 1, bias=False)
        self.w2 = nn.Parameter(torch.zeros(groups))

    def forward(self, z: Tensor) -> Tensor:
        return self.w1(z) + self.w2


def linear_predictor(inputs: int, groups: int, numbers: int) -> nn.Module:
    """q(s|z) = softmax(W z), as the paper has it."""
    return nn.Linear(inputs, groups, bias=False)


def sensitive_predictor(inputs: int, groups: int, numbers: int) -> nn.Module:
    return MixturePredictor(inputs, groups, numbers) if numbers else Critic(inputs, groups)


def density_ratio(inputs: int, groups: int, numbers: int) -> nn.Module:
    return NumberRatio(inputs, groups, numbers) if numbers else Critic(inputs, groups)

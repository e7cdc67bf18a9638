"""The modules put together: who predicts, and the critics, for one model.

`Predictor` is feature extractor and target predictor, for a fair representation with a stochastic
bottleneck between them. `Critics` has a pair (q, f) for every part of s and every condition.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from infofair.framework import notions, outcomes
from infofair.framework.modules import Density

DIMENSIONS = 8  # of a representation
DRAWS = 8  # of it, that are averaged when predicting


class Predicted(NamedTuple):
    output: Tensor  # (B, classes) logits, or (B, 1)
    representation: Tensor  # (B, width): what the target predictor sees
    kl: Tensor  # (), nats: KL(p(z|x) ‖ N(0, I)), an upper bound of I(z; x)


class Predictor(nn.Module):
    """x → output. With `bottleneck`, a map to (μ, σ), z ~ N(μ(x), σ²(x)) lies between."""

    def __init__(
        self, extractor: nn.Module, target: nn.Module, bottleneck: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.extractor, self.target, self.bottleneck = extractor, target, bottleneck

    def forward(self, X: Tensor, noise: Tensor | None = None) -> Predicted:
        """noise: (B, DIMENSIONS), standard normal, of the bottleneck; without it, z = μ."""
        h = self.extractor(X)
        if self.bottleneck is None:
            return Predicted(self.target(h), h, h.new_zeros(()))
        mean, scale = self.gaussian(h)
        z = mean if noise is None else mean + scale * noise
        return Predicted(self.target(z), z, outcomes.kl(mean, scale).mean())

    def gaussian(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """μ(x) and σ(x) of the bottleneck from the extractor's output."""
        assert self.bottleneck is not None
        mean, raw = self.bottleneck(h).chunk(2, 1)
        return mean, F.softplus(raw) + 1e-3


class Judged(NamedTuple):
    log_q: Tensor  # (), E[log q(s|z)]
    log_ratio: Tensor  # (), E[f(z, s)]
    loss: Tensor  # (), the critics' own


class Pair(nn.Module):
    """Sensitive feature predictor and density ratio estimator of one part of s.

    q minimises E[−log q(s|z)]; f classifies true pairs (z, s) against drawn ones (z, s̃),
    s̃ ~ q(·|z): E[softplus(−f(z, s))] + E[softplus(f(z, s̃))]. Over groups the mean of the drawn
    pairs is taken exactly, over numbers one is drawn in every group. I(z; s) is estimated by
    H(s) + E[log q] + E[f], whatever q is (the paper's lemma 3).

    union: E[f] over true and drawn pairs in equal parts, as the paper prints it (of groups).
    """

    def __init__(
        self, predictor: nn.Module, ratio: nn.Module, numbers: int, *, union: bool = False
    ) -> None:
        super().__init__()
        self.predictor, self.ratio, self.numbers = predictor, ratio, numbers
        self.union = union and not numbers

    def forward(
        self, z: Tensor, g: Tensor, c: Tensor, noise: Tensor | None, rows: Tensor
    ) -> Judged:
        """z: (B, d); g: (B,) groups; c: (B, numbers); rows: (B,), which take part.

        noise: (B, groups, 1 + numbers) to draw numbers with; None where there are none, and where
        the loss is not asked for.
        """
        if not self.numbers:
            log_q = self.predictor(z).log_softmax(1)
            q, f = log_q.detach().exp(), self.ratio(z)
            drawn = f
        else:
            density: Density = self.predictor(z)
            log_q = density.log_prob(c)
            q, f = density.groups.detach().softmax(1), self.ratio(z, c)
            drawn = f if noise is None else self._of_drawn(z, density.draw(noise))
        true_q, true_f = (each.gather(1, g[:, None])[:, 0] for each in (log_q, f))
        told_apart = F.softplus(-true_f) + (q * F.softplus(drawn)).sum(1)
        if self.union:  # s̃ is drawn with a gradient in the paper, so q has one here
            true_f = (true_f + (log_q.exp() * f).sum(1)) / 2
        return Judged(
            notions.mean(true_q, rows),
            notions.mean(true_f, rows),
            notions.mean(told_apart - true_q, rows),
        )

    def _of_drawn(self, z: Tensor, c: Tensor) -> Tensor:
        """f(z, (g, c̃_g)) for every g, (B, groups); c̃: (B, groups, numbers)."""
        G = c.shape[1]
        every = self.ratio(
            z[:, None].expand(-1, G, -1).flatten(0, 1), c.flatten(0, 1)
        )  # (B·groups, groups)
        return every.unflatten(0, (-1, G)).diagonal(dim1=1, dim2=2)


class Critics(nn.Module):
    """A pair for every part of s and every condition."""

    def __init__(self, pairs: list[list[Pair]]) -> None:
        """pairs: of every part of s, of every condition."""
        super().__init__()
        self.pairs = nn.ModuleList(nn.ModuleList(own) for own in pairs)

    def forward(
        self, z: Tensor, s: "list[tuple[Tensor, Tensor]]", noise: "list[Tensor | None]",
        rows: Tensor, weights: Tensor,
    ) -> Judged:  # fmt: skip
        """Each sum over parts of s and conditions, these by their weights.

        s: groups and numbers of each part; rows: (conditions, B); weights: (conditions,).
        """
        judged = [
            pair(z, g, c, drawn, of)
            for pairs, (g, c), drawn in zip(self.pairs, s, noise, strict=True)
            for pair, of in zip(pairs, rows, strict=True)  # type: ignore[call-overload]
        ]
        counted = weights.repeat(len(s))
        log_q, log_ratio, loss = (torch.stack(list(part)) for part in zip(*judged, strict=True))
        return Judged((log_q * counted).sum(), (log_ratio * counted).sum(), loss.sum())

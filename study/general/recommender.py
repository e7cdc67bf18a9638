"""A recommender whose users may be new, and its training (generalisation F).

x_u are the known ratings of user u less the items' means, and

    z_u = tanh(W x_u + b),      r̂_ui = μ + b_i + wᵀz_u + z_uᵀe_i + c_i.

A step hides a random half of the known ratings and predicts it from the other half. z is what is to
be fair: critics, or a penalty, see the z of those users alone whose s is known. A table with a free
row for every user would be no test: its fairness term fits each user's own row, and attackers then
do worse than chance, which is no fairness.

All strengths share a pass, as in infofair/framework/stacked.py: they see the same halves, so that
one sparse product X W serves them all.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import torch
from torch import Tensor, nn
from torch.func import vmap

from infofair.framework.graphs import csr, times
from infofair.framework.modules import Critic
from infofair.framework.plan import Penalty, seeded
from infofair.framework.players import Pair
from infofair.framework.sensitive import Part
from infofair.framework.stacked import Stack, descend
from infofair.training.streams import stream

UNITS = 16
# By validation ratings of vanilla: without decay it learns by heart, and after 100 steps no more.
STEPS, WARM_UP, RATE, DECAY = 100, 30, 0.01, 0.002
CRITIC_STEPS, CRITIC_RATE = 4, 0.01
CPU = torch.device("cpu")


class Ratings:
    """Users, items, and what is left of each rating without μ + b_i."""

    def __init__(self, user: np.ndarray, item: np.ndarray, left: np.ndarray, shape: Any) -> None:
        self.user, self.item, self.left = user, item, left.astype(np.float32)
        self.shape: tuple[int, int] = shape  # users, items

    def at(self, rows: np.ndarray) -> "Ratings":
        return Ratings(self.user[rows], self.item[rows], self.left[rows], self.shape)

    def matrix(self) -> tuple[Tensor, Tensor]:
        """X, sparse, and its transpose."""
        found = scipy.sparse.csr_array((self.left, (self.user, self.item)), self.shape)
        return csr(found), csr(found.T.tocsr())

    def places(self) -> Tensor:
        """Of the ratings in a table of all."""
        return torch.from_numpy(self.user.astype(np.int64) * self.shape[1] + self.item)


class Recommender(nn.Module):
    def __init__(self, items: int) -> None:
        super().__init__()
        self.extractor = nn.Linear(items, UNITS)
        self.w = nn.Parameter(torch.zeros(UNITS))
        self.e = nn.Parameter(0.1 * torch.randn(items, UNITS))
        self.c = nn.Parameter(torch.zeros(items))

    def forward(self, X: Tensor, transposed: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        """z of all users, and r̂ − μ − b of the ratings at these places."""
        z = torch.tanh(times(X, self.extractor.weight.T, transposed) + self.extractor.bias)
        every = z @ (self.e + self.w).T + self.c  # users × items
        return z, every.flatten().gather(0, places)


class Seen(NamedTuple):
    """What training is told of s."""

    part: Part  # of these users
    users: np.ndarray
    penalty: Penalty | None = None  # in place of the critics


class Fair:
    """What α weighs in every model: critics, or a penalty in their place."""

    def __init__(self, seen: Seen, models: int, seed: int) -> None:
        self.users = torch.from_numpy(seen.users.astype(np.int64))
        self.g, self.c = torch.from_numpy(seen.part.g), torch.from_numpy(seen.part.c)
        self.rows = torch.ones(len(seen.users))
        self.penalty, self.steps = seen.penalty, 0
        self.critics: Stack | None = None
        if seen.penalty is None:
            with seeded(seed, "critics"):
                q, f = (Critic(UNITS, seen.part.groups) for _ in range(2))
            pair = Pair(q, f, numbers=0)
            self.critics = Stack([pair] * models, CPU)

    def __call__(self, z: Tensor) -> Tensor:
        """z: models × users × units; after the critics have learnt from it."""
        z = z[:, self.users]
        if self.penalty is not None:
            penalty, s, rows = self.penalty, [(self.g, self.c)], self.rows[None]
            return vmap(lambda own: penalty(None, own, s, rows))(z)  # type: ignore[arg-type]
        assert self.critics is not None
        for _ in range(CRITIC_STEPS):
            self.steps += 1
            step = torch.tensor(float(self.steps))
            descend([self.critics], self._judge(z.detach()).loss, CRITIC_RATE, 0.0, step)
        judged = self._judge(z)
        return judged.log_q + judged.log_ratio

    def _judge(self, z: Tensor) -> Any:
        critics = self.critics
        assert critics is not None
        return vmap(lambda p, own: critics.call(p, {}, own, self.g, self.c, None, self.rows))(
            critics.views, z
        )


def train(
    ratings: Ratings, strengths: Sequence[float], seed: int, steps: int, told: Seen | None
) -> list[Recommender]:
    """A model of every strength. steps: at most; the warm-up is shortened alike."""
    slots = [*strengths] * (2 if len(strengths) == 1 else 1)  # nobody is alone: see stacked.Pass
    with seeded(seed, "recommender"):
        start = Recommender(ratings.shape[1])
    models = Stack([start] * len(slots), CPU)
    unfair = None if told is None else Fair(told, len(slots), seed)
    alpha = torch.tensor(slots)
    halves = stream(seed, "halves", on=CPU)
    steps = min(steps, STEPS)
    for step in range(1, steps + 1):
        order = torch.randperm(len(ratings.user), generator=halves).numpy()
        seen, hidden = (ratings.at(np.sort(own)) for own in np.array_split(order, 2))
        X, transposed = seen.matrix()
        places, truth = hidden.places(), torch.from_numpy(hidden.left)
        z, said = vmap(models.call, (0, None, None, None, None))(
            models.views, {}, X, transposed, places
        )
        loss = (said - truth).square().mean(1)
        if unfair is not None:
            term = unfair(z)  # its critics learn from the first step on
            loss = loss + alpha * term if step > steps * WARM_UP // STEPS else loss
        descend([models], loss, RATE, DECAY, torch.tensor(float(step)))
    found = []
    for r in range(len(strengths)):
        own = Recommender(ratings.shape[1])
        models.load(r, own)
        found.append(own)
    return found


@torch.no_grad()
def represented(
    model: Recommender, known: Ratings, asked: Ratings
) -> tuple[np.ndarray, np.ndarray]:
    """z of all users by all their known ratings, and r̂ − μ − b of what is asked."""
    z, said = model(*known.matrix(), asked.places())
    return z.numpy(), said.numpy()

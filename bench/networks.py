"""How much less every network costs in the batched pass, at minibatches of 1,024 rows.

    plain     one model at a time: an ordinary module and loop, autograd by the method's own
              objective (the better of one and two threads)
    own       45 models on two workers, as the comparison trains them: settings of a seed share
              minibatches, seeds do not
    shared    the same where all seeds take the rows in one order (`streams: shared`)

Costs are per model and epoch on made-up rows of Adult's shape, 32 units. Prints a table and puts
into bench/results.json `speedup_1024`, by method and streams, and of our own by themselves
speedup_1024_vanilla_45 and speedup_1024_dp_gap_45. Run it on an idle machine (five minutes).
"""

import statistics
import time
from itertools import pairwise
from typing import Any

import joblib
import numpy as np
import torch
from torch import Tensor, nn

from bench import record
from bench.training import SEEDS, SHAPES, WORKERS, stamps
from infofair import methods
from infofair.data.prepared import ALL, Prepared
from infofair.methods.base import CLASSES, GROUPS, Batch, Network, handled
from infofair.training import plan
from infofair.training.plan import Job, Training, Variant
from infofair.training.streams import gumbel
from tests.simulated import prepared

B, HIDDEN, MODELS, EPOCHS, ROUNDS = 1024, 32, 45, 3, 3
STREAMS = ("own", "shared")
EPOCH = 50  # of the plain loop: no warm-up any more
NAMES = [
    name
    for name in (*methods.names(), *methods.ABLATIONS)
    if issubclass(methods.load(name), Network)
]


class Plain(nn.Module):
    """One network: extractor, heads, free maps."""

    def __init__(self, method: Network, inputs: int, groups: int) -> None:
        super().__init__()
        sizes = {CLASSES: 2, GROUPS: groups}

        def number(size: str | int) -> int:
            return sizes[size] if isinstance(size, str) else size

        self.extractor = nn.Sequential(nn.Linear(inputs, HIDDEN), nn.ReLU())
        self.heads = nn.ModuleDict(
            {name: nn.Linear(HIDDEN, number(n), bias=False) for name, n in method.heads.items()}
        )
        self.free = nn.ParameterDict(
            {name: torch.randn(number(a), number(b)) for name, (a, b) in method.free.items()}
        )

    def forward(self, X: Tensor) -> dict[str, Tensor]:
        z = self.extractor(X)
        return {name: head(z) for name, head in self.heads.items()} | dict(self.free)


class Loop:
    """Trains one network as one would by hand."""

    def __init__(self, method: Network, data: Prepared) -> None:
        setting = "gender" if not method.handles(10) else "intersection"
        rows, names = data.split["train"], data.group_names[setting]
        self.method, self.groups = method, len(names)
        self.X = torch.from_numpy(data.X[rows])
        self.y = torch.from_numpy(data.y[rows].astype(np.int64))
        self.s = torch.eye(self.groups)[torch.from_numpy(data.groups[setting][rows]).long()]
        self.shares = torch.full((self.groups, 2), 0.5 / self.groups)
        self.model = Plain(method, self.X.shape[1], self.groups)
        own = [p for n, p in self.model.named_parameters() if not self.is_critic(n)]
        self.optimiser = torch.optim.Adam(own, lr=1e-3, fused=True)
        if method.critics:
            critics = [self.model.free[name] for name in method.critics]
            self.second = torch.optim.Adam(critics, lr=1e-3, fused=True)

    def is_critic(self, name: str) -> bool:
        return name.removeprefix("free.") in self.method.critics

    def batch(self, places: Tensor) -> Batch:
        noise = None
        if self.method.uses_noise:
            noise = gumbel((len(places), self.groups), torch.default_generator)
        present = torch.ones(self.groups, dtype=torch.bool)
        alpha = torch.tensor(0.1)
        return Batch(self.y[places], self.s[places], alpha, noise, self.shares, present, EPOCH)

    def criticise(self, out: dict[str, Tensor], batch: Batch) -> None:
        given = {name: out[name].detach() for name in self.method.heads}
        bounds = torch.linspace(0, len(batch.y), self.method.critic_steps + 1).long().tolist()
        for start, end in pairwise(bounds):
            seen = {name: part[start:end] for name, part in given.items()} | dict(self.model.free)
            part = batch._replace(y=batch.y[start:end], s=batch.s[start:end])
            self.second.zero_grad()
            self.method.critic(seen, part).backward()
            self.second.step()

    def step(self, places: Tensor) -> None:
        method, batch = self.method, self.batch(places)
        out = self.model(self.X[places])
        if method.critics:
            self.criticise(out, batch)
            out |= {name: self.model.free[name].detach() for name in method.critics}
        if method.adversary is not None:
            return self.both(out, batch)
        found = method.objective(out, batch)
        self.optimiser.zero_grad()
        torch.stack([found[name] for name in method.terms]).sum().backward()
        self.optimiser.step()

    def both(self, out: dict[str, Tensor], batch: Batch) -> None:
        """Two players who move at once."""
        named = {n.removeprefix("free."): p for n, p in self.model.named_parameters()}
        parameters = list(named.values())
        losses = self.method.objective(out, batch)["T"], self.method.adversary(out, batch)  # type: ignore[misc]
        mine, theirs = (
            dict(zip(named, torch.autograd.grad(
                loss, parameters, retain_graph=True, allow_unused=True, materialize_grads=True
            ), strict=True))
            for loss in losses
        )  # fmt: skip
        settled = self.method.settle(mine, theirs, batch.alpha, torch.tensor(9.0))
        for name, gradient in settled.items():  # a fitted adversary has had its steps
            named[name].grad = gradient
        self.optimiser.step()

    def epoch(self) -> float:
        """Seconds, by the better number of threads."""
        found = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            start = time.perf_counter()
            for places in torch.randperm(len(self.y)).split(B):
                self.step(places)
            found.append(time.perf_counter() - start)
        torch.set_num_threads(1)
        return min(found)


def batched(data: Prepared, method: Network, streams: str) -> float:
    """Seconds per model and epoch, both workers busy; the first epoch is not counted."""
    training = Training(EPOCHS, patience=10_000, batch_size=B, streams=streams)
    job = Job(method, [HIDDEN], training, curves=False)
    seeds, settings = list(range(MODELS)), [ALL]
    if method.uses_groups:
        seeds, settings = SEEDS, handled(method, data)
    alphas = [0.1 * (i + 1) for i in range(MODELS // (len(seeds) * len(settings)))]
    models = plan.models(job, seeds, [Variant(s, alpha) for s in settings for alpha in alphas])
    shares = plan.shares(models, WORKERS)
    work = [joblib.delayed(stamps)(job, data, share) for share in shares]
    ended = joblib.Parallel(n_jobs=WORKERS)(work)
    # of a method that has features of its own for every variant, one pass after the other
    spent = [sum(times[EPOCHS - 1 :: EPOCHS]) - sum(times[::EPOCHS]) for times in ended]
    return max(spent) / (EPOCHS - 1) / len(models)


def main() -> None:
    torch.set_num_threads(1)
    rows, features, races, _, _ = SHAPES["adult"]
    data = prepared(rows, features, races)
    found: dict[str, dict[str, float]] = {}
    print(f"{'times less than a plain loop':<30}" + "".join(f"{kind:>10}" for kind in STREAMS))
    for name in NAMES:
        method: Any = methods.make(name)
        rounds = []
        for _ in range(ROUNDS):
            ours = {kind: batched(data, method, kind) for kind in STREAMS}
            alone = Loop(method, data).epoch()
            rounds.append({kind: alone / spent for kind, spent in ours.items()})
        found[name] = {
            kind: round(statistics.median(one[kind] for one in rounds), 1) for kind in STREAMS
        }
        print(f"{name:<30}" + "".join(f"{v:>10.1f}" for v in found[name].values()), flush=True)
    few = {f"speedup_1024_{name}_45": found[name]["own"] for name in ("vanilla", "dp_gap")}
    record(speedup_1024=found, **few)


if __name__ == "__main__":
    main()

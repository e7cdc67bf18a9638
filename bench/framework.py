"""How much less a model costs in `fit_many` than in a plain loop: any modules, by torch.func.

    plain     one model at a time: the framework's own modules in an ordinary loop with two
              optimisers and autograd
    together  infofair/framework/stacked.py: 15 models (5 seeds × 3 strengths) in one pass

    two cores the same, the models dealt out to two workers, as fit_many does it

The last case has an extractor of a user's own. Costs are per model and epoch on rows of Adult's
shape; the first two are on one core, and what two cores gain is against the better of one and two
threads of the plain loop. Prints a table and puts the ratios into bench/results.json, `framework`
and `framework_two_cores`. Run it on an idle machine.
"""

import statistics
import time

import joblib
import numpy as np
import torch
from torch import Tensor, nn

from bench import record
from infofair.framework import notions, recipe
from infofair.framework.plan import Model, Plan, Replaced
from infofair.framework.sensitive import Part
from infofair.framework.stacked import Pass

CPU = torch.device("cpu")
ROUNDS = 5
MODELS = [Model(seed, alpha) for seed in range(5) for alpha in (0.3, 1.0, 3.0)]
ROWS, FEATURES = 16_384, 104
UNITS = 32


class Gated(nn.Module):
    """An extractor as a user might bring one, of which the framework knows nothing."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.first, self.gate = nn.Linear(inputs, UNITS), nn.Linear(inputs, UNITS)
        self.norm, self.second = nn.LayerNorm(UNITS), nn.Linear(UNITS, UNITS)

    def forward(self, X: Tensor) -> Tensor:
        h = self.norm(self.first(X) * self.gate(X).sigmoid())
        return h + self.second(h).relu()


CASES = {  # fairness, outcome, groups, numbers, extractor
    "opportunity": (notions.OPPORTUNITY, recipe.DECISION, 10, 0, None),
    "score": (notions.PARITY, recipe.SCORE, 10, 0, None),
    "representation": (notions.PARITY, recipe.REPRESENTATION, 2, 0, None),
    "age": (notions.PARITY, recipe.DECISION, 1, 1, None),
    "own module": (notions.PARITY, recipe.DECISION, 10, 0, Gated),
}


def plan(
    fair: str, outcome: str, groups: int, numbers: int, extractor: type[nn.Module] | None
) -> Plan:
    rng = np.random.default_rng(0)
    g = rng.integers(0, groups, ROWS)
    part = Part("s", groups, g, rng.normal(size=(ROWS, numbers)).astype(np.float32))
    X = rng.normal(size=(ROWS, FEATURES)).astype(np.float32)
    y = (X[:, 0] + g / groups + rng.normal(size=ROWS) > 0.5).astype(np.int64)
    rows = np.arange(ROWS)
    training = recipe.training(outcome, [part], ROWS, batch_size=1024, warm_up=0)
    split = {"train": rows, "validation": rows[:100]}
    return Plan(X, y, [part], split, 2, fair, 1, outcome, training, Replaced(extractor))


def plain(of: Plan, seed: int = 0, alpha: float = 1.0) -> float:
    """Seconds an epoch of one model."""
    how, part = of.training, of.parts[0]
    X, y = torch.from_numpy(of.X), torch.from_numpy(of.y)
    g, c = torch.from_numpy(part.g), torch.from_numpy(part.c)
    predictor, critics = of.predictor(seed), of.critics(seed)
    first = torch.optim.Adam(predictor.parameters(), lr=how.learning_rate, fused=True)
    second = torch.optim.Adam(critics.parameters(), lr=how.critic_learning_rate, fused=True)
    weights = torch.ones(1)
    start = time.perf_counter()
    for rows in torch.randperm(ROWS).split(how.batch_size):
        noise = torch.randn(len(rows), 8) if of.outcome == recipe.REPRESENTATION else None
        predicted = predictor(X[rows], noise)
        z, own = of.z(predicted), rows.split(len(rows) // how.critic_steps)
        for i, of_part in enumerate(own[: how.critic_steps]):
            seen = z.detach()[i * len(own[0]) :][: len(of_part)]
            draws = torch.randn(len(seen), part.groups, 2) if part.numbers else None
            judged = critics(
                seen, [(g[of_part], c[of_part])], [draws], of.conditions(y[of_part]), weights
            )
            second.zero_grad()
            judged.loss.backward()
            second.step()
        judged = critics(z, [(g[rows], c[rows])], [None], of.conditions(y[rows]), weights)
        loss = of.task_loss(predicted.output, y[rows]) + how.beta * predicted.kl
        first.zero_grad()
        (loss + alpha * (judged.log_q + judged.log_ratio)).backward()
        first.step()
    return time.perf_counter() - start


def together(of: Plan, models: list[Model]) -> float:
    """Seconds per model and epoch of one pass."""
    running = Pass(of, models, CPU, batched=True)
    start = time.perf_counter()
    for rows in running.minibatches():
        running.step(rows, 0)
    return (time.perf_counter() - start) / len(models)


def share(name: str, models: list[Model]) -> float:
    """Seconds an epoch of a worker's models."""
    torch.set_num_threads(1)
    return together(plan(*CASES[name]), models) * len(models)


def spread(name: str) -> float:
    """Seconds per model and epoch, both workers busy."""
    half = len(MODELS) // 2
    work = [joblib.delayed(share)(name, models) for models in (MODELS[:half], MODELS[half:])]
    return max(joblib.Parallel(n_jobs=2)(work)) / len(MODELS)


def threaded(of: Plan, threads: int) -> float:
    torch.set_num_threads(threads)
    spent = plain(of)
    torch.set_num_threads(1)
    return spent


def main() -> None:
    torch.set_num_threads(1)
    found, two = {}, {}
    print("milliseconds per model and epoch: plain loop, together, ratio; two cores, ratio")
    for name, case in CASES.items():
        own = plan(*case)
        plain(own), threaded(own, 2), together(own, MODELS[:2]), spread(name)  # warm up
        costs = [
            (plain(own), together(own, MODELS), threaded(own, 2), spread(name))
            for _ in range(ROUNDS)
        ]
        found[name] = round(statistics.median(a / b for a, b, _, _ in costs), 1)
        two[name] = round(statistics.median(min(a, c) / d for a, _, c, d in costs), 1)
        a, b, _, d = (statistics.median(of) * 1e3 for of in zip(*costs, strict=True))
        print(f"{name:16}{a:10.1f}{b:10.1f}{found[name]:8.1f}{d:10.1f}{two[name]:8.1f}", flush=True)
    record(framework=found, framework_two_cores=two)


if __name__ == "__main__":
    main()

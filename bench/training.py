"""How much less a model costs in the batched pass: ratios of things measured in the same run.

    plain     tests/plain.py: one model at a time, an ordinary module and loop (the better of one
              and two threads)
    func      torch.func: the same module, stacked with stack_module_state and vmap, 15 models on
              one core
    batched   infofair/training as the stage `train` runs it: models spread over two workers
    floor     the matrix products of the batched pass alone, if both cores did them at the speed
              that each reaches on one large product while the other is busy, too

Costs are per model and epoch of InfoFair on made-up rows of each dataset's shape. Prints a
table and puts the ratios into bench/results.json. Run it on an idle machine.
"""

import statistics
import time

import joblib
import torch
from torch.func import functional_call, grad, stack_module_state, vmap

from bench import ADULT, record
from infofair.data.prepared import Prepared
from infofair.methods.infofair import InfoFair
from infofair.training import plan
from infofair.training.batched import CHUNK, train
from infofair.training.plan import Job, Model, Training, Variant
from infofair.training.streams import Own, gumbel, stream
from tests.plain import CPU, Plain, train_plain
from tests.simulated import prepared

# rows, features, values of the second attribute, layers, epochs of the batched pass
SHAPES = {
    "compas": (6_172, 52, 6, [32, 32], 25),
    "adult": (ADULT, 104, 5, [32], 4),
    "dutch": (60_420, 73, 4, [32], 4),
}
CASES = [(name, models) for name in SHAPES for models in (15, 45)]
ROUNDS = 5
WORKERS = 2
SEEDS = list(range(5))
B = 128
LARGE = 1024  # rows and columns of the large product


def training(epochs: int, streams: str = "own") -> Training:
    return Training(epochs, patience=10_000, batch_size=B, weight_decay=0.01, streams=streams)


def plain(data: Prepared, hidden: list[int]) -> float:
    """Seconds an epoch of one model."""
    found = []
    epochs = 1 if len(data.y) > 10_000 else 5
    for threads in (1, 2):
        torch.set_num_threads(threads)
        start = time.perf_counter()
        train_plain(data, "intersection", 0, hidden=hidden, training=training(epochs))
        found.append((time.perf_counter() - start) / epochs)
    torch.set_num_threads(1)
    return min(found)


def func(data: Prepared, hidden: list[int], models: int = 15) -> float:
    """Seconds per model and epoch with torch.func; every model is of the intersection setting."""
    X = torch.from_numpy(data.X[data.split["train"]])
    y = torch.from_numpy(data.y[data.split["train"]].astype("int64"))
    s = torch.from_numpy(data.groups["intersection"][data.split["train"]].astype("int64"))
    groups, N = len(data.group_names["intersection"]), len(y)
    modules = [Plain(X.shape[1], hidden, groups, Own(seed % 5, CPU)) for seed in range(models)]
    parameters, _ = stack_module_state(modules)

    def objective(p: dict[str, torch.Tensor], *batch: torch.Tensor) -> torch.Tensor:
        terms = functional_call(modules[0], p, (*batch, 0.1, 1.0))
        return torch.stack(list(terms.values())).sum()

    gradients = vmap(grad(objective))
    optimiser = torch.optim.Adam(parameters.values(), lr=1e-4, weight_decay=0.01, fused=True)
    generator = stream(0, "bench", on=CPU)
    start = time.perf_counter()
    order = torch.stack([torch.randperm(N) for _ in SEEDS]).repeat_interleave(models // 5, 0)
    chunks = N // (CHUNK * B)  # the rest of the rows is left out, of the work and of the measure
    for chunk in range(chunks):
        noise = gumbel((CHUNK, models, groups, B), generator).transpose(2, 3)
        for step in range(CHUNK):
            rows = order[:, (chunk * CHUNK + step) * B :][:, :B]
            found = gradients(parameters, X[rows], y[rows], s[rows], noise[step])
            for name, parameter in parameters.items():
                parameter.grad = found[name]
            optimiser.step()
    return (time.perf_counter() - start) / models * N / (chunks * CHUNK * B)


def stamps(job: Job, data: Prepared, share: list[Model]) -> list[float]:
    """When each epoch of one worker's pass ended."""
    found: list[float] = []
    train(job, data, share, CPU, lambda epoch, running, loss: found.append(time.perf_counter()))
    return found


def batched(
    data: Prepared, hidden: list[int], models: int, epochs: int, streams: str = "own"
) -> float:
    """Seconds per model and epoch, both workers busy; starting processes is not counted."""
    job = Job(InfoFair(), hidden, training(epochs, streams))
    strengths = [0.1 * (i + 1) for i in range(models // 15)]
    variants = [Variant(s, a) for s in data.settings for a in strengths]
    shares = plan.shares(plan.models(job, SEEDS, variants), WORKERS)
    work = [joblib.delayed(stamps)(job, data, share) for share in shares]
    ended = joblib.Parallel(n_jobs=WORKERS)(work)
    return max((times[-1] - times[0]) / (epochs - 1) for times in ended) / models


def products(seconds: float = 0.5) -> float:
    """Floating-point operations a second that one core reaches on one large product."""
    torch.set_num_threads(1)
    a = torch.rand(LARGE, LARGE)
    start, count = time.perf_counter(), 0
    while time.perf_counter() < start + seconds:
        a @ a
        count += 1
    return count * 2 * LARGE**3 / (time.perf_counter() - start)


def floor(data: Prepared, hidden: list[int]) -> float:
    """Seconds per model and epoch of the products alone, on both cores."""
    first, *deeper = zip([data.X.shape[1], *hidden], hidden, strict=False)
    heads = 2 + len(data.group_names["intersection"]) + 1
    rest = [*deeper, (hidden[-1], heads)]
    inner = sum(inputs * outputs for inputs, outputs in rest)
    # a product forward, one for the weights' gradient, one for the inputs' but in the first layer
    step = 2 * (2 * first[0] * first[1] + 3 * inner)
    forward = 2 * (first[0] * first[1] + inner)
    count = step * len(data.split["train"]) + forward * len(data.split["validation"])
    return count / sum(joblib.Parallel(n_jobs=WORKERS)([joblib.delayed(products)()] * WORKERS))


def main() -> None:
    torch.set_num_threads(1)
    results: dict[str, float] = {}
    columns = ["plain", "func", "batched", "floor"]
    ratios = {"speedup": (0, 2), "over_func": (1, 2), "floor_ratio": (2, 3)}
    print("milliseconds per model and epoch, and ratios")
    print(" " * 12 + "".join(f"{name:>12}" for name in [*columns, *ratios]))
    for name, models in CASES:
        rows, features, races, hidden, epochs = SHAPES[name]
        data = prepared(rows, features, races)
        plain(data, hidden)  # warm up
        costs = [
            (
                plain(data, hidden),
                func(data, hidden),
                batched(data, hidden, models, epochs),
                floor(data, hidden),
            )
            for _ in range(ROUNDS)
        ]
        found = {
            ratio: statistics.median(cost[over] / cost[under] for cost in costs)
            for ratio, (over, under) in ratios.items()
        }
        results |= {f"{ratio}_{name}_{models}": round(v, 1) for ratio, v in found.items()}
        # of the larger pass, in the end
        results[f"milliseconds_{name}"] = round(1e3 * statistics.median(c[2] for c in costs), 1)
        middle = [statistics.median(column) * 1e3 for column in zip(*costs, strict=True)]
        print(
            f"{name} {models:<{11 - len(name)}}"
            + "".join(f"{cost:>12.1f}" for cost in middle)
            + "".join(f"{value:>12.1f}" for value in found.values()),
            flush=True,
        )
    record(**results, **authors_streams())


def authors_streams() -> dict[str, float]:
    """The same where settings share no minibatches: 15 models on rows of Adult's shape."""
    rows, features, races, hidden, epochs = SHAPES["adult"]
    data = prepared(rows, features, races)
    costs = [
        (
            plain(data, hidden),
            batched(data, hidden, 15, epochs),
            batched(data, hidden, 15, epochs, "authors"),
        )
        for _ in range(ROUNDS)
    ]
    speedup = statistics.median(cost[0] / cost[2] for cost in costs)
    share = statistics.median(cost[2] / cost[1] for cost in costs)
    print(f"adult 15, the authors' streams: speedup {speedup:.1f}, over our own {share:.2f}")
    return {
        "speedup_streams_adult_15": round(speedup, 1), "streams_over_own_adult_15": round(share, 2)
    }  # fmt: skip


if __name__ == "__main__":
    main()

"""How time and memory grow with seeds and rows: InfoFair, rows of Adult's shape, two cores.

Prints a table, draws it (bench/growth.png), and puts into bench/results.json

    growth_seeds   seconds an epoch with 5, 10, 20 and 40 seeds, three settings each
    growth_rows    seconds an epoch with 1, 4 and 16 times Adult's rows, 5 seeds, three settings

and the largest memory that one of the two workers needed in each case.
"""

import multiprocessing
import resource
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from bench import FOLDER, record
from bench.training import SHAPES, WORKERS, stamps, training
from infofair.data.prepared import Prepared
from infofair.methods.infofair import InfoFair
from infofair.training import plan
from infofair.training.plan import Job, Model, Variant
from tests.simulated import prepared

CASES = {
    "seeds": ("seeds, three models each", [5, 10, 20, 40]),
    "rows": ("times Adult's rows, 15 models", [1, 4, 16]),
}
ROWS, FEATURES, RACES, HIDDEN, _ = SHAPES["adult"]
EPOCHS = 4  # the first is not counted


def work(job: Job, rows: int, shares: list[list[Model]]) -> tuple[list[float], float]:
    """How long each epoch of the shares took, one after the other, and the process's peak, MiB."""
    data = made_up(rows)
    epochs = [0.0] * (EPOCHS - 1)
    for share in shares:
        ended = stamps(job, data, share)
        epochs = [
            so_far + after - before
            for so_far, (before, after) in zip(epochs, pairwise(ended), strict=True)
        ]
    return epochs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def made_up(rows: int) -> Prepared:
    return prepared(rows, FEATURES, RACES)


def measure(seeds: int, rows: int) -> tuple[float, float]:
    """Seconds an epoch of all models, both workers busy, and the larger worker's peak, MiB."""
    job = Job(InfoFair(), HIDDEN, training(EPOCHS))
    variants = [Variant(setting, 0.1) for setting in made_up(100).settings]
    shares = plan.shares(plan.models(job, list(range(seeds)), variants), WORKERS)
    # new processes each time: a process's peak does not come down again
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
        found = [pool.submit(work, job, rows, shares[i::WORKERS]) for i in range(WORKERS)]
        done = [future.result() for future in found]
    return max(min(epochs) for epochs, _ in done), max(peak for _, peak in done)


def draw(measured: dict[str, dict[str, float]]) -> None:
    """bench/growth.png, from what is recorded."""
    plt.style.use(FOLDER.parent / "notebooks" / "infofair.mplstyle")
    figure, axes = plt.subplots(
        2, 2, figsize=(6.5, 4), sharex="col", sharey="row", layout="constrained"
    )
    for (above, below), (name, (label, _)) in zip(axes.T, CASES.items(), strict=True):
        seconds, peaks = measured[f"growth_{name}"], measured[f"memory_{name}"]
        sizes = [float(size) for size in seconds]
        first = seconds[f"{sizes[0]:g}"] / sizes[0]
        above.plot(sizes, [first * size for size in sizes], ":", color="0.5", label="in proportion")
        above.plot(sizes, list(seconds.values()), "o-", label="measured")
        above.set(xscale="log", yscale="log", ylabel="seconds an epoch")
        above.set_yticks([0.2, 0.5, 1, 2, 4], ["0.2", "0.5", "1", "2", "4"])
        above.legend(loc="upper left")
        below.plot(sizes, list(peaks.values()), "o-")
        below.set(ylim=(0, None), ylabel="MiB in a worker", xlabel=label)
        below.set_xticks(sizes, [f"{size:g}" for size in sizes])
        above.minorticks_off()
        below.minorticks_off()
    figure.savefig(FOLDER / "growth.png")


def main() -> None:
    results: dict[str, dict[str, float]] = {}
    for name, (label, sizes) in CASES.items():
        print(f"{label:<32}{'seconds an epoch':>18}{'growth':>9}{'MiB in a worker':>18}")
        seconds: dict[str, float] = {}
        peaks: dict[str, float] = {}
        for size in sizes:
            spent, peak = measure(size, ROWS) if name == "seeds" else measure(5, size * ROWS)
            seconds[str(size)], peaks[str(size)] = round(spent, 2), round(peak)
            growth = spent / seconds[str(sizes[0])]
            print(f"{size:<32}{spent:>18.2f}{growth:>9.1f}{peak:>18.0f}", flush=True)
        results |= {f"growth_{name}": seconds, f"memory_{name}": peaks}
    record(**results)
    draw(results)


if __name__ == "__main__":
    main()

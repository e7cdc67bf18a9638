"""How time and memory grow with seeds, groups and rows: InfoFair, made-up rows, two cores.

Prints a table, draws it (bench/growth.png), and puts into bench/results.json the seconds of an
epoch, and the largest memory that a worker needed, by

    growth_seeds    seeds, 5 to 1,000, three settings each; rows of Adult's shape
    growth_groups   groups, 2 to 500: every combination of one to five attributes, one setting, 15
                    seeds; rows of Adult's shape
    growth_rows     rows, 1 to 64 times Adult's, which is what fits into 4 GiB a worker; 5 seeds,
                    three settings
    growth_mapped   million rows, 0.1 to 10, of all of Adult's features, in a file that is not held
                    in memory; one seed, three settings, one worker

An epoch is one of training and validation. The first of a pass is not counted, and no pass comes to
predict. Takes ten minutes, and 5 GB of disk; run it on an idle machine. By name only some of it:
`python -m bench.growth rows mapped`.
"""

import argparse
import json
import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from operator import mul
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bench import ADULT, FOLDER, RESULTS, record
from bench.document import GROWTH
from bench.training import SHAPES, WORKERS, training
from infofair.data.prepared import INTERSECTION, Prepared
from infofair.methods.infofair import InfoFair
from infofair.training import plan
from infofair.training.batched import train
from infofair.training.plan import Job, Model, Variant
from tests.plain import CPU
from tests.simulated import prepared

_, FEATURES, RACES, HIDDEN, _ = SHAPES["adult"]
FEW = 3  # features that the label depends on
PIECE = 100_000  # rows that are written at a time
VALUES = [2, 5, 5, 2, 5]  # of the attributes whose combinations are the groups
COMBINED = list(accumulate(VALUES, mul))


@dataclass(frozen=True)
class Load:
    """What is trained, and by how many."""

    rows: int = ADULT
    features: int = FEATURES
    groups: int = 0  # of the one setting; 0: three settings, as Adult's
    seeds: int = 5
    workers: int = WORKERS
    epochs: int = 4  # the first is not counted; fewer of what takes long
    file: Path | None = None  # where the features are, if not in memory

    def made_up(self) -> Prepared:
        if self.file:
            data = prepared(self.rows, FEW, RACES)
            return replace(
                data, X=np.load(self.file, mmap_mode="r", allow_pickle=False), mapped=True
            )
        data = prepared(self.rows, self.features, RACES)
        return combined(data, self.groups) if self.groups else data

    def write(self, file: Path) -> "Load":
        """The same with its features in a file: those of `prepared`, and random ones."""
        X = np.lib.format.open_memmap(file, "w+", np.float32, (self.rows, self.features))
        some, rng = prepared(self.rows, FEW, RACES).X, np.random.default_rng(0)
        for start in range(0, self.rows, PIECE):
            piece = X[start : start + PIECE]
            piece[:, :FEW] = some[start : start + PIECE]
            piece[:, FEW:] = rng.random((len(piece), self.features - FEW), dtype=np.float32)
        X.flush()
        return replace(self, file=file)


def few(size: int, most: int) -> int:
    """Epochs, of what is large, and of what is not."""
    return 2 if size > most else 4


# by size
LOADS = {
    "seeds": {str(n): Load(seeds=n, epochs=few(n, 40)) for n in (5, 10, 20, 40, 200, 1000)},
    "groups": {str(n): Load(groups=n, seeds=15, epochs=few(n, 100)) for n in COMBINED},
    "rows": {str(n): Load(rows=n * ADULT, epochs=few(n, 4)) for n in (1, 4, 16, 64)},
    "mapped": {f"{n:g}": Load(int(n * 1e6), seeds=1, workers=1, epochs=2) for n in (0.1, 1, 10)},
}
# what is drawn in each column: its axis, and its curves with their legends
COLUMNS = [
    ("seeds, three models each", {"seeds": "measured"}),
    ("groups, 15 models", {"groups": "measured"}),
    ("million rows", {"rows": "in memory, 15 models", "mapped": "in a file, 3 models"}),
]
UNITS = {"rows": ADULT / 1e6}  # of a size, as it is drawn, if not 1


def combined(data: Prepared, groups: int) -> Prepared:
    """The same rows with so many groups: the combinations of the first attributes, which are
    features, too."""
    rng = np.random.default_rng(0)
    group = np.zeros(len(data.y), np.int16)
    for column, values in enumerate(VALUES[: COMBINED.index(groups) + 1]):
        drawn = rng.integers(0, values, len(group))
        data.X[:, column] = drawn / (values - 1)
        group = (group * values + drawn).astype(np.int16)
    names = {INTERSECTION: [f"group {i}" for i in range(groups)]}
    return replace(data, groups={INTERSECTION: group}, group_names=names)


class Enough(Exception):
    """All epochs that are wanted have ended."""


def epoch(job: Job, data: Prepared, share: list[Model], epochs: int) -> float:
    """Seconds of the quickest epoch of a pass but the first."""
    ended: list[float] = []

    def say(*_: float) -> None:
        ended.append(time.perf_counter())
        if len(ended) == epochs:
            raise Enough  # what follows the last epoch is no part of one

    with suppress(Enough):
        train(job, data, share, CPU, say)
    return min(after - before for before, after in pairwise(ended))


def work(job: Job, load: Load, shares: list[list[Model]]) -> tuple[float, float]:
    """Seconds an epoch of the shares takes, one after the other, and the process's peak, MiB."""
    data = load.made_up()
    spent = sum(epoch(job, data, share, load.epochs) for share in shares)
    return spent, peak()


def peak() -> float:
    """Of this process, MiB; what getrusage says begins with that of the process it came from."""
    status = Path("/proc/self/status")
    if not status.exists():  # elsewhere than on Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    named = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return int(named["VmHWM"].split()[0]) / 1024


def measure(load: Load) -> tuple[float, float]:
    """Seconds an epoch of all models, all workers busy, and the larger worker's peak, MiB."""
    # one epoch more than is waited for: models predict when they stop
    job = Job(InfoFair(), HIDDEN, training(load.epochs + 1))
    small = replace(load, rows=1000, file=None).made_up()
    variants = [Variant(setting, 0.1) for setting in small.settings]
    models = plan.models(job, list(range(load.seeds)), variants)
    shares = plan.shares(models, load.workers)
    # new processes each time: a process's peak does not come down again
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(load.workers, mp_context=context) as pool:
        found = [
            pool.submit(work, job, load, shares[i :: load.workers]) for i in range(load.workers)
        ]
        done = [future.result() for future in found]
    return max(spent for spent, _ in done), max(most for _, most in done)


def draw(measured: dict[str, Any]) -> None:
    """bench/growth.png, from what is recorded."""
    plt.style.use(FOLDER.parent / "notebooks" / "infofair.mplstyle")
    figure, axes = plt.subplots(
        2, len(COLUMNS), figsize=(7.2, 4), sharex="col", sharey="row", layout="constrained"
    )
    for (above, below), (label, curves) in zip(axes.T, COLUMNS, strict=True):
        for name, legend in curves.items():
            if f"growth_{name}" not in measured:
                continue
            seconds, peaks = measured[f"growth_{name}"], measured[f"memory_{name}"]
            sizes = [float(size) * UNITS.get(name, 1) for size in seconds]
            spent = list(seconds.values())
            (line,) = above.plot(sizes, spent, "o-", label=legend)
            proportion = [spent[0] * size / sizes[0] for size in sizes]
            above.plot(sizes, proportion, ":", color=line.get_color())
            below.plot(sizes, list(peaks.values()), "o-", color=line.get_color())
        above.plot([], [], ":", color="0.5", label="in proportion")
        above.set(xscale="log", yscale="log")
        above.legend(loc="upper left")
        below.set(xlabel=label)
    for axis, label in zip(axes[:, 0], ("seconds an epoch", "MiB in a worker"), strict=True):
        axis.set(ylabel=label)
    axes[1, 0].set_ylim(0, None)
    for axis in axes.flat:
        axis.xaxis.set_major_formatter("{x:g}")
        axis.minorticks_off()
    for axis in axes[0]:
        axis.yaxis.set_major_formatter("{x:g}")
    figure.savefig(FOLDER / "growth.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(LOADS)}; default: all")
    asked = parser.parse_args().names or [*LOADS]
    if unknown := [name for name in asked if name not in LOADS]:
        parser.error(f"{unknown[0]!r} is none of {', '.join(LOADS)}")
    results: dict[str, dict[str, float]] = {}
    for name, loads in ((name, LOADS[name]) for name in asked):
        print(f"{GROWTH[name]:<52}{'seconds an epoch':>18}{'growth':>9}{'MiB in a worker':>18}")
        seconds: dict[str, float] = {}
        peaks: dict[str, float] = {}
        for size, load in loads.items():
            with TemporaryDirectory() as folder:
                on_disk = name == "mapped"
                spent, most = measure(load.write(Path(folder, "X.npy")) if on_disk else load)
            seconds[size], peaks[size] = round(spent, 3), round(most)
            growth = spent / next(iter(seconds.values()))
            print(f"{size:<52}{spent:>18.3f}{growth:>9.1f}{most:>18.0f}", flush=True)
        results |= {f"growth_{name}": seconds, f"memory_{name}": peaks}
    record(**results)
    draw(json.loads(RESULTS.read_text()))


if __name__ == "__main__":
    main()

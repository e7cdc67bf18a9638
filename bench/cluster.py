"""What a Dask cluster costs and gains: a scheduler and 1, 2 and 4 workers on this machine's
loopback, started as docs/cluster.md says, against processes of this machine.

InfoFair on made-up rows of COMPAS' shape. Prints tables and puts into bench/results.json

    cluster_seconds            by workers and by models: all of a training, with what is sent;
                               "none" is without a cluster, with a process per core
    cluster_connect_seconds    by workers: one empty task, with the connection
    cluster_task_milliseconds  by workers: an empty task more
    cluster_same_bits          whether all models are those of the run without a cluster
    cluster_killed             the largest training once more on two workers, one of which is
                               killed (SIGKILL) at work: whether the models are the same to the
                               bit, its seconds, and by how many it took longer

Four workers share two cores here, if there are no more. Takes four minutes; run it on an idle
machine.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import FOLDER, record
from bench.training import SHAPES, training
from infofair.data.prepared import Prepared
from infofair.methods.infofair import InfoFair
from infofair.parallel import workers
from infofair.training import fit
from infofair.training.plan import Job, Trained
from tests.simulated import prepared
from tests.steps import same_bits

WORKERS = [1, 2, 4]
SEEDS = [5, 20, 80]  # three models each
TASKS = 300
KILLED = 2  # workers, of which one is killed
WHEN = 0.4  # of the time of the run without a death: well into a share of the models
ROWS, FEATURES, RACES, HIDDEN, EPOCHS = SHAPES["compas"]
PATIENCE = 120  # seconds for a scheduler and its workers to come up


def start(folder: Path, module: str, *options: str, **changes: str) -> subprocess.Popen[bytes]:
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", module, *options],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(FOLDER.parent), **changes},
            stdout=log,
            stderr=log,
        )


def address_in(path: Path) -> str:
    """Of the scheduler that writes this file."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text()).strip().endswith("}"):
            return json.loads(text)["address"]
        time.sleep(0.05)
    sys.exit("the scheduler does not come up")


@contextmanager
def cluster(count: int) -> Iterator[Any]:
    """A scheduler and so many workers, to which this process hands out its work; a connection."""
    from distributed import Client

    with TemporaryDirectory() as name:
        folder = Path(name)
        running = []
        try:
            found = folder / "scheduler.json"
            running.append(
                start(folder, "dask", "scheduler", "--host", "127.0.0.1", "--port", "0",
                      "--no-dashboard", "--scheduler-file", str(found))
            )  # fmt: skip
            address = address_in(found)
            running.append(
                start(folder, "study.commands.worker", "--scheduler", address,
                      INFOFAIR_WORKERS=str(count))
            )  # fmt: skip
            os.environ[workers.SCHEDULER] = address
            with Client(address, set_as_default=False) as client:
                client.wait_for_workers(count, timeout=PATIENCE)
                yield client
        finally:
            os.environ.pop(workers.SCHEDULER, None)
            for process in reversed(running):  # the workers first
                process.terminate()
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def trained(data: Prepared, seeds: int, epochs: int = EPOCHS) -> tuple[list[Trained], float]:
    """Every model, and the seconds until they were here."""
    job = Job(InfoFair(), HIDDEN, training(epochs))
    begin = time.perf_counter()
    found, _ = fit.train(job, data, [0.1], list(range(seeds)), "bench")
    return found, time.perf_counter() - begin


def warm_up(data: Prepared, count: int) -> None:
    """Let every worker load torch."""
    trained(data, 2 * count, epochs=1)


def empty(tasks: int) -> float:
    """Seconds of so many tasks in which nothing is done."""
    names = [f"task {number}" for number in range(tasks)]
    begin = time.perf_counter()
    workers.run(abs, [(number,) for number in range(tasks)], names=names, title="empty tasks")
    return time.perf_counter() - begin


def alike(some: list[Trained], others: list[Trained]) -> bool:
    return len(some) == len(others) and all(map(same_bits, some, others))


@contextmanager
def a_death(client: Any, after: float) -> Iterator[list[str]]:
    """Kill a worker that is at work, so many seconds from now; gives who it was, in the end."""
    pids = client.run(os.getpid)
    killed: list[str] = []

    def kill() -> None:
        time.sleep(after)
        busy = [address for address, tasks in client.processing().items() if tasks]
        if busy:
            os.kill(pids[busy[0]], signal.SIGKILL)
            killed.append(busy[0])

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield killed
    finally:
        killer.join()


def lost(client: Any, data: Prepared, expected: list[Trained], without: float) -> dict[str, Any]:
    """What the death of a worker costs; without: seconds of the same without one."""
    with a_death(client, WHEN * without) as killed:
        found, spent = trained(data, SEEDS[-1])
    if not killed:
        sys.exit("no worker was at work when one was to be killed")
    longer = round(spent - without, 2)
    return {"same_bits": alike(found, expected), "seconds": round(spent, 2), "longer": longer}


def main() -> None:
    data = prepared(ROWS, FEATURES, RACES)
    seconds: dict[str, dict[str, float]] = {}
    expected: dict[int, list[Trained]] = {}
    os.environ.pop(workers.SCHEDULER, None)

    def curve(name: str) -> bool:
        """The seconds by models; and whether the models are as they were without a cluster."""
        seconds[name], same = {}, True
        for seeds in SEEDS:
            found, spent = trained(data, seeds)
            seconds[name][str(len(found))] = round(spent, 2)
            same = same and alike(found, expected.setdefault(seeds, found))
        row = "".join(
            f"{models:>6} models{spent:>8.2f} s" for models, spent in seconds[name].items()
        )
        print(f"{name:>5} workers{row}", flush=True)
        return same

    warm_up(data, workers.local())
    curve("none")
    connect, task, same = {}, {}, True
    for count in WORKERS:
        with cluster(count) as client:
            warm_up(data, count)
            same = curve(str(count)) and same
            first = empty(1)
            connect[str(count)] = round(first, 2)
            task[str(count)] = round(1e3 * (empty(TASKS + 1) - first) / TASKS, 1)
            if count == KILLED:
                without = seconds[str(count)][str(len(expected[SEEDS[-1]]))]
                killed = lost(client, data, expected[SEEDS[-1]], without)
    print(f"an empty task takes {task} ms by workers; with the connection, the first {connect} s")
    print(f"the same bits: {same}; with a worker killed: {killed}")
    record(
        cluster_seconds=seconds,
        cluster_connect_seconds=connect,
        cluster_task_milliseconds=task,
        cluster_same_bits=same,
        cluster_killed=killed,
    )


if __name__ == "__main__":
    main()

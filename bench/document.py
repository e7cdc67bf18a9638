"""The tables of docs/speed.md, from bench/results.json: whatever a benchmark records is there.

python -m bench.document
"""

import json
from collections.abc import Iterable
from typing import Any

from bench import ADULT, FOLDER, RESULTS
from infofair.storage import write_text

PAGE = FOLDER.parent / "docs" / "speed.md"
BEGIN, END = "<!-- measured: written by bench.document -->\n", "<!-- end of what was measured -->\n"

# what grows, and what it is called; those that were measured are shown
GROWTH = {
    "seeds": "seeds, three models each",
    "groups": "groups, 15 models of one setting",
    "rows": "times Adult's rows, 15 models",
    "mapped": "million rows of Adult's features in a file, 3 models, one worker",
}
# a figure of each benchmark, and what it is about
SECTIONS = {
    "cold_minutes": "pipelines",
    "speedup_adult_45": "our loop against plain ones",
    "peers": "our loop against others' code",
    "speedup_1024": "every network at 1,024 rows",
    "framework": "the framework",
    "closed_forms": "closed forms",
    "growth_seeds": "growth",
    "cluster_seconds": "a cluster",
}
EQUAL = 1.05  # a time over that in proportion which counts as in proportion
MANY = 10_000_000  # rows that we would like to train on
MOST = 15  # methods and stages of a pipeline that are shown

Results = dict[str, Any]


def table(head: list[str], rows: Iterable[list[Any]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def pipelines(found: Results) -> str:
    rows = [
        ["`make repro` from nothing, once set up", f"{found['cold_minutes']} min"],
        ["of it neither training nor solving", f"{found['overhead_minutes']} min"],
        ["`make beyond` after that", f"{found['beyond_minutes']} min"],
        ["`dvc exp run -S alpha=0.5`", f"{found['alpha_minutes']} min"],
        ["of it outside training", f"{found['alpha_overhead_seconds']} s"],
        ["`make experiment SET=alpha=0.5`", f"{found['make_alpha_minutes']} min"],
        ["of it outside training", f"{found['make_alpha_overhead_seconds']} s"],
        ["`dvc repro`, nothing to do", f"{found['noop_ratio']} × `dvc version`"],
        ["`make repro`'s DVC, nothing to do", f"{found['make_noop_ratio']} × `dvc version`"],
    ]
    return table(["pipelines, two cores", "takes"], rows)


def loops(found: Results) -> str:
    """InfoFair, minibatches of 128, 32 units."""
    kinds = ["speedup", "over_func", "floor_ratio"]
    rows = [
        [f"{name}, {models} models", *(found[f"{kind}_{name}_{models}"] for kind in kinds)]
        for name in ("compas", "adult", "dutch")
        for models in (15, 45)
    ]
    streams = found["speedup_streams_adult_15"]
    rows.append(["adult, 15 models, the authors' streams", streams, "", ""])
    head = [
        "InfoFair, minibatches of 128, 32 units",
        "plain loop",
        "`torch.func`",
        "over the floor",
    ]
    return table(head, rows)


def by_peer(found: Results) -> str:
    peers, floors = found["peers"], found["floor_by_shape"]
    rows = [[shape, *(of[shape] for of in peers.values()), floors[shape]] for shape in floors]
    return table(["minibatch × layers, 45 models", *peers, "vanilla over the floor"], rows)


def by_call(found: Results) -> str:
    return table(["one call", "times ours"], ([*pair] for pair in found["peers_calls"].items()))


def growth(found: Results, kind: str, label: str) -> str:
    seconds, peaks = found[f"growth_{kind}"], found[f"memory_{kind}"]
    rows = [[size, spent, peaks[size]] for size, spent in seconds.items()]
    return table([label, "seconds an epoch", "MiB in a worker"], rows)


def verdict(size: float, spent: float) -> str:
    """How time grows, if it grows so much when the size does."""
    over = spent / size
    return "less" if over < 1 / EQUAL else "in proportion" if over <= EQUAL else "more"


def grown(found: Results, kinds: Iterable[str]) -> str:
    """Each from its smallest to its largest size, and in the last step alone: a fixed cost, which
    small sizes have, too, makes the whole look better than what is to come."""
    rows = []
    for kind in kinds:
        seconds, peaks = found[f"growth_{kind}"], found[f"memory_{kind}"]
        sizes = list(seconds)
        whole, last = ((sizes[i], sizes[-1]) for i in (0, -2))
        row = [GROWTH[kind]]
        for start, end in (whole, last):
            size, spent = float(end) / float(start), seconds[end] / seconds[start]
            row += [f"{size:.3g}", f"{spent:.3g}", verdict(size, spent)]
        rows.append([*row, f"{peaks[sizes[-1]] / peaks[sizes[0]]:.2g}"])
    head = ["times as many", "time", "so it grows", "in the last step", "time", "so it grows"]
    return table(["from the smallest to the largest", *head, "memory, in all"], rows)


def bounded(found: Results) -> str:
    """What many rows of Adult's features need, in memory and in a file."""
    peaks = found["memory_rows"]
    before, largest = list(peaks)[-2:]
    each = (peaks[largest] - peaks[before]) / (float(largest) - float(before)) / ADULT
    needed = (peaks[largest] + each * (MANY - float(largest) * ADULT)) / 1024
    said = (
        f"The most rows of Adult's features that were held in memory are "
        f"{float(largest) * ADULT:,.0f}, in {peaks[largest] / 1024:.1f} GiB a worker. As memory "
        f"grew in the last step, {MANY:,} would need {needed:.0f} GiB."
    )
    if "memory_mapped" in found:
        millions, peak = list(found["memory_mapped"].items())[-1]
        read = float(millions) * 1e6
        said += f" In a file, {read:,.0f} need {peak / 1024:.1f} GiB, most of it labels and order."
    return said + "\n"


def by_network(found: Results) -> str:
    """Every network at 1,024 rows, by streams."""
    of = found["speedup_1024"]
    kinds = list(next(iter(of.values())))
    rows = [[name, *(own[kind] for kind in kinds)] for name, own in of.items()]
    heads = [f"`streams: {kind}`" for kind in kinds]
    return table(["minibatches of 1,024, 32 units, 45 models", *heads], rows)


def by_form(found: Results) -> str:
    """The framework, by what is asked of it."""
    one, two = found["framework"], found["framework_two_cores"]
    rows = [[name, one[name], two[name]] for name in one]
    return table(["`fit_many`, 15 models, times less than a plain loop", "one core", "two"], rows)


def pipelines_parts(found: Results) -> str:
    """Where the time of the comparison goes: its dearest stages and methods."""
    parts = list(found["beyond_seconds_by_method"].items())[:MOST]
    return table(["`make beyond`, the dearest methods and stages", "seconds"], map(list, parts))


def on_a_cluster(found: Results) -> str:
    """Seconds by models and workers, what a task costs, and what a death does."""
    seconds, tasks = found["cluster_seconds"], found["cluster_task_milliseconds"]
    connect = found["cluster_connect_seconds"]
    local, *counts = seconds
    rows = [
        [f"{models} models, seconds", *(spent[models] for spent in seconds.values())]
        for models in seconds[local]
    ]
    rows.append(["an empty task, milliseconds", "", *(tasks[count] for count in counts)])
    rows.append(["the first, connected, seconds", "", *(connect[count] for count in counts)])
    heads = [f"{count} worker{'s' * (count != '1')}" for count in counts]
    killed = found["cluster_killed"]
    return "\n".join(
        [
            table(["a Dask cluster on loopback, COMPAS' shape", "no cluster", *heads], rows),
            f"The models are {same(found['cluster_same_bits'])} to the bit as without a cluster. "
            "With one of two workers killed at work, the largest training took "
            f"{killed['seconds']} s, {killed['longer']} s longer, and its models are "
            f"{same(killed['same_bits'])}.\n",
        ]
    )


def same(bits: bool) -> str:
    return "the same" if bits else "**not** the same"


def machines(found: Results) -> str:
    """What it was measured on, and of which tables another machine's figures are."""
    elsewhere = found.get("elsewhere", {})
    lines = [f"Measured on: {described(found['machine'])}."]
    lines += [
        f"But {name} on: {described(elsewhere[figure])}."
        for figure, name in SECTIONS.items()
        if figure in elsewhere
    ]
    return "\n".join(lines) + "\n"


def described(machine: Results) -> str:
    return ", ".join(f"{key} {value}" for key, value in machine.items())


def measured(found: Results) -> str:
    parts = [machines(found), pipelines(found)]
    if "beyond_seconds_by_method" in found:
        parts.append(pipelines_parts(found))
    parts += [
        "Times less that a model and epoch take in a batched pass, and its time over that of its "
        "products alone:\n",
        loops(found),
    ]  # fmt: skip
    if "peers" in found:
        parts += [
            "The same against others' code, by name (`make peers`; bench/peers.py says what each "
            "is):\n",
            by_peer(found),
            by_call(found),
        ]
    if "speedup_1024" in found:
        parts += [
            "Times less than a plain loop of the network's own objective (bench/networks.py):\n",
            by_network(found),
        ]
    if "framework_two_cores" in found:
        parts.append(by_form(found))
    kinds = [kind for kind in GROWTH if f"growth_{kind}" in found]
    parts += [growth(found, kind, GROWTH[kind]) for kind in kinds]
    parts += [grown(found, kinds), bounded(found)]
    if "cluster_seconds" in found:
        parts.append(on_a_cluster(found))
    return "\n".join(parts)


def page(text: str, found: Results) -> str:
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + "\n" + measured(found) + "\n" + END + rest.partition(END)[2]


def main() -> None:
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    write_text(PAGE, page(PAGE.read_text(encoding="utf-8"), found))


if __name__ == "__main__":
    main()

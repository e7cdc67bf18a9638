"""The tables of docs/speed.md, from bench/results.json: whatever a benchmark records is there.

python -m bench.document
"""

import json
from collections.abc import Iterable
from typing import Any

from bench import FOLDER, RESULTS
from infofair.storage import write_text

PAGE = FOLDER.parent / "docs" / "speed.md"
BEGIN, END = "<!-- measured: written by bench.document -->\n", "<!-- end of what was measured -->\n"

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


def measured(found: Results) -> str:
    parts = [
        "Measured on: " + ", ".join(f"{key} {value}" for key, value in found["machine"].items())
        + ".\n",
        pipelines(found),
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
    parts += [
        growth(found, "seeds", "seeds, three models each"),
        growth(found, "rows", "times Adult's rows, 15 models"),
    ]
    return "\n".join(parts)


def page(text: str, found: Results) -> str:
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + "\n" + measured(found) + "\n" + END + rest.partition(END)[2]


def main() -> None:
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    write_text(PAGE, page(PAGE.read_text(encoding="utf-8"), found))


if __name__ == "__main__":
    main()

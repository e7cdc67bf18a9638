"""What memory training will need, against what this machine has: asked before anything is trained.

An estimate of the largest things: the networks side by side with Adam's state and gradients, what a
step and a prediction compute, the rows. Not in it are solvers and the generalisations, which
params.yaml makes not large, and what a user's penalty computes of every pair of a minibatch's rows,
such as HSIC's B × B. tests/study/test_memory.py compares it with a real training.
"""

import math
import os
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from infofair import methods
from infofair.data import dataset as datasets
from infofair.errors import Problem
from infofair.methods.base import CLASSES, GROUPS, Network
from infofair.parallel import workers
from infofair.training.batched import CHUNK, ROWS
from infofair.training.plan import MOST
from study import paths

Plan = dict[str, Any]
NUMBER = 4  # bytes
# Of every weight in a pass: itself, a copy while networks are made, two moments, two gradients.
IN_A_PASS = 6
KEPT = 2  # copies of a trained network: the worker's and ours
PROGRAM = 300e6  # bytes: PyTorch and the rest, once: workers are copies that share it
TRAIN = 0.8  # share of the rows
PAPERS = "train"  # the folder of the plans of networks in the paper's pipeline
LIMIT = Path("/sys/fs/cgroup/memory.max")  # a container's


class Shape(NamedTuple):
    """Of a dataset, as far as it is known before it is fetched."""

    rows: int
    features: int
    settings: int  # each attribute, and their intersection
    groups: int  # of the intersection, which has most


class Asked(NamedTuple):
    """Models that are trained at once, and the keys of params.yaml that say how many and how."""

    method: Network
    hidden: list[int]
    batch_size: int
    strengths: int
    seeds: int
    batch_key: str
    seeds_key: str


def shape(dataset: str) -> Shape:
    """Rows are those of the real files, or the lines of the user's own."""
    described = datasets.load(dataset)
    try:
        kinds = described.schema.dtypes.items()
        none = pd.DataFrame({name: pd.Series(dtype=str(kind)) for name, kind in kinds})
        features = len(described.encode(described.clean(none)))
    except Exception:  # a file that the user wrote may not expect to be asked without a row
        features = len(described.schema.columns)
    if described.rows:
        rows = described.rows[1]
    else:
        own = [paths.own(dataset) / file.name for file in described.files]
        rows = sum(file.read_bytes().count(b"\n") for file in own if file.is_file())
    sizes = [len(a.values) for a in described.sensitive.values() if a.values]
    return Shape(rows, features, len(sizes) + 1, math.prod(sizes))


def estimate(asked: Asked, data: Shape, at_once: int) -> dict[str, float]:
    """Bytes by what they are for, with so many workers at once."""
    method, settings = asked.method, data.settings if asked.method.uses_groups else 1
    models = settings * asked.strengths * asked.seeds
    share = min(MOST, math.ceil(models / at_once))
    together = min(at_once * share, models)  # in all passes at once
    sizes = {CLASSES: 2, GROUPS: data.groups}
    heads = sum(sizes[s] if isinstance(s, str) else s for s in method.heads.values())
    widths = [data.features, *asked.hidden, heads]
    weights = sum((inputs + 1) * outputs for inputs, outputs in pairwise(widths))
    train = round(TRAIN * data.rows)
    predicted = min(2 * ROWS, data.rows - train)
    B = min(asked.batch_size, train)
    # each layer's output and the gradient by it: of whole minibatches, in the last chunk, the rest
    steps = 2 * min(3 * B, train) * sum(asked.hidden)
    chunk = min(CHUNK * B, train)
    labels = 4 * chunk  # class and group, of eight bytes
    drawn = 2 * chunk * heads  # the heads' outputs of its steps, and noise
    of_streams = min(asked.seeds * settings, together) * chunk * data.features
    passes = math.ceil(together / share)
    return {
        "networks": NUMBER * weights * (IN_A_PASS * together + KEPT * models),
        "minibatches": NUMBER * (together * (steps + labels + drawn) + of_streams),
        "predictions": NUMBER * together * predicted * sum(asked.hidden),
        "rows": NUMBER * data.rows * (data.features + 1) * (1 + passes),
        "the program": PROGRAM,
    }


def machine() -> float:
    """The bytes of memory that this machine has, or this container may use."""
    limit = LIMIT.read_text(encoding="ascii").strip() if LIMIT.is_file() else ""
    has = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(has, float(limit)) if limit.isdecimal() else has


def check(planned: Iterable[tuple[Path, Plan]]) -> str | None:
    """A Problem, if the paper's pipeline asks for more than there is; what to say, if another does.

    planned: study/plans.py. On a cluster the workers' memory counts, which is not known here.
    """
    if workers.scheduler():
        return None
    has, at_once = machine(), workers.local()
    shapes: dict[str, Shape] = {}
    too_much: dict[bool, str] = {}
    for path, plan in planned:
        for dataset, asked in _asked(path, plan):
            if dataset not in shapes:
                shapes[dataset] = shape(dataset)
            parts = estimate(asked, shapes[dataset], at_once)
            if sum(parts.values()) > has:
                what, papers = f"{plan['method']} on {dataset}", _folder(path) == PAPERS
                too_much.setdefault(papers, _too_much(what, dataset, asked, parts))
    if True in too_much:
        raise Problem(too_much[True])
    return too_much.get(False)


def _folder(path: Path) -> str:
    return path.relative_to(paths.PLANS).parts[0]


def _asked(path: Path, plan: Plan) -> Iterator[tuple[str, Asked]]:
    """What a plan of training asks for: by form, if it is the comparison's."""
    if "hidden" not in plan or "method" not in plan:
        return
    hidden = plan["hidden"]
    for form in plan.get("forms", ()):
        method, training = _network(plan, form["knobs"]), form["training"]
        strengths = max(plan["strengths"], len(plan.get("scan", [])) + 1)
        seeds = sum(len(run["seeds"]) for run in form["runs"])
        key = f"{'training' if form['name'].endswith('_paper') else 'backbone'}.batch_size"
        asked = Asked(
            method, hidden, training["batch_size"], strengths, seeds, key, "comparison.splits"
        )
        yield plan["dataset"], asked
    for run in plan.get("runs", ()):
        method, training = _network(plan, plan["knobs"]), plan["training"]
        strengths, seeds = len(run["strengths"]), len(run["seeds"])
        many = "seeds" if _folder(path) == PAPERS else "luck.seeds"
        key = "training.batch_size"
        asked = Asked(method, hidden, training["batch_size"], strengths, seeds, key, many)
        yield path.parent.name, asked


def _network(plan: Plan, knobs: Plan) -> Network:
    method = methods.make(plan["method"], **knobs)
    assert isinstance(method, Network)
    return method


def _too_much(what: str, dataset: str, asked: Asked, parts: dict[str, float]) -> str:
    """The key that most of it is due to, first of all."""
    hidden, batch = f"{dataset}.hidden", asked.batch_key
    largest = max(parts, key=lambda part: parts[part])
    found = {batch: asked.batch_size} if largest == "minibatches" else {hidden: asked.hidden}
    [(key, value)] = found.items()
    several = sorted(parts, key=lambda part: -parts[part])[:2]
    of_it = ", ".join(f"{said(parts[part])} of it {part}" for part in several)
    return (
        f"{paths.PARAMS}: {key} = {value}: to train {what} takes about "
        f"{said(sum(parts.values()))} of memory ({of_it}), and this machine has {said(machine())}; "
        f"lower {key}, {batch if key == hidden else hidden}, {asked.seeds_key} or INFOFAIR_WORKERS"
    )


def said(size: float) -> str:
    """Bytes in words, three digits of them."""
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if size < 999.5 or unit == "PB":
            return f"{size:.3g} {unit}"
        size /= 1000
    raise AssertionError

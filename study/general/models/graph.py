"""Generalisation E: graphs. A graph convolutional network in place of the extractor.

    Z = Â ReLU(Â X W₁ + b₁),      ỹ = softmax(Z W₂ + b₂),      Â = D^−½ (A + I) D^−½

(infofair/framework/graphs.py); the rest of the framework does not know. Training is full batch:
the rows that it sees are the numbers of the labelled nodes. Features and edges of all nodes are
known beforehand, as they are to any network on one graph, so all nodes scale the features, and
the splits share them.

Bail's published edges are of rows with TIME, which tells the label. So TIME is left out, and each
person is joined to the NEIGHBOURS nearest by the other columns. These edges know nothing that the
columns do not, so the graph need not help, and does not: `mlp`, without it, is as good or better.
`with_leak` shows what TIME would do. German, of its publisher's edges, is a smoke test: of 250 test
nodes the floors are high, and hardly a network decides better than the constant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

from infofair import grids
from infofair.data import dataset as datasets
from infofair.data.prepare import RandomSplit, groups, random_split
from infofair.data.prepared import INTERSECTION
from infofair.framework.graphs import GCN, normalised
from infofair.framework.plan import Replaced
from infofair.framework.rows import Scale
from infofair.framework.sensitive import Part
from study import paths
from study.general import networks
from study.general.penalties import parity_gap
from study.general.rows import encoded, strata
from study.general.study import VANILLA, Key, Method, Models, Outputs, Rows

WITH_LEAK = "with_leak"
SHARES = {"train": 0.5, "validation": 0.25}
NEIGHBOURS = 10
TRAINING: dict[str, Any] = {
    "learning_rate": 0.005, "weight_decay": 5e-4, "warm_up": 80, "epochs": 250, "critic_steps": 5,
}  # fmt: skip


def rows(dataset: str, setting: str, frame: pd.DataFrame, seed: int) -> Rows:
    """X: the nodes' numbers; more: their features, and the edges."""
    found = datasets.load(dataset)
    y = frame[found.label].to_numpy(np.int64)
    numbers, names = groups(frame, dict(found.sensitive))
    g = numbers[INTERSECTION].astype(np.int64)
    part = Part(INTERSECTION, len(names[INTERSECTION]), g, np.zeros((len(g), 0), np.float32))
    honest = encoded(dataset, frame).to_numpy(float)
    every = np.stack([*found.encode(frame).values()], 1).astype(float)
    features = every if setting == WITH_LEAK else honest
    if dataset == "german":
        from infofair.datasets import german  # here: Bail does not depend on it

        edges = german.edges(paths.raw(dataset))
    else:
        edges = nearest(honest.tobytes(), honest.shape[1])
    split = random_split(strata(y, g), RandomSplit(seed, **SHARES))
    nodes = np.arange(len(y), dtype=np.float32)[:, None]
    scaled = Scale.of(features)(features).astype(np.float32)
    return Rows(nodes, y, [part], split, {"features": scaled, "edges": edges})


@lru_cache(maxsize=1)  # splits and settings have the same
def nearest(values: bytes, columns: int) -> np.ndarray:
    """Each node with its nearest others, as pairs of numbers. values: float64, nodes × columns."""
    from sklearn.neighbors import NearestNeighbors

    x = np.frombuffer(values).reshape(-1, columns)
    x = (x - x.mean(0)) / x.std(0)
    near = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(x).kneighbors(return_distance=False)
    return np.stack([np.repeat(np.arange(len(x)), NEIGHBOURS), near.reshape(-1)], 1)


# -- methods --------------------------------------------------------------------------------------


class Network:
    """A network on the nodes: with or without their edges, and what it is trained for."""

    def __init__(
        self, *, edges: bool = True, aware: bool = True, penalised: bool = False,
        joint: bool = False,
    ) -> None:  # fmt: skip
        self.edges, self.aware, self.penalised, self.joint = edges, aware, penalised, joint

    def __call__(
        self, splits: Mapping[int, Rows], strengths: Sequence[float], steps: int
    ) -> dict[Key, Outputs]:
        (first, *_) = splits.values()
        features = torch.tensor(first.more["features"])  # workers have it read-only
        A = normalised(first.more["edges"] if self.edges else [], len(features))  # of none: I
        given = TRAINING | {"batch_size": len(first.split["train"])}
        if self.joint:  # z is the extractor's, and the head beside it
            replaced = replace(networks.LINEAR, extractor=lambda _: GCN(A, features))
            return networks.printed(splits, strengths, steps, replaced=replaced, **given)
        return networks.fitted(
            splits, strengths, steps, aware=self.aware,
            penalty=parity_gap(first.parts) if self.penalised else None,
            replaced=Replaced(lambda _: GCN(A, features, outputs=2), nn.Identity()), **given,
        )  # fmt: skip


def look(outputs: Outputs, rows: Rows) -> grids.Row:
    (part,) = rows.s("validation")
    return grids.look(outputs["validation"], rows.at("validation"), part.g)


FAIR = ("fitted", "gap", "joint")
MODELS = Models(
    settings={"bail": (INTERSECTION, WITH_LEAK), "german": (INTERSECTION,)},
    rows=rows,
    methods={
        VANILLA: Method(Network(aware=False), strength=False),
        "mlp": Method(Network(edges=False, aware=False), strength=False),
        "fitted": Method(Network()),
        "gap": Method(Network(penalised=True)),
        "joint": Method(Network(joint=True)),
    },
    look=look,
    few=dict.fromkeys(FAIR, (INTERSECTION,)),
)

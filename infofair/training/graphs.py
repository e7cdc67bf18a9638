"""A chunk's steps as one CUDA graph: the GPU runs them without waiting for Python.

Behind a switch, INFOFAIR_GRAPHS=1, as no GPU was there to try it on: the same kernels in the same
order, so the same bits. Small networks gain most, whose kernels take less time than their launch.

Of each epoch, the first chunk of a shape is run as it always is, which also makes whatever the
libraries make once; the second is captured, and then that graph is replayed, with every minibatch
in the place of the first. (A graph holds what depends on the epoch, such as a temperature.)
"""

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

SWITCH = "INFOFAIR_GRAPHS"


def wanted(on: torch.device) -> bool:
    return on.type == "cuda" and os.environ.get(SWITCH) == "1"


class Graph(Protocol):
    """What was launched while it was captured, to be launched again."""

    def capture(self, work: Callable[[], Any]) -> Any:
        """What `work` gives; it is not computed yet, and every replay computes it anew."""

    def replay(self) -> None: ...


class CUDA:
    def __init__(self) -> None:
        self.graph = torch.cuda.CUDAGraph()

    def capture(self, work: Callable[[], Any]) -> Any:
        torch.cuda.synchronize()
        with torch.cuda.graph(self.graph):
            return work()

    def replay(self) -> None:
        self.graph.replay()


class Captured(NamedTuple):
    graph: Graph
    given: list[Tensor | None]  # where it reads
    found: Any  # where it writes


class Graphs:
    """Runs the same work on one chunk after another, from graphs where that pays."""

    def __init__(self, kind: Callable[[], Graph] = CUDA) -> None:
        self.kind = kind
        self.captured: dict[Any, Captured | None] = {}  # by shape; None: it was run once
        self.epoch = -1

    def forget(self) -> None:
        """What was captured writes to tensors that are no longer in use."""
        self.captured.clear()

    def run(
        self, work: Callable[..., Any], given: Iterable[Tensor | None], shape: Any, epoch: int
    ) -> Any:
        """work(*given); what it gives holds until the next call."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.forget()
        given = list(given)
        if shape not in self.captured:
            self.captured[shape] = None
            return work(*given)
        at = self.captured[shape]
        if at is None:
            graph, own = self.kind(), [None if each is None else each.clone() for each in given]
            at = Captured(graph, own, graph.capture(lambda: work(*own)))
            self.captured[shape] = at
        else:
            for place, each in zip(at.given, given, strict=True):
                if place is not None and each is not None:
                    place.copy_(each)
        at.graph.replay()
        return at.found

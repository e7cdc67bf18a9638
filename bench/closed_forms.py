"""What closed forms of gradients gain over autograd, for a whole training pass.

For every network that has one: an epoch of 15 models on rows like Adult's, with its closed forms
and without, in turns, at the paper's minibatch of 128 rows and the backbone's of 1,024. A closed
form stays in its file only where the ratio is at least 1.2 at one of the sizes it is trained at.
"""

import statistics
import time
from typing import Any

import torch

from bench import record
from infofair import methods
from infofair.data.prepared import Prepared
from infofair.methods.base import Network, Penalty, closed_forms, handled
from infofair.training.batched import Pass
from infofair.training.plan import Job, Trained, Training, Variant
from tests.simulated import prepared

SIZES = (128, 1024)
ROUNDS = 5


def without_closed_forms(method: type[Network]) -> type[Network]:
    """The same method, differentiated by autograd."""
    own: dict[str, Any] = {"__annotations__": {}}
    for loss, form in closed_forms(method).items():
        if getattr(method, form) is not Penalty.gradients:  # which only puts two parts together
            generic = Penalty if form == "penalty_gradient" else Network
            own |= {loss: getattr(method, loss), form: getattr(generic, form)}
    return type(method.__name__, (method,), own)


def epoch(method: Network, data: Prepared, batch_size: int) -> float:
    models = [Trained(seed, Variant(s, 1.0)) for seed in range(5) for s in handled(method, data)]
    job = Job(method, [32], Training(batch_size=batch_size))
    if method.repairs:
        models = models[:5]
    running = Pass(job, data, models, torch.device("cpu"))
    start = time.perf_counter()
    running.train_epoch(10)
    return time.perf_counter() - start


def main() -> None:
    torch.set_num_threads(1)
    data = prepared(rows=20_000, features=104, races=5)
    found = {}
    for name in methods.names():
        cls = methods.load(name)
        if not issubclass(cls, Network) or not closed_forms(cls):
            continue
        with_form, without = cls(), without_closed_forms(cls)()
        for size in SIZES:
            epoch(with_form, data, size), epoch(without, data, size)
            ratios = [
                epoch(without, data, size) / epoch(with_form, data, size) for _ in range(ROUNDS)
            ]
            found[f"{name}_{size}"] = round(statistics.median(ratios), 2)
            print(f"{name:16} batch {size:5}: autograd / closed form {found[f'{name}_{size}']:.2f}")
    record(closed_forms=found)


if __name__ == "__main__":
    main()

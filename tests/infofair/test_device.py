"""On a device that is not the CPU: the same bits, and nothing that goes to and fro.

tests/pretend.py says what such a device is here, and what it cannot show.
"""

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from infofair import InfoFairClassifier, InfoFairRegressor, methods
from infofair.data.prepared import ALL
from infofair.methods.base import Network, handled
from tests import pretend, steps
from tests.plain import CPU
from tests.pretend import DEVICE, HOST
from tests.simulated import prepared

pytestmark = pretend.alone
NETWORKS = [
    n for n in (*methods.names(), *methods.ABLATIONS) if issubclass(methods.load(n), Network)
]
DATA = prepared(rows=200, features=5)


def test_the_two_do_not_mix_and_what_crosses_is_counted() -> None:
    with pretend.device() as on:
        there, here = torch.ones(3, device=on), torch.ones(3)
        with pytest.raises(RuntimeError, match="do not mix"):
            there + here
        assert not pretend.crossed
        assert torch.equal((there * 2).cpu(), here * 2)
        assert float(there.sum()) == 3
        here.to(on)
        assert pretend.crossed == {HOST: 2, DEVICE: 1}


def test_numbers_are_drawn_as_by_the_cpus_generator() -> None:
    with pretend.device() as on:
        mine, own = (torch.Generator(device=of).manual_seed(3) for of in (on, CPU))
        assert mine.device.type == pretend.NAME
        drawn = torch.rand(5, generator=mine, device=on)
        assert torch.equal(drawn.cpu(), torch.rand(5, generator=own))


# -- networks -------------------------------------------------------------------------------------


def trained(name: str, on: torch.device, epochs: int) -> steps.Found:
    method = methods.make(name)
    assert isinstance(method, Network)
    settings = tuple(handled(method, DATA)) if method.uses_groups else (ALL,)
    how = {"epochs": epochs, "patience": 9, "batch_size": 64}
    return steps.run(method, settings[-1:], data=DATA, on=on, **how)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_the_cpus_and_its_steps_stay_on_the_device(name: str) -> None:
    """The host asks once an epoch, for the objectives; data, parameters and noise stay there."""
    crossed = []
    for epochs in (1, 2):
        with pretend.device() as on:
            there = trained(name, on, epochs)
            crossed.append(Counter(pretend.crossed))
    here = trained(name, CPU, 2)
    assert all(steps.same_bits(here[key], there[key]) for key in here)
    assert crossed[1][HOST] - crossed[0][HOST] <= 1
    assert crossed[1][DEVICE] <= crossed[0][DEVICE]  # what is kept was sent in the first run


# -- estimators -----------------------------------------------------------------------------------

FORMS: dict[str, dict[str, Any]] = {
    "decision": {},
    "opportunity": {"fair": "equal_opportunity"},
    "odds": {"fair": "equalized_odds"},
    "score": {"outcome": "score"},
    "representation": {"outcome": "representation"},
    "parallel": {"attributes": "parallel"},
    "extractor": {"extractor": lambda inputs: torch.nn.Linear(inputs, 4)},
    "age": {},
    "regression": {},
}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 3)).astype(np.float32)
S = np.column_stack([RNG.integers(0, 2, 160), RNG.integers(0, 2, 160)])
Y = (X[:, 0] + S[:, 0] + RNG.normal(size=160) > 0.5).astype(int)
AGE = RNG.normal(size=160)


def fitted(form: str, on: str, epochs: int) -> tuple[np.ndarray, Counter[str]]:
    """What is predicted, and what crossed until then."""
    regression = form == "regression"
    make = InfoFairRegressor if regression else InfoFairClassifier
    how = {"epochs": epochs, "batch_size": 128, "critic_steps": 2, "device": on, "progress": False}
    model: Any = make(alpha=2, **how, **FORMS[form])
    s = AGE if form == "age" else S
    model.fit(X, X[:, 0] + S[:, 0] if regression else Y, sensitive_features=s)
    crossed = Counter(pretend.crossed)
    return (model.predict(X) if regression else model.predict_proba(X)), crossed


@pytest.mark.parametrize("form", FORMS)
def test_an_estimator_is_the_cpus_and_its_steps_stay_on_the_device(form: str) -> None:
    crossed = []
    for epochs in (2, 3):
        with pretend.device() as on:
            there, own = fitted(form, on.type, epochs)
            crossed.append(own)
    assert np.array_equal(fitted(form, "cpu", 3)[0], there)
    assert crossed[1][HOST] - crossed[0][HOST] <= 1
    assert crossed[1][DEVICE] <= crossed[0][DEVICE]  # what is kept was sent in the first run

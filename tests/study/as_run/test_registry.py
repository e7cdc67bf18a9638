"""The variants by name, and those of them that only the tests of other rooms would look at."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
import torch.nn.functional as F

from infofair import methods
from infofair.methods.base import Network, Solver
from infofair.training.solve import task_of
from study.as_run import VARIANTS
from study.as_run.adversarial import AdversarialGrowing
from study.as_run.gerryfair import Reading, readings
from tests.conftest import ROOT
from tests.simulated import prepared
from tests.steps import minibatch, run


def test_every_variant_can_be_made_and_stands_for_a_row_of_the_paper() -> None:
    rows = set(pd.read_csv(ROOT / "data/reference/paper_table.csv")["method"])
    for name, variant in VARIANTS.items():
        assert variant.name == name
        assert variant.method in rows
        solved = issubclass(methods.load(variant.method), Solver)
        assert isinstance(variant.make(), Solver if solved else Network)
        assert variant.explanation.endswith(".")


def test_no_mistake_is_among_the_librarys_methods() -> None:
    library = {methods.load(name) for name in methods.names()}
    mistakes = {v.kind for v in VARIANTS.values() if v.kind.__module__.startswith("study.")}
    assert len(mistakes) == 5
    assert not mistakes & library


def test_the_growing_adversary_is_the_plain_one_times_the_root_of_t() -> None:
    method = AdversarialGrowing(steps=7)
    logits, batch = minibatch(0, groups=3)
    batch.epoch = 4
    generator = torch.Generator().manual_seed(0)
    b, u = torch.randn(2, 3, 3, 1, generator=generator, dtype=torch.float64)
    found = method.each(method.adversary, {"target": logits, "bias": b, "slope": u}, batch)
    for r in range(3):
        p = logits[r].softmax(0)[1]
        loss = F.cross_entropy((b[r] + u[r] * p).T, batch.s[r, 0])
        assert float(found[r]) == pytest.approx(float(loss) * math.sqrt(7 * 5), rel=1e-9)


def test_the_growing_adversary_trains() -> None:
    for model in run(AdversarialGrowing(steps=3), ("gender", "race")).values():
        assert np.isfinite(model.probabilities["test"]).all()


@pytest.mark.parametrize("reading", list(readings()), ids=lambda reading: reading.what)
def test_a_reading_of_gerryfair_says_0_or_1(reading: Reading) -> None:
    task = task_of(prepared(), "intersection")
    found = reading.predict(task)
    for part in ("validation", "test"):
        assert found[part].shape == task.y[part].shape
        assert np.isin(found[part], (0, 1)).all()


def test_the_readings_have_names_of_their_own() -> None:
    names = [reading.what for reading in readings()]
    assert len(set(names)) == len(names)

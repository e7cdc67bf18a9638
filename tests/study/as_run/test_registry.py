"""The variants by name, and those of them that only the tests of other rooms would look at."""

import numpy as np
import pandas as pd
import pytest
import torch
import torch.nn.functional as F

from infofair import methods
from infofair.methods.adversarial import Adversarial
from infofair.training.plan import Training
from infofair.training.solve import task_of
from study import as_run
from study.as_run import VARIANTS
from study.as_run.adversarial import AdversarialGrowing
from study.as_run.gerryfair import Reading, readings
from tests.conftest import ROOT
from tests.simulated import prepared
from tests.steps import minibatch, run, training


def test_every_variant_stands_for_a_row_of_the_paper() -> None:
    rows = set(pd.read_csv(ROOT / "data/reference/paper_table.csv")["method"])
    for name, variant in VARIANTS.items():
        assert variant.name == name
        assert variant.stands_for in rows


def test_no_mistake_is_among_the_librarys_methods() -> None:
    library = {methods.load(name) for name in methods.names()}
    assert not {type(variant.method) for variant in VARIANTS.values()} & library


def test_the_growing_adversary_has_the_plain_loss_and_the_root_of_t_in_its_strength() -> None:
    method = AdversarialGrowing()
    logits, batch = minibatch(0, groups=3)
    generator = torch.Generator().manual_seed(0)
    b, u = torch.randn(2, 3, 3, 1, generator=generator, dtype=torch.float64)
    found = method.each(method.adversary, {"target": logits, "bias": b, "slope": u}, batch)
    for r in range(3):
        p = logits[r].softmax(0)[1]
        loss = F.cross_entropy((b[r] + u[r] * p).T, batch.s[r, 0])
        assert float(found[r]) == pytest.approx(float(loss), rel=1e-9)
    mine, theirs = (
        {name: torch.randn(2, 3, generator=generator) for name in ("layer0", "heads", *method.free)}
        for _ in range(2)
    )
    late = method.settle(mine, theirs, torch.tensor(0.5), torch.tensor(49.0))
    usual = Adversarial().settle(mine, theirs, torch.tensor(3.5), torch.tensor(1.0))
    for name, gradient in usual.items():
        torch.testing.assert_close(late[name], gradient)


def test_the_growing_adversary_trains() -> None:
    for model in run(AdversarialGrowing(), ("gender", "race")).values():
        assert np.isfinite(model.probabilities["test"]).all()


def test_the_argmax_of_one_output_is_the_first_class() -> None:
    found = as_run.run(
        VARIANTS["adversarial_argmax"].method, prepared(), [0], [8], Training(), "test"
    )
    assert all((of == 0).all() for of in found.probabilities.values())


@pytest.mark.parametrize("name", ["mindiff_miscut", "fcfc_labels01"])
def test_a_network_and_a_solver_run_for_every_setting_and_seed(name: str) -> None:
    data = prepared()
    found = as_run.run(VARIANTS[name].method, data, [0, 1], [8], training(epochs=1), "test")
    assert found.settings == (["gender"] if name == "mindiff_miscut" else data.settings)
    assert found.seeds == ([0, 1] if name == "mindiff_miscut" else [0])
    for part, of in found.probabilities.items():
        assert of.shape[-1] == len(data.split[part])


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

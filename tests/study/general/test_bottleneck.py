"""Fair representations: what is kept of them, and how many bits noise lets through at most."""

import numpy as np
import pytest
import torch

from infofair.framework import estimate, recipe, stacked
from infofair.framework.plan import Model, Replaced
from study import general
from study.general import networks
from study.general.figures import bottleneck as figures
from tests.study.general.simulated import rows

CPU = torch.device("cpu")


@pytest.mark.parametrize("beta", [0.001, 1.0])
def test_a_representation_tells_at_most_its_kl(beta: float) -> None:
    """I(z; s) ≤ I(z; x) ≤ E KL(p(z|x) ‖ N(0, I)): bits ≤ KL / ln 2, of models that know no s."""
    own = rows(0, 2000)
    plan = networks.planned(
        {0: own}, 60, outcome=recipe.REPRESENTATION, fair="statistical_parity", classes=2,
        penalty=None, joint=False, replaced=Replaced(), aware=False, beta=beta,
    )  # fmt: skip
    model = Model(0, 0.0)
    predictor = stacked.train(plan, [model], CPU, lambda *_: None)[model].predictor
    z = networks.predicted(predictor, plan, own, with_z=True)["z"]
    with torch.no_grad():
        X = torch.from_numpy(own.X[own.split["test"]]).double()
        kl = float(predictor(X).kl)
    (part,) = own.s("test")
    told = estimate.bits(z, part.g)
    assert told <= kl / np.log(2)
    assert (told > 0.02) == (beta < 0.1)  # one keeps the group, the other closes


def test_every_method_leaves_a_representation_of_equal_dimensions() -> None:
    study = general.models_of("bottleneck")
    splits = {0: rows(0), 3: rows(3)}
    for name, method in study.methods.items():
        found = method.train(splits, [1.0], 8)
        for (_, seed), outputs in found.items():
            assert outputs["z"].shape == (len(splits[seed].at("test")), 8), name
            row = study.look(outputs, splits[seed])
            assert set(row) == {"micro_f1", "imparity", "constant"}


def test_what_decides_alone_is_found_in_all_three() -> None:
    own = rows(0, 2000)
    y, (part,) = own.at("test"), own.s("test")
    rng = np.random.default_rng(0)
    score = np.where(part.g == 1, 0.9, 0.1)
    z = np.column_stack([part.g, rng.normal(size=(len(y), 7))])
    found = figures.gaps({"test": score, "z": z}, own, [part])
    assert found["imparity"] == 1.0
    assert min(found["score_bits"], found["representation_bits"]) > 0.8
    order = rng.permutation(len(y))
    nothing = figures.gaps({"test": score, "z": z}, own, [part.at(order)])
    assert max(nothing["score_bits"], nothing["representation_bits"]) < 0.02

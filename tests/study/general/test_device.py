"""The generalisations on a device that is not the CPU (tests/pretend.py): the same bits."""

from collections.abc import Mapping

import numpy as np
import pytest

from infofair.data import dataset as datasets
from study import general
from study.general.study import Rows
from tests import pretend
from tests.study.general import simulated

pytestmark = pretend.alone
# Of each study the dataset whose simulator draws the rows ("": made-up ones), and a method of ours.
# Not graphs, whose sparse matrices this device cannot have, and not the recommender, which is small
# and sparse and trained on the CPU wherever it runs.
STUDIES = {
    "equal_opportunity": ("", "fitted_odds"),
    "bottleneck": ("", "bottleneck"),
    "continuous": ("crime", "fitted"),
    "regression": ("law", "fitted"),
}


def splits(study: str) -> Mapping[int, Rows]:
    name, models = STUDIES[study][0], general.models_of(study)
    if not name:
        return {0: simulated.rows(0, 300)}
    dataset = datasets.load(name)
    assert dataset.simulate is not None
    frame = dataset.clean(dataset.schema.validate(dataset.simulate(300, 0)))
    return {0: models.rows(name, models.settings[name][0], frame, 0)}


@pytest.mark.parametrize("study", STUDIES)
def test_a_generalisation_is_the_cpus(study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, given = general.models_of(study).methods[STUDIES[study][1]], splits(study)
    here = method.train(given, [1.0], 3)
    with pretend.device() as on:
        monkeypatch.setenv("INFOFAIR_DEVICE", on.type)
        there = method.train(given, [1.0], 3)
        assert pretend.crossed[pretend.DEVICE]  # it was there
    assert here.keys() == there.keys()
    for key, outputs in here.items():
        assert all(np.array_equal(own, there[key][what]) for what, own in outputs.items())

"""The variants by name, and those of them that only the tests of other rooms would look at."""

import pandas as pd
import pytest

from infofair import methods
from study import as_run
from study.as_run import VARIANTS
from tests.conftest import ROOT
from tests.simulated import prepared
from tests.steps import training


def test_every_variant_stands_for_a_row_of_the_paper() -> None:
    rows = set(pd.read_csv(ROOT / "data/reference/paper_table.csv")["method"])
    for name, variant in VARIANTS.items():
        assert variant.name == name
        assert variant.stands_for in rows


def test_no_mistake_is_among_the_librarys_methods() -> None:
    library = {methods.load(name) for name in methods.names()}
    assert not {type(variant.method) for variant in VARIANTS.values()} & library


def test_the_argmax_of_one_output_is_the_first_class() -> None:
    found = as_run.run(
        VARIANTS["adversarial_argmax"].method, prepared(), [0], [8], training(epochs=2), "test"
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

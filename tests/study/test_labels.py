"""What methods, datasets and settings are called, and how methods look."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from study import labels
from study.labels import Look, in_order, looks

names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)


def test_settings_are_called_as_in_the_paper() -> None:
    names = ["gender", "marital", "intersection"]
    assert [labels.setting_name(name, names) for name in names] == [
        "gender", "marital status", "gender & marital status"
    ]  # fmt: skip
    assert labels.setting_name("intersection", ["a", "b", "c", "intersection"]) == "a & b & c"


def test_what_has_no_entry_is_called_by_its_file_and_its_key() -> None:
    assert labels.dataset_name("loan_offers") == "Loan offers"
    assert labels.dataset_name("KDD99") == "KDD99"
    assert labels.method_name("fair_forest") == "Fair forest"
    assert labels.finding("fair_forest") == ""
    names = ["gender", "age_group", "intersection"]
    assert labels.setting_name("intersection", names) == "gender & age group"


def test_a_dataset_of_ours_has_a_name_and_is_not_the_papers() -> None:
    assert labels.dataset_name("kdd") == "KDD Census-Income"
    assert "kdd" not in labels.DATASETS


def test_ablations_are_called_by_the_terms_they_keep() -> None:
    assert labels.method_name("infofair_ts") == "T+S"
    assert labels.full_method_name("infofair_ts") == "InfoFair T+S"
    assert labels.full_method_name("infofair") == labels.method_name("infofair") == "InfoFair"
    assert labels.full_method_name("fair_forest") == "Fair forest"


def test_a_version_is_called_after_its_method() -> None:
    assert {name: labels.method_name(name) for name in VERSIONS} == VERSIONS
    assert {name: labels.full_method_name(name) for name in VERSIONS} == VERSIONS
    assert labels.method_name("fair_forest_blind") == "Fair forest blind"  # of whom, is not known
    assert labels.version_of("infofair_ts") is None  # the paper's ablations have names of their own


VERSIONS = {
    "infofair_fitted_ts": "InfoFair, fitted T+S",
    "infofair_fitted_td": "InfoFair, fitted T+D",
    "infofair_fitted_held": "InfoFair, fitted, q held back",
    "infofair_fitted_unaware": "InfoFair, fitted, without s",
    "vanilla_paper": "Vanilla, paper’s training",
    "infofair_paper": "InfoFair, paper’s training",
    "dp_gap_unaware": "Parity gap, without s",
    "adversarial_fitted_unaware": "Adversarial, fitted, without s",
    "fermi_unaware": "FERMI, without s",
    "boosting_thresholds": "Boosting, thresholds",
    "boosting_blind": "Boosting, blind",
    "boosting_barycentre": "Boosting, barycentre",
}


# -- order ---------------------------------------------------------------------------------------


def test_the_papers_methods_come_first_then_yours_then_infofair_then_others_of_ours() -> None:
    given = ["expgrad", "mine", "infofair_ts", "infofair_fitted", "gdp", "infofair", "a", "vanilla"]
    assert in_order([*given, *given]) == [
        "vanilla", "gdp", "mine", "a", "infofair", "infofair_ts", "infofair_fitted", "expgrad"
    ]  # fmt: skip


def test_versions_come_last_in_the_order_of_their_methods() -> None:
    given = ["boosting_blind", "mine", "vanilla_paper", "boosting", "boosting_thresholds", "gdp"]
    assert in_order(given) == [
        "gdp", "mine", "boosting", "vanilla_paper", "boosting_thresholds", "boosting_blind"
    ]  # fmt: skip


@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_to_methods_with_an_entry(rng: random.Random) -> None:
    given = [*labels.METHODS, *labels.VARIANTS]
    assert in_order(rng.sample(given, len(given))) == in_order(given)


# -- looks ---------------------------------------------------------------------------------------

# Machado, Oliveira and Fernandes 2009, severity 1; linear RGB to linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def lab(colour: str, deficiency: str) -> np.ndarray:
    """A colour as it is seen, in CIELAB."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(DEFICIENCIES[deficiency]) @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ linear / [0.95047, 1, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_methods_differ_in_shape_and_in_colour_for_every_eye(deficiency: str) -> None:
    spare = [
        Look(colour, mark)
        for colour, mark in zip(labels.SPARE_COLOURS, labels.SPARE_MARKS, strict=True)
    ]
    every = [*(label.look for label in labels.METHODS.values()), *spare]
    assert len({look.mark for look in every}) == len(every)
    colours = [lab(look.colour, deficiency) for look in every]
    for one, other in itertools.combinations(colours, 2):
        assert np.linalg.norm(one - other) > 15  # about 2 can just be told apart


@given(st.lists(names, unique=True, max_size=30))
def test_methods_without_an_entry_get_looks_that_nothing_else_has(methods: list[str]) -> None:
    found = looks([*labels.METHODS, *methods])
    assert len(set(found.values())) == len(found)
    some = [
        found[method] for method in methods
        if method not in labels.METHODS and not labels.version_of(method)
    ]  # fmt: skip
    if len(some) <= len(labels.SPARE_COLOURS):
        assert len({look.colour for look in some}) == len({look.mark for look in some}) == len(some)
    assert looks([*reversed(methods), *labels.METHODS]) == found  # the order does not matter


def test_a_version_has_its_methods_colour_and_a_mark_that_no_method_has() -> None:
    own = [label.look.mark for label in labels.METHODS.values()]
    marks = [mark for _, mark in labels.VERSIONS.values()]
    assert len({*own, *marks, *labels.SPARE_MARKS}) == len([*own, *marks, *labels.SPARE_MARKS])
    found = looks([*labels.METHODS, *VERSIONS])
    assert len(set(found.values())) == len(found)
    for name in VERSIONS:
        base, end = labels.version_of(name) or ("", "")
        assert found[name] == Look(found[base].colour, labels.VERSIONS[end][1])


def test_a_method_looks_the_same_beside_few_and_beside_many() -> None:
    assert looks(["hsic"])["hsic"] == looks([*labels.METHODS, "hsic"])["hsic"]


# -- of the paper's generalisations --------------------------------------------------------------


def test_a_generalisations_method_is_called_by_its_family_and_what_it_is_of() -> None:
    said = {
        "vanilla": "Vanilla", "fitted": "InfoFair, fitted", "gdp": "GDP", "mlp": "MLP, no graph",
        "fitted_odds": "InfoFair, fitted, equalised odds", "joint": "InfoFair, as printed",
        "mean_matching": "Mean matching", "gap_of_means": "Gap penalty, of means",
        "something_new": "Something new", "gapped": "Gapped",
    }  # fmt: skip
    assert {name: labels.general_name(name) for name in said} == said
    assert labels.measured_name("r2") == "R²"
    assert labels.measured_name("my_gap") == "my gap"


def test_a_family_has_one_colour_and_every_method_a_mark() -> None:
    names = ["vanilla", "fitted", "gap", "fitted_odds", "fitted_parity", "gdp", "mine", "yours"]
    found = labels.general_looks(names)
    assert list(found) == names
    assert len(set(found.values())) == len(names)
    assert len({found[name].colour for name in names if name.startswith("fitted")}) == 1
    families = [label.look for label in labels.FAMILIES.values()]
    assert len({look.colour for look in families}) == len({look.mark for look in families})
    assert len({look.colour for look in families}) == len(families)

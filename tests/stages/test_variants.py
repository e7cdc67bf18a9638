"""The door variants: the other forms of a dataset, each as its plan says."""

from pathlib import Path

import numpy as np
import pytest

from infofair.data import dataset as datasets
from infofair.data.prepared import Prepared
from stages import preprocess, validate, variants
from study import paths
from tests.conftest import paper_params, write_plans
from tests.raw import place


def made(name: str, rows: int) -> list[str]:
    """Run the door on simulated rows; the names of what it writes."""
    place(name, datasets.load(name).simulate(rows, 0))
    validate.main(name)
    preprocess.main(name)
    variants.main(name)
    return sorted(path.stem for path in paths.variant(name, "").parent.iterdir())


def test_every_split_is_without_the_leak_and_different(workspace: Path) -> None:
    write_plans()
    assert made("compas", 700) == [f"split{seed}" for seed in paper_params().comparison.splits]
    plain = Prepared.load(paths.processed("compas"))
    first, second = (Prepared.load(paths.variant("compas", f"split{seed}")) for seed in (0, 1))
    assert (first.partition, second.partition) == ("random", "random")
    kept = [name for name in plain.features if name not in ("is_recid", "is_violent_recid")]
    assert first.features == second.features == kept
    assert len(kept) == len(plain.features) - 2
    assert not np.array_equal(first.split["test"], second.split["test"])
    for data in (first, second):
        assert np.abs(data.X[data.split["train"]]).max() <= 1
        for setting in data.settings:  # pooled by shares, so a split may miss it by a row or two
            assert data.sizes(setting, "test").min() >= 18


def test_a_dataset_without_leak_keeps_its_features(workspace: Path) -> None:
    write_plans()
    assert made("adult", 700) == [f"split{seed}" for seed in paper_params().comparison.splits]
    plain, first = paths.processed("adult"), paths.variant("adult", "split0")
    assert Prepared.load(plain).features == Prepared.load(first).features


def test_the_larger_dataset_has_splits_of_its_own(workspace: Path) -> None:
    """And no paper's form: it is not in the paper's pipeline."""
    asked = paper_params().comparison.model_dump()
    asked["large"] |= {"datasets": ["kdd"]}
    write_plans(comparison=asked)
    place("kdd", datasets.load("kdd").simulate(700, 0))
    validate.main("kdd")
    variants.main("kdd")
    names = sorted(path.stem for path in paths.variant("kdd", "").parent.iterdir())
    assert names == [f"split{seed}" for seed in paper_params().comparison.large.splits]


def test_that_no_comparison_is_left_is_said(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_plans()
    made("dutch", 100)
    assert "no setting has two groups of 20 test rows" in capsys.readouterr().err
    assert Prepared.load(paths.variant("dutch", "split0")).settings == []

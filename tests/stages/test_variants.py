"""The door variants: the other forms of a dataset, each as its plan says."""

from pathlib import Path

import numpy as np
import pytest

from infofair.data import dataset as datasets
from infofair.data.prepared import Prepared
from stages import preprocess, validate, variants
from study import paths
from tests.conftest import write_plans
from tests.raw import place


def made(name: str, rows: int) -> list[str]:
    """Run the door on simulated rows; the names of what it writes."""
    place(name, datasets.load(name).simulate(rows, 0))
    validate.main(name)
    preprocess.main(name)
    variants.main(name)
    return sorted(path.stem for path in paths.variant(name, "").parent.iterdir())


def test_a_leaking_dataset_has_a_form_without_leak_and_one_per_split(workspace: Path) -> None:
    write_plans()
    assert made("compas", 700) == ["split0", "split1", "split2", "split3", "split4", "without_leak"]
    plain = Prepared.load(paths.processed("compas"))
    cleared = Prepared.load(paths.variant("compas", "without_leak"))
    kept = [i for i, name in enumerate(plain.features) if name in cleared.features]
    assert set(plain.features) - set(cleared.features) == {"is_recid", "is_violent_recid"}
    np.testing.assert_array_equal(cleared.X, plain.X[:, kept], strict=True)
    np.testing.assert_array_equal(cleared.split["test"], plain.split["test"])
    first, second = (Prepared.load(paths.variant("compas", f"split{seed}")) for seed in (0, 1))
    assert first.partition == "random"
    assert first.features == cleared.features
    assert not np.array_equal(first.split["test"], second.split["test"])
    for data in (first, second):
        assert np.abs(data.X[data.split["train"]]).max() <= 1
        for setting in data.settings:  # pooled by shares, so a split may miss it by a row or two
            assert data.sizes(setting, "test").min() >= 18


def test_a_dataset_without_leak_has_its_splits_only(workspace: Path) -> None:
    write_plans()
    assert made("adult", 700) == [f"split{seed}" for seed in range(5)]


def test_that_no_comparison_is_left_is_said(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_plans()
    made("dutch", 100)
    assert "no setting has two groups of 20 test rows" in capsys.readouterr().err
    assert Prepared.load(paths.variant("dutch", "split0")).settings == []

"""The file of what a method's models predict."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from infofair.data.prepared import PARTS
from infofair.errors import Damaged
from infofair.storage import load_arrays, save_arrays
from infofair.training.predictions import Predictions
from tests.simulated import prepared

DATA = prepared()
ROWS = {part: len(DATA.split[part]) for part in PARTS}


def probabilities(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {part: rng.random(rows, np.float32) for part, rows in ROWS.items()}


MODELS = {
    (setting, strength, seed): probabilities(100 * i + 10 * j + seed)
    for i, setting in enumerate(("race", "gender"))
    for j, strength in enumerate((2.0, 0.1))
    for seed in (7, 0, 3)
}


def test_every_model_comes_back_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    Predictions.of(MODELS, DATA).save(path)
    found = Predictions.load(path)
    # settings in the order of training, numbers in theirs
    assert (found.settings, found.strengths, found.seeds) == (
        ["race", "gender"], [0.1, 2.0], [0, 3, 7]
    )  # fmt: skip
    for key, expected in MODELS.items():
        again = found.model(*key)
        assert again.keys() == expected.keys()
        for part in PARTS:
            assert again[part].dtype == np.float32
            np.testing.assert_array_equal(again[part], expected[part])


def test_the_same_models_give_the_same_bytes(tmp_path: Path) -> None:
    for name, models in (("a", MODELS), ("b", dict(sorted(MODELS.items(), key=lambda m: m[0][2])))):
        Predictions.of(models, DATA).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_model_that_diverged_has_no_predictions(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    Predictions.of({**MODELS, ("gender", 2.0, 3): {}}, DATA).save(path)
    found = Predictions.load(path)
    assert found.model("gender", 2.0, 3) == {}
    assert all(found.model(*key) for key in MODELS if key != ("gender", 2.0, 3))
    for part in PARTS:
        assert np.isnan(found.probabilities[part]).any(3).sum() == 1


def test_without_settings_the_file_is_empty_but_whole(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    Predictions.of({}, DATA).save(path)
    found = Predictions.load(path)
    assert (found.settings, found.strengths, found.seeds) == ([], [], [])
    assert {part: p.shape for part, p in found.probabilities.items()} == {
        part: (0, 0, 0, rows) for part, rows in ROWS.items()
    }


def test_another_number_of_rows_is_seen() -> None:
    fewer = dataclasses.replace(DATA, split=DATA.split | {"test": DATA.split["test"][:-1]})
    with pytest.raises(ValueError, match="reshape"):
        Predictions.of(MODELS, fewer)


@pytest.mark.parametrize("missing", ["seeds", "settings", "strengths", "test", "validation"])
def test_a_file_that_lacks_a_part_is_damaged(missing: str, tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    Predictions.of(MODELS, DATA).save(path)
    arrays = load_arrays(path)
    del arrays[missing]
    save_arrays(path, arrays)
    with pytest.raises(Damaged, match=f"p.npz.*{missing}"):
        Predictions.load(path)
    path.write_bytes(b"not an archive")
    with pytest.raises(Damaged, match=r"p\.npz"):
        Predictions.load(path)

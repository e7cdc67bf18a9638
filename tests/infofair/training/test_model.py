"""Networks in a file: which there are, what is said if the one asked for is not, prediction."""

from pathlib import Path

import numpy as np
import pytest

import infofair
from infofair.errors import Damaged, Problem
from infofair.storage import save_arrays
from infofair.training.model import Model, load_model, load_models, save_models

FEATURES = ["age", "hours"]


def parameters(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = {"layer0": (4, 3), "layer1": (3, 5), "target": (2, 3), "w2": (1, 2)}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "infofair.npz"
    models = {
        (setting, strength, seed): parameters(seed)
        for setting in ("gender", "race")
        for strength in (0.1, 1e-05)
        for seed in (0, 12)
    }
    save_models(path, {**models, ("race", 7.0, 0): {}}, FEATURES)  # that one diverged
    return path


def test_every_model_comes_back_but_those_that_diverged(kept: Path) -> None:
    found = load_models(kept)
    assert len(found) == 8
    for (_, _, seed), model in found.items():
        assert model.features == FEATURES
        for name, values in parameters(seed).items():
            np.testing.assert_array_equal(model.parameters[name], values)


def test_one_call_loads_one_model(kept: Path) -> None:
    model = infofair.load_model(str(kept), setting="race", strength=1e-05, seed=12)
    np.testing.assert_array_equal(model.parameters["target"], parameters(12)["target"])


@pytest.mark.parametrize(
    ("asked", "count", "said"),
    [
        ({}, 8, "any kind"),
        ({"seed": 0}, 4, "seed 0"),
        ({"setting": "age", "strength": 0.1}, 0, "setting age, strength 0.1"),
        ({"strength": 7.0}, 0, "strength 7.0"),
    ],
)
def test_none_or_several_are_a_problem_that_lists_what_there_is(
    kept: Path, asked: dict[str, object], count: int, said: str
) -> None:
    with pytest.raises(Problem) as raised:
        load_model(kept, **asked)  # type: ignore[arg-type]
    assert str(raised.value) == (
        f"{kept}: {count} models of {said}; there are setting: gender, race; "
        "strength: 0.1, 1e-05; seed: 0, 12"
    )


def test_a_file_without_features_or_of_something_else_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    save_arrays(path, {"gender/0.1/0/target": np.zeros((2, 3))})
    with pytest.raises(Damaged, match=r"x\.npz.*features"):
        load_models(path)
    path.write_text("no archive")
    with pytest.raises(Damaged, match=r"x\.npz"):
        load_model(path)


def test_prediction_is_that_of_the_layers_by_hand() -> None:
    own, x = parameters(3), np.array([0.3, -2.0])
    z = x
    for name in ("layer0", "layer1"):
        z = np.array([max(0, w[:-1] @ z + w[-1]) for w in own[name]])
    logits = own["target"] @ z
    expected = np.exp(logits[1]) / np.exp(logits).sum()
    model = Model(own, FEATURES)
    assert model.predict_proba(x[None])[0] == pytest.approx(expected, rel=1e-5)
    assert model.predict(x[None])[0] == int(expected > 0.5)


def test_layers_are_in_the_order_of_their_numbers() -> None:
    own = {f"layer{i}": np.full((1, 2), i, np.float32) for i in (10, 2, 0, 1)}
    assert [layer[0, 0] for layer in Model(own, ["x"]).layers] == [0, 1, 2, 10]


def test_certain_predictions_are_numbers() -> None:
    own = {"layer0": np.eye(1, 2, dtype=np.float32), "target": np.array([[0], [1e6]], np.float32)}
    p = Model(own, ["x"]).predict_proba(np.array([[1e6], [0.0]]))
    np.testing.assert_allclose(p, [1, 0.5])


@pytest.mark.parametrize("shape", [(4,), (4, 3), (2, 2, 2)])
def test_rows_of_another_shape_are_a_problem(shape: tuple[int, ...]) -> None:
    with pytest.raises(Problem, match="expected rows × 2 features"):
        Model(parameters(0), FEATURES).predict_proba(np.zeros(shape))


def test_a_file_in_which_all_models_diverged_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "empty.npz"
    save_models(path, {("race", 7.0, 0): {}}, FEATURES)
    assert load_models(path) == {}
    with pytest.raises(Problem, match="no models"):
        load_model(path)

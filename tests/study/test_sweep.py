"""Training one method of the comparison: its forms, its grid, and what is written."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infofair import grids, methods
from infofair.data.prepared import ALL, PARTS, Prepared
from infofair.storage import write_json
from infofair.training.model import load_models
from infofair.training.predictions import Predictions
from stages import sweep as door
from study import paths, plans, sweep
from study.comparison.grids import grids as table_of_grids
from tests.conftest import compared, paper_params
from tests.simulated import prepared

BACKBONE = {
    "learning_rates": [0.003], "epochs": 2, "steps": 600, "patience": 2, "batch_size": 64,
    "weight_decay": 0.0,
}  # fmt: skip
TRAINING = {"epochs": 3, "patience": 2, "batch_size": 128, "weight_decay": 0.01}
SENSITIVE = ["race", "sex"]
Planned = Callable[..., dict[str, Any]]


def data(seed: int = 0) -> Prepared:
    """Its first two features are the sensitive columns, the third is called almost like one."""
    found = prepared(seed=seed)
    return replace(found, features=["sex", "race=b", "racer", *found.features[3:]])


@pytest.fixture
def planned(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Planned:
    """Writes the plan of a method on made-up data, with changes; gives it."""
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")
    data().save(paths.processed("compas"))
    for split in (0, 1):
        data(split).save(paths.variant("compas", f"split{split}"))

    def write(method: str, **changes: Any) -> dict[str, Any]:
        asked = paper_params(
            backbone=BACKBONE,
            training=TRAINING,
            lfr={"prototypes": 3, "iterations": 3, "prediction": [1.0, 5.0]},
            boosting={"rounds": 3},
            infofair_fitted={"warm_up": 0, "critic_steps": 2},
            comparison=compared(
                strengths=3, look=3, between=[0.1, 10.0], splits=[0, 1], seeds=[0, 3],
                paper=["vanilla", "infofair"],
                unaware=["vanilla", "boosting", "infofair_fitted"],
            ),
        )  # fmt: skip
        path = paths.plan("sweep", "compas", method)
        plan = dict(plans.everything(asked))[path] | changes
        write_json(path, plan)
        chosen = {own["name"]: {"learning_rate": 0.003} for own in plan["forms"][0]["runs"]}
        write_json(paths.backbone("compas"), {"runs": chosen | {"split1": {"learning_rate": 0.01}}})
        return plan

    return write


def run(plan: dict[str, Any]) -> Path:
    """Through the door; the folder that is written."""
    door.main(str(paths.plan("sweep", "compas", plan["method"])))
    return Path(plan["folder"])


def grid(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "grid.json").read_text(encoding="utf-8"))
    return found


def files(folder: Path) -> dict[str, bytes]:
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def forms(plan: dict[str, Any]) -> dict[str, sweep.Form]:
    return {form["name"]: sweep.Form(plan, form) for form in plan["forms"]}


# -- forms ----------------------------------------------------------------------------------------


def test_without_drops_what_encodes_the_columns_and_nothing_else() -> None:
    plain = data()
    found = sweep.without(plain, SENSITIVE)
    assert found.features == plain.features[2:]
    np.testing.assert_array_equal(found.X, plain.X[:, 2:], strict=True)
    assert found.X.flags.c_contiguous
    assert replace(found, X=plain.X, features=plain.features) == plain
    assert sweep.without(plain, []).features == plain.features


def test_every_run_of_every_form_has_its_predictions_and_networks(
    planned: Planned,
) -> None:
    folder = run(planned("infofair_fitted"))
    changed = ("ts", "td", "held", "unaware")
    names = ["infofair_fitted", *(f"infofair_fitted_{form}" for form in changed)]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    plain = {f"split{i}/{n}.npz" for i in (0, 1) for n in ("predictions", "networks")}
    for name in names:
        expected = set(plain)
        if name == "infofair_fitted":  # the first chooses; and is on the paper's own data, too
            expected |= {"grid.json", "authors/predictions.npz", "authors/networks.npz"}
        assert files(folder / name).keys() == expected
    assert len({files(folder / name)["split0/predictions.npz"] for name in names}) == 5


def test_the_unaware_form_never_sees_the_sensitive_columns(planned: Planned) -> None:
    plan = planned("vanilla")
    assert plan["forms"][-1]["unaware"] == SENSITIVE
    folder = run(plan)
    seen = {"vanilla": data().features, "vanilla_unaware": data().features[2:]}
    for name, features in seen.items():
        for model in load_models(folder / name / "split0/networks.npz").values():
            assert model.features == features
    before = files(folder)
    other = data()
    other.X[:, :2] = np.random.default_rng(0).random((len(other.X), 2))
    other.save(paths.variant("compas", "split0"))
    run(plan)
    changed = {path for path, content in files(folder).items() if before[path] != content}
    assert "vanilla/split0/predictions.npz" in changed
    assert not any(path.startswith("vanilla_unaware/") for path in changed)


def test_forms_that_are_trained_alike_have_the_same_strengths(planned: Planned) -> None:
    folder = run(planned("infofair_fitted"))
    chosen = grid(folder / "infofair_fitted")["strengths"]
    for form in folder.iterdir():
        found = Predictions.load(form / "split1/predictions.npz")
        assert found.strengths == pytest.approx(sorted(chosen)), form.name


def test_what_is_trained_as_in_the_paper_has_a_grid_of_its_own(planned: Planned) -> None:
    folder = run(planned("infofair"))
    plain, printed = (grid(folder / name) for name in ("infofair", "infofair_paper"))
    assert plain["seen"] != printed["seen"]
    found = Predictions.load(folder / "infofair_paper/split1/predictions.npz")
    assert found.strengths == pytest.approx(sorted(printed["strengths"]))


def test_the_ablations_have_the_terms_that_their_names_say(planned: Planned) -> None:
    found = forms(planned("infofair_fitted"))
    terms = {name: getattr(form.method, "terms", ()) for name, form in found.items()}
    assert terms["infofair_fitted_ts"] == ("T", "S")
    assert terms["infofair_fitted_td"] == ("T", "D")
    assert terms["infofair_fitted"] == terms["infofair_fitted_unaware"] == ("T", "S", "D")
    assert terms["infofair_fitted_held"] == ("T", "S", "D")
    held = {name for name, form in found.items() if getattr(form.method, "held", False)}
    assert held == {"infofair_fitted_held"}


def test_each_run_has_the_rate_that_was_chosen_for_it(planned: Planned) -> None:
    form = forms(planned("infofair"))["infofair"]
    runs = {own["name"]: own for own in form.form["runs"]}
    for name, rate in (("split0", 0.003), ("split1", 0.01), ("authors", 0.003)):
        job = form.network(runs[name], [1.0]).job
        assert getattr(job.method, "learning_rate", None) == rate


def test_the_papers_form_is_trained_as_in_the_paper(planned: Planned) -> None:
    plan = planned("infofair")
    plain, printed = (forms(plan)[name] for name in ("infofair", "infofair_paper"))
    asked = paper_params()
    assert printed.method == methods.make("infofair", **asked.knobs("infofair").model_dump())
    assert plain.method.with_knobs(learning_rate=0.0001) == printed.method
    assert printed.rates == {}
    for form, how in ((plain, BACKBONE), (printed, TRAINING)):
        _, training = sweep.trainer(form.method, form.form["training"], data())
        assert training is not None
        for key in ("epochs", "patience", "batch_size", "weight_decay"):
            assert getattr(training, key) == how[key]
        assert training.streams == "own"  # the authors' are for their own data and seeds


# -- how long it is trained -----------------------------------------------------------------------


def trained(name: str, **changes: Any) -> tuple[Any, Any]:
    """What a method is trained with on 560 rows, in minibatches of 64: nine an epoch."""
    how = {"epochs": 40, "patience": 40, "batch_size": 64, "weight_decay": 0.0} | changes
    knobs = how.pop("knobs", {})
    return sweep.trainer(methods.make(name, **knobs), how, data())


@pytest.mark.parametrize(("steps", "epochs"), [(180, 20), (9, 1), (1, 1), (360, 40), (10_000, 40)])
def test_a_large_dataset_takes_fewer_epochs_at_least_one(steps: int, epochs: int) -> None:
    _, training = trained("vanilla", steps=steps)
    assert training.epochs == epochs


def test_without_a_number_of_steps_epochs_are_as_asked_for() -> None:
    method, training = trained("infofair")
    assert (training.epochs, method.halve_temperature_every) == (40, 50)


@pytest.mark.parametrize(
    ("method", "knob", "asked", "expected"),
    [
        ("infofair", "halve_temperature_every", 50, 25),
        ("infofair", "halve_temperature_every", 1, 1),
        ("infofair_fitted", "warm_up", 6, 3),
        ("infofair_fitted", "warm_up", 0, 0),  # no warm-up stays none
        ("adversarial_fitted", "warm_up", 1, 1),
    ],
)
def test_what_a_method_counts_in_epochs_is_shortened_alike(
    method: str, knob: str, asked: int, expected: int
) -> None:
    plain = methods.make(method, **{knob: asked})
    found, training = trained(method, steps=180, knobs={knob: asked})
    assert training.epochs == 20
    assert getattr(found, knob) == expected
    assert found.with_knobs(**{knob: asked}) == plain  # and nothing else


# -- the grid -------------------------------------------------------------------------------------


def test_the_grid_is_the_rules_and_every_run_has_its_strengths(planned: Planned) -> None:
    plan = planned("gdp")
    folder = run(plan) / "gdp"
    found = grid(folder)
    assert found["tried"] == [0.0, *plan["scan"]] == [0.0, *grids.scan((0.1, 10.0), 3)]
    assert list(found["seen"]) == data().settings
    rule = grids.grid(found["tried"], found["seen"], plan["strengths"], plan["budget"])
    assert found["strengths"] == rule
    assert len(rule) == 3
    seeds = {"split0": [0], "split1": [1], "authors": [0, 3]}
    for name, own in seeds.items():
        predictions = Predictions.load(folder / name / "predictions.npz")
        assert predictions.strengths == pytest.approx(sorted(rule))
        assert (predictions.seeds, predictions.settings) == (own, data().settings)
        networks = load_models(folder / name / "networks.npz")
        assert len(networks) == 3 * len(rule) * len(own)


def test_what_the_rule_sees_are_the_validation_rows_of_the_first_split(planned: Planned) -> None:
    """A strength that was tried and kept has the same model again."""
    plan = planned("dp_gap", scan=[0.1, 1.0, 10.0], strengths=3)
    folder = run(plan) / "dp_gap"
    found, rows = grid(folder), data(0)
    predictions = Predictions.load(folder / "split0/predictions.npz")
    kept = [(i, s) for i, s in enumerate(found["tried"]) if s in predictions.strengths]
    assert kept
    y = rows.y[rows.split["validation"]]
    for i, strength in kept:
        for setting in rows.settings:
            group, _ = rows.members(setting, "validation")
            scores = predictions.model(setting, strength, 0)["validation"]
            expected = grids.look(scores, y, group)
            # training in one pass with other strengths may change the last bits
            assert found["seen"][setting][i] == pytest.approx(expected, abs=2 / len(y))


def altered(rows: Prepared, part: str) -> Prepared:
    """Other features, labels and groups for the rows of a part."""
    rng, chosen = np.random.default_rng(5), rows.split[part]
    X, y = rows.X.copy(), rows.y.copy()
    X[chosen] = rng.random((len(chosen), X.shape[1]))
    y[chosen] = rng.integers(0, 2, len(chosen))
    groups = {s: of.copy() for s, of in rows.groups.items()}
    for of in groups.values():
        of[chosen] = rng.permutation(of[chosen])
    return replace(rows, X=X, y=y, groups=groups)


@pytest.mark.parametrize("method", ["dp_gap", "infofair", "fcfc"])
def test_no_test_row_and_no_other_split_has_a_say_in_the_grid(
    method: str, planned: Planned
) -> None:
    plan = planned(method)
    folder = run(plan) / method
    before = files(folder)
    chosen = Predictions.load(folder / "split0/predictions.npz").probabilities["validation"]
    altered(data(0), "test").save(paths.variant("compas", "split0"))
    for part in PARTS:
        altered(data(1), part).save(paths.variant("compas", "split1"))
    altered(data(0), "validation").save(paths.processed("compas"))
    run(plan)
    after = files(folder)
    assert after["grid.json"] == before["grid.json"]
    assert after["split0/predictions.npz"] != before["split0/predictions.npz"]  # of its test rows
    again = Predictions.load(folder / "split0/predictions.npz").probabilities["validation"]
    np.testing.assert_array_equal(again, chosen)


def test_validation_rows_do_have_a_say(planned: Planned) -> None:
    plan = planned("dp_gap")
    before = grid(run(plan) / "dp_gap")
    altered(data(0), "validation").save(paths.variant("compas", "split0"))
    assert grid(run(plan) / "dp_gap")["seen"] != before["seen"]


def test_a_strength_that_diverges_ends_the_grid_and_is_left_out(
    planned: Planned, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = planned("gdp", scan=[0.1, 1e39, 1e39], strengths=2)
    folder = run(plan) / "gdp"
    found = grid(folder)
    for vanilla, first, *rest in found["seen"].values():
        assert vanilla and first and rest == [None, None]
    assert found["strengths"] == [0.1, 1e39]
    predictions = Predictions.load(folder / "split1/predictions.npz")
    for setting in predictions.settings:
        assert predictions.model(setting, 0.1, 1)
        assert not predictions.model(setting, 1e39, 1)
    assert "6 models, 3 diverged\n" in capsys.readouterr().err


def test_without_a_strength_there_is_no_grid(planned: Planned) -> None:
    for method in ("vanilla", "boosting"):
        folder = run(planned(method))
        assert not list(folder.rglob("grid.json"))
        for form in sorted(folder.iterdir()):
            found = Predictions.load(form / "split1/predictions.npz")
            assert (found.settings, found.strengths) == ([ALL], [0.0])


def test_the_table_of_grids_has_every_look_once_and_what_it_led_to(planned: Planned) -> None:
    names = ["infofair", "infofair_fitted", "vanilla", "boosting", "fcfc"]
    folders = {name: run(planned(name)) for name in names}
    table = table_of_grids({"compas": names})
    # forms that are trained alike share one; without a strength there is none
    looking = {"infofair", "infofair_paper", "infofair_fitted", "fcfc"}
    assert set(table["method"]) == looking
    for method, rows in table.groupby("method"):
        found = grid(folders[str(method).removesuffix("_paper")] / str(method))
        assert rows.loc[rows["setting"] == "", "strength"].tolist() == found["strengths"]
        for setting, seen in found["seen"].items():
            own = rows[rows["setting"] == setting]
            assert own["strength"].tolist() == found["tried"]
            assert own["imparity"].tolist() == [row["imparity"] for row in seen]


# -- solvers --------------------------------------------------------------------------------------


def test_a_solver_is_swept_like_a_network(planned: Planned) -> None:
    plan = planned("fcfc", scan=[1.0, 0.1, 0.001])  # a tolerance: the strongest is least
    folder = run(plan) / "fcfc"
    found = grid(folder)
    assert found["tried"] == plan["scan"]  # the loosest is vanilla
    assert found["strengths"] == sorted(found["strengths"], reverse=True)
    assert files(folder).keys() == {
        "grid.json", *(f"{run}/predictions.npz" for run in ("split0", "split1", "authors"))
    }  # fmt: skip
    predictions = Predictions.load(folder / "authors/predictions.npz")
    assert predictions.seeds == [0]  # it draws nothing
    assert predictions.strengths == pytest.approx(sorted(found["strengths"]))


def test_a_method_is_swept_in_the_settings_that_it_handles(planned: Planned) -> None:
    folder = run(planned("lfr")) / "lfr"
    assert list(grid(folder)["seen"]) == ["gender"]
    found = Predictions.load(folder / "authors/predictions.npz")
    assert (found.settings, found.seeds) == (["gender"], [0, 3])


# -- what it depends on ---------------------------------------------------------------------------


def test_a_plan_is_all_that_it_reads_and_the_same_plan_gives_the_same_bytes(
    planned: Planned,
) -> None:
    plan = planned("infofair")
    before = files(run(plan))
    paths.PARAMS.write_text("no: parameters\n")
    assert files(run(plan)) == before


@pytest.mark.slow
def test_the_number_of_workers_changes_no_byte(
    planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, written = planned("infofair_fitted"), []
    for workers in ("1", "2", "5"):
        monkeypatch.setenv("INFOFAIR_WORKERS", workers)
        written.append(files(run(plan)))
    assert written[0] == written[1] == written[2]

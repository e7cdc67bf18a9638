"""What params.yaml asks of each stage: every plan, and what changes it."""

from pathlib import Path
from typing import Any

import pytest

from infofair import methods
from infofair.methods.base import Solver
from infofair.storage import write_text
from study import params, paths, plans
from tests.conftest import paper_params

Plans = dict[str, dict[str, Any]]


def written(**changes: Any) -> Plans:
    """Every plan of params.yaml with these changes, by its path under data/plans."""
    found = {
        path.relative_to(paths.PLANS).with_suffix("").as_posix(): plan
        for path, plan in plans.everything(paper_params(**changes))
    }
    return found


def changed(before: Plans, after: Plans) -> set[str]:
    return {name for name in before.keys() | after if before.get(name) != after.get(name)}


def section(name: str, **changes: Any) -> dict[str, Any]:
    """A section of params.yaml with other values at these keys."""
    return {name: getattr(paper_params(), name).model_dump() | changes}


@pytest.fixture(scope="module")
def usual() -> Plans:
    return written()


# -- what is in them ------------------------------------------------------------------------------


def test_there_is_a_plan_for_every_stage_dataset_and_method(usual: Plans) -> None:
    asked = paper_params()
    of_dataset = ("download", "prepare", "variants", "evaluate", "as_run")
    expected = {"summarize/all", "fronts/all", "luck/all", "honest/all"}
    expected |= {f"{what}/{dataset}" for what in of_dataset for dataset in asked.datasets}
    for dataset in asked.datasets:
        expected |= {f"train/{dataset}/{method}" for method in asked.method_names}
        expected |= {f"luck/{dataset}/{method}" for method in asked.luck.methods}
        swept = asked.swept_names
        expected |= {f"{w}/{dataset}/{m}" for w in ("fronts", "honest") for m in swept}
    assert usual.keys() == expected


def test_a_network_is_planned_with_its_data_its_training_and_the_files_it_writes(
    usual: Plans,
) -> None:
    asked = paper_params()
    plan = usual["train/adult/infofair"]
    assert plan["method"] == "infofair"
    assert plan["training"] == asked.training.model_dump()
    assert plan["hidden"] == asked.knobs("adult").hidden
    assert not plan["may_diverge"]
    (run,) = plan["runs"]
    assert run == {
        "title": "infofair on adult",
        "data": "data/processed/adult.npz",
        "strengths": [asked.alpha],
        "seeds": asked.seeds,
        "predictions": "results/predictions/adult/infofair.npz",
        "curves": "results/curves/adult/infofair.csv",
        "networks": "results/networks/adult/infofair.npz",
    }
    assert usual["train/adult/vanilla"]["runs"][0]["strengths"] == [0.0]


def test_a_solver_is_planned_without_training_and_with_its_own_knobs(usual: Plans) -> None:
    plan = usual["train/adult/lfr"]
    assert {"training", "hidden"}.isdisjoint(plan)
    assert plan["runs"][0]["strengths"] == []
    assert plan["runs"][0]["fits"] == "results/fits/adult/lfr.csv"


def test_the_ablations_have_the_knobs_of_infofair(usual: Plans) -> None:
    for name in ("infofair_ts", "infofair_td"):
        assert usual[f"train/compas/{name}"]["knobs"] == usual["train/compas/infofair"]["knobs"]


def test_the_fronts_have_every_strength_and_the_dataset_without_its_leak(usual: Plans) -> None:
    asked = paper_params()
    for method, strengths in asked.frontier.strengths.items():
        plan = usual[f"fronts/compas/{method}"]
        assert plan["may_diverge"]
        runs = {Path(run["predictions"]).parent.name: run for run in plan["runs"]}
        assert list(runs) == ["compas", "compas_without_leak"]
        assert runs["compas"]["data"] == "data/processed/compas.npz"
        assert runs["compas_without_leak"]["data"] == "data/variants/compas/without_leak.npz"
        for run in plan["runs"]:
            assert (run["strengths"], run["seeds"]) == (strengths, asked.frontier.seeds)
        assert len(usual[f"fronts/adult/{method}"]["runs"]) == 1  # nothing leaks


def test_without_leaking_columns_from_the_start_there_is_no_second_form() -> None:
    found = written(compas={"drop_leaking_columns": True})
    assert len(found["fronts/compas/gdp"]["runs"]) == 1


def test_the_honest_table_has_every_split_at_one_strength(usual: Plans) -> None:
    asked = paper_params()
    for method, strength in asked.honest.strengths.items():
        runs = usual[f"honest/adult/{method}"]["runs"]
        names = [Path(run["data"]).stem for run in runs]
        assert names == [f"split{seed}" for seed in asked.honest.splits]
        assert all(run["strengths"] == [strength] for run in runs)
        assert all(run["seeds"] == asked.honest.seeds for run in runs)


def test_the_honest_forms_change_what_they_say(usual: Plans) -> None:
    asked = paper_params()
    for dataset, leaks in {"compas": True, "adult": False}.items():
        splits = usual[f"variants/{dataset}"]["splits"]
        for seed in asked.honest.splits:
            how = splits[f"split{seed}"]
            assert (how["split"], how["scale"]) == ("random", "train_rows")
            assert how["random_split"] == asked.random_split.model_dump() | {"seed": seed}
            assert how["drop_leaking_columns"] is leaks
            assert how["sensitive_as_input"] is asked.sensitive_as_input


def test_in_fronts_and_honest_table_networks_have_the_backbone_but_for_the_exceptions(
    usual: Plans,
) -> None:
    asked = paper_params()
    for what in ("fronts", "honest"):
        for method in asked.swept_names:
            plan = usual[f"{what}/dutch/{method}"]
            if issubclass(methods.load(method), Solver):
                assert "training" not in plan
                continue
            training = asked.backbone.model_dump()
            training |= {
                k: v for k, v in asked.frontier.exceptions.get(method, {}).items() if k in training
            }
            rate = training.pop("learning_rate")
            assert plan["training"] == training
            assert plan["knobs"].get("learning_rate", rate) == rate


def test_no_two_runs_write_the_same_file(usual: Plans) -> None:
    kinds = ("predictions", "curves", "networks", "fits")
    files = [
        run[kind]
        for plan in usual.values()
        for run in plan.get("runs", [])
        for kind in kinds
        if kind in run
    ]
    assert len(files) == len(set(files))


def test_a_datasets_knobs_are_written_down_whether_params_yaml_sets_them_or_not() -> None:
    asked = paper_params()
    content = asked.model_dump(exclude={"dutch"})
    dropped = {n: k for n, k in content.items() if k is not None}
    found = {p.as_posix(): plan for p, plan in plans.everything(params.check(dropped))}
    assert found["data/plans/train/dutch/vanilla.json"]["hidden"] == [32]
    assert found["data/plans/prepare/dutch.json"]["drop_leaking_columns"] is False


# -- what changes them ----------------------------------------------------------------------------


def test_what_is_not_asked_has_no_plan(usual: Plans) -> None:
    found = written(datasets=["dutch"])
    assert changed(usual, found) >= {"train/adult/gdp", "summarize/all"}
    assert not any("/adult" in name or "/compas" in name for name in found)


def test_ten_times_the_learning_rate_of_the_backbone_trains_the_fronts_again(
    usual: Plans,
) -> None:
    rate = paper_params().backbone.learning_rate * 10
    found = changed(usual, written(**section("backbone", learning_rate=rate)))
    assert {"fronts/adult/vanilla", "honest/dutch/gdp"} <= found
    assert all(name.startswith(("fronts/", "honest/")) for name in found)
    assert not any(name.endswith(("/lfr", "/fcfc", "/expgrad")) for name in found)


@pytest.mark.parametrize(
    ("changes", "stale"),
    [
        ({"fallback": "none"}, {"download/adult", "download/compas", "download/dutch"}),
        (
            {"compas": {"hidden": [5]}},
            {f"{what}/compas/vanilla" for what in ("train", "luck", "fronts", "honest")}
            | {"as_run/compas"},
        ),
        (
            section("training", epochs=7),
            {"train/adult/vanilla", "luck/adult/infofair", "as_run/dutch"},
        ),
        ({"alpha": 0.7}, {"train/adult/infofair", "train/dutch/gdp"}),
        (section("luck", seeds=7), {"luck/adult/infofair"}),
        (section("honest", smallest_group=7), {"variants/adult"}),
        ({"seeds": [7]}, {"train/adult/lfr", "train/compas/vanilla", "as_run/adult"}),
    ],
    ids=["fallback", "hidden", "training", "alpha", "luck", "smallest_group", "seeds"],
)  # fmt: skip
def test_a_change_reaches_the_stages_that_read_it(
    changes: dict[str, Any], stale: set[str], usual: Plans
) -> None:
    found = changed(usual, written(**changes))
    assert stale <= found
    # and no other kind of stage, nor another dataset
    assert {name.split("/")[0] for name in found} == {name.split("/")[0] for name in stale}
    if "compas" in changes:
        assert all("/compas" in name for name in found)


def test_a_methods_knob_changes_its_own_plans_alone(usual: Plans) -> None:
    other = {"lfr": paper_params().knobs("lfr").model_dump() | {"iterations": 7}}
    found = changed(usual, written(**other))
    kinds = ("train", "fronts", "honest")
    datasets = paper_params().datasets
    assert found == {f"{kind}/{dataset}/lfr" for kind in kinds for dataset in datasets}


def test_a_changed_file_of_the_users_own_changes_what_its_dataset_depends_on(
    workspace: Path,
) -> None:
    before = written()
    write_text(paths.own("adult") / "adult.csv", "one")
    write_text(paths.own("other") / "other.csv", "of no dataset that is run")
    placed = written()
    write_text(paths.own("adult") / "adult.csv", "two")
    assert changed(before, placed) == changed(placed, written()) == {"download/adult"}

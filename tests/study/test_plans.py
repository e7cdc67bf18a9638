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
    expected = {"summarize/all", "comparison/all", "luck/all"}
    of_paper = ("prepare", "evaluate", "as_run")
    expected |= {f"{what}/{dataset}" for what in of_paper for dataset in asked.datasets}
    for dataset, names in asked.compared_datasets.items():
        of_comparison = ("download", "variants", "posteriors", "backbone")
        expected |= {f"{what}/{dataset}" for what in of_comparison}
        expected |= {f"sweep/{dataset}/{method}" for method in names}
    expected |= {f"download/{dataset}" for dataset in asked.general.datasets}
    expected |= {
        f"{what}/{s}" for what in ("general", "generalised") for s in asked.general.studies
    }
    for dataset in asked.datasets:
        expected |= {f"train/{dataset}/{method}" for method in asked.method_names}
        expected |= {f"luck/{dataset}/{method}" for method in asked.luck.methods}
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


# -- of the generalisations -----------------------------------------------------------------------


def test_which_data_a_study_is_run_on_is_no_business_of_its_training(usual: Plans) -> None:
    asked = paper_params().general.model_dump()
    runs = {name: run for name, run in asked["runs"].items() if name != "graph-german"}
    found = changed(usual, written(**section("general", runs=runs)))
    assert found == {"generalised/graph"}
    assert usual["generalised/graph"]["datasets"] == ["bail", "german"]
    assert usual["general/graph"]["steps"] == asked["steps"]


# -- of the comparison ----------------------------------------------------------------------------


def forms(plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {form["name"]: form for form in plan["forms"]}


def test_every_method_has_the_same_number_of_strengths_to_look_at_and_to_keep(
    usual: Plans,
) -> None:
    asked = paper_params()
    for dataset, names in asked.compared_datasets.items():
        for method in names:
            plan = usual[f"sweep/{dataset}/{method}"]
            kind = methods.load(method)
            varied = kind.strength if issubclass(kind, Solver) else kind.uses_alpha
            assert plan["strengths"] == (asked.comparison.strengths if varied else 0), method
            assert plan["folder"] == f"results/sweep/{dataset}/{method}"
            # what it has no use for is not in it: a change of that must not train it again
            hidden = None if issubclass(kind, Solver) else asked.knobs(dataset).hidden
            assert plan.get("hidden") == hidden
            assert ("scan" in plan, "budget" in plan) == (bool(varied), bool(varied))
            if varied:
                assert len(plan["scan"]) == asked.comparison.look
                ends = asked.comparison.ends.get(method, asked.comparison.between)
                assert [plan["scan"][0], plan["scan"][-1]] == ends
                assert plan["budget"] == asked.comparison.budget
    without = [m for m in asked.compared if not usual[f"sweep/adult/{m}"]["strengths"]]
    assert sorted(without) == ["boosting", "logistic", "vanilla"]


def test_a_method_takes_part_in_the_forms_that_are_asked_for(usual: Plans) -> None:
    asked = paper_params()
    for dataset, names in asked.compared_datasets.items():
        for method in names:
            found = list(forms(usual[f"sweep/{dataset}/{method}"]))
            expected = [method]
            if method in asked.comparison.paper and dataset in asked.datasets:
                expected.append(f"{method}_paper")
            if method == plans.FITTED:
                expected += [f"{method}_ts", f"{method}_td", f"{method}_held"]
            if method in asked.comparison.unaware:
                expected.append(f"{method}_unaware")
            assert found == expected


def test_networks_are_trained_alike_whatever_the_method(usual: Plans) -> None:
    """With the backbone, its learning rate and its number of steps; only _paper is an exception."""
    asked = paper_params()
    backbone = asked.backbone.model_dump(exclude={"learning_rates"})
    printed = asked.training.model_dump() | {"streams": "own"}
    for dataset, names in asked.compared_datasets.items():
        for method in names:
            for name, form in forms(usual[f"sweep/{dataset}/{method}"]).items():
                if issubclass(methods.load(method), Solver):
                    assert "training" not in form
                elif name.endswith("_paper"):
                    assert (form["training"], form["backbone"]) == (printed, None)
                    assert form["knobs"] == asked.knobs(method).model_dump()
                else:
                    assert form["training"] == backbone
                    assert form["backbone"] == f"results/backbone/{dataset}.json"


def test_the_forms_differ_in_what_their_names_say_and_in_nothing_else(usual: Plans) -> None:
    plain, *others = usual["sweep/adult/infofair_fitted"]["forms"]
    kept = {
        "infofair_fitted_ts": {"terms": ["T", "S"]},
        "infofair_fitted_td": {"terms": ["T", "D"]},
        "infofair_fitted_held": {"held": True},
    }
    assert len(others) == 4
    for form in others:
        different = {key for key in plain if form[key] != plain[key]}
        # the paper's own data is for what the paper has
        assert different == {"name", "authors", "runs"} | (
            {"knobs"} if form["name"] in kept else {"unaware"}
        )
        assert form["runs"] == plain["runs"][:-1]
        if form["name"] in kept:
            assert form["knobs"] == plain["knobs"] | kept[form["name"]]
        else:
            assert form["unaware"] == ["race", "sex"]


def test_the_runs_are_the_honest_splits_then_the_papers_data(usual: Plans) -> None:
    asked = paper_params()
    for dataset, names in asked.compared_datasets.items():
        large = dataset in asked.comparison.large.datasets
        splits = asked.comparison.large.splits if large else asked.comparison.splits
        for method in names:
            for name, form in forms(usual[f"sweep/{dataset}/{method}"]).items():
                honest = [
                    {"name": f"split{i}", "data": f"data/variants/{dataset}/split{i}.npz"}
                    | {"seeds": [i]}
                    for i in splits
                ]
                as_it_is = {"name": "authors", "data": f"data/processed/{dataset}.npz"}
                expected = [*honest, as_it_is | {"seeds": asked.comparison.seeds}]
                printed = not large and name == method
                assert form["runs"] == (expected if printed else honest)


def test_groups_are_predicted_without_the_columns_that_name_them(usual: Plans) -> None:
    for dataset in paper_params().compared_datasets:
        plan = usual[f"posteriors/{dataset}"]
        assert plan["splits"].keys() == usual[f"variants/{dataset}"]["splits"].keys()
        (unaware,) = {tuple(f["unaware"]) for f in usual[f"sweep/{dataset}/vanilla"]["forms"][-1:]}
        assert plan["columns"] == list(unaware) != []


def test_the_honest_forms_change_what_they_say(usual: Plans) -> None:
    asked = paper_params()
    for dataset, leaks in {"compas": True, "adult": False}.items():
        splits = usual[f"variants/{dataset}"]["splits"]
        seeds = asked.comparison.splits
        assert list(splits) == [f"split{seed}" for seed in seeds]
        for seed in seeds:
            how = splits[f"split{seed}"]
            assert (how["split"], how["scale"]) == ("random", "train_rows")
            assert how["random_split"] == asked.random_split.model_dump() | {"seed": seed}
            assert how["drop_leaking_columns"] is leaks
            assert how["sensitive_as_input"] is asked.sensitive_as_input


def test_a_larger_dataset_has_its_own_splits_and_methods_and_no_paper() -> None:
    large = {"datasets": ["kdd"], "splits": [7], "trained": ["vanilla", "gdp"], "solved": []}
    found = written(**section("comparison", large=large))
    assert {n for n in found if "/kdd" in n} == {
        "download/kdd", "variants/kdd", "posteriors/kdd", "backbone/kdd", "sweep/kdd/vanilla",
        "sweep/kdd/gdp",
    }  # fmt: skip
    assert list(found["variants/kdd"]["splits"]) == ["split7"]
    for form in found["sweep/kdd/vanilla"]["forms"]:
        assert [run["seeds"] for run in form["runs"]] == [[7]]
        assert not form["name"].endswith("_paper")


def test_no_two_runs_write_the_same_file(usual: Plans) -> None:
    kinds = ("predictions", "curves", "networks", "fits")
    files = [
        run[kind]
        for plan in usual.values()
        for run in plan.get("runs", [])
        for kind in kinds
        if kind in run
    ]
    files += [
        f"{plan['folder']}/{form['name']}/{run['name']}"
        for plan in usual.values()
        for form in plan.get("forms", [])
        for run in form["runs"]
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


def test_another_choice_of_learning_rates_is_made_again_and_by_nobody_else(usual: Plans) -> None:
    """The comparison is trained again if another rate comes out: it depends on that alone."""
    found = changed(usual, written(**section("backbone", learning_rates=[0.5])))
    assert found == {f"backbone/{dataset}" for dataset in paper_params().compared_datasets}


def test_twice_the_steps_of_the_backbone_train_the_comparison_again(usual: Plans) -> None:
    steps = paper_params().backbone.steps * 2
    found = changed(usual, written(**section("backbone", steps=steps)))
    assert {"sweep/adult/vanilla", "sweep/dutch/gdp"} <= found
    assert all(name.startswith(("sweep/", "backbone/")) for name in found)
    solved = [m for m in paper_params().compared if issubclass(methods.load(m), Solver)]
    assert not any(name.rpartition("/")[2] in solved for name in found)


@pytest.mark.parametrize(
    ("changes", "stale"),
    [
        (
            {"fallback": "none"},
            {"download/adult", "download/compas", "download/dutch"},
        ),
        (
            {"compas": {"hidden": [5]}},
            {f"{what}/compas/vanilla" for what in ("train", "luck", "sweep")}
            | {"as_run/compas", "backbone/compas"},
        ),
        (
            section("training", epochs=7),
            {"train/adult/vanilla", "luck/adult/infofair", "as_run/dutch", "sweep/adult/infofair"},
        ),
        ({"alpha": 0.7}, {"train/adult/infofair", "train/dutch/gdp"}),
        (section("luck", seeds=7), {"luck/adult/infofair"}),
        (section("comparison", smallest_group=7), {"variants/adult"}),
        (section("comparison", seeds=[7]), {"sweep/adult/gdp", "backbone/adult"}),
        (section("comparison", strengths=3), {"sweep/adult/gdp"}),
        ({"seeds": [7]}, {"train/adult/lfr", "train/compas/vanilla", "as_run/adult"}),
    ],
    ids=[
        "fallback", "hidden", "training", "alpha", "luck", "smallest_group", "compared seeds",
        "strengths", "seeds",
    ],
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
    kinds = ("train", "sweep")
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

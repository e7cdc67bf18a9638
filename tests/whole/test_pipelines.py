"""The three dvc.yaml: what each stage depends on and writes, as DVC understands them."""

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from infofair import methods
from study import params, paths, plans
from tests.conftest import ROOT, paper_params
from tests.repository import PIPELINES, Pipeline, Stage, covers, write_repository

# What can change a trained model. Training depends on no other code.
TRAINING = (
    "infofair/methods", "infofair/training", "infofair/data/prepared.py", "infofair/kernels.py",
    "infofair/knobs.py", "infofair/storage.py", "stages/train.py", "stages/solve.py",
)  # fmt: skip
# Also of the comparison, which finds its strengths itself.
SWEEPING = ("infofair/grids.py", "study/sweep.py", "stages/sweep.py")
# What is computed of models, or made of data before them. Training never waits for it.
ANALYSIS = (
    "infofair/barycentre.py", "infofair/blind.py", "infofair/information.py",
    "infofair/metrics.py", "infofair/pareto.py", "infofair/scores.py", "infofair/thresholds.py",
    "infofair/uncertainty.py", "infofair/data/tabular.py", "infofair/data/checks.py",
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "study").rglob("*.py"))),
)  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    return write_repository(tmp_path_factory.mktemp("repository"))


@pytest.fixture(scope="module")
def stages(repository: Pipeline) -> dict[str, Stage]:
    return repository.stages


# -- three pipelines ------------------------------------------------------------------------------


def needed(repository: Pipeline, file: str) -> set[str]:
    """The stages that `dvc repro` of a file starts from, and all that these need."""
    from networkx import descendants

    with repository.dvc() as repo:
        found = set(repo.stage.collect(file))
        found |= {other for stage in found for other in descendants(repo.index.graph, stage)}
        return {stage.addressing for stage in found}


def test_a_bare_repro_runs_the_paper_alone(repository: Pipeline, stages: dict[str, Stage]) -> None:
    found = needed(repository, "dvc.yaml")
    assert found == {a for a, s in stages.items() if not s.pipeline}


@pytest.mark.parametrize("pipeline", PIPELINES[1:])
def test_a_further_pipeline_needs_the_papers_data_and_none_of_its_models(
    pipeline: str, repository: Pipeline, stages: dict[str, Stage]
) -> None:
    found = needed(repository, f"{pipeline}/dvc.yaml")
    assert {a for a, s in stages.items() if s.pipeline == pipeline} <= found
    others = [stages[address] for address in found if stages[address].pipeline != pipeline]
    assert {s.pipeline for s in others} == {""}
    assert {s.name for s in others} == {"check", "download", "validate", "preprocess"}


def test_what_takes_long_is_beyond_the_paper(stages: dict[str, Stage]) -> None:
    trained = {(stage.pipeline, stage.name) for stage in stages.values() if stage.trains}
    assert {name for pipeline, name in trained if not pipeline} == {"train", "ablate", "solve"}
    assert {name for pipeline, name in trained if pipeline == "luck"} == {"luck"}
    compared = {name for pipeline, name in trained if pipeline == "beyond"}
    kinds = ["", "_solved", "_more", "_more_solved"]
    kinds += ["_large", "_large_solved"] if paper_params().comparison.large.datasets else []
    assert compared == {f"sweep{kind}" for kind in kinds}


def test_every_stage_has_one_door(stages: dict[str, Stage]) -> None:
    for stage in stages.values():
        python, option, module, *_ = stage.cmd.split()
        assert (python, option) == ("python", "-m")
        assert stage.depends_on(f"{module.replace('.', '/')}.py"), stage.address


def test_every_dataset_and_method_of_params_has_its_stages(stages: dict[str, Stage]) -> None:
    asked = paper_params()
    for dataset in asked.datasets:
        for method in asked.method_names:
            assert asked.stage(dataset, method) in stages
    swept = [s.cmd.split()[-1] for s in stages.values() if s.trains and s.pipeline == "beyond"]
    assert sorted(swept) == sorted(
        f"data/plans/sweep/{dataset}/{method}.json"
        for dataset, names in asked.compared_datasets.items()
        for method in names
    )
    for dataset in asked.compared_datasets:  # of the larger ones with a name of their own
        large = "_large" * (dataset not in asked.datasets)
        for kind in ("variants", "backbone", "posteriors", "measure"):
            assert f"beyond/dvc.yaml:{kind}{large}@{dataset}" in stages
    counted = {s.cmd.split()[-1] for s in stages.values() if s.name.startswith("sizes")}
    for dataset in [*asked.compared_datasets, *asked.general.datasets]:
        for kind in ("download", "validate"):
            assert paths.stage(kind, dataset) in stages
        assert dataset in counted


# -- what they depend on --------------------------------------------------------------------------


def test_what_a_stage_depends_on_exists_or_is_made(
    repository: Pipeline, stages: dict[str, Stage]
) -> None:
    made = [out for stage in stages.values() for out in stage.outs]
    for stage in stages.values():
        for dep in stage.deps:
            written = any(covers(out, dep) or covers(dep, out) for out in made)
            assert written or (repository.folder / dep).exists(), f"{stage.address}: {dep}"


def test_every_plan_that_a_stage_reads_is_written(stages: dict[str, Stage]) -> None:
    written = [path.as_posix() for path, _ in plans.everything(paper_params())]
    asked = {dep for s in stages.values() for dep in s.deps if dep.startswith("data/plans/")}
    assert {dep for dep in asked if not any(covers(dep, path) for path in written)} == set()
    # and what is written is read
    assert {path for path in written if not any(covers(dep, path) for dep in asked)} == set()


def test_training_depends_on_its_plan_its_data_its_method_and_what_trains(
    stages: dict[str, Stage],
) -> None:
    for stage in stages.values():
        if not stage.trains:
            continue
        plan = stage.cmd.split()[-1]
        assert plan in stage.deps
        code = (*TRAINING, *(SWEEPING if stage.name.startswith("sweep") else ()))
        others = [dep for dep in stage.deps if not any(covers(path, dep) for path in code)]
        data = ("data/processed/", "data/variants/", "results/backbone/")
        assert [dep for dep in others if dep != plan and not dep.startswith(data)] == []
        of_methods = [dep for dep in stage.deps if covers("infofair/methods", dep)]
        own = "infofair" if stage.name == "ablate" else Path(plan).stem
        expected = {f"infofair/methods/{name}.py" for name in ("__init__", "base", own)}
        assert set(of_methods) == expected


def test_a_comment_in_an_analysis_trains_nothing(stages: dict[str, Stage]) -> None:
    trained = [stage for stage in stages.values() if stage.trains]
    for path in ANALYSIS:
        found = {stage.name for stage in trained if stage.depends_on(path)}
        assert not any(n for n in found if path not in SWEEPING or not n.startswith("sweep")), path


def test_the_posteriors_depend_on_what_fits_them_and_on_no_analysis(
    stages: dict[str, Stage],
) -> None:
    """They are fitted, too, if not by a method of params.yaml."""
    allowed = {f"study/{name}.py" for name in ("files", "paths", "posteriors", "sweep")}
    fitted = [s for s in stages.values() if s.name.startswith("posteriors")]
    assert len(fitted) == len(paper_params().compared_datasets)
    for stage in fitted:
        assert {path for path in ANALYSIS if stage.depends_on(path)} == allowed
        assert not any(stage.depends_on(f"infofair/methods/{name}.py") for name in methods.names())


def test_a_generalisation_is_trained_by_what_it_trains_and_not_by_what_is_measured(
    stages: dict[str, Stage],
) -> None:
    asked = paper_params().general
    trained = {s.address.partition("@")[2]: s for s in stages.values() if s.name == "general_train"}
    assert trained.keys() == asked.runs.keys()
    for name, stage in trained.items():
        study = asked.runs[name].study
        of_models = {dep for dep in stage.deps if covers("study/general/models", dep)}
        assert of_models == {f"study/general/models/{file}.py" for file in ("__init__", study)}
        analysis = ("study/general/measuring.py", f"study/general/figures/{study}.py")
        shown = ("study/labels.py", "study/results.py", "study/tables/general.py")
        assert not any(stage.depends_on(path) for path in (*analysis, *shown)), name
    for study in asked.studies:
        assert f"beyond/dvc.yaml:general@{study}" in stages
        assert f"beyond/dvc.yaml:general_figure@{study}" in stages


def test_a_new_method_is_a_dependency_of_its_own_stages_and_of_what_shows_params_yaml(
    tmp_path: Path,
) -> None:
    """Pages and documents run again, as params.yaml has another line; nothing else is trained."""
    asked = paper_params()
    lists = asked.methods.model_dump()
    lists["trained"] = [*lists["trained"], "hsic"]
    repository = write_repository(tmp_path / "repository", methods=lists)
    found = [s for s in repository.stages.values() if s.depends_on("infofair/methods/hsic.py")]
    showing = {"check", "document", "page", "methods_page", "data_page"}
    assert {s.name for s in found if not s.trains} <= showing
    trained = {s.address.rpartition(":")[2] for s in found if s.trains}
    assert trained == {f"{kind}@{d}-hsic" for kind in ("train", "sweep") for d in asked.datasets}


LISTED = [*paper_params().compared, *paper_params().methods.ablations]


def without(content: Any, method: str) -> Any:
    """params.yaml, of whose lists the method is in none."""
    if isinstance(content, dict):
        return {key: without(value, method) for key, value in content.items()}
    return [x for x in content if x != method] if isinstance(content, list) else content


@pytest.mark.parametrize("method", [name for name in LISTED if name != "vanilla"])
@pytest.mark.promise("A new method, dataset or study trains itself and nothing else.")
def test_a_method_that_is_added_changes_the_plan_of_no_other_training(method: str) -> None:
    content = YAML(typ="safe").load(ROOT / "params.yaml")
    after = dict(plans.everything(params.check(content)))
    before = dict(plans.everything(params.check(without(content, method))))
    new = after.keys() - before.keys()
    assert new and all(path.stem == method for path in new)
    kinds = ("train", "sweep", "luck", "as_run", "backbone", "posteriors", "general")
    trained = [p for p in before if p.parts[2] in kinds and p != paths.plan("luck")]  # its table's
    assert [path for path in trained if after[path] != before[path]] == []


def test_a_dataset_is_a_dependency_of_its_own_stages_and_of_what_asks_all(
    stages: dict[str, Stage],
) -> None:
    found = [s for s in stages.values() if s.depends_on("infofair/datasets/adult.py")]
    assert not any(s.trains for s in found)
    # (what measures a generalisation reads all of its data)
    single = {s.address for s in found if "@" in s.address and s.name != "general"}
    assert single and all(address.endswith(("@adult", "-adult")) for address in single)


def test_alpha_changes_the_plans_of_the_papers_networks_alone() -> None:
    asked = paper_params()
    other = paper_params(alpha=asked.alpha + 1)
    before, after = dict(plans.everything(asked)), dict(plans.everything(other))
    changed = {path.as_posix() for path in before if before[path] != after[path]}
    reading = [m for m in asked.method_names if m.startswith("infofair")]
    assert {f"data/plans/train/adult/{method}.json" for method in reading} <= changed
    assert all(path.startswith("data/plans/train/") for path in changed)
    assert not any(Path(path).stem in ("vanilla", *asked.methods.solved) for path in changed)


# -- what they write ------------------------------------------------------------------------------


def test_results_never_flow_back_into_data(stages: dict[str, Stage]) -> None:
    for stage in stages.values():
        if any(covers("data", out) for out in stage.outs):
            assert [dep for dep in stage.deps if dep.startswith(("results", "reports"))] == []


def test_data_flows_one_way(stages: dict[str, Stage]) -> None:
    """From plans over data and models to tables, figures and pages, each room once."""
    rooms = (
        "data/plans", "data/raw", "data/validated", "data/processed", "data/variants",
        ("results/predictions", "results/curves", "results/networks", "results/fits",
         "results/backbone", "results/sweep", "results/posteriors", "results/luck",
         "results/generalised"),
        ("results/evaluation", "results/measured"), "results/", "results/figures",
        ("reports", "docs"),
    )  # fmt: skip

    def room(path: str) -> int:
        # results/validation is for people: no stage before the page reads it
        found = [i for i, of in enumerate(rooms) if path.startswith(of)]
        return found[-1] if path.startswith("results/figures") else min(found, default=-1)

    for stage in stages.values():
        first = min(room(out) for out in stage.outs)
        for dep in stage.deps:
            if dep.startswith(("data/", "results", "reports")):
                assert room(dep) <= first or dep.startswith("data/"), f"{stage.address}: {dep}"


def test_no_two_stages_write_the_same(stages: dict[str, Stage]) -> None:
    outs = [out for stage in stages.values() for out in stage.outs]
    assert [(a, b) for a in outs for b in outs if a is not b and covers(a, b)] == []


def test_results_in_git_survive_a_failed_run(stages: dict[str, Stage]) -> None:
    for stage in stages.values():
        assert set(stage.kept_in_git) <= set(stage.persistent), stage.address


def test_what_is_in_git_is_no_business_of_dvcs_cache_and_the_rest_is_ignored(
    repository: Pipeline, stages: dict[str, Stage]
) -> None:
    kept = {out for stage in stages.values() for out in stage.kept_in_git}
    cached = {out for stage in stages.values() for out in stage.outs} - kept
    asked = [f"{out}{end}" for out in sorted(kept | cached) for end in ("", "/")]
    said = repository.git("check-ignore", "--no-index", *asked).split()
    assert {path.rstrip("/") for path in said} == cached


def test_no_data_is_committed() -> None:
    listed = Pipeline(ROOT).git("ls-files", "data").split()
    assert all(path.startswith(("data/reference/", "data/own/README")) for path in listed)

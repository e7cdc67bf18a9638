"""What each stage's code is: the modules it imports, found in their source."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stages import check, files, methods
from tests.conftest import ROOT, yaml

ALL_STAGES = list(check.STAGES)


def names(stage: str) -> set[str]:
    return {path.relative_to(ROOT / "stages").as_posix() for path in check.code_of(stage)}


def test_a_stages_code_is_what_it_imports_but_for_what_cannot_change_its_output() -> None:
    shared = {"__init__.py", "predictions.py", "processed.py", "methods/__init__.py"}
    assert names("train") == shared | {"train.py", "jobs.py", "trainer.py"}
    assert names("solve") == shared | {"solve.py"}
    assert names("summarize") == {"__init__.py", "summarize.py"}


def test_what_only_the_dataset_files_import_counts_too() -> None:
    assert "tabular.py" in names("download")  # it draws simulated rows


LOADED = """
import sys
from pathlib import Path
import stages.{module}
print(*(Path(m.__file__).resolve() for n, m in sys.modules.items() if n.split(".")[0] == "stages"),
      sep="\\n")
"""


@pytest.mark.parametrize("stage", ALL_STAGES)
def test_every_module_that_python_loads_is_a_stages_code_or_left_out_on_purpose(stage: str) -> None:
    for module in check.STAGES[stage]:
        done = subprocess.run(
            [sys.executable, "-c", LOADED.format(module=module)],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        loaded = {Path(line).relative_to(ROOT / "stages") for line in done.stdout.split()}
        single = {p for p in loaded if len(p.parts) > 1 and p.name != "__init__.py"}
        shared = {p.as_posix() for p in loaded - single if p.stem not in check.HARMLESS}
        # params.py, which is harmless, looks into every package
        assert shared - {"datasets/__init__.py", "methods/__init__.py"} <= names(stage)


@pytest.mark.parametrize("stage", ["train", "train_ablation", "train_fixed", "solve", "download"])
def test_a_single_datasets_or_methods_file_is_a_dependency_of_its_own(stage: str) -> None:
    deps = yaml.load(ROOT / "dvc.yaml")["stages"][stage]["deps"]
    kind = "datasets/${item.dataset}.py" if stage == "download" else "methods/${item.method}.py"
    assert f"stages/{kind}" in deps


def test_files_that_methods_share_with_another_are_dependencies_too() -> None:
    stages = yaml.load(ROOT / "dvc.yaml")["stages"]
    packages = ROOT / "stages/methods"
    for path in packages.glob("[a-z]*.py"):
        others = {p.stem for p in check.imported(path) if p.parent == packages} - {"__init__"}
        if others:
            assert others == {"infofair"}
            assert "stages/methods/infofair.py" in stages["train_ablation"]["deps"]
            assert isinstance(methods.load(path.stem), methods.Network)


def test_a_datasets_knobs_are_written_down_whether_params_yaml_sets_them_or_not(
    workspace: Path,
) -> None:
    content = yaml.load(workspace / "params.yaml")
    del content["dutch"]
    yaml.dump(content, workspace / "params.yaml")
    check.main()

    def written(dataset: str) -> dict[str, object]:
        folder = check.CHECKED / dataset
        return {path.stem: json.loads(path.read_text()) for path in folder.iterdir()}

    assert written("compas") == content["compas"] | {"own": {}}
    assert written("dutch") == {"hidden": [32], "drop_leaking_columns": False, "own": {}}
    yaml.dump(content | {"datasets": ["dutch"]}, workspace / "params.yaml")
    check.main()
    assert [path.name for path in check.CHECKED.iterdir()] == ["dutch"]


def test_a_changed_file_of_the_users_own_changes_what_its_dataset_depends_on(
    workspace: Path,
) -> None:
    def hashes() -> dict[str, bytes]:
        check.main()
        return {path.parent.name: path.read_bytes() for path in check.CHECKED.glob("*/own.json")}

    before = hashes()
    files.write_text(files.own("adult") / "adult.csv", "one")
    files.write_text(files.own("other") / "other.csv", "of no dataset that is run")
    placed = hashes()
    files.write_text(files.own("adult") / "adult.csv", "two")
    edited = hashes()
    assert before["adult"] != placed["adult"] != edited["adult"] != before["adult"]
    assert all(before[name] == placed[name] == edited[name] for name in ("compas", "dutch"))


def test_every_stage_of_the_pipeline_depends_on_its_code() -> None:
    for name, stage in yaml.load(ROOT / "dvc.yaml")["stages"].items():
        if name != "check":
            assert f"data/code/{name.split('_')[0]}.txt" in stage["deps"]


def test_a_changed_line_changes_the_code_of_the_stages_that_run_it(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def written() -> dict[str, str]:
        check.main()
        return {path.stem: path.read_text() for path in check.CODE.iterdir()}

    copied = workspace / "stages"
    for path in (ROOT / "stages").rglob("*.py"):
        target = copied / path.relative_to(ROOT / "stages")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    monkeypatch.setattr(check, "TOP", workspace)
    before = written()
    for changed, expected in {
        "trainer.py": {"train", "frontier", "honest"},
        "methods/gdp.py": set(),
        "cli.py": set(),
        "uncertainty.py": {"evaluate", "frontier", "honest"},
        "tabular.py": {
            "download",
            "validate",
            "preprocess",
            "evaluate",
            "frontier",
            "honest",
            "report",
        },
        "__init__.py": set(ALL_STAGES),
    }.items():
        with (copied / changed).open("a") as file:
            file.write("# another line\n")
        after = written()
        assert {stage for stage in ALL_STAGES if after[stage] != before[stage]} == expected
        before = after

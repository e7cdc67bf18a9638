"""The experiments of `dvc exp run` beside the last commit."""

import json
from pathlib import Path

import pytest

from infofair.errors import Problem
from study.commands import compare


def revision(name: str, alpha: float, f1: float, **changes: object) -> dict:
    """As `dvc exp show --json` prints one."""
    figures = {"micro_f1": f1, "imparity": 0.1, "imparity_released": 0.03, "reduction": alpha / 2}
    vanilla = {"micro_f1": 0.9, "imparity": 0.2}
    cell = {"gender": {"infofair": figures, "vanilla": vanilla, "data": "simulated"}}
    params = {"alpha": alpha, "seeds": [0, 1], "training": {"epochs": 100}} | changes
    return {
        "rev": f"{name}0123456789", "name": name, "error": None, "experiments": None,
        "data": {
            "params": {"params.yaml": {"data": params}},
            "metrics": {"results/metrics.json": {"data": {"adult": cell}}},
        },
    }  # fmt: skip


def recorded(folder: Path, *experiments: dict) -> str:
    base = revision("main", 0.1, 0.8)
    base["experiments"] = [{"revs": [run], "name": run["name"]} for run in experiments] or None
    workspace = revision("workspace", 0.1, 0.8) | {"rev": "workspace", "name": None}
    path = folder / "shown.json"
    path.write_text(json.dumps([workspace, base]))
    return str(path)


def test_experiments_are_read_beside_the_last_commit(tmp_path: Path) -> None:
    more = revision("third-exp", 0.5, 0.6, seeds=[0], training={"epochs": 2})
    runs = revision("second-exp", 1, 0.7), revision("first-exp", 0.5, 0.75), more
    frame = compare.experiments(recorded(tmp_path, *runs))
    assert frame["experiment"].tolist() == ["main", "first-exp", "third-exp", "second-exp"]
    assert frame["baseline"].tolist() == [True, False, False, False]
    assert frame["alpha"].tolist() == [0.1, 0.5, 0.5, 1]
    assert frame["micro_f1"].tolist() == [0.8, 0.75, 0.6, 0.7]
    assert frame["changed"].tolist() == ["", "", "seeds, training.epochs", ""]
    assert (frame["vanilla_imparity"] == 0.2).all()
    text = compare.to_markdown(frame)
    assert "| first-exp | 0.5 | 0.750 | 0.100 | 25.0% |  |" in text
    assert "| third-exp | 0.5 | 0.600 | 0.100 | 25.0% | seeds, training.epochs |" in text


@pytest.mark.parametrize("kind", ["failed", "no metrics", "unreadable", "running"])
def test_an_experiment_without_figures_is_left_out(kind: str, tmp_path: Path) -> None:
    run = revision("odd", 0.5, 0.75)
    if kind == "failed":
        run |= {"data": None, "error": {"msg": "failed", "type": ""}}
    elif kind == "no metrics":
        run["data"]["metrics"] = None
    elif kind == "unreadable":
        run["data"]["metrics"]["results/metrics.json"] = {"error": {"msg": "unreadable"}}
    path = recorded(tmp_path, run)
    if kind == "running":
        shown = json.loads(Path(path).read_text())
        shown[1]["experiments"] = [{"revs": None, "executor": {"state": "running"}, "name": "odd"}]
        Path(path).write_text(json.dumps(shown))
    assert compare.experiments(path)["experiment"].tolist() == ["main"]


def test_without_experiments_it_says_what_to_run(tmp_path: Path) -> None:
    text = compare.to_markdown(compare.experiments(recorded(tmp_path)))
    assert "dvc exp run -S alpha=0.5" in text


def test_outside_a_dvc_repository_the_problem_is_dvcs_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Problem, match=r"^dvc exp show: .*not inside of a DVC repository"):
        compare.experiments()

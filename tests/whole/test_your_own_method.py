"""A method is one file and one line: then it is in the tables, figures, comparison and pages.

Exactly what docs/your-own-method.md walks through, in a copy of the repository with small
simulated data; nothing else is trained again, and no other file is touched.
"""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from ruamel.yaml import YAML

from infofair.training.predictions import Predictions
from study import labels
from tests.conftest import ROOT
from tests.documents import blocks
from tests.repository import FEW, LOCKS, SMALL, Pipeline, write_small

pytestmark = pytest.mark.slow

(HSIC,) = blocks("docs/your-own-method.md", "python")
FILE = "infofair/methods/hsic.py"
DOCUMENT = (ROOT / "docs/your-own-method.md").read_text(encoding="utf-8")


@dataclass
class Added:
    pipeline: Pipeline
    touched: list[str]  # by the author of the method, as git sees it
    lines: str  # how params.yaml changed
    ran: list[str]  # the stages that then ran
    changed: list[str]  # by that run, as git sees it
    again: list[str]  # the stages that ran once more, afterwards

    def table(self, name: str) -> pd.DataFrame:
        return pd.read_csv(self.pipeline.folder / f"results/{name}.csv")

    def text(self, path: str) -> str:
        return (self.pipeline.folder / path).read_text(encoding="utf-8")


def repro(pipeline: Pipeline) -> list[str]:
    """Run the paper and the comparison; the stages that DVC ran."""
    said = pipeline.repro("dvc.yaml", "beyond/dvc.yaml")
    return re.findall(r"^Running stage '(.*?)'", said, re.MULTILINE)


def status(pipeline: Pipeline) -> list[str]:
    listed = pipeline.git("status", "--porcelain", "--untracked-files=all", "-z").split("\0")
    return sorted(line[3:] for line in listed if line)


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Added:
    pipeline = write_small(tmp_path_factory.mktemp("method") / "copy", **FEW)
    repro(pipeline)
    pipeline.git("add", "--all")
    pipeline.git("commit", "--quiet", "--message", "Before")
    (pipeline.folder / FILE).write_text(HSIC, encoding="utf-8")
    yaml, params = YAML(typ="safe"), pipeline.folder / "params.yaml"
    content = yaml.load(params)
    content["methods"]["trained"].append("hsic")
    yaml.dump(content, params)
    touched = status(pipeline)
    lines = pipeline.git("diff", "--numstat", "params.yaml").split("\t")
    ran = repro(pipeline)
    return Added(
        pipeline, touched, "+{} −{}".format(*lines[:2]), ran, status(pipeline), repro(pipeline)
    )


def test_it_takes_a_file_and_a_line(added: Added) -> None:
    assert added.touched == [FILE, "params.yaml"]
    assert added.lines == "+1 −1"  # a name more in a list on one line
    made = ("results/", "reports/", "docs/results", *LOCKS)
    assert [path for path in added.changed if not path.startswith(made)] == added.touched


@pytest.mark.promise("A new method, dataset or study trains itself and nothing else.")
def test_only_its_own_models_are_trained(added: Added) -> None:
    names = [address.rpartition(":")[2] for address in added.ran]
    stages = added.pipeline.stages
    trained = {
        name for name, address in zip(names, added.ran, strict=True) if stages[address].trains
    }
    assert trained == {"train@compas-hsic", "sweep@compas-hsic"}
    data = ("download", "validate", "preprocess", "variants", "posteriors", "backbone")
    assert {f"{stage}@compas" for stage in data}.isdisjoint(names)


def test_the_stage_of_the_comparison_is_called_as_in_the_document(added: Added) -> None:
    assert "`dvc repro beyond/dvc.yaml:sweep@adult-hsic`" in DOCUMENT
    assert "beyond/dvc.yaml:sweep@compas-hsic" in added.ran
    path = "results/sweep/adult/hsic/hsic/grid.json"
    assert f"`{path}`" in DOCUMENT
    assert (added.pipeline.folder / path.replace("adult", "compas")).exists()


def test_then_nothing_is_left_to_do(added: Added) -> None:
    assert added.again == []


def test_it_is_in_the_tables(added: Added) -> None:
    for name in ("runs", "summary", "groups"):
        assert "hsic" in set(added.table(name)["method"])
    of_it = added.table("summary").query("method == 'hsic'")
    assert set(of_it["setting"]) == {"gender", "race", "intersection"}
    assert of_it.loc[of_it["protocol"] == "mean", "imparity"].notna().all()
    for kind in ("md", "html", "tex"):
        assert labels.method_name("hsic") in added.text(f"results/figures/results_table.{kind}")


def test_its_penalty_is_trained_with(added: Added) -> None:
    """An objective that is shown but not differentiated gives the same model at any strength."""
    strengths, names = {}, ("validation", "test")
    folder = added.pipeline.folder / "results/sweep/compas/hsic/hsic"
    for run in ("split0", "authors"):
        found = Predictions.load(folder / run / "predictions.npz")
        strengths[run] = found.strengths
        for name in names:
            weakest, strongest = (found.probabilities[name][:, i] for i in (0, -1))
            assert not np.allclose(weakest, strongest, atol=1e-4)
    assert strengths["split0"] == strengths["authors"]
    curves = pd.read_csv(added.pipeline.folder / "results/curves/compas/hsic.csv")
    assert (curves["total"] > curves["T"]).all()


def test_its_strengths_are_found_by_the_rule(added: Added) -> None:
    """As many as of every other method; nobody had to name them."""
    assert "strengths" not in HSIC
    (count,) = {SMALL["comparison"]["strengths"]}
    fronts = added.table("fronts").query("method == 'hsic'")
    assert (fronts.groupby("setting")["strength"].nunique() == count).all()
    assert set(fronts["setting"]) == {"gender", "race", "intersection"}
    chosen = added.table("grids").query("method == 'hsic' and setting.isna()")
    assert set(chosen["strength"]) == set(fronts["strength"])


@pytest.mark.parametrize(
    "table",
    ["frontier", "fronts", "best", "honest_summary", "hypervolume", "ranks", "unprocessed"],
)
def test_it_is_in_the_comparison(table: str, added: Added) -> None:
    assert "hsic" in set(added.table(table)["method"])


@pytest.mark.parametrize("figure", ["tradeoff", "frontier"])
def test_it_is_in_the_legends(figure: str, added: Added) -> None:
    assert labels.method_name("hsic") in added.text(f"results/figures/{figure}.svg")


@pytest.mark.parametrize("page", ["index", "beyond", "methods"])
def test_it_is_on_the_pages(page: str, added: Added) -> None:
    assert labels.method_name("hsic") in added.text(f"reports/{page}.html")


def test_it_looks_like_no_other() -> None:
    looks = labels.looks([*labels.METHODS, "hsic"])
    own = looks.pop("hsic")
    assert own.colour not in {look.colour for look in looks.values()}
    assert own.mark not in {look.mark for look in looks.values()}

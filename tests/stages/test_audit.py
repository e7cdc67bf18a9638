"""The door `audit`: vanilla's predictions to figures, a page and a notebook."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest
from sklearn.metrics import f1_score

import infofair
from infofair import metrics
from infofair.data.prepared import ALL, PARTS, Prepared
from infofair.training.predictions import Predictions
from stages import audit
from study import audited, notebooks, paths
from tests.conftest import ROOT
from tests.infofair.auditing.people import quick
from tests.simulated import prepared


@pytest.fixture(scope="module", autouse=True)
def few_draws() -> Iterator[None]:
    with quick():
        yield


def scores(data: Prepared, seed: int) -> dict[str, np.ndarray]:
    """Of a model that favours men; that of seed 1 is the best one."""
    rng = np.random.default_rng(seed)
    found = {}
    for part in PARTS:
        rows = data.split[part]
        noise = rng.normal(0, 0.15 if seed == 1 else 0.4, len(rows))
        score = 0.3 + 0.3 * data.y[rows] + 0.15 * data.groups["gender"][rows] + noise
        found[part] = np.clip(score, 0, 1)
    return found


@pytest.fixture
def made(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    shutil.copytree(ROOT / "notebooks", "notebooks")
    data = prepared(4000)
    data.save(paths.processed("compas"))
    models = {(ALL, 0.1, seed): scores(data, seed) for seed in (0, 1, 2)}
    Predictions.of(models, data).save(paths.predictions("compas", "vanilla"))
    return data


def test_it_writes_figures_a_page_and_a_notebook(made: Prepared) -> None:
    """(.ci/miniature runs it twice, and compares the bytes.)"""
    audit.main("compas")
    content = json.loads(paths.audit("compas").read_text())
    assert [own["name"] for own in content["settings"]] == ["gender", "race", "gender × race"]
    assert content["rows"] == len(made.split["test"])
    sizes = [np.bincount(own[made.split["test"]]) for own in made.groups.values()]
    assert content["protected"] is any(((of > 0) & (of < 5)).any() for of in sizes)
    assert content["source"]["file"] == "Vanilla on COMPAS (simulated)"
    assert {own["column"] for own in content["leaks"]} <= set(made.features)
    page = paths.audit_page("compas").read_text()
    assert "Fairness audit of Vanilla on COMPAS (simulated)" in page
    assert '<a href="index.html">' in page
    md5 = hashlib.md5(paths.audit("compas").read_bytes()).hexdigest()
    assert f"results/audit/compas.json</a> (audit.json; md5 <code>{md5}</code>)" in page
    assert 'stage <code>audit@compas</code>, notebook <a href="audit-compas.ipynb">' in page
    done = nbformat.read(paths.executed("audit-compas"), as_version=4)
    shown = json.dumps([cell.get("outputs", []) for cell in done.cells])
    assert "evidence by" in shown
    assert "Selection rates run from" in shown
    assert str(Path.cwd()) not in nbformat.writes(done)


def test_it_audits_the_seed_with_the_best_validation_macro_f1(made: Prepared) -> None:
    rows = made.split["validation"]
    f1 = [f1_score(made.y[rows], scores(made, seed)["validation"] > 0.5, average="macro")
          for seed in range(3)]  # fmt: skip
    assert int(np.argmax(f1)) == 1
    stored = Predictions.load(paths.predictions("compas", "vanilla"))
    expected = scores(made, 1)["test"].astype(np.float32)
    np.testing.assert_array_equal(audited.chosen(stored, made), expected)
    test = made.split["test"]
    sensitive = {name: made.groups[name][test] for name in ("gender", "race")}
    found = infofair.audit(
        made.y[test], score=expected, sensitive_features=sensitive, show_small=True
    ).to_dict()
    ours = audited.found("compas")
    for one, other in zip(found["settings"], ours["settings"], strict=True):
        assert [g["selection_rate"] for g in one["groups"]] == [
            g["selection_rate"] for g in other["groups"]
        ]


def few_of_one_race(data: Prepared) -> Prepared:
    """All but three of the test rows of one race are of another."""
    test = data.split["test"]
    race, both = data.groups["race"].copy(), data.groups["intersection"].copy()
    races = len(data.group_names["race"])
    rare = int(np.argmin(np.bincount(race[test], minlength=races)))
    moved = test[race[test] == rare][3:]
    other = int(np.argmax(np.bincount(race[test], minlength=races)))
    race[moved] = other
    both[moved] += other - rare
    return replace(data, groups=data.groups | {"race": race, "intersection": both})


def test_what_tables_hide_is_one_group(made: Prepared) -> None:
    given = few_of_one_race(made)
    attributes, few = audited.sensitive(given)
    assert few
    names = set(attributes["race"].tolist())
    [joined] = [name for name in names if " or " in name]
    assert names.isdisjoint(joined.split(" or "))
    counts = [np.bincount(np.unique(attributes["race"].astype(str), return_inverse=True)[1])]
    assert min(map(min, counts)) >= 5
    given.save(paths.processed("compas"))
    content = audited.found("compas")
    shown = [
        own for setting in content["settings"] for own in (*setting["groups"], *setting["pooled"])
    ]
    assert min(own["rows"] for own in shown) >= 5
    assert joined in [own["name"] for own in shown]
    assert content["protected"] is False  # there is nobody left
    # beside it, of the groups as they are, what the table of the runs has, with two digits
    [of_race] = [own for own in content["settings"] if own["name"] == "race"]
    score = audited.chosen(Predictions.load(paths.predictions("compas", "vanilla")), given)
    exact = metrics.imparity(score > 0.5, *given.members("race", "test"))
    assert of_race["unpooled"]["groups"] == len(names) + joined.count(" or ")
    assert of_race["unpooled"]["value"] == float(f"{exact:.2g}")


def test_data_too_small_to_compare_groups_stop_no_pipeline(
    made: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = prepared(120)
    small.save(paths.processed("compas"))
    models = {(ALL, 0.1, 0): scores(small, 0)}
    Predictions.of(models, small).save(paths.predictions("compas", "vanilla"))
    shown = nbformat.v4.new_notebook()
    monkeypatch.setattr(notebooks, "execute", lambda path, given: shown)
    audit.main("compas")
    content = json.loads(paths.audit("compas").read_text())
    assert "nothing to compare" in content["not_audited"]
    assert "Nothing was compared" in paths.audit_page("compas").read_text()
    assert audited.summary(paths.audit("compas")) == content["not_audited"]
    assert audited.sentences(paths.audit("compas")) == ""

"""Fronts: the models at a grid of strengths, and what follows from their figures."""

import dataclasses
import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stages import files, frontier, fronts, methods, params
from stages.files import Problem
from stages.fronts import Point
from stages.jobs import Job, Trained, Variant
from stages.methods.gdp import METHOD as GDP
from stages.methods.gdp import Knobs
from stages.trainer import train
from tests import frontiers, steps
from tests.conftest import ROOT, yaml
from tests.simulated import processed
from tests.test_preprocess import process

SHARES = st.floats(0, 1).map(lambda x: round(x, 3))
POINTS = st.lists(st.tuples(SHARES, SHARES), max_size=8)
VANILLA, CONSTANT = (0.5, 0.9), 0.4
AREAS = pytest.mark.parametrize("area", [fronts.staircase, fronts.above_chord])
Area = Callable[[list[Point], Point, float], float]

# -- areas ---------------------------------------------------------------------------------------


@given(POINTS)
def test_the_staircase_is_the_share_of_a_grid_that_a_point_dominates(points: list[Point]) -> None:
    # 0.001 is also the grid of the points, so that cells lie on one side of every step
    xs = np.arange(0, VANILLA[0], 0.001) + 0.0005
    ys = np.arange(CONSTANT, 1, 0.001) + 0.0005
    dominated = np.zeros((len(xs), len(ys)), bool)
    for imparity, f1 in points:
        dominated |= (xs[:, None] > imparity) & (ys < f1)
    wanted = dominated.sum() * 1e-6 / (VANILLA[0] * (VANILLA[1] - CONSTANT))
    assert fronts.staircase(points, VANILLA, CONSTANT) == pytest.approx(wanted, abs=1e-9)


@given(POINTS)
def test_above_the_chord_is_the_best_of_all_mixtures_of_two_minus_the_chord(
    points: list[Point],
) -> None:
    known = [(0.0, CONSTANT), VANILLA]
    known += [p for p in points if p[0] < VANILLA[0] and p[1] > CONSTANT]
    xs = np.linspace(0, VANILLA[0], 2001)
    best = np.full(len(xs), -np.inf)
    for (x1, y1), (x2, y2) in itertools.product(known, known):
        if x1 < x2:
            there = (xs >= x1) & (xs <= x2)
            best[there] = np.maximum(best[there], np.interp(xs[there], [x1, x2], [y1, y2]))
        elif x1 == x2:
            at = np.isclose(xs, x1)
            best[at] = np.maximum(best[at], y1)
    chord = CONSTANT + xs / VANILLA[0] * (VANILLA[1] - CONSTANT)
    wanted = np.trapezoid(best - chord, xs) / (VANILLA[0] * (VANILLA[1] - CONSTANT) / 2)
    assert fronts.above_chord(points, VANILLA, CONSTANT) == pytest.approx(wanted, abs=2e-3)


@AREAS
def test_vanilla_and_the_constant_predictor_are_0_and_vanilla_without_imparity_is_1(
    area: Area,
) -> None:
    assert area([], VANILLA, CONSTANT) == pytest.approx(0)
    assert area([VANILLA, (0.0, CONSTANT), (0.6, 0.95), (0.1, 0.3)], VANILLA, CONSTANT) == (
        pytest.approx(0)
    )
    assert area([(0.0, VANILLA[1])], VANILLA, CONSTANT) == pytest.approx(1)
    assert area([(0.0, VANILLA[1] + 0.05)], VANILLA, CONSTANT) > 1


def test_points_on_the_chord_are_worth_nothing_above_it_but_something_by_steps() -> None:
    halfway = [(0.25, 0.65)]
    assert fronts.above_chord(halfway, VANILLA, CONSTANT) == pytest.approx(0)
    assert fronts.staircase(halfway, VANILLA, CONSTANT) == pytest.approx(0.25)


@AREAS
@given(POINTS, st.tuples(SHARES, SHARES), st.randoms())
def test_a_further_point_never_makes_it_less_and_the_order_does_not_matter(
    area: Area, points: list[Point], further: Point, random: Any
) -> None:
    before = area(points, VANILLA, CONSTANT)
    more = [*points, further]
    random.shuffle(more)
    assert area(more, VANILLA, CONSTANT) >= before - 1e-12


@AREAS
@pytest.mark.parametrize(("vanilla", "constant"), [((0.0, 0.9), 0.5), ((0.2, 0.5), 0.5)])
def test_without_a_rectangle_there_is_no_share_of_it(
    area: Area, vanilla: Point, constant: float
) -> None:
    assert math.isnan(area([(0.1, 0.7)], vanilla, constant))


# -- tables --------------------------------------------------------------------------------------


def test_a_summary_is_the_mean_and_the_spread_of_a_plain_loop() -> None:
    table = frontiers.runs(("adult",), ("vanilla", "fcfc", "gdp"), ("gender",))
    table.loc[(table["method"] == "gdp") & (table["seed"] == 1), "note"] = "constant"
    summary = fronts.summarize(table)
    assert len(summary) == 2 * (1 + 4 + 4)
    for row in summary.to_dict("records"):
        own = [
            run for run in table.to_dict("records")
            if all(run[k] == row[k] for k in ("method", "strength", "split"))
        ]  # fmt: skip
        assert row["seeds"] == len(own)
        assert row["constant"] == pytest.approx(1 / 3 if row["method"] == "gdp" else 0)
        for metric in fronts.METRICS:
            values = [run[metric] for run in own]
            assert row[metric] == pytest.approx(np.mean(values))
            if len(values) > 1:
                assert row[f"{metric}_std"] == pytest.approx(np.std(values, ddof=1))
            else:
                assert math.isnan(row[f"{metric}_std"])


def test_a_strength_of_which_a_seed_diverged_has_no_figures_and_is_chosen_by_nothing() -> None:
    table = frontiers.runs(("adult",), ("vanilla", "gdp"), ("gender",))
    lost = (table["method"] == "gdp") & (table["strength"] == 8.0)
    table.loc[lost & (table["seed"] == 0), [*fronts.METRICS]] = np.nan
    table.loc[lost & (table["seed"] == 0), "note"] = "diverged"
    table.loc[lost & (table["seed"] != 0), ["imparity", "micro_f1"]] = 0.0, 1.0  # tempting
    summary, areas = frontiers.frontier(table)
    rows = dict(fronts.cells(summary))["adult", "gender", "gdp"]
    of_lost = rows[rows["strength"] == 8.0].iloc[0]
    assert of_lost["diverged"] == pytest.approx(1 / 3)
    assert of_lost[[*fronts.METRICS, "micro_f1_std"]].isna().all()
    assert 8.0 not in set(fronts.front(rows)["strength"])
    picked = fronts.pick(rows, 1.0)
    assert picked is not None
    assert picked["strength"] != 8.0
    assert areas["hypervolume"].notna().all()


@given(st.integers(0, 50))
def test_a_front_is_what_no_other_strength_beats_on_validation_rows(seed: int) -> None:
    summary = fronts.summarize(frontiers.runs(("adult",), ("gdp", "di"), ("race",), seed))
    for _, rows in fronts.cells(summary):
        points = {
            row["strength"]: (row["validation_imparity"], row["validation_micro_f1"])
            for row in rows.to_dict("records")
        }
        wanted = {
            strength
            for strength, (gap, f1) in points.items()
            if not any(g <= gap and f >= f1 and (g, f) != (gap, f1) for g, f in points.values())
        }
        found = fronts.front(rows)
        assert set(found["strength"]) == wanted
        assert found["validation_imparity"].is_monotonic_increasing
        assert found["validation_micro_f1"].is_monotonic_increasing


@given(st.integers(0, 50), st.sampled_from([0.02, 0.05, 0.08, 0.1, 0.2]))
def test_a_pick_is_the_best_of_a_plain_loop_within_the_budget(seed: int, budget: float) -> None:
    summary = fronts.summarize(frontiers.runs(("adult",), ("gdp",), ("race",), seed))
    ((_, rows),) = fronts.cells(summary)
    within = [r for r in rows.to_dict("records") if r["validation_imparity"] <= budget]
    picked = fronts.pick(rows, budget)
    if not within:
        assert picked is None
    else:
        assert picked is not None
        assert picked["validation_micro_f1"] == max(r["validation_micro_f1"] for r in within)


def test_no_test_row_chooses_anything() -> None:
    table = frontiers.runs(("adult",))
    other = table.copy()
    test = other["split"] == "test"
    other.loc[test, fronts.METRICS] = np.random.default_rng(1).random((test.sum(), 4))
    chosen = [fronts.best(fronts.summarize(each))["strength"].tolist() for each in (table, other)]
    np.testing.assert_equal(*chosen)
    ours, theirs = (frontiers.frontier(each)[1]["strengths"].tolist() for each in (table, other))
    assert ours == theirs


def test_the_best_has_a_row_for_every_budget_empty_where_nothing_is_within_it() -> None:
    summary = fronts.summarize(frontiers.runs())
    best = fronts.best(summary)
    assert len(best) == len(dict(fronts.cells(summary))) * len(fronts.BUDGETS)
    of_vanilla = best[(best["method"] == "vanilla") & (best["budget"] == 0.02)]
    assert of_vanilla[["strength", "micro_f1", "imparity", "constant"]].isna().all(axis=None)
    found = best.dropna(subset="strength")
    assert (found["validation_imparity"] <= found["budget"]).all()


def test_hypervolumes_are_those_of_the_front_on_test_rows_with_the_spread_of_its_seeds() -> None:
    table = frontiers.runs(("adult",), ("vanilla", "gdp", "fcfc"), ("gender",))
    summary, areas = frontiers.frontier(table)
    by_method = areas.set_index("method")
    of_cell = dict(fronts.cells(summary))
    vanilla = of_cell["adult", "gender", "vanilla"].iloc[0]
    corner = (vanilla["imparity"], vanilla["micro_f1"])
    chosen = fronts.front(of_cell["adult", "gender", "gdp"])
    points = list(zip(chosen["imparity"], chosen["micro_f1"], strict=True))
    assert by_method.loc["gdp", "hypervolume"] == fronts.staircase(points, corner, 0.75)
    assert by_method.loc["gdp", "above_chord"] == fronts.above_chord(points, corner, 0.75)
    each = []
    for seed in range(3):
        own = table[
            (table["method"] == "gdp") & (table["seed"] == seed) & (table["split"] == "test")
            & table["strength"].isin(chosen["strength"])
        ]  # fmt: skip
        points = list(zip(own["imparity"], own["micro_f1"], strict=True))
        each.append(fronts.staircase(points, corner, 0.75))
    assert by_method.loc["gdp", "hypervolume_std"] == pytest.approx(np.std(each, ddof=1))
    assert math.isnan(by_method.loc["fcfc", "hypervolume_std"])
    assert by_method.loc["vanilla", "hypervolume"] == 0


def test_a_table_that_is_none_or_lacks_a_column_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / fronts.RUNS.name
    with pytest.raises(Problem, match=r"does not exist; it is made by: dvc repro frontier$"):
        fronts.read(path)
    path.write_text("")
    with pytest.raises(Problem, match="is damaged"):
        fronts.read(path)
    frontiers.runs().drop(columns="note").to_csv(path)
    with pytest.raises(Problem, match=r"is damaged .*no column 'note'"):
        fronts.read(path)


# -- models --------------------------------------------------------------------------------------


def test_without_leak_is_what_preprocess_makes_without_the_leaking_columns() -> None:
    every = process("compas")
    wanted = process("compas", compas={"hidden": [4], "drop_leaking_columns": True})
    found = frontier.without_leak("compas", every)
    assert found is not None
    assert found.features == wanted.features
    np.testing.assert_array_equal(found.X, wanted.X, strict=True)
    assert frontier.without_leak("compas", wanted) is None
    assert frontier.without_leak("dutch", process("dutch")) is None


def test_a_model_that_diverges_ends_alone_and_its_neighbours_do_not_notice() -> None:
    job = Job(GDP, Knobs(learning_rate=0.01), [8], steps.training(), may_diverge=True)
    fine = [(seed, Variant("gender", alpha)) for seed in (0, 1) for alpha in (0.1, 2.0)]
    lost = (0, Variant("gender", 1e39))

    def trained(models: list[Any]) -> dict[Any, Trained]:
        found = train(job, processed(), models, torch.device("cpu"))
        return {(model.seed, model.variant): model for model in found}

    alone, together = trained(fine), trained([*fine[:2], lost, *fine[2:]])
    assert together[lost].diverged
    assert together[lost].probabilities == {}
    for key in fine:
        assert not together[key].diverged
        assert steps.same_bits(alone[key], together[key])
    strict = dataclasses.replace(job, may_diverge=False)
    with pytest.raises(Problem, match=r"seed 0, alpha 1e\+39 is not finite"):
        train(strict, processed(), [lost], torch.device("cpu"))


# -- the stage -----------------------------------------------------------------------------------

GRID = {
    "vanilla": [0.0], "gdp": [0.1, 1e39], "lfr": [0.1, 5.0], "fcfc": [0.0, 0.1],
    "di": [0.5, 2.0],
}  # fmt: skip


@pytest.fixture
def small(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Made-up COMPAS data, one column of which leaks, and a quick params.yaml."""
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")
    data = processed()
    names = ["is_recid", *data.features[1:]]
    dataclasses.replace(data, features=names).save(files.processed("compas"))
    content = yaml.load(params.PATH)
    content |= {"datasets": ["compas"]}
    content["backbone"] |= {"epochs": 2, "batch_size": 64}
    content["lfr"] |= {"prototypes": 3, "iterations": 5}
    content["frontier"] |= {"seeds": [0, 3], "strengths": GRID}
    content["frontier"]["exceptions"] = {"lfr": {"prediction": [1.0, 5.0]}}
    yaml.dump(content, params.PATH)
    return workspace


def test_the_stage_has_every_strength_seed_and_setting_and_says_what_diverged(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frontier.main()
    runs = fronts.read(fronts.RUNS)
    assert list(runs.columns) == fronts.COLUMNS
    wanted = set()
    for dataset in ("compas", "compas_without_leak"):
        for method, strengths in GRID.items():
            settings = ("gender",) if method == "lfr" else ("gender", "race", "intersection")
            seeds = (0,) if method == "fcfc" else (0, 3)
            wanted |= set(
                itertools.product(
                    [dataset], settings, [method], strengths, seeds, ("validation", "test")
                )
            )
    keys = ["dataset", "setting", "method", "strength", "seed", "split"]
    found = list(runs[keys].itertuples(index=False, name=None))
    assert set(found) == wanted
    assert len(found) == len(wanted)
    lost = runs["strength"] == 1e39
    assert (runs.loc[lost, "note"] == "diverged").all()
    assert runs.loc[lost, fronts.METRICS].isna().all(axis=None)
    assert runs.loc[~lost, fronts.METRICS].notna().all(axis=None)
    assert (runs["data"] == "simulated").all()
    assert "gdp on compas (simulated data)" in (said := capsys.readouterr().err)
    assert said.count("6 diverged") == 2

    summary = fronts.summarize(runs)
    written = fronts.read(fronts.SUMMARY)
    assert list(written.columns) == list(summary.columns)
    for name in fronts.METRICS:
        np.testing.assert_allclose(written[name], summary[name], atol=1e-5)
    assert len(fronts.read(fronts.HYPERVOLUME)) == 2 * (4 * 3 + 1)
    assert len(fronts.read(fronts.BEST)) == 2 * (4 * 3 + 1) * len(fronts.BUDGETS)


def test_the_figures_are_those_of_the_models_themselves(small: Path) -> None:
    loaded = params.load()
    data = processed()
    rows = pd.DataFrame(frontier.of_method("gdp", "compas", data, loaded, "gdp"))
    knobs, training = loaded.in_fronts("gdp")
    job = Job(methods.load("gdp"), knobs, loaded.knobs("compas").hidden, training)
    (model,) = train(job, data, [(3, Variant("race", 0.1))], torch.device("cpu"))
    y = data.y[data.split["test"]]
    predicted = model.probabilities["test"] > 0.5
    row = rows[
        (rows["setting"] == "race") & (rows["strength"] == 0.1) & (rows["seed"] == 3)
        & (rows["split"] == "test")
    ].iloc[0]  # fmt: skip
    assert row["micro_f1"] == (predicted == y).mean()
    assert row["selection_rate"] == predicted.mean()


def test_a_solvers_strength_replaces_its_knob_and_validation_chooses_the_rest(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    solve_all = frontier.solve.solve_all

    def spied(solver: Any, grid: list[Any], *others: Any) -> Any:
        seen.append(grid)
        return solve_all(solver, grid, *others)

    monkeypatch.setattr(frontier.solve, "solve_all", spied)
    loaded = params.load()
    rows = frontier.of_method("lfr", "compas", processed(), loaded, "lfr")
    assert [[(p.A_y, p.A_z) for p in grid] for grid in seen] == [
        [(1.0, 0.1), (5.0, 0.1)], [(1.0, 5.0), (5.0, 5.0)]
    ]  # fmt: skip
    assert {row["setting"] for row in rows} == {"gender"}
    seen.clear()
    frontier.of_method("fcfc", "compas", processed(), loaded, "fcfc")
    assert [[knobs.covariance for knobs in grid] for grid in seen] == [[0.0], [0.1]]


def test_the_references_are_the_commoner_class_and_the_floor_of_vanillas_rate() -> None:
    data = processed()
    vanilla = [
        {"split": split, "note": "", "selection_rate": rate}
        for split, rate in [("test", 0.2), ("test", 0.4), ("validation", 0.9)]
    ]
    for row in frontier.references(data, vanilla):
        y = data.y[data.split["test"]]
        train_y = data.y[data.split["train"]]
        assert row["constant_micro_f1"] == np.mean(y == (train_y.mean() > 0.5))
        rng = np.random.default_rng(0)
        group = data.groups[row["setting"]][data.split["test"]].astype(int)
        groups = len(data.group_names[row["setting"]])
        fair = [rng.random(len(y)) < 0.3 for _ in range(2000)]
        expected = np.mean([frontier.evaluate.metrics.imparity(f, group, groups) for f in fair])
        assert row["floor"] == pytest.approx(expected, rel=0.05)
    with pytest.raises(Problem, match="vanilla diverged; try a smaller learning_rate"):
        frontier.references(data, [{"note": "diverged"}])


def test_the_stage_depends_on_the_sections_it_reads() -> None:
    listed = yaml.load(ROOT / "dvc.yaml")["stages"]["frontier"]["params"]
    content = yaml.load(ROOT / "params.yaml")
    hidden = [f"{name}.hidden" for name in content["datasets"]]
    sections = list(content["frontier"]["strengths"])
    assert sorted(listed) == sorted(["backbone", "frontier", "datasets", *hidden, *sections])

"""The stage evaluate: its tables, bootstrap intervals and noise floors."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from scipy.stats import binom

from stages import evaluate, files, metrics, params, predictions, uncertainty
from stages.processed import Processed, load_arrays
from stages.uncertainty import bootstrap, interval, noise_floor, resamples
from tests.simulated import processed

# -- the noise floor ----------------------------------------------------------------------------

SHARES = st.integers(0, 1000).map(lambda selected: selected / 1000)  # of rows that are selected


@given(st.integers(1, 40), st.integers(1, 40), SHARES)
def test_the_floor_of_two_groups_is_the_binomial_sum(n: int, m: int, rate: float) -> None:
    a, b = np.arange(n + 1), np.arange(m + 1)
    chance = np.outer(binom.pmf(a, n, rate), binom.pmf(b, m, rate))
    expected = np.sum(chance * np.abs(a[:, None] / n - b[None, :] / m))
    floor, released = noise_floor(rate, np.array([n, m]))
    assert floor == pytest.approx(expected, abs=1e-12)
    assert released == pytest.approx(expected / 3, abs=1e-12)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4).filter(any), SHARES)
def test_the_floor_is_the_mean_imparity_over_everything_chance_can_do(
    sizes: list[int], rate: float
) -> None:
    group = np.repeat(np.arange(len(sizes)), sizes)
    expected = np.zeros(2)
    for selected in product(*(range(n + 1) for n in sizes)):
        chance = prod(binom.pmf(c, n, rate) for c, n in zip(selected, sizes, strict=True))
        bits = [[1] * c + [0] * (n - c) for c, n in zip(selected, sizes, strict=True)]
        case = np.concatenate(bits).astype(int), group, len(sizes)
        expected += chance * np.array([metrics.imparity(*case), metrics.imparity_released(*case)])
    assert noise_floor(rate, np.array(sizes)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("rate", [0.1, 0.458, 0.5])
def test_the_floor_agrees_with_a_long_simulation(rate: float) -> None:
    sizes = np.array([60, 3756, 1899, 327])  # Dutch, marital status, test rows
    rates = np.random.default_rng(3).binomial(sizes, rate, (200_000, 4)) / sizes
    first, second = np.triu_indices(4)  # the pairs of the released form, self-pairs included
    drawn = np.abs(rates[:, first] - rates[:, second]).mean(axis=1)
    floor, released = noise_floor(rate, sizes)
    assert released == pytest.approx(drawn.mean(), abs=4 * drawn.std() / np.sqrt(len(drawn)))
    assert floor == pytest.approx(released * 5 / 3)
    assert released < 0.022


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_a_constant_predictor_has_no_noise(rate: float) -> None:
    assert noise_floor(rate, np.array([7, 5, 900])) == pytest.approx((0, 0), abs=1e-12)


# -- the bootstrap ------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uncertainty, "REPLICATES", 60)


def case(rows: int = 80, models: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Predictions of several models, labels, and five groups: one row in one, none in another."""
    rng = np.random.default_rng(5)
    group = rng.integers(0, 3, rows)
    group[0] = 3
    return rng.integers(0, 2, (models, rows)), rng.integers(0, 2, rows), group, 5


def test_the_bootstrap_is_what_a_loop_over_resampled_rows_gives(quick: None) -> None:
    predicted, y, group, groups = case()
    found = bootstrap(predicted, y, group, groups)
    missed = 0
    for b, counts in enumerate(np.concatenate(list(resamples(len(y))))):
        rows = np.repeat(np.arange(len(y)), counts.astype(int))
        assert len(rows) == len(y)
        missed += 0 not in rows  # and so the group of that one row is empty
        for m, of_model in enumerate(predicted):
            drawn = of_model[rows], group[rows], groups
            assert found["micro_f1"][b, m] == pytest.approx(np.mean(of_model[rows] == y[rows]))
            assert found["imparity"][b, m] == pytest.approx(metrics.imparity(*drawn))
            released = metrics.imparity_released(*drawn)
            assert found["imparity_released"][b, m] == pytest.approx(released)
    assert 0 < missed < b


def test_the_chunks_and_the_other_models_change_no_number(
    quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    predicted, *rest = case()
    together = bootstrap(predicted, *rest)
    monkeypatch.setattr(uncertainty, "CHUNK", 7)
    alone = bootstrap(predicted[2:3], *rest)
    for metric, values in together.items():
        np.testing.assert_array_equal(values[:, 2], alone[metric][:, 0])


def test_every_row_is_drawn_once_on_average() -> None:
    counts = np.concatenate(list(resamples(50)))
    assert counts.shape == (uncertainty.REPLICATES, 50)
    assert np.abs(counts.mean(axis=0) - 1).max() < 5 / np.sqrt(uncertainty.REPLICATES)
    assert counts.var() == pytest.approx(1 - 1 / 50, abs=0.05)  # binomial


def test_intervals_are_as_wide_as_the_normal_approximation_has_them() -> None:
    rng = np.random.default_rng(1)
    y, group = np.ones(4000, int), np.repeat([0, 1], [1000, 3000])
    predicted = (rng.random(4000) < np.where(group == 0, 0.2, 0.5)).astype(int)
    found = bootstrap(predicted[None], y, group, 2)
    rates = metrics.selection_rates(predicted, group, 2)
    share, gap = predicted.mean(), metrics.imparity(predicted, group, 2)
    errors = {
        "micro_f1": (share, np.sqrt(share * (1 - share) / 4000)),
        "imparity": (gap, np.sqrt(np.sum(rates * (1 - rates) / [1000, 3000]))),
    }
    for metric, (value, error) in errors.items():
        expected = value - 1.96 * error, value + 1.96 * error
        assert interval(found[metric][:, 0]) == pytest.approx(expected, abs=0.2 * error)


# -- the stage ----------------------------------------------------------------------------------


@pytest.fixture
def tables(workspace: Path, quick: None) -> Callable[[], dict[str, pd.DataFrame]]:
    """Made-up models of three methods; one handles only gender, one no setting at all."""
    data = with_an_empty_group()
    data.save(files.processed("compas"))
    yaml = YAML(typ="safe")
    content = yaml.load(params.PATH)
    lists = {"regularized": ["infofair", "mindiff"], "ablations": [], "fixed": ["vanilla"]}
    content |= {"datasets": ["compas"], "methods": lists | {"solved": ["lfr"]}}
    yaml.dump(content, params.PATH)
    rng = np.random.default_rng(2)
    handled = {"infofair": data.settings, "mindiff": ["gender"], "vanilla": ["all"], "lfr": []}
    for method, settings in handled.items():
        models = {
            (setting, seed): {p: rng.random(len(data.split[p])) for p in evaluate.PARTS}
            for setting in settings
            for seed in ([0] if method == "mindiff" else [0, 1, 2])
        }
        predictions.save("compas", method, data, models)

    def run() -> dict[str, pd.DataFrame]:
        evaluate.main("compas")
        return {path.stem: pd.read_csv(path) for path in files.evaluation("compas").iterdir()}

    return run


def with_an_empty_group() -> Processed:
    data = processed()
    names = data.group_names
    return replace(data, group_names={**names, "race": [*names["race"], "nobody"]})


def stored(method: str, setting: str, seed: int, part: str) -> np.ndarray:
    arrays = load_arrays(files.predictions("compas", method))
    return arrays[part][arrays["settings"].tolist().index(setting), seed] > 0.5


def test_runs_have_every_column_of_every_model_filled(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    runs = tables()["runs"]
    assert list(runs.columns) == evaluate.COLUMNS["runs"]
    assert len(runs) == (3 * 3 + 1 + 3 * 3) * 2  # infofair, mindiff, vanilla; two splits
    assert not runs.drop(columns="note").isna().any().any()
    for metric in ("micro_f1", "imparity", "imparity_released"):
        assert (runs[f"{metric}_low"] < runs[f"{metric}_high"]).all()


def test_runs_hold_every_metric_of_the_predictions(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    runs = tables()["runs"].set_index(["method", "setting", "seed", "split"])
    data = with_an_empty_group()
    for setting, part in product(data.settings, evaluate.PARTS):
        rows = data.split[part]
        predicted, y = stored("infofair", setting, 2, part), data.y[rows]
        group, groups = data.groups[setting][rows].astype(int), len(data.group_names[setting])
        row = runs.loc[("infofair", setting, 2, part)]
        for name in ("imparity", "imparity_released", "largest_gap", "parity_ratio"):
            expected = getattr(metrics, name)(predicted, group, groups)
            assert row[name] == pytest.approx(expected, rel=1e-6)
        for name in ("opportunity_gap", "odds_gap"):
            expected = getattr(metrics, name)(predicted, y, group, groups)
            assert row[name] == pytest.approx(expected, rel=1e-6)
        floor = noise_floor(predicted.mean(), np.bincount(group, minlength=groups))
        assert tuple(row[["floor", "floor_released"]]) == pytest.approx(floor, rel=1e-6)


def test_groups_without_a_member_are_listed(tables: Callable[[], dict[str, pd.DataFrame]]) -> None:
    groups = tables()["groups"]
    nobody = groups[groups["name"] == "nobody"]
    assert len(nobody) == (3 + 3) * 2  # seeds of infofair and vanilla; two splits
    assert (nobody["size"] == 0).all()
    assert nobody[["selection_rate", "accuracy"]].isna().all().all()
    sizes = groups.groupby(["setting", "method", "seed", "split"])["size"].sum()
    assert (sizes == 70).all()


def test_subsets_judge_the_intersections_models_on_each_attribute(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    subsets = tables()["subsets"]
    assert set(subsets["method"]) == {"infofair"}  # mindiff lacks it, vanilla has no setting
    assert len(subsets) == 2 * 3 * 2  # attributes × seeds × splits
    data = with_an_empty_group()
    for row in subsets.itertuples():
        group = data.groups[row.attribute][data.split[row.split]].astype(int)
        predicted = stored("infofair", "intersection", row.seed, row.split)
        case = predicted, group, len(data.group_names[row.attribute])
        assert row.imparity == pytest.approx(metrics.imparity(*case), rel=1e-6)
        assert row.imparity_released == pytest.approx(metrics.imparity_released(*case), rel=1e-6)


def test_intervals_of_means_are_of_the_seeds_averaged_resample_by_resample(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    made = tables()
    means = made["intervals"].set_index(["method", "setting", "split"])
    runs = made["runs"].set_index(["method", "setting", "split"])
    assert len(means) == (3 + 1 + 3) * 2
    one_seed = ("mindiff", "gender", "test")
    assert means.loc[one_seed, evaluate.BOUNDS].equals(runs.loc[one_seed, evaluate.BOUNDS])
    data = with_an_empty_group()
    group = data.groups["race"][data.split["test"]].astype(int)
    predicted = np.stack([stored("infofair", "race", seed, "test") for seed in range(3)])
    found = bootstrap(predicted, data.y[data.split["test"]], group, 4)
    for metric, values in found.items():
        row = means.loc[("infofair", "race", "test")]
        bounds = row[f"{metric}_low"], row[f"{metric}_high"]
        assert bounds == pytest.approx(interval(values.mean(axis=1)), rel=1e-6)


def test_statistics_count_rows_features_and_groups(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    statistics = tables()["statistics"].set_index("setting")
    assert (statistics["samples"] == 700).all()
    assert (statistics[["train", "validation", "test"]] == [560, 70, 70]).all().all()
    assert statistics["groups"].tolist() == [2, 4, 6]
    assert statistics["empty_test"].tolist() == [0, 1, 0]
    data = with_an_empty_group()
    for part in ("train", "test"):
        _, sizes = np.unique(data.groups["race"][data.split[part]], return_counts=True)
        assert statistics.loc["race", f"smallest_{part}"] == sizes.min()


def test_attributes_are_counted_before_their_values_become_columns(
    real_data: Callable[[str], Processed],
) -> None:
    counts = {}
    for dataset in ("compas", "adult", "dutch"):
        row = evaluate.statistics(real_data(dataset))[0]
        counts[dataset] = row["samples"], row["features"], row["attributes"]
    # the paper counts columns for COMPAS (52), and attributes for Adult (14) and Dutch (11)
    assert counts == {
        "compas": (6172, 52, 15), "adult": (45222, 104, 14), "dutch": (60420, 73, 11)
    }  # fmt: skip


def test_the_same_predictions_give_the_same_bytes_and_nothing_stale_stays(
    tables: Callable[[], dict[str, pd.DataFrame]],
) -> None:
    folder = files.evaluation("compas")
    written = []
    for _ in range(2):
        assert set(tables()) == set(evaluate.COLUMNS)
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
        (folder / "old.csv").write_text("of an earlier version\n")
    assert written[0] == written[1]

"""The honest profile: pooled groups, honest data, intervals over splits and seeds."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from stages import honest, params, preprocess
from stages.params import Params
from stages.processed import Processed
from tests.conftest import paper_params, yaml
from tests.simulated import processed


def with_sizes(sizes: list[int], test: float = 0.1) -> Processed:
    """Rows of one setting with groups of these sizes, a tenth of all rows for tests."""
    data = processed(sum(sizes))
    group = np.repeat(np.arange(len(sizes)), sizes).astype(np.int16)
    names = {"race": [f"r{g}" for g in range(len(sizes))]}
    order = np.arange(sum(sizes), dtype=np.int32)
    cut = round(sum(sizes) * (1 - test))
    split = {"train": order[: cut // 2], "validation": order[cut // 2 : cut], "test": order[cut:]}
    return Processed(
        data.X, data.y, data.features, {"race": group}, names, split, data.data, data.partition
    )


# -- pooling ------------------------------------------------------------------------------------


def test_groups_that_are_large_enough_stay() -> None:
    data = with_sizes([300, 200, 250])
    found = honest.pooled(data, 20)
    assert found.group_names == data.group_names
    np.testing.assert_array_equal(found.groups["race"], data.groups["race"])


def test_small_groups_are_pooled() -> None:
    found = honest.pooled(with_sizes([600, 110, 500, 120]), 20)
    assert found.group_names["race"] == ["r0", "r2", "r1 or r3"]
    assert np.bincount(found.groups["race"]).tolist() == [600, 500, 230]


def test_what_is_small_even_together_takes_in_the_next_larger() -> None:
    found = honest.pooled(with_sizes([3175, 31, 2103, 509, 343, 11]), 20)  # COMPAS, race
    assert found.group_names["race"] == ["r0", "r2", "r3", "r1 or r4 or r5"]


def test_empty_groups_vanish() -> None:
    found = honest.pooled(with_sizes([600, 0, 500, 300]), 20)
    assert found.group_names["race"] == ["r0", "r2", "r3"]
    assert np.bincount(found.groups["race"]).min() > 0


def test_a_setting_left_with_one_group_is_left_out() -> None:
    assert honest.pooled(with_sizes([600, 5]), 20).settings == []


@given(st.lists(st.integers(0, 400), min_size=2, max_size=9), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_pooling_keeps_rows_together_and_leaves_no_small_group(
    sizes: list[int], smallest: int
) -> None:
    if sum(sizes) < 100:
        sizes = [*sizes, 100]
    data = with_sizes(sizes)
    found = honest.pooled(data, smallest)
    if not found.settings:
        return
    before, after = data.groups["race"], found.groups["race"]
    counts = np.bincount(after, minlength=len(found.group_names["race"]))
    share = len(data.split["test"]) / len(data.y)
    assert counts.sum() == len(data.y) and (counts * share >= smallest).all()
    for group in np.unique(before):  # a group is never torn apart
        assert len(np.unique(after[before == group])) == 1


# -- the data -----------------------------------------------------------------------------------


@pytest.mark.real
def test_small_groups_of_the_real_data_are_pooled(real_data: Callable[[str], Processed]) -> None:
    before = real_data("compas")
    found = honest.pooled(before, 20)
    assert found.group_names["race"][-1] == "Asian or Native American or Other"
    assert all(np.bincount(found.groups[s][found.split["test"]]).min() > 0 for s in found.settings)


def test_the_profile_changes_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    given = paper_params()
    seen: list[Params] = []

    def process(frame: object, name: str, data: str, split: str, params: Params) -> Processed:
        seen.append(params)
        return processed(3000)

    monkeypatch.setattr(preprocess, "validated_rows", lambda dataset: pd.DataFrame())
    monkeypatch.setattr(preprocess, "process", process)
    monkeypatch.setattr(honest.files, "raw_source", lambda dataset: {"data": "real"})
    honest.prepared("compas", 3, given)
    honest.prepared("adult", 4, given)
    compas, adult = seen
    assert compas.split == adult.split == "random"
    assert (compas.random_split.seed, adult.random_split.seed) == (3, 4)
    assert compas.random_split.train == given.random_split.train
    assert compas.scale == adult.scale == "train_rows"
    assert compas.knobs("compas").drop_leaking_columns
    assert not adult.knobs("adult").drop_leaking_columns  # it has none to drop
    assert compas.knobs("compas").hidden == given.knobs("compas").hidden


def test_a_dataset_with_too_few_rows_for_any_comparison_is_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = honest.pooled(processed(), 10**6)
    monkeypatch.setattr(honest, "prepared", lambda *_: nothing)
    assert honest.of_dataset("adult", paper_params()) == []
    assert "adult is left out: no setting has two groups of 20" in capsys.readouterr().err
    empty = honest.summarize(pd.DataFrame([], columns=honest.COLUMNS))
    assert empty.empty and "more_imparity" in empty


def test_the_stage_writes_every_split_seed_setting_and_method(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", "1")
    content = yaml.load(params.PATH)
    content |= {"datasets": ["compas", "adult"]}
    content["backbone"] |= {"epochs": 2, "batch_size": 64}
    strengths = {"vanilla": 0.0, "infofair_fitted": 1.0, "fcfc": 0.0, "lfr": 1.0}
    content["honest"] |= {"splits": [0, 5], "seeds": [1, 2], "strengths": strengths}
    content["lfr"] |= {"prototypes": 3, "iterations": 5}
    yaml.dump(content, params.PATH)

    def prepared(dataset: str, split: int, _: object) -> Processed:
        found = processed(700, seed=split)
        return honest.pooled(found, 5) if dataset == "compas" else honest.pooled(found, 10**6)

    monkeypatch.setattr(honest, "prepared", prepared)
    honest.main()
    runs, summary = pd.read_csv(honest.RUNS), pd.read_csv(honest.SUMMARY)
    assert list(runs.columns) == honest.COLUMNS
    settings = processed().settings
    wanted = {
        ("compas", setting, method, split, seed, part)
        for setting in settings
        for method in strengths
        for split in (0, 5)
        for seed in ((0,) if method == "fcfc" else (1, 2))
        for part in ("validation", "test")
        if method != "lfr" or setting == "gender"
    }
    keys = ["dataset", "setting", "method", "partition_seed", "seed", "split"]
    found = list(runs[keys].itertuples(index=False, name=None))
    assert set(found) == wanted and len(found) == len(wanted)
    assert runs["setting"].drop_duplicates().tolist() == settings
    assert len(summary) == 3 * 3 + 1
    assert summary[["micro_f1", "imparity_low", "more_imparity_high"]].notna().all(axis=None)


# -- intervals ----------------------------------------------------------------------------------


def runs(splits: int = 5, seeds: int = 3, shift: float = -0.05) -> pd.DataFrame:
    """Made-up figures: a method whose imparity is vanilla's plus `shift`, on each split."""
    rng = np.random.default_rng(0)
    rows = []
    for split in range(splits):
        base = rng.normal(0.1, 0.02)
        for method, more in (("vanilla", 0.0), ("infofair", shift)):
            for seed in range(seeds):
                for part in ("validation", "test"):
                    noise = rng.normal(0, 0.001)
                    figures = {"micro_f1": 0.8 + noise, "macro_f1": 0.7, "imparity_released": 0.1}
                    figures["imparity"] = base + more + noise
                    cell = {"dataset": "adult", "setting": "gender", "method": method}
                    rest = {"strength": 0.1, "groups": 2, "train": 800, "test": 100}
                    key = {"partition_seed": split, "seed": seed, "split": part, "note": ""}
                    rows.append(cell | rest | key | figures | {"data": "real"})
    return pd.DataFrame(rows)


def test_the_mean_is_over_splits_and_seeds_of_test_rows() -> None:
    table = runs()
    found = honest.summarize(table).set_index("method")
    test = table[table["split"] == "test"]
    for method, own in test.groupby("method"):
        assert found.loc[method, "imparity"] == pytest.approx(own["imparity"].mean())
        assert found.loc[method, "splits"] == 5 and found.loc[method, "seeds"] == 3


def test_the_interval_is_nadeau_and_bengios() -> None:
    table = runs()
    found = honest.summarize(table).set_index("method").loc["vanilla"]
    test = table[(table["split"] == "test") & (table["method"] == "vanilla")]
    means = test.groupby("partition_seed")["imparity"].mean().to_numpy()
    error = np.sqrt((1 / 5 + 100 / 800) * means.var(ddof=1))
    low, high = stats.t.interval(0.95, 4, loc=means.mean(), scale=error)
    assert (found["imparity_low"], found["imparity_high"]) == pytest.approx((low, high))


def test_differences_are_taken_split_by_split() -> None:
    found = honest.summarize(runs()).set_index("method")
    assert found.loc["vanilla", "more_imparity"] == 0
    row = found.loc["infofair"]
    assert row["more_imparity"] == pytest.approx(-0.05, abs=0.002)
    # splits differ by far more than the method does on each of them
    paired = row["more_imparity_high"] - row["more_imparity_low"]
    assert paired < (row["imparity_high"] - row["imparity_low"]) / 5
    assert row["more_imparity_high"] < 0


def test_a_single_split_has_no_interval() -> None:
    found = honest.summarize(runs(splits=1))
    assert found["imparity"].notna().all() and found["imparity_low"].isna().all()


def test_a_method_that_diverged_has_no_figures() -> None:
    table = runs()
    lost = (table["method"] == "infofair") & (table["seed"] == 0) & (table["partition_seed"] == 2)
    table.loc[lost, honest.METRICS] = np.nan
    table.loc[lost, "note"] = "diverged"
    found = honest.summarize(table).set_index("method")
    assert np.isnan(found.loc["infofair", "imparity"])
    assert found.loc["infofair", "diverged"] == pytest.approx(1 / 15)
    assert found.loc["vanilla", "imparity"] > 0

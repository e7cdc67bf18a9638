"""The honest table: every model in it, and intervals over splits and seeds."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from stages import honest as honest_door
from study import files, honest, paths, results, swept
from study.results import METRICS, TABLES
from study.variants import pooled
from tests import swept as made_up
from tests.conftest import write_plans
from tests.simulated import prepared

STRENGTHS = {"vanilla": 0.0, "infofair_fitted": 1.0, "fcfc": 0.0, "lfr": 1.0}


def test_the_stage_writes_every_split_seed_setting_and_method(workspace: Path) -> None:
    swept._loaded.clear()
    of_table = {"splits": [0, 5], "seeds": [1, 2], "smallest_group": 5, "strengths": STRENGTHS}
    write_plans(datasets=["compas", "adult"], honest=of_table)
    for dataset, smallest in {"compas": 5, "adult": 10**6}.items():  # nothing is left of adult
        forms = {}
        for split in (0, 5):
            path = paths.variant(dataset, f"split{split}")
            forms[str(path)] = pooled(prepared(seed=split), smallest)
            forms[str(path)].save(path)
        for method in STRENGTHS:
            made_up.write("honest", dataset, method, forms)
    honest_door.main()
    runs, summary = results.read("honest"), results.read("honest_summary")
    settings = prepared().settings
    wanted = {
        ("compas", setting, method, split, seed, part)
        for setting in settings
        for method in STRENGTHS
        for split in (0, 5)
        for seed in ((0,) if method == "fcfc" else (1, 2))
        for part in ("validation", "test")
        if method != "lfr" or setting == "gender"
    }
    keys = ["dataset", "setting", "method", "partition_seed", "seed", "split"]
    found = list(runs[keys].itertuples(index=False, name=None))
    assert set(found) == wanted and len(found) == len(wanted)
    # by setting, in the order of the dataset's file, and by method
    assert runs["setting"].drop_duplicates().tolist() == settings
    methods = runs.loc[runs["setting"] == "gender", "method"]
    assert (
        methods.drop_duplicates().tolist()
        == files.needed_json(paths.plan("honest"), "check")["methods"]
    )
    assert len(summary) == 3 * 3 + 1
    assert summary[["micro_f1", "imparity_low", "more_imparity_high"]].notna().all(axis=None)


def test_without_any_model_the_table_is_empty_but_has_its_columns() -> None:
    empty = honest.summarize(pd.DataFrame([], columns=TABLES["honest"]))
    assert empty.empty and "more_imparity" in empty


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
    table.loc[lost, METRICS] = np.nan
    table.loc[lost, "note"] = "diverged"
    found = honest.summarize(table).set_index("method")
    assert np.isnan(found.loc["infofair", "imparity"])
    assert found.loc["infofair", "diverged"] == pytest.approx(1 / 15)
    assert found.loc["vanilla", "imparity"] > 0

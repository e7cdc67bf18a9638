"""Graphs as a study: edges, splits that share them, and every method on simulated rows."""

import numpy as np
import pandas as pd
import pytest

from infofair.data import dataset as datasets
from study.general.figures import graph as figures
from study.general.models import graph
from study.general.study import VANILLA, Rows


def simulated(dataset: str, rows: int) -> pd.DataFrame:
    found = datasets.load(dataset)
    assert found.simulate is not None
    drawn = found.simulate(rows, 0)
    return found.clean(found.schema.validate(drawn))


@pytest.fixture(scope="module")
def splits() -> dict[int, Rows]:
    frame = simulated("bail", 400)
    return {seed: graph.rows("bail", "intersection", frame, seed) for seed in (0, 1)}


def test_nearest_are_those_of_a_naive_loop() -> None:
    x = np.random.default_rng(0).normal(size=(60, 3))
    scaled = (x - x.mean(0)) / x.std(0)
    found = graph.nearest(x.tobytes(), 3).reshape(60, graph.NEIGHBOURS, 2)
    for i in range(60):
        far = ((scaled - scaled[i]) ** 2).sum(1)
        far[i] = np.inf
        assert set(found[i, :, 1]) == set(np.argsort(far)[: graph.NEIGHBOURS])
        assert (found[i, :, 0] == i).all()


def test_splits_share_features_and_edges(splits: dict[int, Rows]) -> None:
    one, other = splits.values()
    assert one.more["edges"] is other.more["edges"]
    assert np.array_equal(one.X, other.X) and np.array_equal(one.X[:, 0], np.arange(400))
    assert not np.array_equal(one.split["test"], other.split["test"])
    assert len(one.split["train"]) == 200 and len(one.split["validation"]) == 100


def test_the_leak_is_in_features_only_where_it_is_asked_for() -> None:
    frame = simulated("bail", 400)
    honest, leaking = (
        graph.rows("bail", setting, frame, 0) for setting in ("intersection", graph.WITH_LEAK)
    )
    assert leaking.more["features"].shape[1] == honest.more["features"].shape[1] + 1
    assert np.array_equal(leaking.more["edges"], honest.more["edges"])


def test_every_method_predicts(splits: dict[int, Rows]) -> None:
    for name, method in graph.MODELS.methods.items():
        trained = method.train(splits, [0.5] if method.strength else [0.0], 12)
        for (_, seed), outputs in trained.items():
            rows = splits[seed]
            assert set(outputs) == {"validation", "test"}, name
            assert outputs["test"].shape == (100,) and np.isfinite(outputs["test"]).all()
            assert set(figures.gaps(outputs, rows, rows.s("test"))) == {"imparity", "largest_gap"}
            found = figures.figures(outputs, rows)
            assert 0 < found["auc"] <= 1
            nobody = figures.figures({"test": np.zeros(100)}, rows)["micro_f1"]
            assert found["constant"] == pytest.approx(max(nobody, 1 - nobody))
    assert next(iter(graph.MODELS.methods)) == VANILLA

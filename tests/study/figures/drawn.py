"""Figures of made-up tables and of the committed one, and how to look into them."""

import itertools
from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from study import figures, labels, results
from study.figures.style import Picture
from tests import compared, lucks
from tests.conftest import ROOT
from tests.summaries import SETTINGS

NAMES = ["tradeoff", "ablation", "frontier", "luck", "sweep", "positions"]


def committed() -> pd.DataFrame:
    path = ROOT / "results/summary.csv"
    if not path.exists():
        pytest.skip("results/summary.csv is not there: run dvc repro")
    table = results.read("summary", path)
    if set(table["dataset"]) != set(labels.DATASETS) or (table["data"] != "real").any():
        pytest.skip("the results in this workspace are not of the paper's three datasets")
    return table


def experiments() -> pd.DataFrame:
    """Four values of alpha, one of them twice, with another number of seeds."""
    rows = []
    runs = [(0.1, ""), (0.01, ""), (0.5, ""), (1.0, ""), (0.5, "seeds")]
    for (alpha, changed), dataset, setting in itertools.product(runs, ("adult", "dutch"), SETTINGS):
        place = SETTINGS.index(setting)
        rows.append(
            {
                "experiment": f"{alpha} {changed}", "baseline": alpha == 0.1, "alpha": alpha,
                "changed": changed, "dataset": dataset, "setting": setting,
                "micro_f1": 0.83 - 0.02 * alpha - 0.001 * place,
                "imparity": 0.1 * (1 + place) - 0.03 * alpha, "reduction": 0.1 * alpha,
                "vanilla_micro_f1": 0.83, "vanilla_imparity": 0.1 * (1 + place),
                "vanilla_reduction": np.nan,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def fronts(
    datasets: tuple[str, ...] = ("adult", "kdd"),
    methods: tuple[str, ...] = compared.METHODS,
    settings: tuple[str, ...] = SETTINGS,
    data: str = "real",
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What the figure of the fronts is drawn from."""
    places = dict.fromkeys(datasets, settings)
    of_methods, areas = (
        compared.table(name, places, methods, data=data) for name in ("fronts", "hypervolume")
    )
    return of_methods, areas


def points() -> pd.DataFrame:
    """Where InfoFair is in a commit and in two experiments."""
    rows = [
        {
            "dataset": dataset, "setting": setting, "place": place, "name": f"exp-{place}",
            "micro_f1": 0.8 - 0.05 * place, "imparity": 0.3 - 0.1 * place, "data": "real",
        }
        for dataset in ("adult", "dutch") for setting in SETTINGS for place in range(3)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def frontier() -> pd.DataFrame:
    """results/frontier.csv: two methods on one of their datasets; Vanilla has one strength."""
    rows = [
        {
            "dataset": "adult", "setting": setting, "method": method, "strength": strength,
            "seed": 0, "split": split, "micro_f1": 0.84 - 0.1 * strength,
            "imparity": 0.3 - 0.2 * strength,
        }
        for setting in SETTINGS
        for method, strengths in (("vanilla", [0.0]), ("infofair", [0.1, 0.5, 1.0]))
        for strength in strengths for split in ("validation", "test")
    ]  # fmt: skip
    return results.frame(rows, "frontier")


@cache
def drawn(name: str) -> Picture:
    if name == "sweep":
        return figures.sweep(experiments())
    if name == "frontier":
        return figures.frontier(*fronts())
    if name == "positions":
        return figures.positions(points(), frontier())
    if name == "luck":
        return figures.luck(table := lucks.runs(), lucks.summary(table))
    return getattr(figures, name)(committed())


def by_gid(figure: Picture) -> dict[str, Line2D]:
    lines = [line for axes in figure.axes for line in axes.lines if line.get_gid()]
    found = {str(line.get_gid()): line for line in lines}
    assert len(found) == len(lines)
    return found


def panel(figure: Picture, row: int, column: int) -> Axes:
    return figure.axes[3 * row + column]

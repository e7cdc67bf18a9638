"""The figure of luck."""

from pathlib import Path

import numpy as np
import pytest

from study import figures
from study.figures.style import Picture
from tests import lucks
from tests.study.figures.drawn import by_gid


def points(figure: Picture, panel: int, mark: str) -> list[list[float]]:
    """Where each line of a panel with this mark has its points."""
    lines = [line for line in figure.axes[panel].lines if line.get_marker() == mark]
    return [np.atleast_1d(line.get_xdata()).tolist() for line in lines]


def test_a_strip_has_the_test_imparity_of_every_seed_as_released() -> None:
    runs = lucks.runs()
    test = runs[runs["split"] == "test"]
    strips = by_gid(figures.luck(runs, lucks.summary(runs)))
    cells = dict(iter(test.groupby(["dataset", "setting", "method"])))
    assert set(strips) == {f"strip-{'-'.join(cell)}" for cell in cells}
    for cell, rows in cells.items():
        strip = strips[f"strip-{'-'.join(cell)}"]
        assert list(strip.get_xdata()) == rows["imparity_released"].tolist()
        assert len(set(strip.get_ydata())) == 1  # no jitter


def test_print_what_to_expect_and_the_seeds_of_the_table_are_marked() -> None:
    runs = lucks.runs()
    summary = lucks.summary(runs)
    figure = figures.luck(runs, summary)
    imparity = summary[summary["figure"] == "imparity"]
    for panel, (place, rows) in enumerate(imparity.groupby(["dataset", "setting"], sort=False)):
        assert points(figure, panel, "v") == [[x] for x in rows["printed"]]
        assert points(figure, panel, "^") == [[x] for x in rows["expected"]]
        own = runs[(runs["dataset"] == place[0]) & (runs["setting"] == place[1])]
        five = own[(own["split"] == "test") & (own["seed"] < 5)]
        assert points(figure, panel, "o") == [
            five.loc[five["method"] == m, "imparity_released"].tolist() for m in lucks.METHODS
        ]
        left, right = figure.axes[panel].get_xlim()
        assert left < min(rows["printed"].min(), own["imparity_released"].min())
        assert right > rows["printed"].max()


@pytest.mark.parametrize("methods", [lucks.METHODS, lucks.METHODS[::-1]])
def test_vanilla_is_above_infofair_whatever_their_order(methods: tuple[str, ...]) -> None:
    runs = lucks.runs({"adult": ("gender",)}, methods)
    strips = by_gid(figures.luck(runs, lucks.summary(runs)))
    vanilla, infofair = (strips[f"strip-adult-gender-{m}"].get_ydata()[0] for m in lucks.METHODS)
    assert vanilla > infofair


@pytest.mark.parametrize("methods", [("vanilla",), ("infofair",)])
def test_one_method_of_a_dataset_that_is_not_the_papers_is_drawn_too(
    methods: tuple[str, ...], tmp_path: Path
) -> None:
    runs = lucks.runs({"loans": ("age",), "adult": ("gender", "race")}, methods, seeds=5)
    runs.loc[0, "imparity_released"] = np.nan  # it diverged
    figure = figures.luck(runs, lucks.summary(runs))
    figures.save(figure, tmp_path / "luck.svg")
    assert len(figure.links) == 2
    assert all(gid.startswith("strip-adult-") for gid in figure.links)


def test_simulated_data_is_said_to_be() -> None:
    runs = lucks.runs({"adult": ("gender",)}).assign(data="simulated")
    figure = figures.luck(runs, lucks.summary(runs))
    assert "SIMULATED DATA, not the real dataset." in [text.get_text() for text in figure.texts]

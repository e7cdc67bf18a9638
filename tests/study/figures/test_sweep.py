"""The figure of what alpha does."""

import pandas as pd
import pytest

from study import figures
from tests.study.figures.drawn import experiments, panel
from tests.summaries import SETTINGS


def test_lines_follow_alpha_and_leave_out_what_differs_in_more() -> None:
    frame = experiments()
    axes = panel(figures.sweep(frame), 1, 0)
    lines = [
        line for line in axes.lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 2
    ]
    alone = frame[(frame["dataset"] == "dutch") & (frame["changed"] == "")].sort_values("alpha")
    for line, setting in zip(lines, SETTINGS, strict=True):
        assert list(line.get_xdata()) == [0.01, 0.1, 0.5, 1]
        wanted = alone.loc[alone["setting"] == setting, "micro_f1"]
        assert list(line.get_ydata()) == wanted.tolist()


@pytest.mark.parametrize(
    "alphas", [[], [0.1], [0.1, 0.2], [0, 0.1, 1], [0.01, 0.1, 0.3, 0.5, 1, 2]]
)
def test_any_number_of_experiments_is_drawn(alphas: list[float]) -> None:
    frame = experiments().iloc[:1]
    rows = [frame.assign(alpha=alpha, baseline=i == 0) for i, alpha in enumerate(alphas)]
    picture = figures.png(figures.sweep(pd.concat(rows) if rows else frame.iloc[:0]))
    assert picture.startswith(b"\x89PNG")

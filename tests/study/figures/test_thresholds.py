"""The figure of thresholds."""

from pathlib import Path

import pytest

from study import figures, honest
from tests import honests
from tests.study.figures.drawn import by_gid, drawn


def test_a_line_is_a_base_from_the_strictest_tolerance_to_the_loosest() -> None:
    rules = honests.rules(honests.runs())
    lines = by_gid(drawn("thresholds"))
    for base in ("vanilla", "logistic", "boosting"):
        own = rules.query(
            "dataset == 'adult' and setting == 'race' and method == @base and notion == 'parity'"
        )
        line = lines[f"rule-adult-race-{base}"]
        assert list(line.get_xdata()) == own["imparity"].tolist()
        assert list(line.get_ydata()) == own["micro_f1"].tolist()


def test_every_other_method_is_a_mark() -> None:
    summary = honest.summarize(honests.runs())
    row = summary.query("dataset == 'compas' and setting == 'gender' and method == 'gdp'").iloc[0]
    points = [
        (line.get_xdata()[0], line.get_ydata()[0])
        for line in drawn("thresholds").axes[0].lines
        if len(line.get_xdata()) == 1
    ]
    assert (row["imparity"], row["micro_f1"]) in points
    assert len(points) == len(honests.METHODS) - 3


@pytest.mark.parametrize("methods", [("vanilla",), ("vanilla", "infofair"), ("vanilla", "mine")])
def test_few_methods_are_drawn_too(methods: tuple[str, ...], tmp_path: Path) -> None:
    runs = honests.runs(("loans",), methods, ("age",))
    figure = figures.thresholds(honests.rules(runs), honest.summarize(runs))
    figures.save(figure, tmp_path / "thresholds.svg")
    assert (tmp_path / "thresholds.svg").stat().st_size > 5000

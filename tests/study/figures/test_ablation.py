"""The figure of InfoFair and its ablations."""

import numpy as np
import pytest

from study import figures, labels
from tests.summaries import summary


def test_a_selected_model_without_a_reduction_has_a_bar_all_the_same() -> None:
    table = summary(("adult",))
    table.loc[table["protocol"] == "paper", "reduction_released"] = np.nan  # vanilla's imparity: 0
    bars = [patch for axes in figures.ablation(table).axes for patch in axes.patches]
    assert len([bar for bar in bars if bar.get_gid()]) == 3 * 3 * 3


def test_bars_lead_from_vanilla_to_the_mean_with_the_spread_across() -> None:
    table = summary()
    figure = figures.ablation(table)
    of = table.set_index(["dataset", "setting", "method", "protocol"])
    bars = {
        patch.get_gid(): patch for axes in figure.axes for patch in axes.patches if patch.get_gid()
    }
    assert len(bars) == 2 * 3 * 3 * 3  # datasets, settings, variants, metrics
    for gid, bar in bars.items():
        dataset, setting, variant, metric = str(gid).removeprefix("bar-").split("-")
        vanilla = of.loc[(dataset, setting, "vanilla", "mean"), metric]
        mean, std, chosen = (
            of.loc[(dataset, setting, variant, p), metric] for p in ("mean", "std", "paper")
        )
        assert bar.get_x() == pytest.approx(vanilla)
        assert bar.get_x() + bar.get_width() == pytest.approx(mean)
        y = bar.get_y() + bar.get_height() / 2
        across = [line.get_xdata() for line in bar.axes.lines if np.allclose(line.get_ydata(), y)]
        wanted = [[mean - std, mean + std], [chosen]]
        assert [list(map(float, x)) for x in across] == [pytest.approx(x) for x in wanted]


def test_variants_differ_in_colour_and_in_hatching() -> None:
    assert set(labels.VARIANT_LOOKS) == set(labels.VARIANTS)
    colours, hatches = zip(*labels.VARIANT_LOOKS.values(), strict=True)
    assert len(set(colours)) == len(set(hatches)) == 3

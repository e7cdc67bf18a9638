"""The Markdown tables of fronts."""

import pandas as pd

from study import fronts, labels
from study.tables.fronts import areas_to_markdown, best_to_markdown, goal_to_markdown
from tests import frontiers


def rows_of(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_areas_have_a_column_per_method_and_a_line_per_setting() -> None:
    _, areas = frontiers.frontier(frontiers.runs())
    head, *lines = rows_of(areas_to_markdown(areas))
    assert head[2:] == [labels.method_name(name) for name in labels.PAPER if name != "vanilla"]
    assert len(lines) == 6
    assert [line[0] for line in lines[2:4]] == ["Adult Income", "COMPAS without leak"]
    gdp = areas[areas["method"] == "gdp"].iloc[0]
    assert lines[0][head.index("GDP")] == (
        f"{gdp['hypervolume']:.3f} ± {gdp['hypervolume_std']:.3f} "
        f"({gdp['above_chord']:.3f} ± {gdp['above_chord_std']:.3f})"
    )
    assert lines[1][head.index("LFR")] == ""  # for two groups only


def test_the_best_says_what_is_beyond_the_budget_on_test_rows_and_what_is_constant() -> None:
    best = fronts.best(fronts.summarize(frontiers.runs(("adult",), ("vanilla", "gdp", "di"))))
    gdp = (best["method"] == "gdp") & (best["setting"] == "gender") & (best["budget"] == 0.1)
    best.loc[gdp, ["micro_f1", "imparity", "constant"]] = 0.8, 0.11, 0.2
    text = best_to_markdown(best)
    assert text.count("### Imparity at most ") == len(fronts.BUDGETS)
    part = text.split("### Imparity at most 0.1\n")[1].split("###")[0]
    head, *lines = rows_of(part)
    assert lines[0][head.index("GDP")] == r"0.800 / 0.110\*†"
    part = text.split("### Imparity at most 0.02\n")[1]
    assert rows_of(part)[1][head.index("Vanilla")] == "–"


def test_the_goal_in_markdown_has_a_line_for_each_setting() -> None:
    keys = ["dataset", "setting", "strength", "micro_f1", "imparity_released", "asked_micro_f1"]
    keys += ["rival", "rival_imparity", "holds", "why"]
    lost = float("nan")
    rows = [
        ("adult", "gender", 3.0, 0.8336, 0.0157, 0.816, "infofair", 0.047, "yes", ""),
        ("adult", "race", 0.3, 0.84, 0.05, 0.81, "gdp", 0.042, "no", "too much"),
        ("adult", "intersection", lost, lost, lost, 0.81, lost, lost, "no", "none keeps the F1"),
    ]
    lines = goal_to_markdown(pd.DataFrame(rows, columns=keys)).splitlines()
    assert lines[2:] == [
        "| Adult Income | gender | 3 | 0.834 | 0.016 | 0.816 | 0.047 (InfoFair) | holds |",
        "| Adult Income | race | 0.3 | 0.840 | 0.050 | 0.810 | 0.042 (GDP) | too much |",
        "| Adult Income | gender \\& race | – | – | – | 0.810 | – | none keeps the F1 |",
    ]

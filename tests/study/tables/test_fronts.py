"""The Markdown table of hypervolumes."""

from study import labels
from study.tables.fronts import areas_to_markdown
from study.tables.layout import number
from tests import compared


def rows_of(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_areas_have_a_line_per_method_and_a_column_per_setting() -> None:
    areas = compared.table("hypervolume", {"adult": ["gender", "race"], "kdd": ["gender"]})
    head, *lines = rows_of(areas_to_markdown(areas))
    assert head == ["Method", "Adult Income, gender", "Adult Income, race",
                    "KDD Census-Income, gender"]  # fmt: skip
    assert [line[0] for line in lines] == [
        labels.full_method_name(m) for m in labels.in_order(areas["method"])
    ]
    by_name = {line[0]: line for line in lines}
    gdp = areas[areas["method"] == "gdp"].iloc[1]
    assert by_name["GDP"][2] == (
        f"{number(gdp['above_chord'])} ± {number(gdp['above_chord_width'])} "
        f"({number(gdp['hypervolume'])})"
    )
    assert by_name["LFR"][2] == ""  # for two groups only

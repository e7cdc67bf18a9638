"""What holds for every figure: it is readable, the same bytes, and fit for a page."""

import itertools
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from study import figures
from study.figures import style
from tests.conftest import ROOT
from tests.study.figures.drawn import NAMES, drawn, fronts, panel
from tests.summaries import summary


def assert_readable(figure: Figure) -> None:
    """No text is small or cut off, and none lies on another."""
    with style.styled():
        figure.draw_without_rendering()
        texts = [
            text for text in figure.findobj(Text)
            if text.get_text().strip() and text.get_visible() and text.get_text() != "SIMULATED"
        ]  # fmt: skip
        boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    assert len(boxes) > 15
    assert min(text.get_fontsize() for text in texts) >= 6
    page = figure.bbox
    for text, box in boxes:
        assert page.x0 <= box.x0 < box.x1 <= page.x1, text
        assert page.y0 <= box.y0 < box.y1 <= page.y1, text
    for (a, one), (b, other) in itertools.combinations(boxes, 2):
        width = min(one.x1, other.x1) - max(one.x0, other.x0)
        height = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert width < 0.5 or height < 0.5, f"{a!r} lies on {b!r}"


@pytest.mark.parametrize("name", NAMES)
def test_all_text_of_the_papers_figures_is_readable(name: str) -> None:
    assert_readable(drawn(name))


@pytest.mark.parametrize("name", ["tradeoff", "ablation"])
@pytest.mark.parametrize(
    "attributes",
    [
        ["gender"],
        ["gender", "region", "age_group"],
        ["gender", "age_group", "country_of_birth", "marital_status"],
    ],
)
def test_all_text_of_any_number_of_attributes_is_readable(name: str, attributes: list[str]) -> None:
    settings = (*attributes, *["intersection"] * (len(attributes) > 1))
    # on one spot, because what is written beside points is not what this is about
    figures_of = {
        "micro_f1": 0.8,
        "macro_f1": 0.7,
        "imparity_released": 0.1,
        "paper_micro_f1": np.nan,
    }
    own = summary(("loan_offers",), ("vanilla", "infofair", "infofair_ts"), settings)
    assert_readable(getattr(figures, name)(own.assign(**figures_of)))


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_as_wide_as_their_place_and_fit_on_a_page(name: str) -> None:
    width, height = drawn(name).get_size_inches()
    assert width == (style.PAGE if name in ("frontier", "luck", "positions") else 3.5)
    assert height < 6


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name != "tradeoff")) for name in NAMES],
)
def test_the_same_table_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    figure = drawn(name)
    with matplotlib.rc_context({"font.size": 20, "lines.markersize": 9, "svg.fonttype": "none"}):
        other = drawn.__wrapped__(name)  # whatever a user has configured
        for kind in ("svg", "png"):
            figures.save(figure, tmp_path / f"first.{kind}")
            figures.save(other, tmp_path / f"other.{kind}")
    figures.save(figure, tmp_path / "again.svg")
    content = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert content["first.svg"] == content["other.svg"] == content["again.svg"]
    assert content["first.png"] == content["other.png"]
    assert len(content) == 5  # nothing half-written


@pytest.mark.slow
def test_another_process_draws_the_same_bytes(tmp_path: Path) -> None:
    figures.save(figures.tradeoff(summary()), tmp_path / "here.svg")
    code = (
        "from study import figures; from tests.summaries import summary; "
        f"figures.save(figures.tradeoff(summary()), {str(tmp_path / 'there.svg')!r})"
    )
    environment = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=ROOT)
    assert (tmp_path / "here.svg").read_bytes() == (tmp_path / "there.svg").read_bytes()


@pytest.mark.parametrize("name", ["tradeoff", "ablation", "frontier"])
def test_the_order_of_the_methods_rows_does_not_matter(name: str) -> None:
    tables = fronts() if name == "frontier" else (summary(),)
    backwards = [
        table.sort_values("method", kind="stable", ascending=False)
        .sort_values(["dataset", "setting"], kind="stable", key=lambda c: c.map(places.index))
        for table in tables
        for places in [[*dict.fromkeys([*table["dataset"], *table["setting"]])]]
    ]  # fmt: skip
    assert [list(t["method"]) for t in backwards] != [list(t["method"]) for t in tables]
    draw = getattr(figures, name)
    assert style.svg(draw(*backwards)) == style.svg(draw(*tables))


def test_svg_needs_no_font_and_says_no_date(tmp_path: Path) -> None:
    figures.save(figures.tradeoff(summary()), tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text("utf-8")
    assert "<text" not in text
    assert "dc:date" not in text


@pytest.mark.parametrize("name", ["tradeoff", "ablation"])
def test_simulated_data_is_said_at_the_top_and_in_its_panels(name: str) -> None:
    table = summary()
    assert not any("SIMULATED" in t.get_text() for t in getattr(figures, name)(table).findobj(Text))
    table.loc[table["dataset"] == "adult", "data"] = "simulated"
    figure = getattr(figures, name)(table)
    top = [text.get_text() for text in figure.texts]
    assert "Adult Income: SIMULATED DATA, not the real dataset." in top
    for row in (0, 1):
        for column in range(3):
            marks = [text.get_text() for text in panel(figure, row, column).texts]
            assert ("SIMULATED" in marks) == (row == 0)


# -- in a page -----------------------------------------------------------------------------------


@cache
def svg_of(name: str) -> str:
    return style.svg(drawn(name))


def root_of(name: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_an_svg_goes_into_a_page_as_it_is(name: str) -> None:
    text = svg_of(name)
    assert text.startswith(f'<svg xmlns="http://www.w3.org/2000/svg" id="{name}" ')
    assert "<metadata" not in text
    assert "xlink" not in text
    root = root_of(name)
    ids = [element.get("id", "") for element in root.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids))
    assert ids[0] == name
    assert all(own.startswith(f"{name}-") for own in ids[1:])
    # what it refers to is its own, or a row of the page
    used = re.findall(r"url\(#([^)]+)\)", text)
    used += [e.attrib["href"][1:] for e in root.iter() if e.tag.endswith("}use")]
    assert used
    assert set(used) <= set(ids)
    styles = [element.text or "" for element in root.iter() if element.tag.endswith("}style")]
    assert all(rule.startswith(f"#{name} *") for text in styles for rule in text.split("}")[:-1])


@pytest.mark.parametrize(
    ("name", "kind", "target"),
    [
        ("tradeoff", "point", "row"),
        ("ablation", "bar", "row"),
        ("frontier", "front", "area"),
        ("luck", "strip", "seeds"),
    ],
)
def test_what_is_drawn_leads_to_its_row_and_says_its_figures(
    name: str, kind: str, target: str
) -> None:
    root = root_of(name)
    links = [element for element in root.iter() if element.tag.endswith("}a")]
    ids = {
        element.attrib["id"] for element in root.iter()
        if element.get("id", "").startswith(f"{name}-{kind}-")
    }  # fmt: skip
    assert len(links) == len(ids) >= 18
    for link in links:
        title, part = link
        assert title.tag.endswith("}title")
        assert ids >= {part.attrib["id"]}
        cell = part.attrib["id"].removeprefix(f"{name}-{kind}-")
        assert cell.startswith(link.attrib["href"].removeprefix(f"#{target}-"))
        assert re.fullmatch(r"[^:]+: .*\d\.\d.*", title.text or "")


def test_a_title_has_the_figures_of_the_table() -> None:
    table = summary(("adult",), ("vanilla", "infofair", "infofair_ts"), ("gender", "race"))
    of = {row["protocol"]: row for row in table.query("setting == 'race'").to_dict("records")
          if row["method"] == "infofair"}  # fmt: skip
    selected, mean, std = (of[protocol] for protocol in ("paper", "mean", "std"))
    link = figures.tradeoff(table).links["point-adult-race-infofair"]
    assert link.target == "row-adult-race-infofair"
    assert link.title == (
        "Adult Income, race, InfoFair: "
        f"mean micro F1 {mean['micro_f1']:.3f} ± {std['micro_f1']:.3f}, "
        f"selected {selected['micro_f1']:.3f}, paper {mean['paper_micro_f1']:.3f}; "
        f"mean imparity {mean['imparity_released']:.3f} ± {std['imparity_released']:.3f}, "
        f"selected {selected['imparity_released']:.3f}, paper {mean['paper_imparity']:.3f}; "
        f"threshold control {mean['control_micro_f1']:.3f} / "
        f"{mean['control_imparity_released']:.3f}"
    )
    links = figures.ablation(table).links
    assert links["bar-adult-race-infofair-macro_f1"].title == (
        "Adult Income, race, InfoFair: "
        f"mean macro F1 {mean['macro_f1']:.3f} ± {std['macro_f1']:.3f}, "
        f"selected {selected['macro_f1']:.3f}"
    )
    title = links["bar-adult-race-infofair_ts-reduction_released"].title
    assert title.startswith("Adult Income, race, InfoFair T+S: mean reduction ")
    links = figures.frontier(*fronts(("adult",), ("vanilla", "gdp"))).links
    one = r"\d\.\d{3} / \d\.\d{3} at [\d.]+"
    said = links["front-adult-intersection-gdp"].title
    assert re.fullmatch(
        rf"Adult Income, gender & race, GDP: micro F1 / imparity {one}(, {one})*", said
    )

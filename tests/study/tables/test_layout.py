"""The formats: what they escape, and what they are made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.tables import layout, results
from tests.study.tables.formats import AWKWARD, Page, unlatex, unmarkdown
from tests.summaries import summary


@given(st.text("ab\\&%$#_{}~^<>|*`[]\"' é±−†"))
def test_escaping_can_be_undone(text: str) -> None:
    assert unmarkdown("x" + layout.markdown(text) + "x") == f"x{text}x"
    plain = layout.latex("x" + text + "x")
    assert unlatex(plain) == f"x{text}x"


def test_the_html_is_semantic_and_carries_no_script_and_no_style() -> None:
    table = summary().assign(data="simulated")
    text = layout.to_html(results.blocks(table), results.LAYOUT)
    page = Page(text)
    tags = [tag for tag, _ in page.tags]
    assert not {"script", "style", "link", "img", "iframe"} & set(tags)
    names = {name for _, attrs in page.tags for name in attrs}
    assert names <= {
        "class", "colspan", "data-dataset", "data-method", "data-value", "id", "role", "rowspan",
        "scope", "title",
    }  # fmt: skip
    assert tags.count("table") == tags.count("caption") == tags.count("thead") == 2
    assert all(attrs.get("scope") for tag, attrs in page.tags if tag == "th")
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_for_a_page_each_table_is_in_a_box_that_scrolls_and_says_its_name() -> None:
    table = summary((AWKWARD, "adult")).assign(data="simulated")
    plain, boxed = (
        layout.to_html(results.blocks(table), results.LAYOUT, boxed=boxed)
        for boxed in (False, True)
    )
    page = Page(boxed)
    assert page.tables == Page(plain.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")).tables
    boxes = [attrs for tag, attrs in page.tags if tag == "div"]
    assert [attrs["aria-label"] for attrs in boxes] == page.captions
    wanted = {"class": "scroll", "tabindex": "0", "role": "region"}
    assert all(attrs.items() >= wanted.items() for attrs in boxes)
    assert [boxed.count(tag) for tag in ('"><table ', "</table></div>")] == [2, 2]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1234, "0.123"),
        (-0.0626, "−0.063"),
        (-0.0001, "0.000"),
        (float("nan"), "–"),
        (12345.6, "12,345.600"),
    ],
)
def test_a_number_has_a_true_minus_sign_and_no_negative_zero(value: float, text: str) -> None:
    assert layout.number(value) == text

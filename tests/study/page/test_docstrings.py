"""Docstrings on a page."""

from study.page.docstrings import Block, blocks, told

TEXT = """One: a method. J = T + α F

Somebody, "A paper", 2020. With `m` the
mean,

    F = m²,

    m = E[p],

the square of it, or, for two,

    F = m₁ m₂.

The rest & all:
- the first
  of them
- the second

        kept =  as it is
"""


def test_a_docstring_is_paragraphs_entries_and_formulas_whose_lines_stay() -> None:
    found = blocks(TEXT)
    assert [b.text for b in found if b.is_formula] == [
        "F = m²,\n\nm = E[p],",
        "F = m₁ m₂.",
        "kept =  as it is",
    ]
    assert found[1] == Block('Somebody, "A paper", 2020. With `m` the mean,')
    assert [b.text for b in found[5:8]] == [
        "The rest & all:",
        "• the first of them",
        "• the second",
    ]


def test_the_formula_is_the_first_with_what_leads_to_it_and_the_same_sentence() -> None:
    said = told(TEXT, "Of the class.")
    assert said.idea == Block("One: a method. J = T + α F")
    assert said.formula == blocks(TEXT)[1:5]
    assert [b.text for b in said.rest][-1] == "Of the class."
    assert len(said.rest) == len(blocks(TEXT)) - 5 + 1


def test_without_a_formula_or_without_anything() -> None:
    assert told("One.\n\nTwo.").rest == [Block("Two.")]
    assert told("One.").formula == []
    assert told(None, "").idea is None


def test_code_is_marked_and_markup_is_text() -> None:
    assert Block("`a<b` & c").markup == "<code>a&lt;b</code> &amp; c"
    assert Block("`a` < b", is_formula=True).markup == "`a` &lt; b"


def test_a_year_at_the_start_of_a_line_begins_no_entry_of_a_list() -> None:
    (only,) = blocks("Jiang et al., ICLR\n2022. With m the mean,\nand so on.")
    assert only.text == "Jiang et al., ICLR 2022. With m the mean, and so on."
    assert [b.text for b in blocks("1. one\n2. two\n- three")] == ["1. one", "2. two", "• three"]

"""The documents have what the pages have."""

import html
import re
from itertools import pairwise
from pathlib import Path

import pytest

from study import paths
from tests.study.page.inputs import text_of

PAIRS = {
    paths.DOCUMENT: paths.INDEX,
    paths.BEYOND_DOCUMENT: paths.BEYOND,
    paths.LUCK_DOCUMENT: paths.LUCK,
}


@pytest.mark.parametrize("document", PAIRS, ids=str)
def test_a_document_has_the_tables_of_its_page(site: Path, document: Path) -> None:
    text = (site / document).read_text(encoding="utf-8")
    page = (site / PAIRS[document]).read_text(encoding="utf-8")
    plain = re.sub(r"\\(.)", r"\1", text)
    captions = [html.unescape(c) for c in re.findall("<caption>(.*?)</caption>", page)]
    elsewhere = "Test rows|The raw files|MD5 sums|What each method offers"
    own = [c for c in captions if not re.match(elsewhere, c)]
    assert len(own) >= (4 if document == paths.LUCK_DOCUMENT else 8)
    for caption in own:
        assert caption in plain
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) > (40 if document == paths.LUCK_DOCUMENT else 60)
    for before, after in pairwise(rows):
        if after.startswith("|---"):
            columns = re.findall(r"(?<!\\)\|", before)
            assert len(columns) == after.count("|")


def test_a_document_has_the_sentences_of_its_page(
    site: Path, index: str, beyond: str, luck: str
) -> None:
    for document, page, begins in (
        (paths.DOCUMENT, index, "The protocol represents vanilla"),
        (paths.DOCUMENT, index, "Small groups differ by chance"),
        (paths.BEYOND_DOCUMENT, beyond, "Validation rows choose the best of each"),
        (paths.BEYOND_DOCUMENT, beyond, "By hypervolume above the chord, of the"),
        (paths.LUCK_DOCUMENT, luck, "In print, InfoFair’s imparity is below"),
    ):
        found = re.search(rf"{begins}.*?</(?:p|dd)>", page, re.DOTALL)
        assert found is not None
        sentence = text_of(f"<p>{found[0]}")
        text = re.sub(r"\\(.)", r"\1", (site / document).read_text(encoding="utf-8"))
        assert sentence in text


@pytest.mark.parametrize("document", PAIRS, ids=str)
def test_links_of_a_document_lead_somewhere(site: Path, document: Path) -> None:
    text = (site / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]*)\)", text):
        path, _, place = target.partition("#")
        there = (site / document.parent / path).resolve() if path else site / document
        assert there.is_file(), target
        assert not place or f'<a id="{place}"></a>' in there.read_text(encoding="utf-8")

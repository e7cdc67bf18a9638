"""Blocks of code in the documents."""

import re

from tests.conftest import ROOT


def blocks(document: str, language: str = "") -> list[str]:
    """The fenced blocks of a document that are in a language, or in none."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)

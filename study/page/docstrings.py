"""Docstrings on a page: their paragraphs, and their formulas, which are what is indented."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import dedent

from markupsafe import Markup, escape

ITEM = re.compile(r"(?:- |\d{1,2}\. )")  # how a line of a list begins; four digits are a year
TICKED = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Block:
    """A paragraph, an entry of a list, or a formula, whose lines are kept."""

    text: str
    is_formula: bool = False

    @property
    def markup(self) -> Markup:
        """As HTML; what is between backticks is code."""
        if self.is_formula:
            return escape(self.text)
        return Markup(TICKED.sub(r"<code>\1</code>", str(escape(self.text))))

    @property
    def goes_on(self) -> bool:
        """Whether it ends the sentence of what is before it."""
        return not self.is_formula and self.text[:1].islower()


@dataclass(frozen=True)
class Told:
    """A docstring in parts: the first paragraph, what the formula is and it, and the rest."""

    idea: Block | None
    formula: list[Block]
    rest: list[Block]


def blocks(text: str) -> list[Block]:
    """Formulas that follow each other are one."""
    found: list[Block] = []
    for part in re.split(r"\n\s*\n", dedent(text).strip("\n")):
        if not part.strip():
            continue
        if part.startswith("    "):
            formula = dedent(part)
            if found and found[-1].is_formula:
                formula = f"{found.pop().text}\n\n{formula}"
            found.append(Block(formula, is_formula=True))
        else:
            found += map(Block, _paragraphs(part.splitlines()))
    return found


def _paragraphs(lines: Iterable[str]) -> list[str]:
    """One, or one for each entry of a list."""
    found: list[str] = []
    for line in lines:
        if not found or ITEM.match(line):
            found.append(line.strip())
        else:
            found[-1] += f" {line.strip()}"
    return [re.sub("^- ", "• ", text) for text in found]


def told(*texts: str | None) -> Told:
    """These docstrings, one after the other: of a file, and of its class.

    The formula is the first one with the paragraph that leads to it, and those after it to which
    the same sentence goes on.
    """
    found = [block for text in texts if text for block in blocks(text)]
    if not found:
        return Told(None, [], [])
    idea, others = found[0], found[1:]
    first = next((i for i, block in enumerate(others) if block.is_formula), None)
    if first is None:
        return Told(idea, [], others)
    last = first
    while last + 2 < len(others) and others[last + 1].goes_on and others[last + 2].is_formula:
        last += 2
    start = max(first - 1, 0)
    return Told(idea, others[start : last + 1], [*others[:start], *others[last + 1 :]])

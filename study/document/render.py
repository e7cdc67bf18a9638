"""The pages' facts and sentences as Markdown."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment

from study import paths, results
from study.page import beyond, index, luck
from study.page import render as page
from study.page.grid import Grid
from study.params import Params
from study.tables import honest, layout
from study.tables import results as table
from study.tables.fronts import fronts_to_markdown
from study.tables.layout import markdown, markdown_row

HERE = Path(__file__).parent
# a document -> where it is written
DOCUMENTS = {
    "results": paths.DOCUMENT,
    "results-beyond": paths.BEYOND_DOCUMENT,
    "results-luck": paths.LUCK_DOCUMENT,
}


def document(name: str, params: Params) -> str:
    """One of DOCUMENTS."""
    made = {"results": of_results, "results-beyond": of_beyond, "results-luck": luck.facts}[name]
    template = _environment().get_template(f"{name}.md")
    # the first pages have one each, in this order; the cards have none
    pages = zip(page.PAGES, DOCUMENTS.values(), strict=False)
    text = template.render(made(params), **{f"to_{of}": path.name for of, path in pages})
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


@cache
def _environment() -> Environment:
    made = page.environment([HERE, page.HERE], escape=markdown)
    made.filters |= {"flat": flat, "grid": grid}
    made.globals |= {
        "strong": lambda text: f"**{text}**",
        "italic": lambda text: f"*{text}*",
        "code": lambda text: markdown(text) if "`" in text else f"`{text}`",
        "link": lambda text, target: f"[{text}]({target})",
    }
    return made


def of_results(params: Params) -> dict[str, Any]:
    summary = results.read("summary")
    return {
        **index.facts(params),
        "table": layout.to_markdown(table.blocks(summary), table.LAYOUT),
        "fronts": fronts_to_markdown(summary),
    }


def of_beyond(params: Params) -> dict[str, Any]:
    summary = results.read("honest_summary")
    how = honest.layout(summary)
    return {**beyond.facts(params), "table": layout.to_markdown(honest.blocks(summary), how)}


def flat(text: str) -> str:
    """In one line, so that no line of a sentence begins like a list."""
    return " ".join(text.split())


def grid(of: Grid) -> str:
    heads = [f"{c.group}: {c.heading}" if c.group else c.heading for c in of.columns]
    rule = "|".join("---" if "text" in c.kind.split() else "---:" for c in of.columns)
    rows = [markdown_row(map(markdown, row)) for row in (heads, *of.rows)]
    return "\n".join([flat(markdown(of.caption)), "", rows[0], f"|{rule}|", *rows[1:]])

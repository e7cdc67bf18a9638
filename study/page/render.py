"""Templates and facts to text: HTML for the pages, and what the documents share with them."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from study import labels, paths
from study.page import beyond, data, index, luck, methods, places, search
from study.page.cells import FAR
from study.page.words import as_json, interval, listed, p_value, short
from study.params import Params
from study.tables.layout import number, percent, spread

HERE = Path(__file__).parent
# the template of a page -> what makes its facts, and where it is written
PAGES: dict[str, tuple[Any, Path]] = {
    "index": (index, paths.INDEX),
    "beyond": (beyond, paths.BEYOND),
    "luck": (luck, paths.LUCK),
    "methods": (methods, places.METHODS),
    "data": (data, places.DATA),
}
OWN_MARKUP = (
    "results_table", "honest_table", "tradeoff", "ablation", "frontier", "strips", "css", "js",
)  # fmt: skip


def environment(folders: list[Path], escape: Callable[[str], str] | None = None) -> Environment:
    """What templates may use, in HTML; or, with an escape for text from data, in another format."""
    text = escape or str
    made = Environment(
        loader=FileSystemLoader(folders),
        autoescape=escape is None,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "dataset": lambda name: text(labels.dataset_name(name)),
        "method": lambda name: text(labels.full_method_name(name)),
        "attribute": lambda name: text(labels.attribute_name(name)),
        "text": text, "number": number, "percent": percent, "short": short, "listed": listed,
        "far": _far, "p_value": p_value,
    }  # fmt: skip
    made.globals |= {
        "spread": spread, "interval": interval, "percent": percent,
        "limit": FAR, "strong": _strong, "italic": _italic, "code": _code, "link": _link,
    }  # fmt: skip
    return made


def _far(difference: float) -> str:
    """A class for the style sheet."""
    return "far" if abs(difference) > FAR else ""


def _strong(text: object) -> Markup:
    return Markup("<strong>{}</strong>").format(text)


def _italic(text: object) -> Markup:
    return Markup("<i>{}</i>").format(text)


def _code(text: object) -> Markup:
    return Markup("<code>{}</code>").format(text)


def _link(text: object, target: str) -> Markup:
    return Markup('<a href="{}">{}</a>').format(target, text)


@cache
def _environment() -> Environment:
    return environment([HERE])


def page(name: str, params: Params) -> str:
    """One of PAGES, complete: it needs no other file and no network."""
    module, _ = PAGES[name]
    files = {of: path.name for of, (_, path) in PAGES.items()}
    facts: dict[str, Any] = {
        **module.facts(params),
        **module.of_page(params),
        **{kind: (HERE / f"page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js")},
        **{f"to_{of}": file for of, file in files.items()},
        "pages": files,
        "here": name,
        "search": as_json(search.entries(params, files)),
    }
    ours = {key: Markup(facts[key]) for key in OWN_MARKUP if key in facts}
    return _environment().get_template(f"{name}.html").render(facts | ours)

"""Tables of ours, read back from their formats."""

import re
from collections.abc import Callable
from html.parser import HTMLParser

from study.tables import layout

# A table as read back from one of its formats: (dataset, method, line) -> the texts of its cells.
Cells = dict[tuple[str, str, str], list[str]]
FORMATS = ["html", "latex", "markdown"]
AWKWARD = r"a|b_<i>&$#{50%}\x~^*`[1]"


class Page(HTMLParser):
    """The rows of every table of a page; complains where tags are not balanced."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tables: list[list[list[tuple[str, dict[str, str | None], str]]]] = []
        self.captions: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append((tag, dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            tag, attrs, text = self.tables[-1][-1].pop()
            self.tables[-1][-1].append((tag, attrs, text + data))
        if "caption" in self.open:
            self.captions.append(data)


def from_html(text: str) -> Cells:
    page, found = Page(text), {}
    for caption, rows in zip(page.captions, page.tables, strict=True):
        method = ""
        for row in rows[2:]:
            names = [text for tag, _, text in row if tag == "th"]
            if len(names) == 2 or row[0][1].get("colspan") == "2":  # a foot
                method, *names = names
            found[caption, method, "".join(names)] = [text for tag, _, text in row if tag == "td"]
    return found


def unlatex(text: str) -> str:
    """What LaTeX prints, for the commands the table uses."""
    text = re.sub(r"\\textbf\{(.*)\}$", r"\1", text.strip())
    shown = {v: k for k, v in layout._LATEX.items() if k != "\n"} | {r"$\,\pm\,$": " ± "}
    pattern = "|".join(re.escape(command) for command in sorted(shown, key=len, reverse=True))
    return re.sub(pattern, lambda found: shown[found[0]], text)


def from_latex(text: str) -> Cells:
    found = {}
    for block in re.findall(r"\\begin\{table\}.*?\\end\{table\}", text, re.DOTALL):
        title = unlatex(re.findall(r"\\emph\{(.*?)\}\.", block)[0])
        method = ""
        for line in block.partition(r"\midrule")[2].partition(r"\bottomrule")[0].splitlines():
            if line.endswith(r" \\"):
                cells = re.split(r"(?<!\\)&", line.removesuffix(r" \\"))
                first, kind, *rest = map(unlatex, cells)
                method = first or method
                found[title, method, kind] = rest
    return found


def unmarkdown(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", re.sub(r"^(\*+)(.*)\1$", r"\2", text.strip()))


def from_markdown(text: str) -> Cells:
    found, title, method = {}, "", ""
    for line in text.splitlines():
        if line.startswith("### "):
            title = unmarkdown(line.removeprefix("### "))
        elif line.startswith("| ") and not line.startswith("| Method"):
            first, kind, *rest = map(unmarkdown, re.split(r"(?<!\\)\|", line)[1:-1])
            method = first or method
            found[title, method, kind] = rest
    return found


WRITE: dict[str, Callable[..., str]] = {
    "html": layout.to_html, "latex": layout.to_latex, "markdown": layout.to_markdown
}  # fmt: skip
READ = {"html": from_html, "latex": from_latex, "markdown": from_markdown}

"""What a table of ours is made of, and the three formats it is written in."""

import html
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from infofair.storage import write_text
from study.labels import dataset_name, method_name


@dataclass(frozen=True)
class Layout:
    """What the blocks of one kind of table share."""

    name: str  # of the notebook <name>_table.ipynb; begins ids and labels
    title: str  # of a block, before the dataset's name
    second: str  # what the second column is called; the first is Method
    columns: dict[str, str]  # three per setting: class -> heading
    legend: dict[str, str]


@dataclass(frozen=True)
class Cell:
    text: str
    value: float = float("nan")  # what to sort by
    best: bool = False
    note: str = ""  # why there is a dagger
    said: str = ""  # more about it, where it is pointed at


@dataclass(frozen=True)
class Line:
    kind: str  # its class
    label: str  # in the second column
    cells: list[Cell]  # three per setting


@dataclass(frozen=True)
class Block:
    """One dataset: for each method its lines."""

    dataset: str
    settings: list[str]  # their names
    methods: dict[str, list[Line]]
    feet: dict[str, list[Cell]]  # lines under all methods, by their label
    warnings: list[str]

    @property
    def title(self) -> str:
        return dataset_name(self.dataset)


def save(table: list[Block], layout: Layout, path: str | Path) -> None:
    """As HTML, LaTeX or Markdown, by the name of the file."""
    write = {".html": to_html, ".tex": to_latex, ".md": to_markdown}[Path(path).suffix]
    write_text(Path(path), write(table, layout))


# -- numbers -------------------------------------------------------------------------------------


def percent(value: float, digits: str = "z.1f") -> str:
    return "–" if np.isnan(value) else f"{100 * value:{digits}}%".replace("-", "−")


def number(value: float, digits: int = 3, sign: str = "-") -> str:
    """With a minus sign that is one, none before a zero, and a dash for what is not there."""
    if np.isnan(value):
        return "–"
    shown = round(float(value), digits) or 0.0
    return f"{shown:{sign if shown else '-'},.{digits}f}".replace("-", "−")


def spread(mean: float, std: float, form: Callable[[float], str] = number) -> str:
    return form(mean) if np.isnan(std) else f"{form(mean)} ± {form(std)}"


# -- HTML ----------------------------------------------------------------------------------------


def to_html(table: list[Block], layout: Layout, boxed: bool = False) -> str:
    """A fragment: one <table> per dataset, a <tbody> per method, then the legend.

    Every cell with a figure has it in full in `data-value`, for a script that sorts. Boxed, for a
    page: each table in a box that scrolls, and its lines broken where they may be.
    """
    parts = [_html_block(block, layout, boxed) for block in table]
    legend = [
        f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in layout.legend.items()
    ]
    text = "\n".join([*parts, '<dl class="legend">', *legend, "</dl>", ""])
    return text.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}") if boxed else text


def _html_block(block: Block, layout: Layout, boxed: bool) -> str:
    name = html.escape(block.dataset)
    caption = html.escape(": ".join([block.title, *block.warnings]))
    box = f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}">' * boxed
    lines = [
        *(
            f'<p class="warning" role="note"><strong>{html.escape(block.title)}: '
            f"{html.escape(warning)}</strong></p>"
            for warning in block.warnings
        ),
        f'{box}<table class="results" id="{layout.name}-{name}" data-dataset="{name}">',
        f"<caption>{caption}</caption>",
        "<thead>",
        '<tr><th scope="col" rowspan="2">Method</th>'
        f'<th scope="col" rowspan="2">{html.escape(layout.second)}</th>'
        + "".join(
            f'<th scope="colgroup" colspan="3">{html.escape(setting)}</th>'
            for setting in block.settings
        )
        + "</tr>",
        "<tr>"
        + "".join(
            f'<th scope="col" class="{kind}">{html.escape(title)}</th>'
            for _ in block.settings
            for kind, title in layout.columns.items()
        )
        + "</tr>",
        "</thead>",
    ]
    for method, of_method in block.methods.items():
        lines.append(f'<tbody class="method" data-method="{html.escape(method)}">')
        head = (
            f'<th scope="rowgroup" rowspan="{len(of_method)}">'
            f"{html.escape(method_name(method))}</th>"
        )
        for line in of_method:
            row = f'<tr class="{line.kind}">{head}<th scope="row">{html.escape(line.label)}</th>'
            lines.append(row + _html_cells(line.cells, layout) + "</tr>")
            head = ""
        lines.append("</tbody>")
    if block.feet:
        lines += ["<tfoot>", *(_html_foot(*foot, layout) for foot in block.feet.items())]
        lines += ["</tfoot>"]
    return "\n".join([*lines, "</table>" + "</div>" * boxed])


def _html_foot(label: str, cells: list[Cell], layout: Layout) -> str:
    head = f'<th scope="row" colspan="2">{html.escape(label)}</th>'
    return f'<tr class="foot">{head}{_html_cells(cells, layout)}</tr>'


def _html_cells(cells: list[Cell], layout: Layout) -> str:
    parts = []
    for kind, cell in zip(list(layout.columns) * (len(cells) // 3), cells, strict=True):
        classes = [kind]
        classes += ["best"] * cell.best + ["constant"] * bool(cell.note)
        classes += ["missing"] * (cell.text == "N/A")
        text = html.escape(cell.text)
        attributes = f'class="{" ".join(classes)}"'
        if not np.isnan(cell.value):
            attributes += f' data-value="{cell.value:.6g}"'
        if title := "; ".join(filter(None, (cell.note, cell.said))):
            attributes += f' title="{html.escape(title)}"'
        parts.append(f"<td {attributes}>{f'<strong>{text}</strong>' if cell.best else text}</td>")
    return "".join(parts)


# -- LaTeX ---------------------------------------------------------------------------------------

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$",
    "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " ",
    "−": "$-$", "±": r"$\pm$", "†": r"$\dagger$", "‡": r"$\ddagger$", "–": "--",
    "▼": r"$\bigtriangledown$", "▲": r"$\bigtriangleup$", "≥": r"$\geq$", "▣": r"\rule{1ex}{1ex}",
    "’": r"\textquoteright{}",
}  # fmt: skip


def latex(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(_LATEX.get(c, c) for c in text).replace(r" $\pm$ ", r"$\,\pm\,$")


def to_latex(table: list[Block], layout: Layout) -> str:
    """A document that compiles by itself; a paper takes what is between begin and end{document}."""
    parts = [
        f"% Made by notebooks/{layout.name}_table.ipynb. Needs the packages booktabs and graphicx.",
        r"\documentclass[a4paper]{article}",
        r"\usepackage[landscape,margin=10mm]{geometry}",
        r"\usepackage{booktabs,graphicx}",
        r"\begin{document}",
        *(_latex_block(block, layout) for block in table),
        r"\end{document}",
    ]
    return "\n".join([*parts, ""])


def _latex_block(block: Block, layout: Layout) -> str:
    count = len(block.settings)
    groups = r"@{\hspace{7pt}}".join(["rrr"] * count)
    caption = rf"{latex(layout.title)} \emph{{{latex(block.title)}}}."
    caption += "".join(rf" \textbf{{{latex(warning)}}}" for warning in block.warnings)
    rules = "".join(rf"\cmidrule(lr){{{3 + 3 * i}-{5 + 3 * i}}}" for i in range(count))
    heads = [rf"\multicolumn{{3}}{{c}}{{{latex(setting)}}}" for setting in block.settings]
    titles = ["Method", layout.second, *list(layout.columns.values()) * count]
    lines = [
        r"\begin{table}[p]",
        r"\centering\scriptsize\setlength{\tabcolsep}{2.5pt}",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{layout.name}-{re.sub('[^a-z0-9]+', '-', block.dataset.lower())}}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{@{{}}ll{groups}@{{}}}}",
        r"\toprule",
        " & ".join(["", "", *heads]) + r" \\",
        rules,
        " & ".join(map(latex, titles)) + r" \\",
        r"\midrule",
    ]
    for i, (method, of_method) in enumerate(block.methods.items()):
        lines += [r"\addlinespace"] * (i > 0)
        names = [rf"\textbf{{{latex(method_name(method))}}}"] + [""] * (len(of_method) - 1)
        for name, line in zip(names, of_method, strict=True):
            texts = [
                rf"\textbf{{{latex(c.text)}}}" if c.best else latex(c.text) for c in line.cells
            ]
            lines.append(" & ".join([name, latex(line.label), *texts]) + r" \\")
    lines += [r"\midrule"] * bool(block.feet)
    for label, foot in block.feet.items():
        lines.append(" & ".join([latex(label), "", *(latex(c.text) for c in foot)]) + r" \\")
    legend = " ".join(rf"\emph{{{latex(k)}}}: {latex(v)}" for k, v in layout.legend.items())
    lines += [r"\bottomrule", r"\end{tabular}}", r"\par\smallskip", r"\begin{minipage}{\linewidth}"]
    return "\n".join([*lines, legend, r"\end{minipage}", r"\end{table}"])


# -- Markdown ------------------------------------------------------------------------------------


def markdown(text: str) -> str:
    """Text that GitHub shows as it is, also inside a table."""
    return re.sub(r"([\\`*_{}\[\]<>|#~&$])", r"\\\1", text.replace("\n", " "))


def to_markdown(table: list[Block], layout: Layout) -> str:
    legend = [f"- *{markdown(k)}*: {markdown(v)}" for k, v in layout.legend.items()]
    return "\n".join([*(_markdown_block(block, layout) for block in table), *legend, ""])


def _markdown_block(block: Block, layout: Layout) -> str:
    lines = [f"### {markdown(block.title)}", ""]
    if block.warnings:
        lines += ["> [!WARNING]", *(f"> **{markdown(w)}**" for w in block.warnings), ""]
    heads = [
        f"{setting}: {title}" for setting in block.settings for title in layout.columns.values()
    ]
    lines += [markdown_row(["Method", layout.second, *map(markdown, heads)])]
    lines += ["|---|---|" + "---:|" * len(heads)]
    for method, of_method in block.methods.items():
        names = [f"**{markdown(method_name(method))}**"] + [""] * (len(of_method) - 1)
        for name, line in zip(names, of_method, strict=True):
            texts = [f"**{markdown(c.text)}**" if c.best else markdown(c.text) for c in line.cells]
            lines.append(markdown_row([name, markdown(line.label), *texts]))
    for label, foot in block.feet.items():
        lines.append(markdown_row([f"*{markdown(label)}*", "", *(markdown(c.text) for c in foot)]))
    return "\n".join([*lines, ""])


def markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"

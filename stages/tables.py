"""The paper's results table from results/summary.csv, as HTML, LaTeX and Markdown.

One table per dataset, laid out as the paper's: its methods in its order (any others before
InfoFair), and for every setting Micro/Macro F1, Imparity and Reduction. Each method has three
lines: what the paper's protocol selects, the mean ± standard deviation over seeds, and what the
paper prints. `LEGEND` says how to read it.
"""

import html
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from stages import files, fronts
from stages.processed import INTERSECTION

# Names as the paper prints them, in its order; what is neither here nor in MORE_METHODS is called
# what its file is called (loan_offers.py: Loan offers), or by its key in the dataset's file
# (age_group: age group).
METHODS = {
    "vanilla": "Vanilla",
    "lfr": "LFR",
    "mindiff": "MinDiff",
    "di": "DI",
    "adversarial": "Adversarial",
    "fcfc": "FCFC",
    "gerryfair": "GerryFair",
    "gdp": "GDP",
    "infofair": "InfoFair",
}
MORE_METHODS = {  # that the paper does not have
    "infofair_fitted": "InfoFair, fitted",
    "dp_gap": "Parity gap",
    "plugin_mi": "Plug-in MI",
    "reweighing": "Reweighing",
    "expgrad": "Exp. gradient",
}
VARIANTS = {"infofair": "T+S+D", "infofair_ts": "T+S", "infofair_td": "T+D"}  # the ablation's
DATASETS = {"compas": "COMPAS", "adult": "Adult Income", "dutch": "Dutch Census"}
ATTRIBUTES = {"marital": "marital status"}

Row = Mapping[Any, Any]  # of the summary

LEGEND = {
    "ours, selected": "the paper's protocol: of all seeds, the model with the lowest validation "
    "imparity (Vanilla: the highest micro F1), on test rows.",
    "ours, mean ± std": "over all seeds, on test rows; no ± where a single model was fitted.",
    "paper": "as printed there.",
    "Imparity": "as the released code computes it, because that is what the paper prints: each "
    "group is also paired with itself, and a group without test rows counts as rate 0.",
    "Bold": "the best trade-offs, which are the Pareto front of mean micro F1 and mean imparity: "
    "no other method in the same setting is at least as good in both and better in one. Methods "
    "with a constant seed are left out, and those whose figures are Vanilla's own.",
    "†": "a constant predictor: one class for every test row (†2/5: in two of five seeds). In the "
    "paper's lines: imparity 0, and the macro F1 of a single class.",
    "N/A": "the method cannot run in this setting.",
    "Noise floor": "the imparity to expect of an exactly fair predictor with Vanilla's selection "
    "rate on test groups of these sizes, and the reduction it would show. Imparity at or below it "
    "cannot be told from fair.",
}


def read(path: str | Path) -> pd.DataFrame:
    """results/summary.csv; where there is no note, it is empty text."""
    table = pd.read_csv(files.need(Path(path), "summarize"), dtype={"note": "str"})
    return table.assign(note=table["note"].fillna(""))


# -- names and order -----------------------------------------------------------------------------


def dataset_name(dataset: str) -> str:
    base = dataset.removesuffix(fronts.WITHOUT_LEAK)
    name = DATASETS.get(base) or f"{base[:1].upper()}{base[1:]}".replace("_", " ")
    return name + (" without leak" if base != dataset else "")


def attribute_name(attribute: str) -> str:
    return ATTRIBUTES.get(attribute) or attribute.replace("_", " ")


def method_name(method: str) -> str:
    return (METHODS | MORE_METHODS).get(method, method)


def setting_name(setting: str, settings: Iterable[str]) -> str:
    """The attribute; `intersection` is called by the attributes it is made of, if known."""
    others = [name for name in settings if name != INTERSECTION]
    parts = others if setting == INTERSECTION and len(others) > 1 else [setting]
    return " & ".join(map(attribute_name, parts))


def methods(summary: pd.DataFrame) -> list[str]:
    """Those of the table, in the paper's order; any others before InfoFair."""
    there = [m for m in dict.fromkeys(summary["method"]) if m == "infofair" or m not in VARIANTS]
    known = [m for m in METHODS if m in there and m != "infofair"]
    others = [m for m in there if m not in METHODS]
    return known + others + [m for m in there if m == "infofair"]


def settings(summary: pd.DataFrame, dataset: str) -> list[str]:
    return list(dict.fromkeys(summary.loc[summary["dataset"] == dataset, "setting"]))


def cell(summary: pd.DataFrame, dataset: str, setting: str, protocol: str = "mean") -> pd.DataFrame:
    """The rows of one dataset, setting and protocol, by method, in the order of the table."""
    chosen = (summary["dataset"] == dataset) & (summary["setting"] == setting)
    rows = summary[chosen & (summary["protocol"] == protocol)].set_index("method")
    return rows.loc[[method for method in methods(summary) if method in rows.index]]


# -- what is marked ------------------------------------------------------------------------------


def front(summary: pd.DataFrame, dataset: str, setting: str) -> pd.DataFrame:
    """The methods on the Pareto front of one setting, by micro F1.

    None with a constant seed, and none that changes nothing against vanilla.
    """
    rows = cell(summary, dataset, setting)
    rows = rows[rows["note"] == ""]
    axes = ["micro_f1", "imparity_released"]
    best = rows[fronts.pareto(*rows[axes].to_numpy().T)]
    if "vanilla" in best.index:
        same = (best[axes] == best.loc["vanilla", axes]).all(axis=1)
        best = best[~same | (best.index == "vanilla")]
    return best.sort_values(axes, kind="stable")


def constant_in_print(row: Row) -> bool:
    """Whether the paper's figures are those of a constant predictor.

    Predicting one class, of share p, has micro F1 p and macro F1 p / (1 + p): half that class's F1.
    """
    p = row["paper_micro_f1"]
    return bool(row["paper_imparity"] == 0 and abs(row["paper_macro_f1"] - p / (1 + p)) < 0.0015)


def noise_floor(summary: pd.DataFrame, dataset: str, setting: str) -> float:
    """Expected imparity of a fair predictor with vanilla's selection rate; NaN without vanilla."""
    return float(cell(summary, dataset, setting)["floor_released"].get("vanilla", float("nan")))


SIMULATED = "SIMULATED DATA, not the real dataset."


def warnings(summary: pd.DataFrame) -> list[str]:
    """What a reader must know before reading any figure of these rows."""
    said = []
    if (summary["data"] != "real").any():
        said.append(SIMULATED)
    # a dataset that is not the paper's has no other split
    if (summary["dataset"].isin(DATASETS) & (summary["partition"] != "authors")).any():
        said.append("Random split, not the authors'.")
    return said


# -- the table -----------------------------------------------------------------------------------

LINES = {"selected": "ours, selected", "mean": "ours, mean ± std", "paper": "paper"}


@dataclass(frozen=True)
class Layout:
    """What the blocks of one kind of table share."""

    name: str  # of the notebook <name>_table.ipynb; begins ids and labels
    title: str  # of a block, before the dataset's name
    second: str  # what the second column is called; the first is Method
    columns: dict[str, str]  # three per setting: class -> heading
    legend: dict[str, str]


RESULTS = Layout(
    "results",
    "Debiasing results on",
    "Source",
    {"f1": "Micro/Macro F1", "imparity": "Imparity", "reduction": "Reduction"},
    LEGEND,
)


@dataclass(frozen=True)
class Cell:
    text: str
    value: float = float("nan")  # what to sort by
    best: bool = False
    note: str = ""  # why there is a dagger


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
    floor: list[Cell]
    warnings: list[str]

    @property
    def title(self) -> str:
        return dataset_name(self.dataset)


def percent(value: float, digits: str = "z.1f") -> str:
    return "–" if np.isnan(value) else f"{100 * value:{digits}}%".replace("-", "−")


def _spread(mean: float, std: float) -> str:
    return f"{mean:.3f}" if np.isnan(std) else f"{mean:.3f} ± {std:.3f}"


def _dagger(note: str) -> str:
    some = re.search(r"(\d+) of (\d+)", note)
    return f"†{some[1]}/{some[2]}" if some else "†" if note else ""


def _selected(row: Row) -> list[Cell]:
    f1 = f"{row['micro_f1']:.3f}/{row['macro_f1']:.3f}{_dagger(row['note'])}"
    imparity, reduction = row["imparity_released"], row["reduction_released"]
    return [
        Cell(f1, row["micro_f1"], note=row["note"]),
        Cell(f"{imparity:.3f}", imparity),
        Cell(percent(reduction), reduction),
    ]


def _mean(mean: Row, std: Row, best: bool) -> list[Cell]:
    between = "/" if np.isnan(std["micro_f1"]) else " / "
    f1 = between.join(_spread(mean[name], std[name]) for name in ("micro_f1", "macro_f1"))
    imparity, reduction = mean["imparity_released"], mean["reduction_released"]
    change = percent(reduction)
    if not np.isnan(reduction) and not np.isnan(std["reduction_released"]):
        change = f"{change.removesuffix('%')} ± {percent(std['reduction_released'])}"
    return [
        Cell(f1 + _dagger(mean["note"]), mean["micro_f1"], best, mean["note"]),
        Cell(_spread(imparity, std["imparity_released"]), imparity, best),
        Cell(change, reduction),
    ]


def _printed(row: Row) -> list[Cell]:
    if np.isnan(row["paper_micro_f1"]):
        return [Cell("–")] * 3
    note = "constant" if constant_in_print(row) else ""
    f1 = f"{row['paper_micro_f1']:.3f}/{row['paper_macro_f1']:.3f}{_dagger(note)}"
    imparity, reduction = row["paper_imparity"], row["paper_reduction"]
    return [
        Cell(f1, row["paper_micro_f1"], note=note),
        Cell(f"{imparity:.3f}", imparity),
        Cell(percent(reduction, "#.4g"), reduction),  # four digits, as there
    ]


def _floor(summary: pd.DataFrame, dataset: str, setting: str) -> list[Cell]:
    floor = noise_floor(summary, dataset, setting)
    if np.isnan(floor):
        return [Cell("")] * 3
    vanilla = float(cell(summary, dataset, setting)["imparity_released"]["vanilla"])
    reduction = 1 - floor / vanilla if vanilla else float("nan")
    return [Cell(""), Cell(f"{floor:.3f}", floor), Cell(percent(reduction), reduction)]


def blocks(summary: pd.DataFrame) -> list[Block]:
    """The whole table, one block per dataset."""
    return [_block(summary, str(dataset)) for dataset in dict.fromkeys(summary["dataset"])]


def _block(summary: pd.DataFrame, dataset: str) -> Block:
    own = summary[summary["dataset"] == dataset]
    names = settings(summary, dataset)
    lines: dict[str, dict[str, list[Cell]]] = {
        method: {line: [] for line in LINES} for method in methods(own)
    }
    for setting in names:
        selected, mean, std = (
            cell(summary, dataset, setting, p).to_dict("index") for p in ("paper", "mean", "std")
        )
        best = front(summary, dataset, setting).index
        for method, of_method in lines.items():
            if method not in mean:
                for cells in of_method.values():
                    cells += [Cell("N/A")] * 3
                continue
            of_method["selected"] += _selected(selected[method])
            of_method["mean"] += _mean(mean[method], std[method], method in best)
            of_method["paper"] += _printed(mean[method])
    for of_method in lines.values():
        if all(np.isnan(cell.value) for cell in of_method["paper"]):
            del of_method["paper"]  # a method, or a dataset, that the paper does not have
    return Block(
        dataset,
        [setting_name(name, names) for name in names],
        {
            method: [Line(kind, LINES[kind], cells) for kind, cells in of_method.items()]
            for method, of_method in lines.items()
        },
        [cell for setting in names for cell in _floor(summary, dataset, setting)],
        warnings(own),
    )


# -- HTML ----------------------------------------------------------------------------------------


def to_html(table: list[Block], layout: Layout = RESULTS) -> str:
    """A fragment: one <table> per dataset, a <tbody> per method, then the legend.

    Every cell with a figure has it in full in `data-value`, for a script that sorts.
    """
    parts = [_html_block(block, layout) for block in table]
    legend = [
        f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in layout.legend.items()
    ]
    return "\n".join([*parts, '<dl class="legend">', *legend, "</dl>", ""])


def _html_block(block: Block, layout: Layout) -> str:
    name = html.escape(block.dataset)
    lines = [
        *(
            f'<p class="warning" role="note"><strong>{html.escape(block.title)}: '
            f"{html.escape(warning)}</strong></p>"
            for warning in block.warnings
        ),
        f'<table class="results" id="{layout.name}-{name}" data-dataset="{name}">',
        f"<caption>{html.escape(': '.join([block.title, *block.warnings]))}</caption>",
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
    if any(cell.text for cell in block.floor):
        row = '<tr class="floor"><th scope="row" colspan="2">Noise floor</th>'
        lines += ["<tfoot>", row + _html_cells(block.floor, layout) + "</tr>", "</tfoot>"]
    return "\n".join([*lines, "</table>"])


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
        if cell.note:
            attributes += f' title="{html.escape(cell.note)}"'
        parts.append(f"<td {attributes}>{f'<strong>{text}</strong>' if cell.best else text}</td>")
    return "".join(parts)


# -- LaTeX ---------------------------------------------------------------------------------------

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$",
    "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " ",
    "−": "$-$", "±": r"$\pm$", "†": r"$\dagger$", "–": "--", "▼": r"$\bigtriangledown$",
    "▲": r"$\bigtriangleup$",
}  # fmt: skip


def latex(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(_LATEX.get(c, c) for c in text).replace(r" $\pm$ ", r"$\,\pm\,$")


def to_latex(table: list[Block], layout: Layout = RESULTS) -> str:
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
    if any(cell.text for cell in block.floor):
        floor = ["Noise floor", "", *(latex(cell.text) for cell in block.floor)]
        lines += [r"\midrule", " & ".join(floor) + r" \\"]
    legend = " ".join(rf"\emph{{{latex(k)}}}: {latex(v)}" for k, v in layout.legend.items())
    lines += [r"\bottomrule", r"\end{tabular}}", r"\par\smallskip", r"\begin{minipage}{\linewidth}"]
    return "\n".join([*lines, legend, r"\end{minipage}", r"\end{table}"])


# -- Markdown ------------------------------------------------------------------------------------


def markdown(text: str) -> str:
    """Text that GitHub shows as it is, also inside a table."""
    return re.sub(r"([\\`*_{}\[\]<>|#~&$])", r"\\\1", text.replace("\n", " "))


def to_markdown(table: list[Block], layout: Layout = RESULTS) -> str:
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
    if any(cell.text for cell in block.floor):
        lines.append(markdown_row(["*Noise floor*", "", *(markdown(c.text) for c in block.floor)]))
    return "\n".join([*lines, ""])


def fronts_to_markdown(summary: pd.DataFrame) -> str:
    """The methods on each Pareto front, from the lowest micro F1 and imparity to the highest."""
    lines = [markdown_row(["Dataset", "Setting", "On the Pareto front"]), "|---|---|---|"]
    for dataset in dict.fromkeys(summary["dataset"]):
        names = settings(summary, dataset)
        for setting in names:
            best = map(method_name, front(summary, dataset, setting).index)
            row = [dataset_name(dataset), setting_name(setting, names), ", ".join(best)]
            lines.append(markdown_row(map(markdown, row)))
    return "\n".join([*lines, ""])


def _by_setting(table: pd.DataFrame, text: Callable[[Row], str]) -> str:
    """One line per dataset and setting, one column per method; empty where there is none."""
    names = methods(table)
    lines = [markdown_row(["Dataset", "Setting", *map(markdown, map(method_name, names))])]
    lines += ["|---|---|" + "---:|" * len(names)]
    for (dataset, setting), rows in table.groupby(["dataset", "setting"], sort=False):
        cells = {row["method"]: text(row) for row in rows.to_dict("records")}
        setting = setting_name(str(setting), settings(table, str(dataset)))
        head = [markdown(dataset_name(str(dataset))), markdown(setting)]
        lines.append(markdown_row([*head, *(cells.get(name, "") for name in names)]))
    return "\n".join([*lines, ""])


def areas_to_markdown(areas: pd.DataFrame) -> str:
    """results/hypervolume.csv."""

    def text(row: Row) -> str:
        figures = (
            _spread(row[name], row[f"{name}_std"]) for name in ("hypervolume", "above_chord")
        )
        return "{} ({})".format(*figures)

    return _by_setting(areas[areas["method"] != "vanilla"], text)


def best_to_markdown(best: pd.DataFrame) -> str:
    """results/best.csv, a table for each budget: micro F1 / imparity."""

    def text(row: Row) -> str:
        if np.isnan(row["strength"]):
            return "–"
        marks = "\\*" * (row["imparity"] > row["budget"]) + "†" * (row["constant"] > 0)
        return f"{row['micro_f1']:.3f} / {row['imparity']:.3f}{marks}"

    parts = [
        f"### Imparity at most {budget:g}\n\n{_by_setting(rows, text)}"
        for budget, rows in best.groupby("budget", sort=False)
    ]
    return "\n".join(parts)


def goal_to_markdown(goal: pd.DataFrame) -> str:
    """results/goal.csv: infofair_fitted on test rows beside what it is to beat."""
    heads = ["Dataset", "Setting", "α", "Micro F1", "Imparity", "to beat: micro F1", "imparity", ""]
    lines = [markdown_row(heads), "|---|---|" + "---:|" * 5 + "---|"]
    for row in goal.to_dict("records"):
        cells = [
            markdown(dataset_name(row["dataset"])),
            markdown(setting_name(row["setting"], settings(goal, row["dataset"]))),
        ]
        figures = ["micro_f1", "imparity_released", "asked_micro_f1", "rival_imparity"]
        f1, imparity, asked, rival = (
            "–" if np.isnan(row[name]) else f"{row[name]:.3f}" for name in figures
        )
        strength = "–" if np.isnan(row["strength"]) else f"{row['strength']:g}"
        if rival != "–":
            rival += f" ({markdown(method_name(row['rival']))})"
        said = "holds" if row["holds"] == "yes" else markdown(row["why"])
        lines.append(markdown_row([*cells, strength, f1, imparity, asked, rival, said]))
    return "\n".join([*lines, ""])


def markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"

import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages import fronts, tables
from stages.files import Problem
from tests import frontiers
from tests.conftest import ROOT
from tests.summaries import SETTINGS, summary

# A table as read back from one of its formats: (dataset, method, line) -> the texts of its cells.
Cells = dict[tuple[str, str, str], list[str]]
FORMATS = ["html", "latex", "markdown"]
AWKWARD = r"a|b_<i>&$#{50%}\x~^*`[1]"


# -- reading the formats back --------------------------------------------------------------------


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
            if len(names) == 2 or names == ["Noise floor"]:
                method, *names = names
            found[caption, method, "".join(names)] = [text for tag, _, text in row if tag == "td"]
    return found


def unlatex(text: str) -> str:
    """What LaTeX prints, for the commands the table uses."""
    text = re.sub(r"\\textbf\{(.*)\}$", r"\1", text.strip())
    shown = {v: k for k, v in tables._LATEX.items() if k != "\n"} | {r"$\,\pm\,$": " ± "}
    pattern = "|".join(re.escape(command) for command in sorted(shown, key=len, reverse=True))
    return re.sub(pattern, lambda found: shown[found[0]], text)


def from_latex(text: str) -> Cells:
    found = {}
    for block in re.findall(r"\\begin\{table\}.*?\\end\{table\}", text, re.DOTALL):
        title = unlatex(re.search(r"\\emph\{(.*?)\}\.", block)[1])
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
    "html": tables.to_html, "latex": tables.to_latex, "markdown": tables.to_markdown
}  # fmt: skip
READ = {"html": from_html, "latex": from_latex, "markdown": from_markdown}


def shown(table: pd.DataFrame, form: str) -> Cells:
    return READ[form](WRITE[form](tables.blocks(table)))


# -- what the table must say, computed naively ----------------------------------------------------


def expected(table: pd.DataFrame) -> Cells:
    by = table.set_index(["dataset", "setting", "method", "protocol"])
    cells: Cells = {}
    for dataset in table["dataset"].unique():
        title = {"compas": "COMPAS", "adult": "Adult Income", "dutch": "Dutch Census"}[dataset]
        settings = table.loc[table["dataset"] == dataset, "setting"].unique()
        for method, name in tables.METHODS.items():
            for setting in settings:
                for line in ("ours, selected", "ours, mean ± std", "paper"):
                    texts = cells.setdefault((title, name, line), [])
                    if (dataset, setting, method, "mean") not in by.index:
                        texts += ["N/A"] * 3
                        continue
                    of = {
                        p: by.loc[(dataset, setting, method, p)] for p in ("paper", "mean", "std")
                    }
                    texts += [naive(of, line, column) for column in range(3)]
        floors = [by.loc[(dataset, s, "vanilla", "mean")] for s in settings]
        cells[title, "Noise floor", ""] = [
            text
            for row in floors
            for text in (
                "",
                f"{row['floor_released']:.3f}",
                percent(1 - row["floor_released"] / row["imparity_released"]),
            )
        ]
    return cells


def percent(value: float) -> str:
    return "0.0%" if abs(value) < 0.0005 else f"{100 * value:.1f}%".replace("-", "−")


def naive(of: dict[str, pd.Series], line: str, column: int) -> str:
    selected, mean, std = of["paper"], of["mean"], of["std"]
    if line == "ours, selected":
        return (
            f"{selected['micro_f1']:.3f}/{selected['macro_f1']:.3f}",
            f"{selected['imparity_released']:.3f}",
            percent(selected["reduction_released"]),
        )[column]
    if line == "paper":
        p, m = mean["paper_micro_f1"], mean["paper_macro_f1"]
        constant = bool(mean["paper_reduction"] == 1 and m < 0.5)
        digits = f"{100 * mean['paper_reduction']:#.4g}%".replace("-", "−")
        return (f"{p:.3f}/{m:.3f}" + "†" * constant, f"{mean['paper_imparity']:.3f}", digits)[
            column
        ]
    if np.isnan(std["micro_f1"]):
        return (
            f"{mean['micro_f1']:.3f}/{mean['macro_f1']:.3f}",
            f"{mean['imparity_released']:.3f}",
            percent(mean["reduction_released"]),
        )[column]
    return (
        f"{mean['micro_f1']:.3f} ± {std['micro_f1']:.3f}"
        f" / {mean['macro_f1']:.3f} ± {std['macro_f1']:.3f}",
        f"{mean['imparity_released']:.3f} ± {std['imparity_released']:.3f}",
        f"{percent(mean['reduction_released'])[:-1]} ± {percent(std['reduction_released'])}",
    )[column]


@pytest.mark.parametrize("form", FORMATS)
def test_every_cell_is_the_summarys_figure(form: str) -> None:
    assert shown(summary(), form) == expected(summary())


@pytest.mark.parametrize("form", FORMATS)
def test_every_cell_of_the_committed_summary(form: str) -> None:
    path = ROOT / "results/summary.csv"
    if not path.exists():
        pytest.skip("results/summary.csv is not there: run dvc repro")
    table = tables.read(path)
    if set(table["dataset"]) - set(tables.DATASETS) or (table["data"] != "real").any():
        pytest.skip("the results in this workspace are not of the paper's datasets")
    assert shown(table, form) == expected(table)


def test_what_a_sorting_script_reads_is_the_figure_in_full() -> None:
    table = summary(datasets=("adult",))
    mean = table.query("protocol == 'mean' and method == 'gdp'").set_index("setting")
    page = Page(tables.to_html(tables.blocks(table)))
    start = next(i for i, row in enumerate(page.tables[0]) if row[0][2] == "GDP")
    values = [attrs["data-value"] for tag, attrs, _ in page.tables[0][start + 1] if tag == "td"]
    wanted = mean.loc[list(SETTINGS), ["micro_f1", "imparity_released", "reduction_released"]]
    np.testing.assert_allclose(np.array(values, float), wanted.to_numpy().ravel(), rtol=1e-5)


def test_the_papers_lines_are_letter_by_letter_what_it_prints() -> None:
    path = ROOT / "../shared/paper/infofair.tex"
    if not path.exists():
        pytest.skip("the paper's LaTeX is not at hand")
    text = path.read_text("utf-8")
    start = text.index(r"\label{tab:effectiveness}")
    text = text[start : text.index(r"\end{tabular}", start)]
    printed = re.findall(r"\$([-\d./]+(?:\\%)?)\$|(N/A)", text)
    wanted = [(a or b).replace(r"\%", "%").replace("-", "−") for a, b in printed]
    paper = pd.read_csv(ROOT / "data/reference/paper_table.csv")
    keys = ["dataset", "setting", "method"]
    table = paper.set_index(keys).add_prefix("paper_").reset_index()
    table = table[table["paper_micro_f1"].notna()]
    ours = dict.fromkeys(("micro_f1", "macro_f1", "imparity_released", "reduction_released"), 0.5)
    marks = {"note": "", "data": "real", "partition": "authors", "floor_released": 0.1}
    table = pd.concat([table.assign(protocol=p, **ours, **marks) for p in ("paper", "mean", "std")])
    cells = shown(table, "html")
    found = [text for (_, _, line), texts in cells.items() if line == "paper" for text in texts]
    assert [text.replace("†", "") for text in found] == wanted
    # the text says which rows are constant predictors
    constant = {method for (_, method, _), texts in cells.items() if "†" in "".join(texts)}
    assert constant == {"LFR", "Adversarial", "FCFC"}
    assert sum("†" in text for text in found) == 3 * (1 + 3 + 3)


# -- marks ---------------------------------------------------------------------------------------

coordinate = st.integers(0, 6).map(lambda i: i / 6)  # few values, so that there are ties


@given(st.lists(st.tuples(coordinate, coordinate), max_size=12))
def test_the_pareto_front_is_what_nothing_dominates(points: list[tuple[float, float]]) -> None:
    wanted = []
    for f1, gap in points:
        beaten = False
        for other, its in points:
            if other >= f1 and its <= gap and (other > f1 or its < gap):
                beaten = True
        wanted.append(not beaten)
    f1s, gaps = np.array(points).reshape(-1, 2).T
    assert fronts.pareto(f1s, gaps).tolist() == wanted


def line_up(**places: tuple[float, float]) -> pd.DataFrame:
    """One setting, these methods at these mean micro F1 and imparity."""
    table = summary(("adult",), tuple(places), ("gender",))
    for method, (f1, gap) in places.items():
        of = (table["method"] == method) & (table["protocol"] == "mean")
        table.loc[of, ["micro_f1", "imparity_released"]] = f1, gap
    return table


def bold(table: pd.DataFrame) -> dict[str, set[str]]:
    """The methods whose mean is bold, in each format."""
    blocks = tables.blocks(table)
    page = tables.to_html(blocks)
    found = {
        "html": {
            body[0] for body in re.findall(r'data-method="(\w+)">(.*?)</tbody>', page, re.DOTALL)
            if "<strong>" in body[1] and 'class="f1 best"' in body[1]
        }
    }  # fmt: skip
    for form, mark in (("latex", r"\textbf{0."), ("markdown", "**0.")):
        text = WRITE[form](blocks)
        names, current = set(), ""
        for line in text.splitlines():
            for method, name in tables.METHODS.items():
                if f"**{name}**" in line or rf"\textbf{{{name}}}" in line:
                    current = method
            if mark in line:
                names.add(current)
        found[form] = names
    return found


@pytest.mark.parametrize("form", FORMATS)
def test_bold_are_the_best_trade_offs(form: str) -> None:
    table = line_up(vanilla=(0.8, 0.3), di=(0.8, 0.3), gdp=(0.7, 0.1), infofair=(0.7, 0.2))
    # DI changes nothing, and GDP is as accurate as InfoFair and fairer
    assert bold(table)[form] == {"vanilla", "gdp"}
    table.loc[table["method"] == "gdp", "note"] = "constant in 1 of 5 seeds"
    assert bold(table)[form] == {"vanilla", "infofair"}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("note", "mark"), [("constant", "†"), ("constant in 2 of 5 seeds", "†2/5")]
)
def test_constant_predictors_are_marked(note: str, mark: str, form: str) -> None:
    table = summary()
    of = (table["method"] == "gdp") & (table["setting"] == "race") & (table["dataset"] == "dutch")
    table.loc[of & (table["protocol"] != "paper"), "note"] = note
    cells = shown(table, form)
    assert cells["Dutch Census", "GDP", "ours, mean ± std"][3].endswith(mark)
    found = [text for texts in cells.values() for text in texts if "†" in text]
    assert len(found) == 1  # not where the selected model, or the paper's, is no constant


@pytest.mark.parametrize("form", FORMATS)
def test_simulated_data_and_other_splits_are_said_loudly(form: str) -> None:
    table = summary()
    text = WRITE[form](tables.blocks(table))
    assert "SIMULATED" not in text
    assert "Random split" not in text
    table.loc[table["dataset"] == "adult", ["data", "partition"]] = "simulated", "random"
    text = WRITE[form](tables.blocks(table))
    start = text.index("Dutch Census")  # whose figures are not
    assert "SIMULATED DATA" in text[:start]
    assert "Random split" in text[:start]
    assert "SIMULATED" not in text[start:]


# -- other methods, datasets, settings -----------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_another_method_comes_before_infofair_and_has_no_line_of_the_paper(form: str) -> None:
    cells = shown(summary(methods=("mine", "vanilla", "infofair", "infofair_ts")), form)
    rows = [key[1:] for key in cells if key[0] == "Adult Income"]
    assert rows == [
        ("Vanilla", "ours, selected"), ("Vanilla", "ours, mean ± std"), ("Vanilla", "paper"),
        ("mine", "ours, selected"), ("mine", "ours, mean ± std"),
        ("InfoFair", "ours, selected"), ("InfoFair", "ours, mean ± std"), ("InfoFair", "paper"),
        ("Noise floor", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
def test_without_vanilla_there_is_neither_reduction_nor_floor(form: str) -> None:
    table = summary(methods=("gdp",)).assign(reduction_released=np.nan)
    cells = shown(table, form)
    assert ("Adult Income", "Noise floor", "") not in cells
    assert cells["Adult Income", "GDP", "ours, selected"][2::3] == ["–"] * 3
    assert cells["Adult Income", "GDP", "ours, mean ± std"][2::3] == ["–"] * 3


def test_settings_are_called_as_in_the_paper() -> None:
    names = ["gender", "marital", "intersection"]
    assert [tables.setting_name(name, names) for name in names] == [
        "gender", "marital status", "gender & marital status"
    ]  # fmt: skip
    assert tables.setting_name("intersection", ["a", "b", "c", "intersection"]) == "a & b & c"


def test_what_is_not_in_the_paper_is_called_by_its_file_and_its_key() -> None:
    assert tables.dataset_name("loan_offers") == "Loan offers"
    assert tables.dataset_name("KDD99") == "KDD99"
    names = ["gender", "age_group", "intersection"]
    assert tables.setting_name("intersection", names) == "gender & age group"


@pytest.mark.parametrize("form", FORMATS)
def test_a_dataset_that_is_not_the_papers_is_split_at_random_without_a_warning(form: str) -> None:
    table = summary(("loans",)).assign(partition="random")
    assert "Random split" not in WRITE[form](tables.blocks(table))


# -- escaping and form ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_names_are_shown_as_they_are(form: str) -> None:
    table = summary((AWKWARD,), ("vanilla", AWKWARD), ("gender", AWKWARD))
    title = AWKWARD.replace("_", " ").capitalize()
    assert {found for found, _, _ in shown(table, form)} == {title}
    assert (title, AWKWARD, "ours, selected") in shown(table, form)


@given(st.text("ab\\&%$#_{}~^<>|*`[]\"' é±−†"))
def test_escaping_can_be_undone(text: str) -> None:
    assert unmarkdown("x" + tables.markdown(text) + "x") == f"x{text}x"
    plain = tables.latex("x" + text + "x")
    assert unlatex(plain) == f"x{text}x"


def test_the_html_is_semantic_and_carries_no_script_and_no_style() -> None:
    table = summary().assign(data="simulated")
    text = tables.to_html(tables.blocks(table))
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


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("form", ["latex", "markdown"])
def test_every_row_has_as_many_cells_as_the_head(form: str, count: int) -> None:
    settings = ("gender", "race", "third", "intersection")[:count]
    for texts in shown(summary(settings=settings), form).values():
        assert len(texts) == 3 * count


def test_the_latex_is_balanced() -> None:
    text = tables.to_latex(tables.blocks(summary((AWKWARD, "adult")).assign(data="simulated")))
    plain = re.sub(r"\\[{}]", "", text)
    assert plain.count("{") == plain.count("}")
    assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []
    assert text.isascii()


@pytest.mark.parametrize("awkward", [False, True])
def test_the_latex_compiles(awkward: bool, tmp_path: Path) -> None:
    compiler = shutil.which("pdflatex") or shutil.which("tectonic")
    if compiler is None:
        pytest.skip("no TeX here: neither pdflatex nor tectonic")
    table = summary((AWKWARD,), (AWKWARD, "vanilla")) if awkward else summary()
    (tmp_path / "table.tex").write_text(tables.to_latex(tables.blocks(table)), "utf-8")
    options = ["-interaction=nonstopmode", "-halt-on-error"] if "pdflatex" in compiler else []
    done = subprocess.run(
        [compiler, *options, "table.tex"], cwd=tmp_path, capture_output=True, text=True,
        errors="replace",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
    assert (tmp_path / "table.pdf").stat().st_size > 10_000


def test_a_missing_summary_names_the_stage_that_makes_it(workspace: Path) -> None:
    with pytest.raises(Problem, match=r"^results/summary\.csv does not exist; .* summarize$"):
        tables.read("results/summary.csv")


# -- fronts --------------------------------------------------------------------------------------


def rows_of(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_a_dataset_without_its_leak_is_named_after_it() -> None:
    assert tables.dataset_name("compas_without_leak") == "COMPAS without leak"
    assert tables.dataset_name("mine_without_leak") == "Mine without leak"


def test_areas_have_a_column_per_method_and_a_line_per_setting() -> None:
    _, areas = frontiers.frontier(frontiers.runs())
    head, *lines = rows_of(tables.areas_to_markdown(areas))
    assert head[2:] == [tables.METHODS[name] for name in tables.METHODS if name != "vanilla"]
    assert len(lines) == 6
    assert [line[0] for line in lines[2:4]] == ["Adult Income", "COMPAS without leak"]
    gdp = areas[areas["method"] == "gdp"].iloc[0]
    assert lines[0][head.index("GDP")] == (
        f"{gdp['hypervolume']:.3f} ± {gdp['hypervolume_std']:.3f} "
        f"({gdp['above_chord']:.3f} ± {gdp['above_chord_std']:.3f})"
    )
    assert lines[1][head.index("LFR")] == ""  # for two groups only


def test_the_best_says_what_is_beyond_the_budget_on_test_rows_and_what_is_constant() -> None:
    best = fronts.best(fronts.summarize(frontiers.runs(("adult",), ("vanilla", "gdp", "di"))))
    gdp = (best["method"] == "gdp") & (best["setting"] == "gender") & (best["budget"] == 0.1)
    best.loc[gdp, ["micro_f1", "imparity", "constant"]] = 0.8, 0.11, 0.2
    text = tables.best_to_markdown(best)
    assert text.count("### Imparity at most ") == len(fronts.BUDGETS)
    part = text.split("### Imparity at most 0.1\n")[1].split("###")[0]
    head, *lines = rows_of(part)
    assert lines[0][head.index("GDP")] == r"0.800 / 0.110\*†"
    part = text.split("### Imparity at most 0.02\n")[1]
    assert rows_of(part)[1][head.index("Vanilla")] == "–"


def test_the_goal_in_markdown_has_a_line_for_each_setting() -> None:
    keys = ["dataset", "setting", "strength", "micro_f1", "imparity_released", "asked_micro_f1"]
    keys += ["rival", "rival_imparity", "holds", "why"]
    lost = float("nan")
    rows = [
        ("adult", "gender", 3.0, 0.8336, 0.0157, 0.816, "infofair", 0.047, "yes", ""),
        ("adult", "race", 0.3, 0.84, 0.05, 0.81, "gdp", 0.042, "no", "too much"),
        ("adult", "intersection", lost, lost, lost, 0.81, lost, lost, "no", "none keeps the F1"),
    ]
    lines = tables.goal_to_markdown(pd.DataFrame(rows, columns=keys)).splitlines()
    assert lines[2:] == [
        "| Adult Income | gender | 3 | 0.834 | 0.016 | 0.816 | 0.047 (InfoFair) | holds |",
        "| Adult Income | race | 0.3 | 0.840 | 0.050 | 0.810 | 0.042 (GDP) | too much |",
        "| Adult Income | gender \\& race | – | – | – | 0.810 | – | none keeps the F1 |",
    ]

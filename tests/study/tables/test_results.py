"""The paper's table, in its three formats."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from study import labels
from study.results import read
from study.tables import results
from tests.conftest import ROOT
from tests.study.tables.formats import AWKWARD, FORMATS, READ, WRITE, Cells, Page, unlatex
from tests.summaries import SETTINGS, summary

READABLE = {"html": str, "latex": unlatex, "markdown": str}
LINES = ("ours, selected", "ours, mean ± std", "threshold control", "paper")
NAMES = {method: labels.method_name(method) for method in labels.PAPER}


def written(table: pd.DataFrame, form: str) -> str:
    return WRITE[form](results.blocks(table), results.LAYOUT)


def shown(table: pd.DataFrame, form: str) -> Cells:
    return READ[form](written(table, form))


# -- what the table must say, computed naively ----------------------------------------------------


def expected(table: pd.DataFrame) -> Cells:
    by = table.set_index(["dataset", "setting", "method", "protocol"])
    cells: Cells = {}
    for dataset in table["dataset"].unique():
        title = {"compas": "COMPAS", "adult": "Adult Income", "dutch": "Dutch Census"}[dataset]
        settings = table.loc[table["dataset"] == dataset, "setting"].unique()
        for method, name in NAMES.items():
            for setting in settings:
                for line in LINES:
                    texts = cells.setdefault((title, name, line), [])
                    if (dataset, setting, method, "mean") not in by.index:
                        texts += ["N/A"] * 3
                        continue
                    of = {
                        p: by.loc[(dataset, setting, method, p)] for p in ("paper", "mean", "std")
                    }
                    texts += [naive(of, line, column) for column in range(3)]
            control = cells[title, name, "threshold control"]
            if set(control) <= {"–", "N/A"}:
                del cells[title, name, "threshold control"]
        for setting in settings:
            row = by.loc[(dataset, setting, "vanilla", "mean")]
            change = percent(1 - row["floor_released"] / row["imparity_released"])
            for name, figure, last in (
                ("Noise floor", "floor_released", in_doubt(change, row)),
                ("Fair, 95 %", "null_95_released", ""),
            ):
                cells.setdefault((title, name, ""), []).extend(["", f"{row[figure]:.3f}", last])
    return cells


def in_doubt(text: str, row: pd.Series) -> str:
    return f"({text})" if row["evidence"] == "no" and text != "–" else text


def percent(value: float) -> str:
    if np.isnan(value):
        return "–"
    return "0.0%" if abs(value) < 0.0005 else f"{100 * value:.1f}%".replace("-", "−")


def naive(of: dict[str, pd.Series], line: str, column: int) -> str:
    selected, mean, std = of["paper"], of["mean"], of["std"]
    if line == "ours, selected":
        return (
            f"{selected['micro_f1']:.3f}/{selected['macro_f1']:.3f}{dagger(selected['note'])}",
            f"{selected['imparity_released']:.3f}",
            in_doubt(percent(selected["reduction_released"]), mean),
        )[column]
    if line == "threshold control":
        if mean.name[2] == "vanilla" or mean["note"] == "constant":
            return "–"
        verdict = {"yes": "does more", "no": "no more", "": "–"}[mean["more_than_threshold"]]
        f1 = f"{mean['control_micro_f1']:.3f}/{mean['control_macro_f1']:.3f}"
        return (f1, f"{mean['control_imparity_released']:.3f}", verdict)[column]
    if line == "paper":
        p, m = mean["paper_micro_f1"], mean["paper_macro_f1"]
        constant = bool(mean["paper_reduction"] == 1 and m < 0.5)
        digits = f"{100 * mean['paper_reduction']:#.4g}%".replace("-", "−")
        f1 = f"{p:.3f}/{m:.3f}" + "†" * constant
        return (f1, f"{mean['paper_imparity']:.3f}", in_doubt(digits, mean))[column]
    if np.isnan(std["micro_f1"]):
        return (
            f"{mean['micro_f1']:.3f}/{mean['macro_f1']:.3f}{dagger(mean['note'])}",
            f"{mean['imparity_released']:.3f}",
            in_doubt(percent(mean["reduction_released"]), mean),
        )[column]
    change = f"{percent(mean['reduction_released'])[:-1]} ± {percent(std['reduction_released'])}"
    return (
        f"{mean['micro_f1']:.3f} ± {std['micro_f1']:.3f}"
        f" / {mean['macro_f1']:.3f} ± {std['macro_f1']:.3f}{dagger(mean['note'])}",
        f"{mean['imparity_released']:.3f} ± {std['imparity_released']:.3f}",
        in_doubt(change, mean),
    )[column]


def dagger(note: str) -> str:
    return "†" + "/".join(re.findall(r"\d+", note)) if note else ""


@pytest.mark.parametrize("form", FORMATS)
def test_every_cell_is_the_summarys_figure(form: str) -> None:
    assert shown(summary(), form) == expected(summary())


@pytest.mark.parametrize("form", FORMATS)
def test_every_cell_of_the_committed_summary(form: str) -> None:
    path = ROOT / "results/summary.csv"
    if not path.exists():
        pytest.skip("results/summary.csv is not there: run dvc repro")
    table = read("summary", path)
    if set(table["dataset"]) - set(labels.DATASETS) or (table["data"] != "real").any():
        pytest.skip("the results in this workspace are not of the paper's datasets")
    assert shown(table, form) == expected(table)


def test_what_a_sorting_script_reads_is_the_figure_in_full() -> None:
    table = summary(datasets=("adult",))
    mean = table.query("protocol == 'mean' and method == 'gdp'").set_index("setting")
    page = Page(WRITE["html"](results.blocks(table), results.LAYOUT))
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
    ours |= {"floor_released": 0.1, "null_95_released": 0.2, "control_micro_f1": np.nan}
    marks = {"note": "", "data": "real", "partition": "authors", "evidence": "yes"}
    table = pd.concat([table.assign(protocol=p, **ours, **marks) for p in ("paper", "mean", "std")])
    cells = shown(table, "html")
    found = [text for (_, _, line), texts in cells.items() if line == "paper" for text in texts]
    assert [text.replace("†", "") for text in found] == wanted
    # the text says which rows are constant predictors
    constant = {method for (_, method, _), texts in cells.items() if "†" in "".join(texts)}
    assert constant == {"LFR", "Adversarial", "FCFC"}
    assert sum("†" in text for text in found) == 3 * (1 + 3 + 3)


# -- marks ---------------------------------------------------------------------------------------


def line_up(**places: tuple[float, float]) -> pd.DataFrame:
    """One setting, these methods at these mean micro F1 and imparity."""
    table = summary(("adult",), tuple(places), ("gender",))
    for method, (f1, gap) in places.items():
        of = (table["method"] == method) & (table["protocol"] == "mean")
        table.loc[of, ["micro_f1", "imparity_released"]] = f1, gap
    return table


def bold(table: pd.DataFrame) -> dict[str, set[str]]:
    """The methods whose mean is bold, in each format."""
    blocks = results.blocks(table)
    page = WRITE["html"](blocks, results.LAYOUT)
    found = {
        "html": {
            body[0] for body in re.findall(r'data-method="(\w+)">(.*?)</tbody>', page, re.DOTALL)
            if "<strong>" in body[1] and 'class="f1 best"' in body[1]
        }
    }  # fmt: skip
    for form, mark in (("latex", r"\textbf{0."), ("markdown", "**0.")):
        text = WRITE[form](blocks, results.LAYOUT)
        names, current = set(), ""
        for line in text.splitlines():
            for method, name in NAMES.items():
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
def test_where_nothing_says_there_is_bias_no_change_is_called_a_reduction(form: str) -> None:
    table = summary(("adult",))
    assert "race ‡" not in READABLE[form](written(table, form))
    table.loc[table["setting"] == "race", "evidence"] = "no"
    assert "race ‡" in READABLE[form](written(table, form))
    cells = shown(table, form)
    assert cells == expected(table)
    for (_, method, line), texts in cells.items():
        if line != "threshold control" and method != "Fair, 95 %":
            assert [text.startswith("(") for text in texts[2::3]] == [
                False, texts[5] != "N/A", False
            ]  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
def test_a_threshold_says_whether_a_method_does_more_and_constants_have_none(form: str) -> None:
    table = summary(("adult",), ("vanilla", "gdp", "infofair"), ("gender",))
    table.loc[table["method"] == "gdp", "more_than_threshold"] = "yes"
    cells = shown(table, form)
    found = {m: cells.get(("Adult Income", m, LINES[2])) for m in ("Vanilla", "GDP", "InfoFair")}
    assert [of and of[2] for of in found.values()] == [None, "does more", "no more"]
    constant = table.assign(note="constant")
    assert not [key for key in shown(constant, form) if key[2] == LINES[2]]


@pytest.mark.parametrize("form", FORMATS)
def test_simulated_data_and_other_splits_are_said_loudly(form: str) -> None:
    table = summary()
    text = written(table, form)
    assert "SIMULATED" not in text
    assert "Random split" not in text
    table.loc[table["dataset"] == "adult", ["data", "partition"]] = "simulated", "random"
    text = written(table, form)
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
        ("Mine", "ours, selected"), ("Mine", "ours, mean ± std"), ("Mine", "threshold control"),
        ("InfoFair", "ours, selected"), ("InfoFair", "ours, mean ± std"),
        ("InfoFair", "threshold control"), ("InfoFair", "paper"),
        ("Noise floor", ""), ("Fair, 95 %", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
def test_without_vanilla_there_is_neither_reduction_nor_floor(form: str) -> None:
    table = summary(methods=("gdp",)).assign(reduction_released=np.nan)
    cells = shown(table, form)
    assert {method for _, method, _ in cells} == {"GDP"}
    assert cells["Adult Income", "GDP", "ours, selected"][2::3] == ["–"] * 3
    assert cells["Adult Income", "GDP", "ours, mean ± std"][2::3] == ["–"] * 3


@pytest.mark.parametrize("form", FORMATS)
def test_a_dataset_that_is_not_the_papers_is_split_at_random_without_a_warning(form: str) -> None:
    table = summary(("loans",)).assign(partition="random")
    assert "Random split" not in written(table, form)


# -- escaping and form ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_names_are_shown_as_they_are(form: str) -> None:
    table = summary((AWKWARD,), ("vanilla", AWKWARD), ("gender", AWKWARD))
    title = AWKWARD.replace("_", " ").capitalize()  # of the method, too
    assert {found for found, _, _ in shown(table, form)} == {title}
    assert (title, title, "ours, selected") in shown(table, form)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("form", ["latex", "markdown"])
def test_every_row_has_as_many_cells_as_the_head(form: str, count: int) -> None:
    settings = ("gender", "race", "third", "intersection")[:count]
    for texts in shown(summary(settings=settings), form).values():
        assert len(texts) == 3 * count


def test_the_latex_is_balanced() -> None:
    text = written(summary((AWKWARD, "adult")).assign(data="simulated"), "latex")
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
    (tmp_path / "table.tex").write_text(written(table, "latex"), "utf-8")
    options = ["-interaction=nonstopmode", "-halt-on-error"] if "pdflatex" in compiler else []
    done = subprocess.run(
        [compiler, *options, "table.tex"], cwd=tmp_path, capture_output=True, text=True,
        errors="replace",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
    assert (tmp_path / "table.pdf").stat().st_size > 10_000

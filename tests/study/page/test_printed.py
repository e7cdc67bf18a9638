"""The table "as run" on the page, and its counts from the CSV."""

import re
from pathlib import Path

import pandas as pd
import pytest

from stages import document, page
from study import explained, labels, paths, results
from study.page import printed
from study.results import CELL
from tests.conftest import ROOT
from tests.study.page.inputs import Page, as_run, text_of

PAPER = pd.read_csv(ROOT / paths.PAPER)


def near(table: pd.DataFrame, digits: int) -> pd.Series:
    """Whether a cell comes out, from the figures, not from what the table says of them."""
    pairs = (("micro_f1", "micro_f1"), ("macro_f1", "macro_f1"), ("imparity_released", "imparity"))
    off = [(table[ours].round(digits) - table[f"paper_{name}"]).abs() for ours, name in pairs]
    return pd.concat(off, axis=1).max(axis=1).round(6) <= 0.002


def naively(table: pd.DataFrame) -> dict[str, int]:
    within = near(table, 3)
    return {
        "printed": len(table),
        "within": int(within.sum()),
        "guessed": int((within & (table["guessed"] == "yes")).sum()),
        "unrounded": int(near(table, 6).sum()),
        "impossible": int((table["possible"] == "no").sum()),
    }


def said(table: pd.DataFrame) -> str:
    of = naively(table)
    guessed = f", {of['guessed']} of them by a guess at what was run" if of["guessed"] else ""
    return (
        f"{of['within']} of {of['printed']} printed cells come out within 0.002 in micro F1, macro "
        f"F1 and imparity at once ({of['unrounded']} before rounding to the printed digits)"
        f"{guessed}; {of['impossible']} cannot come from the released metric"
    )


def test_the_counts_are_those_of_the_figures() -> None:
    table = as_run()
    found = printed.counts(table)
    assert found == naively(table)
    assert 0 < found["unrounded"] < found["within"] < found["printed"]
    assert found["impossible"] > 0
    assert found["guessed"] > 0
    assert printed.TOLERANCE == explained.TOLERANCE


def test_the_committed_table_has_every_printed_cell_and_its_counts_follow() -> None:
    path = ROOT / paths.table("as_run")
    if not path.exists():
        pytest.skip("results/as_run.csv is not there: run dvc repro explain")
    table = results.read("as_run", path)
    assert len(table) == len(PAPER.dropna(subset=["micro_f1"])) == 69
    assert not table.duplicated(CELL).any()
    assert printed.counts(table) == naively(table)
    for written in (paths.INDEX, paths.DOCUMENT):
        text = (ROOT / written).read_text(encoding="utf-8")
        if "come out within" not in text:
            pytest.skip(f"{written} is of an earlier run: run dvc repro")
        plain = re.sub(r"\*\*|\\(?=.)", "", text_of(text) if written == paths.INDEX else text)
        assert said(table) in " ".join(plain.split())


def test_the_count_and_a_picture_of_all_cells_are_the_first_things_on_the_page(index: str) -> None:
    header, _, main = index.partition('<main id="content">')
    table = as_run()
    states = table.apply(printed.state, axis=1)
    count = header[header.index('class="count"') :]
    shown = " ".join(text_of(f"<p {count}").split())
    assert f"{(table['within'] == 'yes').sum()} of {len(table)} cells" in shown
    assert f"{(states == 'not explained').sum()} are not explained" in shown
    for kind, number in states.value_counts().items():
        assert header.count(f'<g class="{kind.replace(" ", "-")}">') == number
    # then the table, folded, below the same count
    first = main[: main.index("</table>")]
    assert said(table) in " ".join(text_of(first).split())
    assert main.index("<section") == main.index('<section id="as-run"')
    assert first.count("<details>") > first.count("</details>")


def test_each_cell_has_its_figures_its_state_in_words_and_its_explanation_folded(
    index: str,
) -> None:
    section = index.partition('<section id="as-run"')[2].partition("</section>")[0]
    rows = re.findall(r'<tr class="([a-z-]+)">\s*(<th scope="row">.*?)</tr>', section, re.DOTALL)
    table = as_run()
    assert len(rows) == len(table)
    order = labels.in_order(table["method"])
    expected = table.assign(place=table["method"].map(order.index)).sort_values(
        "place", kind="stable"
    )
    for (kind, row), cell in zip(rows, expected.to_dict("records"), strict=True):
        state = (
            "impossible" if cell["possible"] == "no"
            else "not explained" if cell["within"] == "no"
            else "guessed" if cell["guessed"] == "yes" else "explained"
        )  # fmt: skip
        assert kind == state.replace(" ", "-")
        text = text_of(row)
        figures = [cell[f"paper_{name}"] for name in ("micro_f1", "macro_f1", "imparity")]
        assert " / ".join(f"{figure:.3f}" for figure in figures) in text
        assert f"{cell['imparity_released']:.3f}" in text
        assert f"{cell['should_macro_f1']:.3f} ± 0.010" in text
        assert f"{printed.MARKS[state]}</span> {state}</summary>Whatever it was." in row
    assert not [e for e in Page(section).all("details") if "open" in e[1]]


def test_what_is_reproduced_is_counted_by_method(copy: Path) -> None:
    table = as_run().assign(within="yes", possible="yes")
    table.loc[table["method"] == "gdp", "within"] = "no"
    lost = (table["method"] == "fcfc") & (table["setting"] == "gender")
    table.loc[lost, ["within", "possible"]] = "no", "no"
    results.write(table, "as_run")
    page.main("index")
    document.main("results")
    plain = re.sub(r"\\(.)", r"\1", paths.DOCUMENT.read_text(encoding="utf-8"))
    for text in (text_of(paths.INDEX.read_text(encoding="utf-8")), plain):
        assert "Every printed cell of Vanilla, LFR and InfoFair, within 0.002 as run." in text
        assert "3 of 5 cells of FCFC." in text
        assert "None of the 5 cells of GDP." in text
        assert "5 cells are not explained by anything that was tried" in text


def test_a_run_without_a_printed_cell_has_no_such_table(copy: Path) -> None:
    results.write(as_run().head(0), "as_run")
    page.main("index")
    document.main("results")
    text = paths.INDEX.read_text(encoding="utf-8")
    assert 'id="as-run"' not in text
    assert 'href="#as-run"' not in text
    assert "None of the cells that the paper prints was run here." in text_of(text)

"""The table of luck."""

from study.tables.luck import HEADS, to_markdown
from tests import lucks


def rows_of(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_a_cell_has_a_line_with_its_figures() -> None:
    summary = lucks.summary(lucks.runs())
    head, *lines = rows_of(to_markdown(summary))
    assert head == ["Dataset", "Setting", "Method", *HEADS]
    assert len(lines) == 18
    assert lines[-1][:3] == ["Dutch Census", r"gender \& marital status", "InfoFair"]
    row = summary.query(
        "dataset == 'dutch' and setting == 'gender' and method == 'infofair' "
        "and figure == 'imparity'"
    ).iloc[0]
    (found,) = [line[3:] for line in lines if line[:3] == ["Dutch Census", "gender", "InfoFair"]]
    assert found == [
        "0.068",
        f"{row['mean']:.3f} ± {row['std']:.3f}",
        f"{row['low']:.3f}–{row['high']:.3f}",
        f"{100 * row['below']:.1f}%",
        f"{row['expected']:.3f} ± {row['expected_std']:.3f}",
        f"{100 * row['as_low']:.1f}%",
    ]


def test_any_printed_figure_has_a_table() -> None:
    summary = lucks.summary(lucks.runs({"adult": ("gender",)}))
    for figure in ("imparity", "micro_f1", "macro_f1"):
        lines = rows_of(to_markdown(summary, figure))[1:]
        printed = summary.loc[summary["figure"] == figure, "printed"]
        assert [line[3] for line in lines] == [f"{found:.3f}" for found in printed]

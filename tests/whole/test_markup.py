"""What names can never do: become code in a notebook, or markup in a table or a figure."""

from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

from study import figures, notebooks, paths
from study.tables import layout
from study.tables import results as table
from tests.conftest import ROOT
from tests.summaries import summary

HOSTILE = """</script></pre><script>alert("1")</script><img src=x onerror='alert(2)'>&amp;"""
NASTY = "\"\"\"'''\"; __import__('os').mkdir('owned') #\\\"\n\\N{DIGIT ONE}{x}%s\t\r\N{SNOWMAN}\0"


def test_a_parameter_of_a_notebook_stays_text(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    cells = [
        nbformat.v4.new_code_cell("summary = ''", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell("print(ascii(summary))"),
    ]
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=spec), "own.ipynb")
    done = notebooks.execute(Path("own.ipynb"), {"summary": NASTY})
    assert done.cells[-1].outputs[0].text.strip() == ascii(NASTY)
    assert not Path("owned").exists()


class Elements(HTMLParser):
    """Every element of a text, and the names of its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, list[str]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, [name for name, _ in attributes]))


def test_no_name_becomes_markup_in_the_table_or_in_a_figure(workspace: Path) -> None:
    (workspace / paths.STYLE.parent).mkdir()
    (workspace / paths.STYLE).symlink_to(ROOT / paths.STYLE)
    rows = summary((HOSTILE,), ("vanilla", "infofair", HOSTILE), ("gender", HOSTILE))
    rows = rows.assign(note=HOSTILE)
    shown = layout.to_html(table.blocks(rows), table.LAYOUT)
    figures.save(figures.tradeoff(rows), "tradeoff.svg")
    shown += Path("tradeoff.svg").read_text("utf-8")
    found = Elements(shown).found
    assert {"table", "svg"} <= {tag for tag, _ in found}
    assert not {tag for tag, _ in found} & {"script", "img", "pre"}
    assert not [tag for tag, names in found if any(name.startswith("on") for name in names)]

"""All pages: what they are made from, that they are safe, self-contained and well built."""

import json
import re
import subprocess
from collections.abc import Iterator
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jinja2 import Template
from ruamel.yaml import YAML

from infofair.errors import Problem
from stages import document, page
from study import paths
from study.page import luck
from study.page.compared import TABLES as OF_BEYOND
from tests.study.page.conftest import make
from tests.study.page.inputs import Page, text_of

HOSTILE = """</script></pre><script>alert("1")</script><img src=x onerror='alert(2)'>&amp;"""
WRITTEN = [*page.WRITTEN.values(), *document.DOCUMENTS.values()]
OF_INDEX = ("summary", "statistics", "subsets", "selection", "groups", "as_run")
OF_LUCK = luck.TABLES


@pytest.fixture(params=["index", "beyond", "luck", "methods_page", "data_page"])
def made(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(request.param)


# -- what they are made from ----------------------------------------------------------------------


def test_the_same_inputs_give_the_same_bytes_in_any_folder(site: Path, copy: Path) -> None:
    for path in WRITTEN:
        (copy / path).unlink()
    make(copy)
    for path in WRITTEN:
        written = (copy / path).read_bytes()
        assert written == (site / path).read_bytes()
        assert str(site.parent).encode() not in written
        assert str(copy.parent).encode() not in written


OWN = {  # what each page is made from alone
    "index": (
        *map(paths.table, OF_INDEX), paths.validation_report("adult"), paths.LOCKS[0],
        paths.curves("adult", "infofair"), paths.figure("tradeoff", "svg"),
        paths.figure("ablation", "svg"),
    ),
    "beyond": (*map(paths.table, OF_BEYOND), paths.figure("frontier", "svg"), paths.LOCKS[1]),
    "luck": (*map(paths.table, OF_LUCK), paths.figure("luck", "svg"), paths.LOCKS[2]),
}  # fmt: skip


@pytest.mark.parametrize(("name", "written"), [*zip(OWN, document.DOCUMENTS, strict=True)])
def test_no_page_needs_what_the_others_pipelines_make(
    site: Path, copy: Path, name: str, written: str
) -> None:
    for other in OWN.keys() - {name}:
        for path in OWN[other]:
            path.unlink()
    page.main(name)
    document.main(written)
    for made in (page.WRITTEN[name], document.DOCUMENTS[written]):
        assert made.read_bytes() == (site / made).read_bytes()


MADE_BY = {
    "index": {
        **{f"results/{name}.csv": "summarize" for name in OF_INDEX[:5]},
        "results/as_run.csv": "explain",
        "results/figures/tradeoff.svg": "figure@tradeoff",
        "results/figures/ablation.svg": "figure@ablation",
        "results/validation/compas.json": "validate@compas",
        "results/curves/adult/infofair.csv": "train@adult-infofair",
        "data/raw/adult/SOURCE.json": "download@adult",
        "dvc.lock": "summarize",
    },
    "beyond": {
        **{f"results/{name}.csv": "beyond/dvc.yaml:comparison" for name in OF_BEYOND[:-1]},
        "results/unprocessed.csv": "beyond/dvc.yaml:unprocessed",
        "results/figures/frontier.svg": "beyond/dvc.yaml:figure",
        "beyond/dvc.lock": "beyond/dvc.yaml:comparison",
    },
    "luck": {
        "results/luck_summary.csv": "luck/dvc.yaml:luck_table",
        "results/tried.csv": "luck/dvc.yaml:tried_table",
        "results/figures/luck.svg": "luck/dvc.yaml:figure",
        "luck/dvc.lock": "luck/dvc.yaml:luck_table",
    },
}


@pytest.mark.parametrize("name", MADE_BY)
def test_a_missing_input_names_the_stage_that_makes_it(copy: Path, name: str) -> None:
    written = page.WRITTEN[name]
    written.unlink()
    for missing, stage in MADE_BY[name].items():
        path = Path(missing)
        path.rename("away")
        with pytest.raises(Problem, match=rf"^{missing} does not exist.* dvc repro {stage}$"):
            page.main(name)
        assert not written.exists()
        Path("away").rename(path)


def test_a_damaged_figure_is_named(copy: Path) -> None:
    path = paths.figure("tradeoff", "svg")
    path.write_text(path.read_text()[:500])
    with pytest.raises(Problem, match=r"tradeoff\.svg is damaged"):
        page.main("index")


def test_the_door_says_which_pages_and_documents_there_are() -> None:
    with pytest.raises(Problem, match="--page lost: there are index, beyond, luck"):
        page.main("lost")
    documents = "results, results-beyond, results-luck"
    with pytest.raises(Problem, match=f"--document lost: there are {documents}"):
        document.main("lost")


def test_an_installed_version_that_is_not_the_pinned_one_is_shown(copy: Path) -> None:
    paths.PROJECT.write_text(
        '[project]\nname = "infofair"\nrequires-python = ">=3.11"\n'
        'dependencies = ["nothing==1.0", "numpy==0.1"]\n'
        "[project.optional-dependencies]\n"
        'study = ["infofair[data]"]\ndata = ["pandas[extra]>=1.0"]\ndev = ["pytest"]\n'
    )
    page.main("index")
    text = text_of(paths.INDEX.read_text())
    shown = f"nothing 1.0 (installed: none), numpy 0.1 (installed: {np.__version__}), "
    assert f"{shown}pandas {pd.__version__}." in text


def test_hashes_are_those_of_the_pipelines_lock_but_not_of_an_earlier_larger_run(
    index: str, beyond: str, luck: str
) -> None:
    shown = r'<td class="text hash">md5 of ([^<]*)'
    assert re.findall(shown, index) == ["data/raw/compas", "results/summary.csv"]
    assert re.findall(shown, beyond) == ["results/sweep/adult/gdp", "results/best.csv"]
    assert re.findall(shown, luck) == ["results/luck/adult/infofair", "results/tried.csv"]


def test_every_table_and_figure_says_where_it_is_from(made: str) -> None:
    main = made[made.index("<main") : made.index('<section id="made"')]
    for section in main.split("<section")[1:]:
        # the paper's table and its honest version are one for each dataset, with one line for all
        parts = re.findall(r'<table(?! class="results")|<figure', section)
        assert section.count('<p class="made">') >= len(parts) + ('class="results"' in section)


def test_an_origin_names_the_file_its_hash_its_stage_and_its_notebook(
    index: str, beyond: str
) -> None:
    line = '<a href="#out-results/summary.csv">results/summary.csv</a> (md5 <span class="hash">'
    line += "md5 of results/summary.csv</span>), stage <code>summarize</code>"
    assert f"{line}." in index
    assert f'{line}, notebook <a href="results_table.ipynb">results_table.ipynb</a>.' in index
    assert "stage <code>beyond/dvc.yaml:comparison</code>" in beyond
    assert 'notebook <a href="frontier.ipynb">' in beyond


def test_every_page_is_in_the_bar_and_the_search_leads_to_places_that_are_there(
    site: Path, made: str
) -> None:
    files = {path.name: (site / path).read_text(encoding="utf-8") for path in page.WRITTEN.values()}
    bar = made.split('<nav aria-label="Site">')[1].split("</nav>")[0]
    assert re.findall('href="([^"]+)"', bar) == list(files)
    assert bar.count('aria-current="page"') == 1
    data = re.search('id="search-data">(.*?)</script>', made)
    assert data
    for text, target in json.loads(data[1]):
        file, _, place = target.partition("#")
        assert text
        assert f'id="{place}"' in files[file] or place.startswith(("explore?", "cells-")), target
    shown = [text for text, _ in json.loads(data[1])]
    assert "Adult Income, gender & race: which method to take" in shown
    assert "InfoFair: its front" in shown


# -- provenance -----------------------------------------------------------------------------------


def test_the_results_carry_their_provenance(site: Path) -> None:
    found = json.loads((site / paths.PROVENANCE).read_text())
    assert found["parameters"] == YAML(typ="safe").load(site / paths.PARAMS)
    assert re.fullmatch(r"\d+\.\d+\.\d+", found["packages"]["torch"])
    assert set(found["data"]) == set(found["parameters"]["datasets"])
    assert all(
        re.fullmatch("[0-9a-f]{64}", file["sha256"])
        for source in found["data"].values()
        for file in source["files"].values()
    )
    assert found["revision"] is found["dirty"] is None  # no repository here


def test_the_provenance_names_the_commit_and_whether_what_makes_results_had_changed(
    copy: Path,
) -> None:
    def git(*command: str) -> str:
        author = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        return subprocess.check_output(["git", *author, *command], text=True).strip()

    def revision() -> dict[str, Any]:
        page.main("index")
        found = json.loads(paths.PROVENANCE.read_text())
        return {key: found[key] for key in ("revision", "dirty")}

    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "all")
    clean = {"revision": git("rev-parse", "HEAD"), "dirty": False}
    Path("results/runs.csv").write_text("changed")  # a result makes no result
    assert revision() == clean
    with paths.PARAMS.open("a") as file:
        file.write("# changed\n")
    assert revision() == clean | {"dirty": True}


# -- what they are made of ------------------------------------------------------------------------


def rewritten(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def test_strings_from_data_cannot_become_markup(copy: Path) -> None:
    for name in (*OF_INDEX, *OF_BEYOND, *OF_LUCK):
        path = paths.table(name)
        table = pd.read_csv(path, keep_default_na=False).replace("race", HOSTILE)
        table = table.assign(note=HOSTILE) if name in ("summary", "subsets") else table
        table = table.assign(explanation=HOSTILE) if name == "as_run" else table
        table.to_csv(path, index=False)
    quoted = json.dumps(HOSTILE)[1:-1]
    rewritten(paths.raw("adult") / "SOURCE.json", "train_idx.npy", quoted)
    rewritten(paths.validation_report("compas"), "arrested within 30 days", quoted)
    rewritten(paths.LOCKS[0], "md5 of results/summary.csv", quoted)
    rewritten(paths.LOCKS[1], "md5 of results/best.csv", quoted)
    rewritten(paths.LOCKS[2], "md5 of results/tried.csv", quoted)
    paths.PARAMS.write_text(f"# parameters: {HOSTILE}\n{paths.PARAMS.read_text()}")
    make(copy)
    escaped = Template("{{ text | e }}").render(text=HOSTILE)
    for path, shown in {
        paths.INDEX: ("COMPAS, ", "<li>", "# parameters: ", '<td class="text hash">'),
        paths.BEYOND: ('<td class="text">', "# parameters: ", '<td class="text hash">'),
        paths.LUCK: ('<td class="text">', "# parameters: ", '<td class="text hash">'),
    }.items():
        text = path.read_text(encoding="utf-8")
        found = Page(text)
        kinds = [attributes.get("type") for _, attributes, _ in found.all("script")]
        assert kinds.count(None) == 1
        assert {*kinds} <= {None, "application/json"}
        assert not found.all("img")
        assert not [e for e in found.elements if any(name.startswith("on") for name in e[1])]
        for before in shown:
            assert before + escaped in text
    for path in document.DOCUMENTS.values():
        text = path.read_text(encoding="utf-8")
        assert r"\</script\>" in text
        assert not re.search(r"(?<!\\)<(?!a id=|/a>|!--)", text)


def test_nothing_is_loaded_from_elsewhere(made: str) -> None:
    for tag, attributes, _ in Page(made).elements:
        for name in ("src", "srcset", "href", "data", "action", "poster"):
            value = attributes.get(name) or ""
            assert tag == "a" or value.startswith(("#", "data:,")) or not value, (tag, value)
    assert "@import" not in made
    assert "url(http" not in made
    assert "<!DOCTYPE svg" not in made


def test_the_pages_lead_to_each_other(index: str, beyond: str, luck: str) -> None:
    pages = {"index.html": index, "beyond.html": beyond, "luck.html": luck}
    for (_, here), (target, there) in permutations(pages.items(), 2):
        assert f'<a href="{target}">' in here
        for place in re.findall(rf'<a href="{target}#([^"]+)">', here):
            assert f'id="{place}"' in there


def test_the_pages_are_not_large(made: str) -> None:
    assert len(made.encode()) < 3_000_000


def ids_of(elements: list[Any]) -> Iterator[str]:
    return (attributes["id"] for _, attributes, _ in elements if "id" in attributes)


def test_the_pages_are_well_built(made: str) -> None:
    assert made.startswith('<!DOCTYPE html>\n<html lang="en">')
    found = Page(made)
    levels = [int(tag[1]) for tag, _, _ in found.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(found.all("table")) == len(found.all("caption")) >= 6
    ids = list(ids_of(found.elements))
    assert len(ids) == len(set(ids))
    # every reference within the page leads somewhere, in the figures too
    shown = re.sub(r"<(script|style)\b.*?</\1>", "", made, flags=re.DOTALL)
    inside = re.findall(r'(?:href="#|url\(#|aria-labelledby=")([^")]+)', shown)
    assert set(inside) <= set(ids)
    titles = re.findall(r"<title>(.*?)</title>", made)
    assert titles[0] in (
        "InfoFair, reproduced", "InfoFair, beyond the paper", "InfoFair, luck",
        "InfoFair, the methods", "InfoFair, the data",
    )  # fmt: skip
    assert not re.search(r"\bnan\b|\bNone\b|Undefined", shown)

"""The report page: what it says, that it is safe and self-contained, and, in Chromium, its use."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import chdir
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jinja2 import Template

from stages import datasets, figures, files, fronts, report, summarize, tables
from stages.files import Problem
from stages.metrics import imparity_released
from tests import frontiers, honests
from tests.conftest import ROOT, yaml

HOSTILE = """</script></pre><script>alert("1")</script><img src=x onerror='alert(2)'>&amp;"""
SETTINGS = {"compas": ["gender", "race", "intersection"], "adult": ["gender", "race"]}
METHODS = ["infofair", "infofair_ts", "vanilla", "lfr", "fcfc", "gdp"]
CELL = ["dataset", "setting", "method"]
MARKS = {"data": "real", "partition": "authors"}


def summary(methods: list[str] = METHODS, **changes: object) -> pd.DataFrame:
    """results/summary.csv: made-up figures of these methods, beside the paper's."""
    rng = np.random.default_rng(0)
    rows = []
    for dataset, settings in SETTINGS.items():
        for setting in settings:
            for method in methods:
                if method == "lfr" and setting != "gender":
                    continue  # for two groups only
                for protocol in ("paper", "mean", "std"):
                    size = 0.01 if protocol == "std" else 1
                    row = dict(zip(summarize.METRICS, size * rng.uniform(0.1, 0.9, 4), strict=True))
                    row |= {name: size * rng.uniform() for name in summarize.OTHERS}
                    row |= {name: rng.uniform() for name in summarize.BOUNDS}
                    row |= {name: rng.uniform(-1, 1) for name in summarize.REDUCTIONS.values()}
                    if protocol == "std" and method == "fcfc":  # a single fit
                        row = dict.fromkeys(row, np.nan)
                    key = dict(zip(CELL, (dataset, setting, method), strict=True))
                    rows.append(key | {"protocol": protocol} | row | {"note": ""} | MARKS)
    paper = pd.read_csv(ROOT / summarize.PAPER).set_index(CELL).add_prefix("paper_")
    table = pd.DataFrame(rows).merge(paper.reset_index(), how="left", on=CELL)
    for name, ours in summarize.PRINTED.items():
        table[f"difference_{name}"] = table[ours] - table[f"paper_{name}"]
    return table.assign(**changes)


def write(folder: Path, table: pd.DataFrame | None = None, **marks: str) -> None:
    """Everything that the page is made from, in this folder."""
    table = summary() if table is None else table
    table = table.assign(**marks)
    for name in ("params.yaml", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    (folder / "results/figures").mkdir(parents=True)
    parameters = (folder / "params.yaml").read_text()
    (folder / "params.yaml").write_text(parameters.replace("adult, dutch]", "adult]"))
    with chdir(folder):
        table.to_csv("results/summary.csv", index=False)
        keys = [(d, s) for d, settings in SETTINGS.items() for s in settings]
        statistics = [
            {"dataset": d, "setting": s, "samples": 6172, "features": 52, "attributes": 15,
             "classes": 2, "positives": 0.4, "train": 4938, "validation": 617, "test": 617,
             "groups": {"gender": 2, "race": 6}.get(s, 12), "smallest_train": 2, "smallest_test": 3,
             "empty_test": {"gender": 0, "race": 1}.get(s, 3) * (d == "compas"),
             "paper_samples": 6172, "paper_attributes": 52, "paper_classes": 2}
            for d, s in keys
        ]  # fmt: skip
        pd.DataFrame(statistics).to_csv("results/statistics.csv", index=False)
        subsets = [
            {"dataset": d, "attribute": s, "method": "infofair", "imparity_released": 0.1,
             "vanilla_imparity_released": 0.2, "own_imparity_released": 0.15, "lower": "yes",
             "note": ""}
            for d, s in keys if s != "intersection"
        ]  # fmt: skip
        pd.DataFrame(subsets).to_csv("results/subsets.csv", index=False)
        selection = [
            {"dataset": d, "setting": s, "imparity_released": 0.2,
             "fairest_imparity_released": 0.19, "reduction_released": 0.05}
            for d, s in keys
        ]  # fmt: skip
        pd.DataFrame(selection).to_csv("results/selection.csv", index=False)
        for dataset in SETTINGS:
            source = {"data": "real", "split": "authors"} | marks
            raw = {"train_idx.npy": {"sha256": "ab" * 32, "bytes": 19880}}
            files.write_json(files.raw(dataset) / "SOURCE.json", source | {"files": raw})
            leaks = ["is_recid"] if dataset == "compas" else []
            audit = [{"column": "is_recid", "balanced_accuracy": 0.9731}]
            removed = {"rule": "arrested within 30 days", "removed": 1042}
            counts = {"rows_read": 7214, "rows": 6172, "filters": [removed]}
            files.write_json(
                files.validation_report(dataset), counts | {"audit": audit, "leaks": leaks}
            )
            curve = "setting,seed,epoch,T,total\ngender,0,99,1,5\ngender,0,100,0.4,-580\n"
            files.write_text(files.curves(dataset, "infofair"), curve)
        lock = {"summarize": "results/summary.csv", "download@compas": "data/raw/compas",
                "download@dutch": "data/raw/dutch"}  # fmt: skip
        outs = {
            stage: {"outs": [{"path": path, "md5": f"md5 of {path}", "size": 1}]}
            for stage, path in lock.items()
        }
        files.write_json(Path("dvc.lock"), {"stages": outs})  # JSON is YAML
        Path("results/figures/results_table.html").write_text(
            tables.to_html(tables.blocks(tables.read("results/summary.csv")))
        )
        for name in ("tradeoff", "ablation", "frontier"):
            Path(f"results/figures/{name}.svg").write_text(SVG)
        honests.write(SETTINGS)
        frontiers.write({**SETTINGS, "compas_without_leak": SETTINGS["compas"]})


# As matplotlib writes it: a prolog, metadata, a style for all, ids, and references to them.
SVG = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="252pt" height="90pt" viewBox="0 0 252 90"
     xmlns="http://www.w3.org/2000/svg" version="1.1">
 <metadata><dc:date xmlns:dc="http://purl.org/dc/elements/1.1/">today</dc:date></metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style></defs>
 <g id="figure_1">
  <path d="M 0 0 L 252 90" clip-path="url(#p1)" style="fill: url(#p1)"/>
  <g id="point-compas-gender-vanilla"><g><use xlink:href="#m1" x="166" y="16"/></g></g>
  <g id="bar-compas-gender-infofair-micro_f1"><path d="M 0 0 L 9 9"/></g>
  <g id="front-adult-race-gdp"><path d="M 0 0 L 9 9"/></g>
 </g>
 <defs><path id="m1" d="M 0 2 L 2 0"/></defs>
 <defs><clipPath id="p1"><rect width="9" height="9"/></clipPath></defs>
</svg>
"""


class Page(HTMLParser):
    """The elements of a page, in order: name, attributes, and the text directly in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))

    def handle_data(self, data: str) -> None:
        if self.elements:
            self.elements[-1][2].append(data)

    def all(self, *tags: str) -> list[tuple[str, dict[str, str | None], list[str]]]:
        return [element for element in self.elements if element[0] in tags]


Made = Callable[..., str]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Writes the inputs and makes the page, in a folder that is the current directory then."""
    monkeypatch.chdir(tmp_path)

    def run(table: pd.DataFrame | None = None, **marks: str) -> str:
        write(tmp_path, table, **marks)
        report.main()
        return report.PAGE.read_text()

    return run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of the inputs as they are, for tests that only read it."""
    folder = tmp_path_factory.mktemp("made")
    write(folder)
    with chdir(folder):
        report.main()
        return report.PAGE.read_text()


def text_of(page: str) -> str:
    return " ".join(" ".join("".join(e[2]) for e in Page(page).elements).split())


# -- what it says -------------------------------------------------------------------------------


def test_the_results_carry_their_provenance(make: Made, tmp_path: Path) -> None:
    make()
    found = json.loads(report.PROVENANCE.read_text())
    assert found["parameters"] == yaml.load(tmp_path / "params.yaml")
    assert found["packages"]["torch"] == "2.13.0"
    assert set(found["data"]) == set(found["parameters"]["datasets"])
    assert all(
        re.fullmatch("[0-9a-f]{64}", file["sha256"])
        for source in found["data"].values()
        for file in source["files"].values()
    )
    assert found["revision"] is found["dirty"] is None  # no repository here


def test_the_provenance_names_the_commit_and_whether_what_makes_results_had_changed(
    make: Made, tmp_path: Path
) -> None:
    def git(*command: str) -> str:
        author = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        return subprocess.check_output(["git", *author, *command], cwd=tmp_path, text=True).strip()

    def revision() -> dict[str, Any]:
        report.main()
        found = json.loads(report.PROVENANCE.read_text())
        return {key: found[key] for key in ("revision", "dirty")}

    make()
    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "all")
    clean = {"revision": git("rev-parse", "HEAD"), "dirty": False}
    assert revision() == clean
    (tmp_path / "results/runs.csv").write_text("changed")  # a result makes no result
    assert revision() == clean
    with (tmp_path / "params.yaml").open("a") as file:
        file.write("# changed\n")
    assert revision() == clean | {"dirty": True}


def test_the_same_inputs_give_the_same_bytes_in_any_folder(tmp_path: Path) -> None:
    written = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        write(tmp_path / name)
        with chdir(tmp_path / name):
            report.main()
            written.append(report.PAGE.read_bytes())
            report.main()
            assert report.PAGE.read_bytes() == written[-1]
    assert written[0] == written[1]
    assert str(tmp_path).encode() not in written[0]


def test_cells_near_the_papers_are_counted(make: Made) -> None:
    table = summary()
    # some exactly on the edge, some beyond it
    chosen = (table["protocol"] == "paper") & table["paper_micro_f1"].notna()
    edges = np.resize([0.0, 0.01, -0.01, 0.02, 0.0201, -0.02, 0.5], chosen.sum())
    for name, ours in summarize.PRINTED.items():
        table.loc[chosen, ours] = table.loc[chosen, f"paper_{name}"] + edges
        table[f"difference_{name}"] = table[ours] - table[f"paper_{name}"]
        edges = np.roll(edges, 1)
    page = make(table)
    shown = {}
    for row in page.split("Number of cells within")[1].split("</table>")[0].split("<tr")[3:]:
        found = Page("<tr" + row)
        numbers = [int("".join(e[2])) for e in found.all("td")]
        shown["".join(found.all("th")[0][2])] = numbers
    counted: dict[str, list[int]] = {}
    for row in table[chosen].to_dict("records"):
        names = [tables.dataset_name(row["dataset"]), report.ALL]
        names += [] if row["method"] in ("lfr", "fcfc") else [report.REST]
        for name in names:
            mine = counted.setdefault(name, [0] * 7)
            mine[0] += 1
            place = 1
            for figure in ("micro_f1", "macro_f1", "imparity"):
                ours = "imparity_released" if figure == "imparity" else figure
                for limit in (0.01, 0.02):
                    mine[place] += round(abs(row[ours] - row[f"paper_{figure}"]), 6) <= limit
                    place += 1
    assert shown == counted


def test_what_no_prediction_can_score_is_what_a_constant_one_does(made: str) -> None:
    page = text_of(made)
    for groups, empty in ((6, 1), (12, 3)):
        present = np.arange(groups - empty)
        constant = imparity_released(np.zeros(len(present), int), present, groups)
        assert f"{constant:.3f} on COMPAS" in page
    # the paper prints 0.000 for FCFC on COMPAS's race and intersection
    assert "The paper prints less in 2 cells" in page


def test_a_method_that_is_better_in_both_figures_is_named(make: Made) -> None:
    table = summary()
    table[["micro_f1", "imparity"]] = 0.5
    here = (table["dataset"] == "adult") & (table["setting"] == "race")
    table.loc[here & (table["method"] == "gdp"), ["micro_f1", "imparity"]] = 0.6, 0.4
    # neither a worse one nor one of its own ablations counts
    table.loc[here & (table["method"] == "fcfc"), ["micro_f1", "imparity"]] = 0.6, 0.6
    table.loc[here & (table["method"] == "infofair_ts"), ["micro_f1", "imparity"]] = 0.6, 0.4
    page = text_of(make(table))
    assert "in 1 of 5 settings another method has both" in page
    assert "Adult Income, race: GDP" in page


def test_computed_figures_are_in_the_sentences(made: str) -> None:
    page = text_of(made)
    assert "is_recid alone tells the label with a balanced accuracy of 0.973" in page
    assert "−580 on COMPAS (its task loss T: 0.40)" in page
    assert "it stopped 0 of 2 models before the last epoch" in page
    assert "a “reduction” of 5.0% to 5.0%" in page
    assert "is below vanilla’s in 4 of 4 rows" in page


def test_data_that_is_not_the_papers_is_said_at_the_top(make: Made, tmp_path: Path) -> None:
    assert 'class="banner"' not in make()
    shutil.rmtree(tmp_path / "results")
    page = make(data="simulated", partition="random")
    banner = page.split('<p class="banner"')[1].split("</p>")[0]
    assert "COMPAS is simulated, split at random" in " ".join(banner.split())
    assert page.index('class="banner"') < page.index("<h1")


def test_a_dataset_that_is_not_the_papers_is_kept_apart_from_what_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    monkeypatch.setitem(SETTINGS, "loans", ["gender", "age_group", "intersection"])
    monkeypatch.setattr(datasets, "__path__", [*datasets.__path__, str(ROOT / "examples")])
    table = summary()
    own = table["dataset"] == "loans"
    table.loc[own, "partition"] = "random"
    write(tmp_path, table)
    monkeypatch.chdir(tmp_path)
    path = Path("params.yaml")
    path.write_text(path.read_text().replace("adult]", "adult, loans]"))
    report.main()
    page = report.PAGE.read_text()
    assert 'class="banner"' not in page
    assert "computed again on COMPAS and Adult Income with" in text_of(page)
    assert "Loans is not a dataset of the paper" in text_of(page)
    gains = [
        cells["vanilla"] > cells["infofair"]
        for cells in (
            table[own & (table["setting"] == setting) & (table["protocol"] == "mean")]
            .set_index("method")["imparity"]
            .to_dict()
            for setting in SETTINGS["loans"]
        )
    ]
    assert f"below vanilla’s in {sum(gains)} of 3 settings" in text_of(page)
    # what is said of the paper's stays as it is without
    section = re.compile(r'<div class="pair beside">.*?</table>', re.DOTALL)
    assert section.findall(page) == section.findall(made)
    assert ">your own file<" in page


def test_hashes_of_an_earlier_larger_run_are_not_shown(made: str) -> None:
    assert "md5 of data/raw/compas" in made
    assert "md5 of data/raw/dutch" not in made


def test_an_installed_version_that_is_not_the_pinned_one_is_shown(make: Made) -> None:
    make()
    path = Path("pyproject.toml")
    path.write_text(path.read_text().replace('"numpy==', '"nothing==1.0", "numpy==0.'))
    report.main()
    page = text_of(report.PAGE.read_text())
    assert f"(installed: {np.__version__})" in page
    assert "nothing 1.0 (installed: none)" in page


@pytest.mark.parametrize("methods", [["vanilla"], ["infofair"], ["gdp", "fcfc"]])
def test_a_smaller_run_has_a_page_too(make: Made, methods: list[str]) -> None:
    make(summary(methods))
    for name in ("subsets", "selection"):  # without vanilla or an intersection: no rows
        path = Path(f"results/{name}.csv")
        path.write_text(path.read_text().splitlines()[0] + "\n")
    report.main()
    page = report.PAGE.read_text()
    page = re.sub('<section id="honest".*?</section>', "", page, flags=re.DOTALL)  # a run apart
    for method in METHODS:
        assert (f'data-method="{method}"' in page) == (method in methods)


# -- what it is made of -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("missing", "stage"),
    [
        ("results/summary.csv", "summarize"),
        ("results/statistics.csv", "summarize"),
        ("results/subsets.csv", "summarize"),
        ("results/selection.csv", "summarize"),
        ("results/honest_summary.csv", "honest"),
        ("results/frontier_summary.csv", "frontier"),
        ("results/hypervolume.csv", "frontier"),
        ("results/best.csv", "frontier"),
        ("results/goal.csv", "frontier"),
        ("results/information.csv", "frontier"),
        ("results/figures/results_table.html", "table"),
        ("results/figures/honest_table.html", "table_honest"),
        ("results/figures/frontier.svg", "figure_frontier"),
        ("results/figures/tradeoff.svg", "figure@tradeoff"),
        ("results/figures/ablation.svg", "figure@ablation"),
        ("results/validation/compas.json", "validate@compas"),
        ("results/curves/adult/infofair.csv", "train@adult-infofair"),
        ("data/raw/adult/SOURCE.json", "download@adult"),
        ("dvc.lock", "summarize"),
    ],
)
def test_a_missing_input_names_the_stage_that_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, stage: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    Path(missing).unlink()
    with pytest.raises(Problem, match=f"{missing} does not exist.* dvc repro {stage}$"):
        report.main()
    assert not report.PAGE.parent.exists()


def test_a_damaged_figure_is_named(make: Made) -> None:
    make()
    Path("results/figures/tradeoff.svg").write_text(SVG[:500])
    with pytest.raises(Problem, match=r"tradeoff\.svg is damaged"):
        report.main()


def test_strings_from_data_cannot_become_markup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, summary(note=HOSTILE).replace("race", HOSTILE))
    of_fronts = ("frontier_summary", "hypervolume", "best", "goal", "information")
    for name in ("statistics", "subsets", "selection", "honest_summary", *of_fronts):
        path = Path(f"results/{name}.csv")
        pd.read_csv(path).replace("race", HOSTILE).to_csv(path, index=False)
    for name, found in {
        "data/raw/adult/SOURCE.json": "train_idx.npy",
        "results/validation/compas.json": "arrested within 30 days",
        "dvc.lock": "md5 of results/summary.csv",
    }.items():
        text = Path(name).read_text()
        assert found in text
        Path(name).write_text(text.replace(found, json.dumps(HOSTILE)[1:-1]))
    parameters = Path("params.yaml").read_text()
    Path("params.yaml").write_text(f"# parameters: {HOSTILE}\n{parameters}")
    report.main()
    page = report.PAGE.read_text()
    found = Page(page)
    assert len(found.all("script")) == 1
    assert not found.all("img")
    assert not [e for e in found.elements if any(name.startswith("on") for name in e[1])]
    escaped = Template("{{ text | e }}").render(text=HOSTILE)
    for before in ("COMPAS, ", "<li>", "# parameters: ", '<td class="text hash">'):
        assert before + escaped in page


def test_nothing_is_loaded_from_elsewhere(made: str) -> None:
    for tag, attributes, _ in Page(made).elements:
        for name in ("src", "srcset", "href", "data", "action", "poster"):
            value = attributes.get(name) or ""
            assert tag == "a" or value.startswith(("#", "data:,")) or not value, (tag, value)
    assert "@import" not in made
    assert "url(http" not in made
    assert "<!DOCTYPE svg" not in made
    assert "xmlns" not in made


def test_the_page_is_well_built(made: str) -> None:
    assert made.startswith('<!DOCTYPE html>\n<html lang="en">')
    found = Page(made)
    levels = [int(tag[1]) for tag, _, _ in found.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(found.all("table")) == len(found.all("caption")) >= 8
    ids = [attributes["id"] for _, attributes, _ in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    # every reference within the page leads somewhere, in the figures too
    inside = re.findall(r'(?:href="#|url\(#|aria-labelledby=")([^")]+)', made)
    assert set(inside) <= set(ids)
    assert {"tradeoff-m1", "ablation-m1", "tradeoff-p1", "ablation-p1"} <= set(inside)
    assert {"frontier-m1", "frontier-p1"} <= set(inside)


def test_points_and_bars_lead_to_their_rows(made: str) -> None:
    table = summary()
    mean = table.query("dataset == 'compas' and setting == 'gender' and protocol == 'mean'")
    for figure, method in (("tradeoff", "vanilla"), ("ablation", "infofair")):
        start = made.index(f'<svg id="{figure}"')
        here = re.compile(rf'<a href="#row-compas-gender-{method}"><title>(.*?)</title>')
        link = here.search(made, start)
        assert link is not None
        f1 = mean.set_index("method").loc[method, "micro_f1"]
        assert f"mean micro F1 {f1:.3f} ± " in link[1]
    assert "today" not in made


# -- the honest table and the fronts ------------------------------------------------------------


def honest_rows(**methods: list[tuple[float, float]]) -> report.Rows:
    """method -> for each place, the differences from vanilla in imparity (± 0.01) and micro F1."""
    return {
        method: {
            ("adult", f"s{i}"): {
                "more_imparity": gap, "more_imparity_low": gap - 0.01,
                "more_imparity_high": gap + 0.01, "more_micro_f1": f1,
                "imparity": 0.1 + gap, "micro_f1": 0.8 + f1,
            }
            for i, (gap, f1) in enumerate(figures)
        }
        for method, figures in methods.items()
    }  # fmt: skip


def test_an_interval_that_holds_0_is_on_no_side() -> None:
    rows = honest_rows(gdp=[(-0.02, 0), (-0.005, 0), (0.03, 0), (float("nan"), 0)])["gdp"]
    assert report.sides(rows, "imparity") == {
        "lower": [("adult", "s0")],
        "higher": [("adult", "s2")],
    }


def test_who_matches_a_method_lowers_imparity_as_often_and_may_pay_less() -> None:
    rows = honest_rows(
        vanilla=[(0, 0), (0, 0)],
        infofair=[(-0.05, -0.02), (0, -0.04)],
        gdp=[(0, 0), (-0.05, -0.06)],  # as often, and pays 0.03 on average, too
        di=[(-0.05, -0.05), (-0.05, -0.05)],
        lfr=[(-0.05, -0.01)],  # in one setting only, where InfoFair pays 0.02
        fcfc=[(0, 0), (0, 0)],
    )
    found = report.matching(rows, "infofair")
    assert {m: (of["lowered"], of["settings"], of["no_dearer"]) for m, of in found.items()} == {
        "gdp": (1, 2, True), "di": (2, 2, False), "lfr": (1, 1, True)
    }  # fmt: skip
    # where InfoFair lowers nothing, to lower nothing does not match it
    rows |= honest_rows(infofair=[(0, 0), (0, 0)])
    assert set(report.matching(rows, "infofair")) == {"gdp", "di", "lfr"}


def test_the_share_of_constant_models_is_of_models() -> None:
    rows = [
        {"splits": 5, "seeds": 5, "constant": 0.2},
        {"splits": 5, "seeds": 1, "constant": 1.0},
    ]
    assert report.constant_share(rows) == pytest.approx(10 / 30)


def test_one_method_beside_another_is_better_or_clearly_fairer() -> None:
    rows = honest_rows(
        infofair=[(0.0, -0.02), (0.0, -0.02), (0.0, -0.02)],
        fitted=[(-0.01, -0.02), (-0.05, -0.03), (0.01, 0.0), (-0.09, 0.0)],
    )
    found = report.beside(rows, "fitted", "infofair")
    assert [(row["lower"], row["better"], row["clearly"]) for row in found] == [
        (True, True, False), (True, False, True), (False, False, False)
    ]  # fmt: skip
    assert report.beside(rows, "fitted", "lost") == report.beside(rows, "lost", "fitted") == []


def test_what_survives_is_counted_on_the_papers_datasets_from_the_honest_summary(
    made: str,
) -> None:
    table = honests.summary(("compas",))
    adult = honests.summary(("adult",), settings=("gender", "race"))
    own = pd.concat([table, adult]).query("method == 'infofair'")
    lower = int((own["more_imparity_high"] < 0).sum())
    higher = int((own["more_imparity_low"] > 0).sum())
    text = text_of(made)
    assert f"in {lower} of 5 settings" in text
    assert f"and clearly above it in {higher};" in text
    changes = [report.number(end(own["more_micro_f1"]), sign="+") for end in (min, max)]
    assert f"on the same splits is {changes[0]} to {changes[1]}" in text
    assert "the share that does so is 0.0% of LFR’s, 0.0% of FCFC’s" in text


def test_the_page_says_where_the_goal_holds_and_why_not(made: str) -> None:
    goal = fronts.goal(
        fronts.summarize(
            pd.concat(
                [
                    frontiers.runs((d,), (*frontiers.METHODS, "infofair_fitted"), tuple(of))
                    for d, of in SETTINGS.items()
                ]
            )
        ),
        pd.read_csv(ROOT / fronts.PAPER),
    )
    holds = goal["holds"] == "yes"
    assert 0 < holds.sum() < len(goal)
    assert f"<strong>{holds.sum()}</strong> of {len(goal)} cells" in made
    for why in goal.loc[~holds, "why"]:
        assert f">{why}</td>" in made


def test_the_page_says_who_is_ahead_and_which_estimates_differ(made: str) -> None:
    text = text_of(made)
    for name, count in (("of the datasets as they are", 5), ("without leak", 3)):
        assert re.search(rf"in \d of {count} cells {name}", text)
    assert "They are 0.125 bits apart on average" in text
    assert "the running one is the lower in 0 of 32 cells" in text
    assert "python -m stages.choose --dataset compas_without_leak --setting intersection" in text


def test_lines_of_the_fronts_lead_to_their_hypervolumes(made: str) -> None:
    link = re.search(r'<a href="#(area-adult-race-gdp)"><title>(.*?)</title>', made)
    assert link is not None
    assert f'id="{link[1]}"' in made
    assert link[2].startswith("Adult Income, race, GDP: micro F1 / imparity 0.")


@pytest.mark.parametrize(
    ("methods", "settings"),
    [
        (("vanilla",), ["gender"]),
        (("vanilla", "infofair"), ["gender", "race", "intersection"]),
        (("vanilla", "infofair_fitted"), ["gender"]),
        (("vanilla", "gdp", "mine"), ["race"]),
    ],
)
def test_an_honest_table_and_fronts_of_few_methods_have_a_page_too(
    make: Made, methods: tuple[str, ...], settings: list[str]
) -> None:
    make()
    for write in (honests.write, frontiers.write):
        write({"adult": settings}, methods)
    report.main()
    page = report.PAGE.read_text()
    section = page[page.index('<section id="honest"') : page.index('<section id="results"')]
    assert ("nothing to judge" in section) == ("infofair" not in methods)
    fitted = "infofair_fitted" in methods
    assert ("Rank of InfoFair, fitted" in page) == fitted
    assert ('id="goal"' in page) == fitted
    shown = re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"\bnan\b", shown)


def test_datasets_that_are_not_the_papers_are_not_judged(make: Made) -> None:
    make()
    honests.write({"mine": ["gender", "race", "intersection"]})
    frontiers.write({"mine": ["gender", "race", "intersection"]})
    report.main()
    page = report.PAGE.read_text()
    assert "nothing to judge" in page
    assert 'id="goal"' not in page
    assert "in 0 of 0" not in page


def test_names_with_commas_are_listed_apart() -> None:
    assert report.listed(["GDP", "DI"]) == "GDP and DI"
    assert report.listed(["GDP", "InfoFair, fitted"]) == "GDP; and InfoFair, fitted"
    assert report.listed(["InfoFair, fitted"]) == "InfoFair, fitted"


# -- in a browser -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the real figures, drawn from made-up results."""
    folder = tmp_path_factory.mktemp("page")
    table = summary()
    write(folder, table)
    with chdir(folder):
        figures.save(figures.tradeoff(table), "results/figures/tradeoff.svg")
        figures.save(figures.ablation(table), "results/figures/ablation.svg")
        swept = [fronts.read(path) for path in (fronts.SUMMARY, fronts.HYPERVOLUME)]
        figures.save(figures.frontier(*swept), "results/figures/frontier.svg")
        report.main()
    return folder / report.PAGE


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Debian's, headless; skipped where it or selenium is missing."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    if not all(Path(f"/usr/bin/{name}").exists() for name in ("chromium", "chromedriver")):
        pytest.skip("no Chromium: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    user = f"user-data-dir={tmp_path_factory.mktemp('user')}"
    for flag in (
        "headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking",
        "disable-component-update", "disable-sync", user,
    ):  # fmt: skip
        options.add_argument(f"--{flag}")
    service = webdriver.ChromeService("/usr/bin/chromedriver")  # no search for one on the network
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium: Any, page: Path) -> Any:
    """The page, freshly loaded on a wide screen."""
    look(chromium)
    chromium.get(page.as_uri())
    return chromium


def look(driver: Any, width: int = 1200, scheme: str = "light", media: str = "") -> None:
    """On a screen this wide, in light or dark, or as printed."""
    screen = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def column(browser: Any, place: int) -> list[str]:
    """The texts of one column of the long table, in the rows that are shown."""
    return browser.execute_script(
        """return [...document.querySelectorAll("#all tbody tr")].filter((row) => !row.hidden)
           .map((row) => row.cells[arguments[0]].textContent)""",
        place,
    )


def head(browser: Any, place: int) -> Any:
    return browser.find_element("css selector", f'#all th[data-column="{place}"]')


def test_it_loads_quietly(browser: Any) -> None:
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    moved = browser.execute_async_script(
        """const done = arguments[0];
           new PerformanceObserver((list) => done(list.getEntries().map((e) => e.value)))
             .observe({ type: "layout-shift", buffered: true });
           setTimeout(() => done([]), 300);"""
    )
    assert sum(moved) == 0


@pytest.mark.parametrize("width", [320, 400, 700, 1200])
def test_nothing_overflows(browser: Any, width: int) -> None:
    look(browser, width)
    for box in browser.find_elements("css selector", ".controls fieldset input"):
        box.click()  # every column
    for details in browser.find_elements("css selector", "details"):
        browser.execute_script("arguments[0].open = true", details)
    size = browser.execute_script(
        "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
    )
    assert size[0] <= size[1]


def test_a_click_sorts_upwards_then_downwards_then_not_at_all(browser: Any) -> None:
    place = 3  # the selected model's micro F1
    original = column(browser, place)
    button = head(browser, place).find_element("css selector", "button")
    shown = []
    for _ in range(3):
        button.click()
        shown.append((head(browser, place).get_attribute("aria-sort"), column(browser, place)))
    upwards = sorted(original, key=float)
    assert shown == [
        ("ascending", upwards),
        ("descending", upwards[::-1]),
        ("none", original),
    ]


def test_a_keyboard_sorts(browser: Any) -> None:
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    button = head(browser, 0).find_element("css selector", "button")
    for key, direction in ((keys.ENTER, "ascending"), (keys.SPACE, "descending")):
        button.send_keys(key)
        assert head(browser, 0).get_attribute("aria-sort") == direction
        names = column(browser, 0)
        assert names == sorted(names, reverse=direction == "descending")
    # one column at a time
    head(browser, 1).find_element("css selector", "button").send_keys(keys.ENTER)
    assert head(browser, 0).get_attribute("aria-sort") == "none"


def test_negative_numbers_sort_as_numbers_and_what_is_missing_last(browser: Any) -> None:
    place = 7  # the difference in micro F1, which cells that are not printed do not have
    button = head(browser, place).find_element("css selector", "button")
    for downwards in (False, True):
        button.click()
        shown = column(browser, place)
        there = [float(text.replace("−", "-")) for text in shown if text != "–"]
        assert there == sorted(there, reverse=downwards)
        assert shown[len(there) :] == ["–"] * (len(shown) - len(there))
        assert min(there) < 0 < len(shown) - len(there)


def test_filters_combine_and_reset(browser: Any) -> None:
    everything = column(browser, 0)
    count = browser.find_element("css selector", ".controls output")
    for name, value in (("dataset", "compas"), ("method", "infofair")):
        option = f'.controls select[name="{name}"] option[value="{value}"]'
        browser.find_element("css selector", option).click()
    assert column(browser, 0) == ["InfoFair"] * 3
    assert set(column(browser, 1)) == {"COMPAS"}
    assert count.text == f"3 of {len(everything)} rows"
    browser.find_element("css selector", ".controls [type=reset]").click()
    browser.find_element("id", "far").click()
    differences = [column(browser, place) for place in (7, 11, 16)]
    for row in zip(*differences, strict=True):
        assert max(abs(float(text.replace("−", "-"))) for text in row) >= 0.02
    browser.find_element("css selector", ".controls [type=reset]").click()
    assert column(browser, 0) == everything
    assert count.text == f"{len(everything)} of {len(everything)} rows"


def test_every_one_of_our_points_says_its_figures_and_leads_to_its_row(browser: Any) -> None:
    table = summary()
    shown = table[(table["protocol"] == "mean") & table["method"].isin(tables.methods(table))]
    ids = [f"{r.dataset}-{r.setting}-{r.method}" for r in shown.itertuples()]
    titles = browser.execute_script(
        """return arguments[0].map((id) => document.getElementById(`tradeoff-point-${id}`)
           .closest("a").querySelector("title").textContent)""",
        ids,
    )
    for title, row in zip(titles, shown.itertuples(), strict=True):
        assert f"mean micro F1 {row.micro_f1:.3f}" in title
    bars = browser.find_elements("css selector", "#ablation a > title")
    assert len(bars) == 2 * 5 * 3  # InfoFair and one ablation, settings, figures
    # by keyboard, with the row filtered away
    browser.find_element("css selector", '.controls option[value="gdp"]').click()
    readout = browser.find_element("css selector", "#trade-off .readout")
    hint = readout.text
    point = f'#trade-off a[href="#row-{ids[0]}"]'
    browser.execute_script("document.querySelector(arguments[0]).focus()", point)
    assert readout.text == titles[0]
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    browser.switch_to.active_element.send_keys(keys.ENTER)
    row = browser.find_element("css selector", "tr:target")
    assert row.get_attribute("id") == f"row-{ids[0]}"
    assert row.is_displayed()
    browser.execute_script("document.activeElement.blur()")
    assert readout.text == hint


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: Any, scheme: str) -> None:
    look(browser, scheme=scheme)
    colours = browser.execute_script(
        """const colour = (of, what) => getComputedStyle(document.querySelector(of))[what];
           return ["body", ".lead", "caption", ".far", "main a"].map((of) => colour(of, "color"))
             .concat(colour("body", "backgroundColor"));"""
    )
    *inks, ground = [[int(part) for part in re.findall(r"\d+", c)[:3]] for c in colours]
    assert (sum(ground) < 150) == (scheme == "dark")
    contrasts = [contrast(ink, ground) for ink in inks]
    assert contrasts[0] >= 12
    assert min(contrasts) >= 4.5  # WCAG 2, level AA


def contrast(first: list[int], second: list[int]) -> float:
    """WCAG 2: (L₁ + 0.05) / (L₂ + 0.05), L₁ the lighter of both relative luminances."""
    lights = []
    for colour in (first, second):
        c = np.array(colour) / 255
        linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        lights.append(float(linear @ [0.2126, 0.7152, 0.0722]))
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_print_shows_every_row(browser: Any) -> None:
    look(browser, scheme="dark", media="print")
    hidden = browser.execute_script(
        "const w = document.querySelector('.window'); return w.scrollHeight - w.clientHeight"
    )
    assert hidden <= 0
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )

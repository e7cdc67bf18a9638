"""Put the results on one page, reports/index.html, beside the paper's and what explains the rest.

The page needs no network and no other file, and the same inputs give the same bytes. Its words are
in report.html (jinja2), its looks in report.css, sorting and filtering in report.js; the numbers in
its sentences are computed here. Also writes results/provenance.json: the commit, parameters,
packages and data that the results come from.
"""

import platform
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from ruamel.yaml import YAML

from stages import cli, datasets, files, fronts, honest_table, methods, standings, tables
from stages.metrics import average_gap_released
from stages.params import PATH, Params, load

PAGE = Path("reports/index.html")
# Not an output that DVC knows: it names the commit, so its hash would change with every one.
PROVENANCE = Path("results/provenance.json")
SOURCES = [
    "stages", "notebooks", "data/reference", "params.yaml", "dvc.yaml", "pyproject.toml",
    "constraints.txt",
]  # fmt: skip
FIGURES = Path("results/figures")
HERE = Path(__file__).parent
COMPARED = {"Micro F1": "micro_f1", "Macro F1": "macro_f1", "Imparity": "imparity"}
TOLERANCES = (0.01, 0.02)
EXACT = 0.0005  # a printed figure has three decimals
FAR = 0.02  # from here on a difference is marked
ALL, REST = "All", "Not constant in print"
FITTED = "infofair_fitted"


@dataclass(frozen=True, eq=False)
class Cell:
    """One dataset, setting and method: its rows of results/summary.csv."""

    dataset: str
    setting: str
    method: str
    attributes: str  # the setting as a reader knows it
    selected: dict[str, Any]  # the paper's protocol
    mean: dict[str, Any]
    std: dict[str, Any]

    @property
    def id(self) -> str:
        return f"{self.dataset}-{self.setting}-{self.method}"

    @property
    def place(self) -> str:
        return f"{tables.dataset_name(self.dataset)}, {self.attributes}"

    @property
    def printed(self) -> bool:
        """Whether the paper's table has it."""
        return not pd.isna(self.selected["paper_micro_f1"])

    @property
    def gaps(self) -> list[float]:
        """|ours − the paper's|, in the order of COMPARED."""
        return [abs(self.selected[f"difference_{figure}"]) for figure in COMPARED.values()]

    @property
    def far(self) -> bool:
        return any(gap > FAR for gap in self.gaps)

    @property
    def note(self) -> str:
        """Of the selected model, and of the seeds."""
        return "; ".join(dict.fromkeys(filter(None, (self.selected["note"], self.mean["note"]))))


def cells(summary: pd.DataFrame) -> list[Cell]:
    """In the order of the datasets and settings, and the paper's of methods."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in summary.to_dict("records"):
        found.setdefault((row["dataset"], row["setting"], row["method"]), {})[row["protocol"]] = row
    everything = []
    for dataset in dict.fromkeys(summary["dataset"]):
        settings = tables.settings(summary, dataset)
        for setting in settings:
            attributes = tables.setting_name(setting, settings)
            for method in dict.fromkeys([*tables.methods(summary), *tables.VARIANTS]):
                if of := found.get((dataset, setting, method)):
                    rows = of["paper"], of["mean"], of["std"]
                    everything.append(Cell(dataset, setting, method, attributes, *rows))
    return everything


# -- what the sentences say -----------------------------------------------------------------------


def agreement(printed: list[Cell]) -> dict[str, Any]:
    """How many cells are within each tolerance of the paper's figure: heading -> counts."""
    counts = {
        heading: [sum(cell.gaps[i] <= limit + 1e-9 for cell in printed) for limit in TOLERANCES]
        for i, heading in enumerate(COMPARED)
    }
    return {"cells": len(printed), **counts}


def within(limit: float, printed: list[Cell]) -> list[str]:
    """The methods whose every figure is that near to the paper's."""
    other = {cell.method for cell in printed if max(cell.gaps) > limit + 1e-9}
    return [m for m in dict.fromkeys(cell.method for cell in printed) if m not in other]


def forms(printed: list[Cell]) -> dict[str, float]:
    """How far the two forms of imparity are, at most, from the printed figure."""
    rows = [cell.selected for cell in printed]
    names = ("imparity", "imparity_released")
    return {n: max(abs(row[n] - row["paper_imparity"]) for row in rows) for n in names if rows}


def below(ours: Iterable[Cell], base: Mapping[Any, Cell]) -> dict[str, list[Cell]]:
    """Where a method's mean imparity is below the base's; where by more than both deviations."""
    compared = [(cell, base[cell.dataset, cell.setting]) for cell in ours]
    gain = {c: b.mean["imparity"] - c.mean["imparity"] for c, b in compared}
    noise = {c: b.std["imparity"] + c.std["imparity"] for c, b in compared}
    return {
        "in print": [cell for cell in gain if cell.selected["paper_reduction"] > 0],
        "at all": [cell for cell in gain if gain[cell] > 0],
        "clearly": [cell for cell in gain if gain[cell] > noise[cell]],
    }


def better(cell: Cell, rivals: Iterable[Cell]) -> list[str]:
    """The methods with a higher mean micro F1 and a lower mean imparity in the same setting."""
    return [
        rival.method
        for rival in rivals
        if (rival.dataset, rival.setting) == (cell.dataset, cell.setting)
        and rival.mean["micro_f1"] > cell.mean["micro_f1"]
        and rival.mean["imparity"] < cell.mean["imparity"]
    ]


def objective(dataset: str, epochs: int) -> dict[str, float]:
    """InfoFair's objective and task loss in the end, averaged over its models; how many stopped."""
    path = files.need(files.curves(dataset, "infofair"), f"train@{dataset}-infofair")
    last = pd.read_csv(path).groupby(["setting", "seed"]).last()
    stopped = int((last["epoch"] < epochs).sum())
    return {
        "J": last["total"].mean(), "T": last["T"].mean(), "models": len(last), "stopped": stopped
    }  # fmt: skip


# -- what survives in the honest table ------------------------------------------------------------

Row = dict[Any, Any]
Place = tuple[str, str]  # dataset, setting
Rows = dict[str, dict[Place, Row]]  # of results/honest_summary.csv, by method and place


def by_method(honest: pd.DataFrame, chosen: Iterable[str]) -> Rows:
    """Of these datasets; without what diverged."""
    found: Rows = {method: {} for method in honest_table.methods(honest)}
    rows = honest[honest["dataset"].isin(list(chosen)) & (honest["diverged"] == 0)]
    for row in rows.to_dict("records"):
        found[row["method"]][row["dataset"], row["setting"]] = row
    return {method: of for method, of in found.items() if of}


def sides(rows: Mapping[Place, Row], figure: str) -> dict[str, list[Place]]:
    """Where the whole interval of a figure's difference from vanilla is below 0, where above."""
    ends = {p: (row[f"more_{figure}_low"], row[f"more_{figure}_high"]) for p, row in rows.items()}
    return {
        "lower": [place for place, (_, high) in ends.items() if high < 0],
        "higher": [place for place, (low, _) in ends.items() if low > 0],
    }


def matching(rows: Rows, method: str) -> dict[str, Row]:
    """The methods that lower imparity in at least as many settings as this one, and in any.

    Beside the number, the mean change of micro F1 over the settings in which both ran, and whether
    it is no worse than this method's own there.
    """
    lowered = {name: len(sides(of, "imparity")["lower"]) for name, of in rows.items()}
    found = {}
    for name, of in rows.items():
        shared = [place for place in of if place in rows[method]]
        if name not in ("vanilla", method) and shared and lowered[name] >= max(lowered[method], 1):
            mean, own = (
                sum(rows[m][place]["more_micro_f1"] for place in shared) / len(shared)
                for m in (name, method)
            )
            found[name] = {
                "lowered": lowered[name], "settings": len(of), "more_micro_f1": mean,
                "no_dearer": mean >= own,
            }  # fmt: skip
    return found


def constant_share(rows: Iterable[Row]) -> float:
    """Of all models, of every split and seed."""
    models = [(row["splits"] * row["seeds"], row["constant"]) for row in rows]
    return sum(n * share for n, share in models) / sum(n for n, _ in models)


def beside(rows: Rows, method: str, other: str) -> list[Row]:
    """One method against another in each setting that both have.

    `better`: lower mean imparity at no lower mean micro F1; `clearly`: the intervals of their
    differences from vanilla in imparity do not overlap, and its own is the lower.
    """
    found = []
    for place, row in rows.get(method, {}).items():
        if theirs := rows.get(other, {}).get(place):
            lower = row["imparity"] < theirs["imparity"]
            found.append(
                {
                    "place": place, "row": row, "other": theirs, "lower": lower,
                    "better": lower and row["micro_f1"] >= theirs["micro_f1"],
                    "clearly": row["more_imparity_high"] < theirs["more_imparity_low"],
                }
            )  # fmt: skip
    return found


def judged(honest: pd.DataFrame, paper: list[str], collapsed: Iterable[str]) -> Row | None:
    """What the honest table says of the paper's conclusions; None if InfoFair is not in it.

    Of the paper's datasets. collapsed: the methods that are constant in print.
    """
    rows = by_method(honest, paper)
    if not (own := rows.get("infofair")):
        return None
    return {
        "settings": len(own),
        "imparity": sides(own, "imparity"),
        "micro_f1": sides(own, "micro_f1"),
        "changes": [row["more_micro_f1"] for row in own.values()],
        "matching": matching(rows, "infofair"),
        "collapsed": {m: constant_share(rows[m].values()) for m in collapsed if m in rows},
        "fitted": beside(rows, FITTED, "infofair"),
    }


# -- fronts ---------------------------------------------------------------------------------------


def grid(table: pd.DataFrame, text: Callable[[Row], str]) -> dict[str, Any]:
    """A table with a line per dataset and setting, and a column per method."""
    lines = {
        place: {row["method"]: text(row) for row in rows.to_dict("records")}
        for place, rows in table.groupby(fronts.PLACE, sort=False)
    }
    return {"methods": honest_table.methods(table), "lines": lines}


def area_text(row: Row) -> str:
    figures = (spread(row[name], row[f"{name}_std"]) for name in ("hypervolume", "above_chord"))
    return "{} ({})".format(*figures)


def best_text(row: Row) -> str:
    if pd.isna(row["strength"]):
        return "–"
    marks = "*" * (row["imparity"] > row["budget"]) + "†" * (row["constant"] > 0)
    return f"{number(row['micro_f1'])} / {number(row['imparity'])}{marks}"


def bits(information: pd.DataFrame) -> dict[str, Any]:
    """Each method's running and held-out estimate of I(z; s): means over seeds, by strength."""
    found = {}
    for method, of in information.groupby("method", sort=False):
        names = ["running", "held_out", "held_out_score"]
        means = of.groupby([*fronts.PLACE, "strength"], sort=False)[names].mean()
        lines: dict[Place, dict[float, Row]] = {}
        for row in means.reset_index().to_dict("records"):
            place = row["dataset"], row["setting"]
            lines.setdefault(place, {})[row["strength"]] = row
        found[str(method)] = {
            "strengths": sorted(set(of["strength"])),
            "lines": lines,
            "cells": len(means),
            "short": int((means["running"] < means["held_out"]).sum()),
            "apart": float((means["running"] - means["held_out"]).abs().mean()),
            "left": float(means["held_out_score"].mean()),
        }
    return found


def of_fronts() -> dict[str, Any]:
    """What results/ says of the fronts."""
    areas, best = fronts.read(fronts.HYPERVOLUME), fronts.read(fronts.BEST)
    places = list(areas[fronts.PLACE].drop_duplicates().itertuples(index=False, name=None))
    ahead: dict[Place, dict[str, list[float]]] = {}
    for row in standings.ahead(best, FITTED):
        rivals = ahead.setdefault((row["dataset"], row["setting"]), {})
        rivals.setdefault(row["rival"], []).append(row["budget"])
    return {
        "standings": standings.standings(areas, FITTED),
        "fitted": FITTED in set(areas["method"]),
        "ahead": ahead,
        # the places by what they are called, those where nobody is ahead, and those where no method
        # is that the paper does not have
        "counted": {
            name: (
                those,
                [place for place in those if place not in ahead],
                [place for place in those if not ahead.get(place, {}).keys() & tables.MORE_METHODS],
            )
            for name, leak in (("of the datasets as they are", False), ("without leak", True))
            if (those := [p for p in places if p[0].endswith(fronts.WITHOUT_LEAK) == leak])
        },
        "areas": grid(areas[areas["method"] != "vanilla"], area_text),
        "best": {b: grid(of, best_text) for b, of in best.groupby("budget", sort=False)},
        "goal": standings.goal().to_dict("records"),
        "bits": bits(fronts.read(fronts.INFORMATION)),
    }


# -- where it comes from --------------------------------------------------------------------------


def read_table(name: str) -> pd.DataFrame:
    path = files.need(Path(f"results/{name}.csv"), "summarize")
    return pd.read_csv(path, dtype={"note": "str"}).fillna({"note": ""})


def source(dataset: str) -> dict[str, Any]:
    """SOURCE.json, with the public address of each real file."""
    described = datasets.load(dataset)
    addresses = {file.name: file.url for file in (*described.files, *described.split)}
    content = files.read_json(files.raw(dataset) / "SOURCE.json", f"download@{dataset}")
    for name, file in content["files"].items():
        file["url"] = addresses.get(name) if content["data"] == "real" else None
        file["host"] = urlsplit(file["url"] or "").hostname
    return content


def versions(dependencies: list[str]) -> list[dict[str, str]]:
    """What is pinned, and what is installed where that is something else."""
    found = []
    for requirement in dependencies:
        name, pinned = re.sub(r"\[.*\]", "", requirement).split("==")
        try:
            installed = metadata.version(name).split("+")[0]  # torch says +cpu
        except metadata.PackageNotFoundError:
            installed = "none"
        found.append({"name": name, "pinned": pinned, "installed": installed})
    return found


def hashes(params: Params) -> list[dict[str, Any]]:
    """What dvc.lock says of the data, the predictions and the tables that the page is made from.

    Only of what params.yaml asks for: dvc.lock remembers earlier, larger runs.
    """
    locked = YAML(typ="safe").load(files.need(Path("dvc.lock"), "summarize"))["stages"]
    made = {out["path"]: out for stage in locked.values() for out in stage.get("outs", [])}
    paths = []
    for dataset in params.datasets:
        paths += [files.raw(dataset), files.validated(dataset), files.processed(dataset)]
        paths += [files.predictions(dataset, method) for method in params.method_names]
    names = ("runs", "summary", "statistics", "subsets", "selection")
    paths += [Path(f"results/{name}.csv") for name in names]
    paths += [honest_table.SUMMARY, fronts.SUMMARY, fronts.HYPERVOLUME, fronts.BEST, fronts.GOAL]
    paths += [fronts.INFORMATION]
    return [made[str(path)] for path in paths if str(path) in made]


# -- figures --------------------------------------------------------------------------------------


def inline(path: Path, made_by: str, titles: Mapping[str, tuple[str, str]]) -> str:
    """An SVG of ours as a part of the page.

    Its ids get its name in front, so that those of two figures do not clash. What has a title, by
    its id, becomes a link to its place in a table, which a keyboard reaches.
    """
    try:
        root = ElementTree.parse(files.need(path, made_by)).getroot()
    except ElementTree.ParseError as error:
        raise files.damaged(path, error) from None
    own = f"{path.stem}-"
    links = {own + key: found for key, found in titles.items()}
    for element in list(root.iter()):
        element.tag = element.tag.rpartition("}")[2]  # HTML knows what <svg> holds
        for key in list(element.attrib):
            name = key.rpartition("}")[2]
            value = element.attrib.pop(key).replace("url(#", f"url(#{own}")
            if name == "id" or (name == "href" and value.startswith("#")):
                value = re.sub(r"^#?", rf"\g<0>{own}", value)
            element.set(name, value)
        if element.tag == "style" and element.text:
            element.text = element.text.replace("*{", f"#{path.stem} *{{")
    for parent in list(root.iter()):
        for place, child in enumerate(list(parent)):
            if child.tag == "metadata":
                parent.remove(child)
            elif child.get("id") in links:
                target, text = links[child.attrib["id"]]
                parent[place] = link = ElementTree.Element("a", {"href": f"#{target}"})
                ElementTree.SubElement(link, "title").text = text
                link.append(child)
    root.attrib = {"id": path.stem, "viewBox": root.attrib["viewBox"], "role": "group"}
    return ElementTree.tostring(root, encoding="unicode")


def fragment(path: Path, made_by: str) -> str:
    """HTML of ours, its tables each in a box that scrolls, its lines broken where they may be."""
    html = files.need(path, made_by).read_text(encoding="utf-8")
    html = html.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")
    table = re.compile(r"<table\b.*?<caption>(.*?)</caption>.*?</table>", re.DOTALL)
    box = r'<div class="scroll" tabindex="0" role="region" aria-label="\1">\g<0></div>'
    return table.sub(box, html)


# -- words ----------------------------------------------------------------------------------------


def number(value: float, digits: int = 3, sign: str = "-") -> str:
    """With a minus sign that is one, none before a zero, and a dash for what is not there."""
    if pd.isna(value):
        return "–"
    shown = round(value, digits) or 0.0
    return f"{shown:{sign if shown else '-'},.{digits}f}".replace("-", "−")


def spread(mean: float, std: float, form: Callable[[float], str] = number) -> str:
    return form(mean) if pd.isna(std) else f"{form(mean)} ± {form(std)}"


def interval(row: Mapping[str, float], figure: str) -> str:
    low, high = row[f"{figure}_low"], row[f"{figure}_high"]
    return "–" if pd.isna(low) else f"{number(low)}–{number(high)}"


def mark_far(difference: float) -> str:
    """A class for the style sheet."""
    return "far" if abs(difference) > FAR else ""


def listed(words: Iterable[object]) -> str:
    """a, b and c; or, if there are commas in them: a; b; and c"""
    *most, last = [str(word) for word in words]
    if any("," in word for word in (*most, last)):
        return "; ".join([*most, f"and {last}" if most else last])
    return f"{', '.join(most)} and {last}" if most else last


def method_name(method: str) -> str:
    """InfoFair's ablations are called by the terms they keep."""
    short = method in tables.VARIANTS and method not in tables.METHODS
    return f"InfoFair {tables.VARIANTS[method]}" if short else tables.method_name(method)


def full_name(cell: Cell) -> str:
    return f"{cell.place}, {method_name(cell.method)}"


def of_points(everything: list[Cell]) -> dict[str, tuple[str, str]]:
    """Where the points of the trade-off figure lead, and what they say, by their ids."""
    titles = {}
    for cell in everything:
        said = []
        for heading, ours, paper in (
            ("micro F1", "micro_f1", "paper_micro_f1"),
            ("imparity", "imparity_released", "paper_imparity"),
        ):
            figure = f"mean {heading} {spread(cell.mean[ours], cell.std[ours])}"
            figure += f", selected {number(cell.selected[ours])}"
            said.append(figure + f", paper {number(cell.selected[paper])}" * cell.printed)
        titles[f"point-{cell.id}"] = f"row-{cell.id}", f"{full_name(cell)}: {'; '.join(said)}"
    return titles


def of_bars(everything: list[Cell]) -> dict[str, tuple[str, str]]:
    """Where the bars of the ablation figure lead, and what they say, by their ids."""
    titles = {}
    for cell in everything:
        for heading, figure, form in (
            ("micro F1", "micro_f1", number),
            ("macro F1", "macro_f1", number),
            ("reduction", "reduction_released", tables.percent),
        ):
            said = f"mean {heading} {spread(cell.mean[figure], cell.std[figure], form)}"
            said += f", selected {form(cell.selected[figure])}"
            titles[f"bar-{cell.id}-{figure}"] = f"row-{cell.id}", f"{full_name(cell)}: {said}"
    return titles


def of_lines(summary: pd.DataFrame, attributes: Mapping[Place, str]) -> dict[str, tuple[str, str]]:
    """Where the lines of the fronts' figure lead, and what they say, by their ids."""
    titles = {}
    for (dataset, setting, method), rows in fronts.cells(summary):
        cell = f"{dataset}-{setting}-{method}"
        said = [
            f"{number(row['micro_f1'])} / {number(row['imparity'])} at {row['strength']:g}"
            for row in fronts.front(rows).to_dict("records")
        ]
        name = f"{tables.dataset_name(dataset)}, {attributes[dataset, setting]}"
        text = f"{name}, {method_name(method)}: micro F1 / imparity {', '.join(said)}"
        titles[f"front-{cell}"] = f"area-{cell}", text
    return titles


# -- the page -------------------------------------------------------------------------------------


def attributes_of(table: pd.DataFrame) -> dict[Place, str]:
    """The settings of each dataset as a reader knows them."""
    names = {str(d): tables.settings(table, d) for d in dict.fromkeys(table["dataset"])}
    return {(d, s): tables.setting_name(s, of) for d, of in names.items() for s in of}


def facts(params: Params) -> dict[str, Any]:
    """Everything that the template shows."""
    everything = cells(tables.read("results/summary.csv"))
    printed = [cell for cell in everything if cell.printed]
    constant = [cell for cell in printed if tables.constant_in_print(cell.selected)]
    rivals = [c for c in everything if c.method not in tables.VARIANTS and not c.mean["note"]]
    vanilla, infofair = (
        {(cell.dataset, cell.setting): cell for cell in everything if cell.method == method}
        for method in ("vanilla", "infofair")
    )
    paper = [dataset for dataset in params.datasets if dataset in tables.DATASETS]
    of_dataset = {d: [cell for cell in printed if cell.dataset == d] for d in paper}
    claimed = [cell for cell in infofair.values() if cell.dataset in paper]
    own = {
        d: [cell for cell in infofair.values() if cell.dataset == d]
        for d in params.datasets
        if d not in paper
    }
    honest, swept = honest_table.read(honest_table.SUMMARY), fronts.read(fronts.SUMMARY)
    attributes = attributes_of(honest) | attributes_of(swept)
    attributes |= {(cell.dataset, cell.setting): cell.attributes for cell in everything}
    selection = read_table("selection").to_dict("records")
    settings = {}
    for row in read_table("statistics").to_dict("records"):
        # no prediction scores less: a group without members is 1/2 away from every other
        present = row["groups"] - row["empty_test"]
        least = float(average_gap_released(0, present, row["groups"]))
        settings[row["dataset"], row["setting"]] = row | {"least": least}
    validations = {
        dataset: files.read_json(files.validation_report(dataset), f"validate@{dataset}")
        for dataset in params.datasets
    }
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "params": params,
        "parameters": PATH.read_text(encoding="utf-8"),
        "paper": paper,
        "own": {d: (of, below(of, vanilla) if vanilla else None) for d, of in own.items()},
        "unlike": sorted(  # whose data or split is not the paper's
            {
                (c.dataset, c.mean["data"], c.mean["partition"])
                for c in everything
                if c.dataset in paper or c.mean["data"] != "real"
            }
            - {(dataset, "real", "authors") for dataset in params.datasets}
        ),
        "cells": everything,
        "filters": {
            "dataset": {c.dataset: tables.dataset_name(c.dataset) for c in everything},
            "setting": {c.setting: tables.attribute_name(c.setting) for c in everything},
            "method": {c.method: method_name(c.method) for c in everything},
        },
        "agreement": {
            **{tables.dataset_name(d): agreement(of) for d, of in of_dataset.items()},
            ALL: agreement(printed),
            REST: agreement([cell for cell in printed if cell not in constant]),
        },
        "constant": constant,
        "near": {d: (within(FAR, of), within(EXACT, of)) for d, of in of_dataset.items()},
        "vanilla": vanilla,
        "infofair": infofair,
        "claimed": claimed,
        "forms": forms([cell for cell in vanilla.values() if cell.printed]),
        "below": below(claimed, vanilla) if vanilla else None,
        "beaten": {cell: by for cell in claimed if (by := better(cell, rivals))},
        "attributes": attributes,
        "judged": judged(honest, paper, dict.fromkeys(cell.method for cell in constant)),
        "fronts": of_fronts(),
        "settings": settings,
        "impossible": [
            cell
            for cell in printed
            if cell.selected["paper_imparity"] + EXACT
            < settings[cell.dataset, cell.setting]["least"]
        ],
        "at_floor": [
            cell
            for cell in vanilla.values()
            if cell.mean["imparity_released"] <= cell.mean["floor_released"]
        ],
        "validations": validations,
        "leaks": {
            dataset: [column for column in report["audit"] if column["column"] in report["leaks"]]
            for dataset, report in validations.items()
            if report["leaks"]
        },
        "objective": {d: objective(d, params.training.epochs) for d in params.datasets if infofair},
        "selection": selection,
        "reductions": [
            row["reduction_released"]
            for row in selection
            if not pd.isna(row["reduction_released"])  # vanilla's own imparity is 0
        ],
        "findings": {m: found for m in params.method_names if (found := methods.load(m).finding)},
        "subsets": sorted(
            read_table("subsets").to_dict("records"),
            key=lambda row: list(settings).index((row["dataset"], row["attribute"])),
        ),
        "sources": {dataset: source(dataset) for dataset in params.datasets},
        "python": project["requires-python"],
        "versions": versions(project["dependencies"]),
        "hashes": hashes(params),
        "results_table": fragment(FIGURES / "results_table.html", "table"),
        "honest_table": fragment(FIGURES / "honest_table.html", "table_honest"),
        "frontier": inline(
            FIGURES / "frontier.svg", "figure_frontier", of_lines(swept, attributes)
        ),
        "tradeoff": inline(FIGURES / "tradeoff.svg", "figure@tradeoff", of_points(everything)),
        "ablation": inline(FIGURES / "ablation.svg", "figure@ablation", of_bars(everything)),
    }


def render(context: Mapping[str, Any]) -> str:
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "dataset": tables.dataset_name, "method": method_name, "attribute": tables.attribute_name,
        "number": number, "percent": tables.percent, "listed": listed, "far": mark_far,
    }  # fmt: skip
    environment.globals |= {
        "spread": spread, "interval": interval, "percent": tables.percent,
        "compared": list(COMPARED), "tolerances": TOLERANCES, "limit": FAR, "all": ALL,
        "rest": REST,
    }  # fmt: skip
    css, js = ((HERE / f"report.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    return environment.get_template("report.html").render(**context, css=css, js=js)


def revision() -> dict[str, Any]:
    """The commit the results were made from, and whether anything that makes them had changed."""

    def git(*command: str) -> str | None:
        done = subprocess.run(["git", *command], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    changed = git("status", "--porcelain", "--", *SOURCES)
    return {
        "revision": git("rev-parse", "HEAD"),
        "dirty": None if changed is None else changed != "",
    }


def provenance() -> dict[str, Any]:
    """What the results come from."""
    parameters = YAML(typ="safe").load(PATH.read_text(encoding="utf-8"))
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = {v["name"]: v["installed"] for v in versions(project["dependencies"])}
    sources = {
        dataset: files.read_json(files.raw(dataset) / "SOURCE.json", f"download@{dataset}")
        for dataset in parameters["datasets"]
    }
    return {
        **revision(),
        "python": platform.python_version(),
        "packages": packages,
        "data": sources,
        "parameters": parameters,
    }


def main() -> None:
    files.write_text(PAGE, render(facts(load())))
    files.write_json(PROVENANCE, provenance())


if __name__ == "__main__":
    cli.run(main, __doc__)

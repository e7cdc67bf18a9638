"""What reports/beyond.html and docs/results-beyond.md say: fronts, honest table, luck, by section.

Reads what the stages of beyond/dvc.yaml make, the raw data's SOURCE.json and the paper's table, and
no other result of dvc.yaml.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from study import labels, paths, results, standings
from study.fronts import WITHOUT_LEAK
from study.page import luck, sources, tried, unprocessed
from study.page.cells import FAR, Place, attributes_of
from study.page.grid import TEXT, Column, Grid, by_place, figures, texts
from study.page.survival import FITTED, judged
from study.page.words import NONE, short
from study.params import Params
from study.results import PLACE, Row
from study.tables import honest, layout
from study.tables.layout import number, spread
from study.tables.summary import constant_in_print

SUMMARY = "frontier_summary"
TABLES = (
    SUMMARY, "hypervolume", "best", "goal", "information", "honest_summary", "luck_summary",
    "tried", "unprocessed", "dominated",
)  # fmt: skip


@dataclass(frozen=True)
class Found:
    """The results that the sections share, by the names of their tables."""

    params: Params
    tables: dict[str, pd.DataFrame]

    @cached_property
    def attributes(self) -> dict[Place, str]:
        return attributes_of(self.tables["honest_summary"]) | attributes_of(self.tables[SUMMARY])

    @cached_property
    def paper(self) -> list[str]:
        """The paper's datasets that were run."""
        return [dataset for dataset in self.params.datasets if dataset in labels.DATASETS]

    def row(self, key: Place) -> list[str]:
        """The first two cells of a row."""
        return [labels.dataset_name(key[0]), self.attributes[key]]


def read(params: Params) -> Found:
    return Found(params, {name: results.read(name) for name in (*TABLES, "frontier")})


def facts(params: Params) -> dict[str, Any]:
    """Everything that the page and the document show, but for tables and figures of other rooms."""
    found = read(params)
    return {
        "params": params,
        "attributes": found.attributes,
        "unlike": unlike(found),
        "fitted": FITTED,
        **survival(found),
        **fronts(found),
        **budgets(found),
        **goal(found),
        "bits": bits(found),
        "luck": luck.facts(found.tables["luck_summary"], found.row),
        "tried": tried.facts(found.tables["tried"], found.row),
        "thresholds": unprocessed.facts(
            found.tables["unprocessed"], found.tables["dominated"], found.row
        ),
    }


def unlike(found: Found) -> list[tuple[str, str, str]]:
    """The datasets whose data or split is not the paper's: name, data, split."""
    swept = found.tables[SUMMARY]
    all_of = set(swept[["dataset", *results.MARKS]].itertuples(index=False, name=None))
    kept = {
        (str(dataset).removesuffix(WITHOUT_LEAK), data, split)
        for dataset, data, split in all_of
        if str(dataset).removesuffix(WITHOUT_LEAK) in found.paper or data != "real"
    }
    return sorted(kept - {(dataset, "real", "authors") for dataset in found.paper})


# -- the honest table -----------------------------------------------------------------------------


def survival(found: Found) -> dict[str, Any]:
    paper = results.paper()
    printed = paper[paper["dataset"].isin(found.paper)].add_prefix("paper_").to_dict("records")
    collapsed = labels.in_order(row["paper_method"] for row in printed if constant_in_print(row))
    of_infofair = [row for row in printed if row["paper_method"] == "infofair"]
    verdicts = judged(found.tables["honest_summary"], found.paper, collapsed)
    return {
        "judged": verdicts,
        "limit": FAR,
        # in how many of the paper's own cells InfoFair is said to lower imparity
        "claimed": (sum(row["paper_reduction"] > 0 for row in of_infofair), len(of_infofair)),
        "pairs": of_pairs(found, verdicts["fitted"]) if verdicts and verdicts["fitted"] else None,
    }


def of_pairs(found: Found, pairs: list[Row]) -> Grid:
    rows = []
    for pair in pairs:
        both = pair["row"], pair["other"]
        said = "yes" if pair["lower"] else "no"
        said += ", clearly" * pair["clearly"] + ", at no lower F1" * pair["better"]
        shown = [number(of[name]) for name in ("micro_f1", "imparity") for of in both]
        rows.append([*found.row(pair["place"]), *shown, said])
    both = ("fitted", "InfoFair")
    strengths = (short(pairs[0][whose]["strength"]) for whose in ("row", "other"))
    name = labels.method_name(FITTED)
    return by_place(
        "InfoFair with fitted estimators",
        "Means over splits in the honest profile: {} at strength {}, InfoFair at {}.".format(
            name, *strengths
        ),
        [
            *figures(*both, group="Micro F1"),
            *figures(*both, group="Imparity"),
            Column("Lower imparity", TEXT),
        ],
        rows,
    )


# -- fronts ---------------------------------------------------------------------------------------


def fronts(found: Found) -> dict[str, Any]:
    areas, best = found.tables["hypervolume"], found.tables["best"]
    places = list(areas[PLACE].drop_duplicates().itertuples(index=False, name=None))
    ahead: dict[Place, dict[str, list[float]]] = {}
    for row in standings.ahead(best, FITTED):
        rivals = ahead.setdefault((row["dataset"], row["setting"]), {})
        rivals.setdefault(row["rival"], []).append(row["budget"])
    ranked = standings.standings(areas, FITTED)
    there = FITTED in set(areas["method"])
    return {
        "has_fitted": there,
        "example": ranked[-1],
        "stable": stable(found) if there else None,
        # the places by what they are called, those where nobody is ahead, and those where no method
        # is that the paper does not have; and the ranks by hypervolume above the chord
        "counted": {
            name: (
                those,
                [place for place in those if place not in ahead],
                [p for p in those if not ahead.get(p, {}).keys() - set(labels.PAPER)],
                [r["above_chord_rank"] for r in ranked if (r["dataset"], r["setting"]) in those],
            )
            for name, leak in (("of the datasets as they are", False), ("without leak", True))
            if (those := [p for p in places if p[0].endswith(WITHOUT_LEAK) == leak])
        },
        "ahead": ahead_grid(found, ranked, ahead if there else None),
        "areas": of_methods(
            found,
            areas[areas["method"] != "vanilla"],
            area_text,
            "Hypervolumes",
            "Hypervolume, in brackets above the chord: of the mean figures on test rows, ± the "
            "standard deviation over seeds.",
            "area",
        ),
    }


def stable(found: Found) -> dict[str, Any]:
    """How many of the fitted models diverged or are constant."""
    runs = found.tables["frontier"]
    own = runs[(runs["method"] == FITTED) & (runs["split"] == "test")]
    constant = own[own["note"] == "constant"]
    keys = [*PLACE, "strength"]
    return {
        "models": len(own),
        "least": own["strength"].min(),
        "most": own["strength"].max(),
        "diverged": int((own["note"] == "diverged").sum()),
        "constant": len(constant),
        "where": constant[keys].drop_duplicates().to_dict("records"),
    }


def ahead_grid(
    found: Found, ranked: list[Row], ahead: dict[Place, dict[str, list[float]]] | None
) -> Grid:
    """Who has the largest hypervolumes; and who is ahead of the fitted InfoFair, if it was run."""
    name = labels.method_name(FITTED)
    columns = []
    for heading in ("Most hypervolume", "Most above the chord"):
        columns += [Column("method", TEXT, heading), Column("share", group=heading)]
    if ahead is not None:
        columns += figures("by hypervolume", "above the chord", group=f"Rank of {name}")
        columns.append(Column("Ahead of it (at budgets)", "text wrap"))
    rows = []
    for row in ranked:
        key = row["dataset"], row["setting"]
        cells = found.row(key)
        for figure in ("hypervolume", "above_chord"):
            first = row[f"{figure}_first"]
            cells += [labels.method_name(first) if first else NONE, number(row[f"{figure}_most"])]
        if ahead is not None:
            cells += [
                f"{number(row[f'{figure}_rank'], 0)} of {row[f'{figure}_of']}"
                for figure in ("hypervolume", "above_chord")
            ]
            said = [
                f"{labels.method_name(rival)} ({', '.join(map(short, at))})"
                for rival, at in ahead.get(key, {}).items()
            ]
            cells.append("; ".join(said) or "none")
        rows.append(cells)
    return by_place(
        "Who is ahead",
        "Hypervolume is the share of the plane between vanilla and the constant predictor that a "
        "front dominates; above the chord is what is left without credit for tossing a coin "
        "between these two.",
        columns,
        rows,
    )


def of_methods(
    found: Found,
    table: pd.DataFrame,
    text: Callable[[Row], str],
    label: str,
    caption: str,
    begins: str = "",
) -> Grid:
    """A line per dataset and setting, a column per method; begins: what ids of cells begin with."""
    methods = labels.in_order(table["method"])
    rows, ids = [], {}
    for line, ((dataset, setting), of) in enumerate(table.groupby(PLACE, sort=False)):
        shown = {row["method"]: text(row) for row in of.to_dict("records")}
        rows.append(
            [*found.row((str(dataset), str(setting))), *(shown.get(m, "") for m in methods)]
        )
        for column, method in enumerate(methods, 2):
            if begins and method in shown:
                ids[line, column] = f"{begins}-{dataset}-{setting}-{method}"
    return by_place(label, caption, figures(*map(labels.method_name, methods)), rows, ids)


def area_text(row: Row) -> str:
    shown = (spread(row[name], row[f"{name}_std"]) for name in ("hypervolume", "above_chord"))
    return "{} ({})".format(*shown)


def budgets(found: Found) -> dict[str, Any]:
    """The best choice of each method for each budget of imparity."""
    best = found.tables["best"]
    return {
        "best": {
            budget: of_methods(
                found,
                of,
                best_text,
                f"Budget of imparity {budget}",
                f"Imparity at most {budget}: micro F1 / imparity on test rows of the strength with "
                "the best mean F1 of those within the budget on validation rows. *: above it on "
                "test rows; †: constant in some seeds; –: none is within it.",
            )
            for budget, of in best.groupby("budget", sort=False)
        }
    }


def best_text(row: Row) -> str:
    if pd.isna(row["strength"]):
        return NONE
    marks = "*" * (row["imparity"] > row["budget"]) + "†" * (row["constant"] > 0)
    return f"{number(row['micro_f1'])} / {number(row['imparity'])}{marks}"


# -- the goal -------------------------------------------------------------------------------------


def goal(found: Found) -> dict[str, Any]:
    """Against the paper's table; the strengths that would have met it where it is missed."""
    table = found.tables["goal"].to_dict("records")
    rows = []
    for row in table:
        own = [short(row["strength"])]
        for name in ("micro_f1", "asked_micro_f1", "imparity_released", "rival_imparity"):
            own.append(number(row[name]))
        rival = labels.method_name(row["rival"]) if isinstance(row["rival"], str) else NONE
        key = row["dataset"], row["setting"]
        rows.append([*found.row(key), *own, rival, row["holds"], row["why"]])
    missed = [(row["dataset"], row["setting"]) for row in table if row["holds"] != "yes"]
    swept = found.tables[SUMMARY].set_index(PLACE)
    would = standings.would_hold(swept.loc[missed].reset_index(), results.paper())
    return {
        "holds": len(table) - len(missed),
        "asked": len(table),
        "missed": {key: would.get(key, []) for key in missed},
        "goal": by_place(
            "The goal",
            "The strength with the least mean imparity on validation rows of those that keep the "
            "F1 there; its means on test rows.",
            [
                *figures("Strength", "Micro F1", "Asked", "Imparity", "Paper’s fairest"),
                *texts("which is", "Holds"),
                Column("Why not", "text wrap"),
            ],
            rows,
        ),
    }


# -- information ----------------------------------------------------------------------------------


def bits(found: Found) -> dict[str, Any]:
    """Each method's running and held-out estimate of I(z; s): means over seeds, by strength."""
    names = ["running", "held_out", "held_out_score"]
    result = {}
    for method, of in found.tables["information"].groupby("method", sort=False):
        means = of.groupby([*PLACE, "strength"], sort=False)[names].mean()
        result[str(method)] = {
            "cells": len(means),
            "short": int((means["running"] < means["held_out"]).sum()),
            "apart": float((means["running"] - means["held_out"]).abs().mean()),
            "left": float(means["held_out_score"].mean()),
            "grid": bits_grid(found, str(method), means.reset_index()),
        }
    return result


def bits_grid(found: Found, method: str, means: pd.DataFrame) -> Grid:
    strengths = sorted(set(means["strength"]))
    rows = []
    for (dataset, setting), of in means.groupby(PLACE, sort=False):
        shown = {
            row["strength"]: f"{number(row['running'])} / {number(row['held_out'])} "
            f"({number(row['held_out_score'])})"
            for row in of.to_dict("records")
        }
        rows.append(
            [*found.row((str(dataset), str(setting))), *(shown.get(s, "") for s in strengths)]
        )
    return by_place(
        f"Estimates of mutual information, {labels.method_name(method)}",
        "Bits, means over seeds: running / held-out, in brackets held-out of the score, by "
        "strength. A held-out estimate is at most the truth on average, and may be below 0.",
        figures(*map(short, strengths)),
        rows,
    )


# -- the page -------------------------------------------------------------------------------------


def of_page(params: Params) -> dict[str, Any]:
    """What the page shows and the document does not."""
    table = results.read("honest_summary")
    return {
        "honest_table": layout.to_html(honest.blocks(table), honest.layout(table), boxed=True),
        "frontier": sources.drawing("frontier", "beyond/dvc.yaml:figure"),
        "strips": sources.drawing("luck", "beyond/dvc.yaml:luck_figure"),
        "rules": sources.drawing("thresholds", "beyond/dvc.yaml:thresholds_figure"),
        **sources.made(params, paths.LOCKS[1], "beyond/dvc.yaml:frontier", outputs(params)),
    }


def outputs(params: Params) -> Iterator[Path]:
    """The data, the models and the tables that the page is made from."""
    for dataset in params.datasets:
        yield paths.DATA / "variants" / dataset
        for what in ("fronts", "honest"):
            yield from (paths.beyond(what, dataset, method) for method in params.swept_names)
        yield from (paths.beyond("luck", dataset, method) for method in params.luck.methods)
    yield from (paths.table(name) for name in TABLES)

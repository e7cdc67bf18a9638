"""The generalisations beside earlier trials of them: what agrees, and what was done otherwise.

The trials led to the hyperparameters. Their figures are in data/reference/general_trials.csv: means
and, where they are known, standard deviations of three seeds or splits. A figure agrees if it is no
further from the trial's than both spreads together reach. Ours is that of the nearest strength; one
that is not near says little, and is not counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan, log
from string import ascii_lowercase

import pandas as pd

from study import labels, results
from study.page import places
from study.page.grid import Grid, by_place, changes, figures, texts
from study.page.words import short
from study.params import Params
from study.results import CELL, Row
from study.tables import general as tables
from study.tables.general import STUDIES, VANILLA, Figure
from study.tables.layout import number, spread
from study.tables.summary import settings_of

COLUMNS = ["study", *CELL, "strength", "metric", "mean", "std"]
ROUNDING = 0.0005  # of the trials' figures: they have three digits
FAR = 1.5  # a nearest strength that is more than so many times the trial's, or less, is another

PAPERS, LAW, CRIME, FILMS = ("adult", "compas", "dutch"), ("law",), ("crime",), ("ml100k",)


@dataclass(frozen=True)
class Cause:
    """What was done otherwise here, of which figures; nothing named is all of them."""

    text: str  # {steps}, {splits}: of params.yaml
    studies: tuple[str, ...]
    datasets: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()

    def of(self, row: Row) -> bool:
        asked = {
            "study": self.studies, "dataset": self.datasets, "setting": self.settings,
            "method": self.methods, "metric": self.metrics,
        }  # fmt: skip
        return all(row[name] in values for name, values in asked.items() if values)


OTHER_STRENGTH = Cause(
    "The rule chose other strengths: the nearest one is not near.", tuple(STUDIES)
)
CAUSES = (
    OTHER_STRENGTH,
    Cause(
        "{splits} random splits of 60/20/20 instead of the authors’ one of 80/10/10: a quarter "
        "fewer training rows, other test rows, and spreads of splits, not of seeds alone.",
        ("equal_opportunity", "continuous"),
        PAPERS,
    ),
    Cause(
        "{splits} random splits instead of three others, of which a spread is little known.",
        ("graph", "regression", "recommendation"),
    ),
    Cause(
        "At most {steps} minibatches a model, of many rows fewer epochs than the trial’s.",
        ("equal_opportunity", "bottleneck", "continuous", "regression"),
        ("adult", "dutch", *LAW),
    ),
    Cause(
        "Features are standardised; those of the authors’ split are not, and the trial, as far as "
        "is known, took them as they are.",
        ("equal_opportunity", "continuous"),
        PAPERS,
    ),
    Cause(
        "Of twice as many test rows more groups have twenty positives, and the small ones have "
        "large gaps.",
        ("equal_opportunity",),
        settings=("intersection",),
        metrics=("opportunity_mean_gap",),
    ),
    Cause(
        "Thresholds of our own, of which none is random, fitted on validation rows; the trial’s "
        "are fairlearn’s.",
        ("equal_opportunity",),
        methods=("thresholds_opportunity",),
    ),
    Cause(
        "Minibatches of a tenth of the training rows, which are few, instead of 512.",
        ("continuous",),
        CRIME,
    ),
    Cause(
        "In the trial itself vanilla, which does not know the setting, has an R² here that is "
        "beyond its spread in the other setting: its splits or its features were not the same.",
        ("regression",),
        LAW,
        ("white_gender",),
    ),
    Cause(
        "100 steps with weight decay, by vanilla’s validation ratings, instead of 200 without.",
        ("recommendation",),
        FILMS,
    ),
)


@dataclass(frozen=True)
class Beside:
    """A figure of a trial, and ours of the nearest strength."""

    trial: Row
    strength: float
    ours: Figure

    @property
    def near(self) -> bool:
        return distance(self.strength, self.trial["strength"]) <= log(FAR)

    @property
    def agrees(self) -> bool:
        spreads = sum(std for std in (self.ours.std, self.trial["std"]) if not isnan(std))
        return abs(self.ours.mean - self.trial["mean"]) <= spreads + ROUNDING

    @property
    def causes(self) -> list[Cause]:
        """What was done otherwise; if it agrees, nothing but another strength."""
        found = [c for c in CAUSES if c.of(self.trial) and c is not OTHER_STRENGTH]
        return [OTHER_STRENGTH] * (not self.near) + found * (not self.agrees)


@dataclass(frozen=True)
class Trials:
    """Of a study, for the templates."""

    agreeing: int
    near: int  # how many are of a strength like the trial's: it is these that may agree
    of: int
    grid: Grid
    causes: list[tuple[str, str]]  # its letter, and what it says


def read() -> pd.DataFrame:
    return results.checked(places.TRIALS, COLUMNS)


def distance(one: float, other: float) -> float:
    """Of two strengths, as a logarithm of their ratio; 0 is far from all but itself."""
    if one == other:
        return 0.0
    return abs(log(one / other)) if one and other else float("inf")


def beside(study: str, table: pd.DataFrame) -> Iterator[Beside]:
    """Every figure of the study's trial that has a counterpart on real data."""
    of: dict[tuple[str, ...], list[Row]] = {}
    for row in table[table["data"] == "real"].to_dict("records"):
        of.setdefault(_cell(row), []).append(row)
    trials = read()
    for trial in trials[trials["study"] == study].to_dict("records"):
        if rows := of.get(_cell(trial)):
            own = min(rows, key=lambda row: distance(row["strength"], trial["strength"]))
            yield Beside(trial, own["strength"], tables.figure(own))


def _cell(row: Row) -> tuple[str, ...]:
    return tuple(row[name] for name in (*CELL, "metric"))


def trials(study: str, table: pd.DataFrame, params: Params) -> Trials | None:
    found = list(beside(study, table))
    if not found:
        return None
    known = [cause for cause in CAUSES if any(cause in own.causes for own in found)]
    letters = dict(zip(known, ascii_lowercase, strict=False))
    said = {"splits": len(params.general.splits), "steps": params.general.steps}
    return Trials(
        sum(own.near and own.agrees for own in found), sum(own.near for own in found), len(found),
        grid(study, table, found, letters),
        [(letter, cause.text.format(**said)) for cause, letter in letters.items()],
    )  # fmt: skip


def grid(study: str, table: pd.DataFrame, found: list[Beside], letters: dict[Cause, str]) -> Grid:
    rows = []
    for own in found:
        trial, alone = own.trial, own.trial["method"] == VANILLA
        verdict = "yes" if own.agrees else "no"
        rows.append([
            labels.dataset_name(trial["dataset"]),
            labels.setting_name(trial["setting"], settings_of(table, trial["dataset"])),
            labels.general_name(trial["method"]),
            labels.measured_name(trial["metric"]),
            "" if alone else short(trial["strength"]),
            number(trial["mean"]) if isnan(trial["std"]) else spread(trial["mean"], trial["std"]),
            "" if alone else short(own.strength),
            own.ours.text,
            verdict if own.near else f"({verdict})",
            ", ".join(letters[cause] for cause in own.causes),
        ])  # fmt: skip
    made = by_place(
        f"{STUDIES[study].title}, beside a trial",
        f"{STUDIES[study].title}, beside an earlier trial: mean ± std on test rows, ours at the "
        "strength that is nearest to the trial’s. Agrees: no further apart than both spreads "
        "together reach; in brackets where the strength is not near, which says little. Otherwise: "
        "what was done otherwise, by letter.",
        [
            *texts("Method", "Figure"), *figures("strength", "mean ± std", group="Trial"),
            *figures("strength", "mean ± std", group="Ours"), *texts("Agrees", "Otherwise"),
        ],
        rows,
    )  # fmt: skip
    made.rules.update(changes((own.trial["dataset"], own.trial["setting"]) for own in found))
    return made

"""Generalisation D: attributes that are numbers.

The paper: "mutual information supports continuous-valued random variables", but "a major difficulty
lies in modeling the variational distribution"; "a potential solution could be utilizing a
generative model". Here q(s|z) is a mixture of Gaussians, and f(z, s) sees s as a number
(infofair/framework/modules.py). With a category beside it, q(g|z) q(s|z, g).

Age of Adult, alone and with gender, and of COMPAS. On Communities and Crime violent crimes are
predicted, a number, and s is the share of Black inhabitants: a row is a community and no person, so
nothing there says how anybody is treated.

Rivals: GDP's kernel penalty, made for numbers; the fitted form that is told no more of age than
which of six bins it is in; and for numbers that are predicted a squared correlation.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import rankdata

from infofair import grids
from infofair.data import dataset as datasets
from infofair.framework import recipe
from infofair.framework.plan import Penalty
from infofair.framework.sensitive import Part
from study.general import networks
from study.general.numbers import r2
from study.general.penalties import kernel_gap, squared_correlation
from study.general.rows import encoded, split_at_random
from study.general.study import VANILLA, Key, Method, Models, Outputs, Rows

BINS = 6  # of numbers, for gaps of rates
AGE, BOTH, SHARE = "age", "age_gender", "black"
COLUMNS = {AGE: ("age",), BOTH: ("age", "sex"), SHARE: ("racepctblack",)}


def rows(dataset: str, setting: str, frame: pd.DataFrame, seed: int) -> Rows:
    found = datasets.load(dataset)
    s = frame[[*COLUMNS[setting]]].reset_index(drop=True)
    if setting == SHARE:
        s = s.apply(normal_scores)
    y = frame[found.label].to_numpy(float if found.number else int)
    return split_at_random(encoded(dataset, frame), y, s, seed)


def normal_scores(share: pd.Series) -> np.ndarray:
    """A third of the communities have a share of 0 to .02, and all are rounded to hundredths:
    these are drawn apart, and ranks made normal, which leaves the information as it is."""
    values = share.to_numpy() + 0.01 * np.random.default_rng(0).random(len(share))
    return ndtri((rankdata(values) - 0.5) / len(values))


def bins(rows: Rows, c: np.ndarray) -> np.ndarray:
    """Which of BINS quantiles of the training rows' first number these are in."""
    known = rows.parts[0].c[rows.split["train"], 0]
    return np.searchsorted(np.quantile(known, np.linspace(0, 1, BINS + 1)[1:-1]), c[:, 0])


def binned(rows: Rows) -> Rows:
    """The same rows, but s is the bin."""
    (part,) = rows.parts
    own = bins(rows, part.c).astype(np.int64)
    return replace(rows, parts=[Part(part.name, BINS, own, part.c[:, :0])])


# -- methods --------------------------------------------------------------------------------------


class Trained:
    """The fitted form, or a penalty in place of its critics, for classes and for numbers."""

    def __init__(
        self, *, penalty: Callable[[Sequence[Part]], Penalty] | None = None, aware: bool = True,
        epochs: int | None = None,
    ) -> None:  # fmt: skip
        self.penalty, self.aware, self.epochs = penalty, aware, epochs

    def __call__(
        self, splits: Mapping[int, Rows], strengths: Sequence[float], steps: int
    ) -> dict[Key, Outputs]:
        (first, *_) = splits.values()
        number = first.y.dtype.kind == "f"
        return networks.fitted(
            splits, strengths, steps,
            outcome=recipe.PREDICTION if number else recipe.DECISION, classes=0 if number else 2,
            penalty=self.penalty(first.parts) if self.penalty else None, aware=self.aware,
            epochs=self.epochs,
        )  # fmt: skip


def fitted_bins(
    splits: Mapping[int, Rows], strengths: Sequence[float], steps: int
) -> dict[Key, Outputs]:
    as_long = Trained(epochs=int(recipe.NUMBERS["epochs"]))  # as the others, who see numbers
    return as_long({seed: binned(own) for seed, own in splits.items()}, strengths, steps)


# -- what the rule of the grids sees ---------------------------------------------------------------


def look(outputs: Outputs, rows: Rows) -> grids.Row:
    """Decisions between the bins, and the groups in them; of numbers R², and the largest
    difference of means."""
    (part,) = rows.s("validation")
    y, predicted = rows.at("validation"), outputs["validation"]
    bin = bins(rows, part.c)
    if y.dtype.kind != "f":
        return grids.look(predicted, y, bin * part.groups + part.g)
    means = np.bincount(bin, predicted, BINS) / np.bincount(bin, minlength=BINS)
    return {"micro_f1": r2(predicted, y), "imparity": float(np.ptp(means)), "constant": 0.0}


MODELS = Models(
    settings={"adult": (AGE, BOTH), "compas": (AGE,), "crime": (SHARE,)},
    rows=rows,
    methods={
        VANILLA: Method(Trained(aware=False), strength=False),
        "fitted": Method(Trained()),
        "fitted_bins": Method(fitted_bins),
        "gdp": Method(Trained(penalty=kernel_gap)),
        "correlation": Method(Trained(penalty=lambda parts: squared_correlation)),
    },
    look=look,
    few={"fitted_bins": (AGE,), "correlation": (SHARE,)},
)

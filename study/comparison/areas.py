"""A method's front as one figure, split by split; ranks over cells, and pairs of methods.

A split's front is the Pareto set of a method's strengths by validation micro F1 and imparity; their
figures on test rows span the area (infofair/pareto.py). The corners are that split's `vanilla`,
whatever a method's training, and the constant predictor of the commoner training class.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, wilcoxon

from infofair.pareto import above_chord, pareto, staircase
from study.comparison.intervals import holm, over_splits
from study.comparison.measured import IN_SPLIT, TAKING_PART, needs_s, order, trials
from study.comparison.picking import operating_points
from study.results import AGAINST, CELL, PAIRED, PLACE, RIVALS, TABLES, Row, frame

AREAS = ["hypervolume", "above_chord"]
DIGITS = 12  # vanilla's own area is 2e-16 or 0, as the rounding falls, and these are to tie
PAIRS = (
    *(
        ("infofair_fitted", rival)
        for rival in (
            "infofair_fitted_ts", "infofair_fitted_td", "infofair_fitted_held",
            "adversarial_fitted", "dp_gap", "plugin_mi", "fermi", "fairret_norm", "gdp",
        )
    ),
    ("infofair_fitted_held", "vanilla"),
    ("infofair", "vanilla"),
    ("infofair_paper", "vanilla_paper"),
    ("infofair", "infofair_fitted"),
    ("adversarial", "adversarial_fitted"),
)  # fmt: skip
_CORNERS = ["vanilla_imparity", "vanilla_micro_f1", "constant_micro_f1"]


class _Spanned(NamedTuple):
    hypervolume: float
    above_chord: float
    strengths: int  # on the front


def hypervolumes(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean areas over splits with their widths; `rank` in the cell by above_chord, 1 is best.

    `strengths` is the mean number of those on the front.
    """
    of_splits = areas_of_splits(rows)
    means = over_splits(of_splits, CELL, AREAS)
    grouped = of_splits.groupby(CELL, sort=False)
    found = pd.concat([means.mean, means.width.add_suffix("_width")], axis=1)
    found[["strengths", *_CORNERS]] = grouped[["strengths", *_CORNERS]].mean()
    found["groups"] = grouped["groups"].max()
    found["splits"] = means.count["above_chord"]
    found["rank"] = found.groupby(PLACE, sort=False)["above_chord"].rank(ascending=False)
    return order(of_splits, found.reset_index(), [])[TABLES["hypervolume"]]


def areas_of_splits(rows: pd.DataFrame) -> pd.DataFrame:
    """Each method's areas in each split, and the corners that they are measured between.

    NaN, for all methods, in a split in which vanilla leaves no rectangle. A method of which all
    strengths diverged in a split has nothing to add to the corners there: 0.
    """
    of = trials(rows)
    of = of[of["notion"].isin(TAKING_PART["parity"])]
    keys = [*PLACE, "partition_seed"]
    corner = of.loc[of["method"] == "vanilla", [*keys, "imparity", "micro_f1"]]
    corner = corner.rename(columns={m: f"vanilla_{m}" for m in ("imparity", "micro_f1")})
    of = of.merge(corner, on=keys, how="left", validate="many_to_one")
    of["split"] = of.groupby(IN_SPLIT, sort=False).ngroup()
    of = of.sort_values("split", kind="stable")
    found = of.drop_duplicates("split")[[*IN_SPLIT, *_CORNERS, "groups", "train", "test"]]
    on = ["imparity", "micro_f1"]
    figures = of[[*on, *(f"validation_{name}" for name in on), *_CORNERS]].to_numpy(dtype=float)
    starts = np.flatnonzero(np.diff(of["split"], prepend=-1))
    blocks = np.split(figures, starts[1:]) if len(figures) else []
    spanned = [_span(block) for block in blocks]
    return found.assign(
        **{name: [getattr(of, name) for of in spanned] for name in _Spanned._fields}
    )


def _span(block: np.ndarray) -> _Spanned:
    """block: of one split, a row per strength."""
    imparity, f1, gap, f1_before = block[~np.isnan(block[:, :4]).any(axis=1), :4].T
    vanilla, constant = (block[0, 4], block[0, 5]), block[0, 6]
    if np.isnan(block[0, 4:]).any():
        return _Spanned(np.nan, np.nan, 0)
    on_front = pareto(f1_before, gap)
    points = list(zip(imparity[on_front].tolist(), f1[on_front].tolist(), strict=True))
    return _Spanned(
        round(staircase(points, vanilla, constant), DIGITS),
        round(above_chord(points, vanilla, constant), DIGITS),
        len(points),
    )


# -- over cells ----------------------------------------------------------------------------------


def ranks(areas: pd.DataFrame, paper: Collection[str] = ()) -> pd.DataFrame:
    """How methods rank over cells by above_chord, from the table of hypervolumes.

    paper: its datasets. Where others take part, on which few methods are run, `cells` are the
    paper's ("paper"), of these those with two groups (some methods handle no others) and those with
    more, and "all"; else all, and of these. Each time among the methods that have a figure in every
    such cell. Friedman's test asks whether they differ at all, with cells as blocks; Wilcoxon's
    signed ranks compare every method with those of AGAINST: `<name>_more` is the mean of what the
    method has more, `_p` of one test by itself, `_holm` for all methods at once, and `_few` for the
    RIVALS at once, which a rule fixes. Cells of one dataset share rows and models, so the
    p values are too small rather than too large.

    With so few cells they cannot be small: by itself none is below 2 / 2ⁿ for n cells, and of m at
    once none below m times that. Six cells can tell one difference at 5 %; nine cannot tell any of
    36, whatever the figures are, but of five.
    """
    table = areas.pivot_table(index=PLACE, columns="method", values="above_chord", sort=False)
    groups = areas.groupby(PLACE, sort=False)["groups"].max().reindex(table.index)
    every = groups > 0
    own = every & table.index.get_level_values("dataset").isin(list(paper))
    if own.all() or not own.any():
        parts = {"all": every}
        own = every
    else:
        parts = {"paper": own, "all": every}
    parts |= {"two groups": own & (groups == 2), "more groups": own & (groups > 2)}
    found = [_ranked(table[of], name) for name, of in parts.items() if of.any()]
    return pd.concat(found, ignore_index=True)[TABLES["ranks"]] if found else frame([], "ranks")


def _ranked(table: pd.DataFrame, cells: str) -> pd.DataFrame:
    """table: a row per cell, a column per method."""
    table = table.dropna(axis="columns")
    found = pd.DataFrame({"rank": table.rank(axis="columns", ascending=False).mean()})
    found["above_chord"] = table.mean()
    statistic, p = _friedman(table)
    for name in AGAINST:
        more = table.sub(table[name], axis="index") if name in table else table * np.nan
        more = more.drop(columns=name, errors="ignore")
        found[f"{name}_more"] = more.mean()
        found[f"{name}_p"] = more.apply(_wilcoxon)
        found[f"{name}_holm"] = holm(found[f"{name}_p"])
        found[f"{name}_few"] = holm(found[f"{name}_p"].where(found.index.isin(RIVALS)))
    found["s_at_test"] = ["yes" if needs_s(str(method)) else "no" for method in found.index]
    found = found.assign(
        cells=cells, blocks=len(table), methods=len(found), friedman=statistic, friedman_p=p
    )
    return found.sort_values("rank", kind="stable").reset_index(names="method")


def _friedman(table: pd.DataFrame) -> tuple[float, float]:
    """NaN for fewer than three methods, or if all tie everywhere."""
    if table.shape[1] < 3 or table.eq(table.iloc[:, 0], axis="index").all(axis=None):
        return float("nan"), float("nan")
    result = friedmanchisquare(*table.to_numpy().T)
    return float(result.statistic), float(result.pvalue)


def _wilcoxon(more: pd.Series) -> float:
    """Two-sided; cells without a difference say nothing, and where all are without it is 1."""
    if more.isna().any():
        return float("nan")
    told = more[more != 0]
    return float(wilcoxon(told).pvalue) if len(told) else 1.0


# -- pairs ---------------------------------------------------------------------------------------


def pairs(rows: pd.DataFrame, named: tuple[tuple[str, str], ...] = PAIRS) -> pd.DataFrame:
    """What `method` has more than `rival`, split by split: area, and figures at operating points.

    A row for each pair and cell that has both. A family of Holm's correction is one figure of one
    pair over its cells: neither the figures nor the pairs are corrected for one another.
    """
    chosen = trials(rows)
    chosen = chosen[chosen["notion"].isin(TAKING_PART["parity"])].reset_index(drop=True)
    columns = [*IN_SPLIT, "micro_f1", "imparity", "train", "test"]
    areas = areas_of_splits(rows)[[*IN_SPLIT, "above_chord"]]
    own = operating_points(chosen)[columns].merge(areas, on=IN_SPLIT, validate="one_to_one")
    found = [_paired(own, method, rival) for method, rival in named]
    return pd.concat(found, ignore_index=True)[TABLES["pairs"]]


def _paired(own: pd.DataFrame, method: str, rival: str) -> pd.DataFrame:
    keys = [*PLACE, "partition_seed"]
    theirs = own.loc[own["method"] == rival, [*keys, *PAIRED]]
    both = own[own["method"] == method].merge(theirs, on=keys, suffixes=("", "_rival"))
    for name in PAIRED:
        both[name] -= both[f"{name}_rival"]
    for name in ("micro_f1", "imparity"):  # not of those splits alone in which both have figures
        both[name] = both[name].where(
            both[name].notna().groupby([both[key] for key in PLACE]).transform("all")
        )
    means = over_splits(both, PLACE, PAIRED)
    ends = {
        "": means.mean, "_low": means.mean - means.width, "_high": means.mean + means.width,
        "_p": means.p, "_holm": means.p.apply(holm),
    }  # fmt: skip
    found = pd.concat([table.add_suffix(end) for end, table in ends.items()], axis=1)
    cell: Row = {"method": method, "rival": rival}
    return found.assign(splits=both.groupby(PLACE, sort=False).size(), **cell).reset_index()

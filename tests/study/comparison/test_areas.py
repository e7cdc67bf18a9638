"""Areas of fronts, split by split; ranks over cells; pairs of methods."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from infofair.pareto import above_chord, staircase
from study.comparison import areas, choices, measured
from study.comparison.intervals import half_width, holm
from study.page.standing import least_p
from study.results import CELL, FIGURES, PAIRED, PLACE, RIVALS, TABLES
from tests.study.comparison import made_up
from tests.study.comparison.test_choices import lose

FEW = ("vanilla", "vanilla_paper", "infofair", "infofair_fitted", "gdp", "lfr")
RULES = ("boosting_thresholds", "boosting_barycentre")
ONE = made_up.PLACES[:1]


def plain_areas(rows: pd.DataFrame, method: str, split: float) -> tuple[float, float, int]:
    """Of one cell: by steps, above the chord, and how many strengths are on the front."""
    trials = measured.trials(rows)
    trials = trials[trials["partition_seed"] == split]
    vanilla = trials[trials["method"] == "vanilla"].iloc[0]
    own = trials[(trials["method"] == method) & trials["notion"].isin(["", "parity", "scores"])]
    points = [
        (row["validation_imparity"], row["validation_micro_f1"], row["imparity"], row["micro_f1"])
        for row in own.to_dict("records")
    ]
    front = [
        (p[2], p[3])
        for p in points
        if not any(q[0] <= p[0] and q[1] >= p[1] and q[:2] != p[:2] for q in points)
    ]
    corner = (vanilla["imparity"], vanilla["micro_f1"])
    return staircase(front, corner, 0.75), above_chord(front, corner, 0.75), len(front)


# -- areas ----------------------------------------------------------------------------------------


def test_areas_are_means_over_splits_of_a_plain_loop() -> None:
    rows = made_up.measured((*FEW, *RULES), ONE)
    table = areas.hypervolumes(rows)
    assert list(table) == TABLES["hypervolume"]
    for row in table.to_dict("records"):
        each = [plain_areas(rows, row["method"], split) for split in range(4)]
        by_steps, above, strengths = (pd.Series(of) for of in zip(*each, strict=True))
        for name, of in (("hypervolume", by_steps), ("above_chord", above)):
            assert row[name] == pytest.approx(of.mean(), abs=1e-9)
            assert row[f"{name}_width"] == pytest.approx(half_width(of, 100 / 800), abs=1e-9)
        assert row["strengths"] == strengths.mean()
        assert (row["splits"], row["groups"], row["constant_micro_f1"]) == (4, 2, 0.75)
    wanted = stats.rankdata(-table["above_chord"])
    assert table["rank"].tolist() == wanted.tolist()


def test_who_equals_vanilla_has_nothing_above_the_chord_and_ties_with_it() -> None:
    rows = made_up.measured(("vanilla", "gdp"))
    equal = [rows[rows["method"] == "vanilla"].assign(method=name) for name in ("a", "b")]
    table = areas.hypervolumes(pd.concat([rows, *equal]))
    for _, own in table.groupby(PLACE):
        own = own.set_index("method")
        assert (own.loc[["vanilla", "a", "b"], ["hypervolume", "above_chord"]] == 0).all(axis=None)
        assert len(set(own.loc[["vanilla", "a", "b"], "rank"])) == 1


def test_the_order_of_rows_changes_no_area_and_no_test_row_who_is_on_the_front() -> None:
    rows = made_up.measured()
    table = areas.hypervolumes(rows)
    made_up.alike(table, areas.hypervolumes(rows.sample(frac=1, random_state=0)), CELL)
    other, test = rows.copy(), rows["split"] == "test"
    other.loc[test, FIGURES] = np.random.default_rng(1).random((test.sum(), len(FIGURES)))
    assert areas.hypervolumes(other)["strengths"].equals(table["strengths"])


def test_a_split_in_which_all_diverged_adds_nothing_and_others_are_left_alone() -> None:
    rows = made_up.measured(FEW, ONE)
    plain = areas.areas_of_splits(rows).set_index(["method", "partition_seed"])
    own = (rows["method"] == "gdp") & (rows["partition_seed"] == 1)
    found = areas.areas_of_splits(lose(rows, own)).set_index(["method", "partition_seed"])
    assert found.loc[("gdp", 1), ["hypervolume", "above_chord", "strengths"]].tolist() == [0, 0, 0]
    rest = found.index != ("gdp", 1)
    pd.testing.assert_frame_equal(found[rest], plain[rest])


def test_a_split_in_which_vanilla_leaves_no_rectangle_counts_for_nobody() -> None:
    rows = made_up.measured(FEW, ONE)
    rows.loc[rows["partition_seed"] == 1, "constant_micro_f1"] = 0.99
    table = areas.hypervolumes(rows)
    assert (table["splits"] == 3).all() and table["above_chord_width"].notna().all()
    two = areas.hypervolumes(rows[rows["partition_seed"] != 1])
    pd.testing.assert_frame_equal(table[["above_chord", "rank"]], two[["above_chord", "rank"]])
    none = areas.hypervolumes(rows.assign(constant_micro_f1=0.99))
    assert none[["above_chord", "hypervolume", "rank"]].isna().all(axis=None)
    single = areas.hypervolumes(rows[rows["partition_seed"] == 0])
    assert single["above_chord"].notna().all() and single["above_chord_width"].isna().all()


# -- ranks ----------------------------------------------------------------------------------------


def table_of(figures: pd.DataFrame, groups: list[int] | None = None) -> pd.DataFrame:
    """What `ranks` reads: a row per cell, a column per method."""
    rows = figures.assign(dataset=[f"d{i}" for i in range(len(figures))], setting="s")
    rows = rows.assign(groups=groups or [2] * len(figures))
    found = rows.melt(["dataset", "setting", "groups"], var_name="method", value_name="above_chord")
    return found.dropna()


def simulated(cells: int, methods: int, seed: int, digits: int = 2) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    names = ["infofair_fitted", "infofair", *(f"m{i}" for i in range(methods - 2))]
    return pd.DataFrame(rng.random((cells, methods)).round(digits), columns=names)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(3, 6), st.integers(1, 3))
def test_friedmans_statistic_is_his_formula_with_ties(
    seed: int, cells: int, methods: int, digits: int
) -> None:
    figures = simulated(cells, methods, seed, digits)
    found = areas.ranks(table_of(figures)).query("cells == 'all'")
    ranks = np.array([stats.rankdata(-row) for row in figures.to_numpy()])
    means = dict(zip(figures, ranks.mean(axis=0), strict=True))
    assert found.set_index("method")["rank"].to_dict() == pytest.approx(means)
    assert found["rank"].is_monotonic_increasing
    n, k = ranks.shape
    counts = [np.unique(row, return_counts=True)[1] for row in ranks]
    ties = sum(float((of**3 - of).sum()) for of in counts)
    correction = 1 - ties / (n * k * (k * k - 1))
    if correction > 0:
        plain = 12 * n / (k * (k + 1)) * ((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum()
        assert found["friedman"].to_numpy() == pytest.approx(plain / correction)
        wanted = stats.chi2.sf(plain / correction, k - 1)
        assert found["friedman_p"].to_numpy() == pytest.approx(wanted)


def test_wilcoxons_p_is_that_of_all_signs_and_holms_over_the_methods() -> None:
    figures = simulated(7, 5, 3, digits=12)
    figures["m2"] = figures["infofair_fitted"]  # an equal
    found = areas.ranks(table_of(figures)).query("cells == 'all'").set_index("method")
    for method in ("infofair", "m0", "m1"):
        more = figures[method] - figures["infofair_fitted"]
        ranks = stats.rankdata(more.abs())
        most = max(ranks[more > 0].sum(), ranks[more < 0].sum())
        sums = [float((ranks * signs).sum()) for signs in product((0, 1), repeat=len(more))]
        wanted = min(1.0, 2 * np.mean([of >= most for of in sums]))
        assert found.loc[method, "infofair_fitted_p"] == pytest.approx(wanted)
        assert found.loc[method, "infofair_fitted_more"] == pytest.approx(more.mean())
    assert found.loc["m2", "infofair_fitted_p"] == 1
    columns = ["infofair_fitted_more", "infofair_fitted_p", "infofair_fitted_holm"]
    assert found.loc["infofair_fitted", columns].isna().all()
    together = holm(found["infofair_fitted_p"])
    pd.testing.assert_series_equal(found["infofair_fitted_holm"], together, check_names=False)


def test_a_few_rivals_are_tested_by_themselves_and_over_nine_cells_they_can_be_told() -> None:
    cells = 9
    figures = simulated(cells, 32, 0, digits=12)
    for i, rival in enumerate(RIVALS):  # behind in every cell
        figures[rival] = figures["infofair_fitted"] - 0.1 - 0.01 * i * np.arange(cells)
    found = areas.ranks(table_of(figures)).query("cells == 'all'").set_index("method")
    few, alone = found["infofair_fitted_few"], found["infofair_fitted_p"]
    assert set(few.dropna().index) == set(RIVALS)
    assert few[RIVALS].tolist() == holm(alone[RIVALS]).tolist()
    assert few[RIVALS].to_numpy() == pytest.approx(least_p(cells, len(RIVALS)))
    assert least_p(cells, len(RIVALS)) == pytest.approx(5 * 2 / 2**9) and (few[RIVALS] < 0.05).all()
    # beside all others nothing can be, whatever the figures are
    assert (found["infofair_fitted_holm"].dropna() >= least_p(cells, len(found) - 1)).all()
    assert least_p(cells, 36) == pytest.approx(36 / 256) and least_p(3, 36) == 1


def test_only_methods_with_a_figure_in_every_cell_are_ranked() -> None:
    figures = simulated(6, 5, 0)
    figures.loc[2, "m0"] = np.nan  # handles two groups only
    figures.loc[0, "m1"] = np.nan
    found = areas.ranks(table_of(figures, [2, 2, 4, 4, 2, 4]))
    assert list(found) == TABLES["ranks"]
    of = {cells: set(own["method"]) for cells, own in found.groupby("cells")}
    everywhere = {"infofair_fitted", "infofair", "m2"}
    assert of == {
        "all": everywhere, "two groups": everywhere | {"m0"}, "more groups": everywhere | {"m1"}
    }  # fmt: skip
    sizes = found.groupby("cells")[["blocks", "methods"]].first()
    assert sizes.loc["all"].tolist() == [6, 3] and sizes.loc["two groups"].tolist() == [3, 4]


def test_methods_that_lack_a_dataset_which_the_paper_has_not_are_ranked_on_the_papers() -> None:
    figures = simulated(6, 5, 1)
    figures.loc[4:, ["m0", "infofair"]] = np.nan  # not run on what the paper lacks
    areas_ = table_of(figures, [2, 4, 4, 2, 2, 4])
    paper = [f"d{i}" for i in range(4)]
    found = areas.ranks(areas_, paper)
    alone = areas.ranks(table_of(figures[:4], [2, 4, 4, 2]))
    of = dict(iter(found.drop(columns="cells").groupby(found["cells"])))
    same = dict(iter(alone.drop(columns="cells").groupby(alone["cells"])))
    assert list(dict.fromkeys(found["cells"])) == ["paper", "all", "two groups", "more groups"]
    for cells, wanted in {"paper": "all", "two groups": "two groups"}.items():
        pd.testing.assert_frame_equal(
            of[cells].reset_index(drop=True), same[wanted].reset_index(drop=True)
        )
    assert set(of["paper"]["method"]) == set(figures)
    assert set(of["all"]["method"]) == {"infofair_fitted", "m1", "m2"}
    assert set(of["all"]["blocks"]) == {6} and of["paper"]["infofair_more"].notna().sum() == 4
    # nothing to tell apart: all are the paper's, or none is
    for names in ([f"d{i}" for i in range(6)], ["adult"]):
        pd.testing.assert_frame_equal(areas.ranks(areas_, names), areas.ranks(areas_))


def test_without_the_methods_to_test_against_or_with_ties_only_there_are_ranks_all_the_same() -> (
    None
):
    figures = pd.DataFrame({"a": [0.0, 0.0], "b_blind": [0.0, 0.0], "c": [0.0, 0.0]})
    found = areas.ranks(table_of(figures))
    assert (found["rank"] == 2).all()
    assert found[["friedman", "infofair_p", "infofair_fitted_holm"]].isna().all(axis=None)
    assert found.set_index("method").loc["b_blind", "s_at_test"].tolist() == ["no", "no"]


# -- pairs ----------------------------------------------------------------------------------------


def test_a_pair_is_compared_split_by_split() -> None:
    rows = made_up.measured(FEW)
    found = areas.pairs(rows, (("infofair_fitted", "gdp"), ("infofair", "fermi")))
    assert list(found) == TABLES["pairs"]
    assert found[PLACE].to_records(index=False).tolist() == list(made_up.PLACES)  # no fermi
    trials = measured.trials(rows)
    strengths = choices.operating(rows)[1]
    chosen = (
        trials.merge(strengths, on=list(strengths))
        .set_index([*CELL, "partition_seed"])
        .sort_index()
    )
    spans = areas.areas_of_splits(rows).set_index([*CELL, "partition_seed"]).sort_index()
    for row in found.to_dict("records"):
        place = row["dataset"], row["setting"]
        for name in PAIRED:
            of = spans if name == "above_chord" else chosen
            more = of.loc[(*place, "infofair_fitted"), name] - of.loc[(*place, "gdp"), name]
            width = half_width(more, 100 / 800)
            assert row[name] == pytest.approx(more.mean())
            assert row[f"{name}_high"] - row[name] == pytest.approx(width)
            t = more.mean() / np.sqrt((1 / 4 + 1 / 8) * more.var())
            assert row[f"{name}_p"] == pytest.approx(2 * stats.t.sf(abs(t), 3))
        assert row["splits"] == 4
    for name in PAIRED:
        assert found[f"{name}_holm"].tolist() == holm(found[f"{name}_p"]).tolist()


def test_a_pair_the_other_way_round_differs_in_sign_alone() -> None:
    rows = made_up.measured(FEW)
    found, other = (
        areas.pairs(rows, (pair,)) for pair in (("infofair", "gdp"), ("gdp", "infofair"))
    )
    for name in PAIRED:
        assert found[name].to_numpy() == pytest.approx(-other[name].to_numpy())
        assert found[f"{name}_low"].to_numpy() == pytest.approx(-other[f"{name}_high"].to_numpy())
        assert found[f"{name}_p"].to_numpy() == pytest.approx(other[f"{name}_p"].to_numpy())
    same = areas.pairs(rows, (("gdp", "gdp"),))
    assert (same[PAIRED] == 0).all(axis=None) and (same["above_chord_p"] == 1).all()


def test_a_pair_of_which_one_has_no_figures_in_a_split_has_none() -> None:
    rows = made_up.measured(FEW, ONE)
    lost = (rows["method"] == "gdp") & (rows["partition_seed"] == 1)
    found = areas.pairs(lose(rows, lost), (("infofair", "gdp"),)).iloc[0]
    assert found[["micro_f1", "imparity", "micro_f1_p", "micro_f1_holm"]].isna().all()
    assert found["above_chord"] > -1  # where all diverged the area is 0


def test_every_named_pair_is_compared_where_both_have_run() -> None:
    methods = tuple(dict.fromkeys(name for pair in areas.PAIRS for name in pair))
    found = areas.pairs(made_up.measured(methods, made_up.PLACES[:2], splits=2))
    pairs = found[["method", "rival"]].drop_duplicates().to_records(index=False).tolist()
    assert pairs == list(areas.PAIRS) and len(found) == 2 * len(areas.PAIRS)

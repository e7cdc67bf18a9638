"""The committed fronts and honest table, and what the README says of them."""

import itertools

import numpy as np
import pandas as pd
import pytest

from stages import fronts, honest, honest_table, methods, report, standings, tables
from tests.conftest import ROOT, yaml
from tests.test_results import committed, shown_in_readme

FITTED = "infofair_fitted"
NEW = set(tables.MORE_METHODS) - {FITTED}
PARAMS = yaml.load(ROOT / "params.yaml")
KEYS = ["dataset", "setting", "method", "strength", "seed", "split"]


def table(name: str) -> pd.DataFrame:
    """A committed table of the fronts or the honest profile."""
    committed("summary.csv")  # skips where these results are not ours
    return pd.read_csv(ROOT / f"results/{name}.csv", dtype={"note": "str", "why": "str"}).fillna(
        {"note": "", "why": ""}
    )


def settings_of(dataset: str) -> list[str]:
    second = "marital" if dataset == "dutch" else "race"
    return ["gender", second, "intersection"]


def place(key: tuple[str, str]) -> str:
    name = tables.setting_name(key[1], settings_of(key[0].removesuffix(fronts.WITHOUT_LEAK)))
    return f"{tables.dataset_name(key[0])}, {name}"


# -- the tables -----------------------------------------------------------------------------------


def test_the_fronts_have_every_method_strength_seed_and_setting() -> None:
    runs = table("frontier")
    assert list(runs.columns[:10]) == [*KEYS, *fronts.METRICS]
    expected = set()
    for dataset in ("compas", "compas_without_leak", "adult", "dutch"):
        for method, strengths in PARAMS["frontier"]["strengths"].items():
            loaded = methods.load(method)
            seeds = PARAMS["frontier"]["seeds"] if getattr(loaded, "random", True) else [0]
            names = settings_of(dataset.removesuffix(fronts.WITHOUT_LEAK))
            names = names if loaded.handles(3) else names[:1]
            parts = ("validation", "test")
            expected |= set(itertools.product([dataset], names, [method], strengths, seeds, parts))
    found = list(runs[KEYS].itertuples(index=False, name=None))
    assert len(found) == len(expected) and set(found) == expected
    assert set(runs["data"]) == {"real"} and set(runs["partition"]) == {"authors"}


def test_what_follows_from_the_fronts_does() -> None:
    runs = table("frontier")
    summary = fronts.summarize(runs)
    pd.testing.assert_frame_equal(table("frontier_summary"), summary, atol=2e-5, check_dtype=False)
    pd.testing.assert_frame_equal(table("best"), fronts.best(summary), atol=2e-5, check_dtype=False)
    goal = fronts.goal(summary, pd.read_csv(ROOT / fronts.PAPER))
    pd.testing.assert_frame_equal(table("goal"), goal, atol=2e-5, check_dtype=False)


def test_the_honest_summary_follows_from_its_models() -> None:
    runs = table("honest")
    assert list(runs.columns) == honest.COLUMNS
    of_setting = runs.groupby(["dataset", "setting"])["groups"]
    assert (of_setting.min() == of_setting.max()).all()  # whatever the split
    assert runs["partition_seed"].nunique() == len(PARAMS["honest"]["splits"])
    pd.testing.assert_frame_equal(
        table("honest_summary"), honest.summarize(runs), atol=2e-5, check_dtype=False
    )


def test_the_well_trained_backbone_is_better_than_the_papers() -> None:
    rows = table("frontier_summary").set_index(["dataset", "setting", "method", "split"])
    f1 = rows.loc[("adult", "gender", "vanilla", "test"), "micro_f1"].item()
    assert f1 == pytest.approx(0.845, abs=0.003)  # facts/baselines.md


def test_infofair_fitted_is_stable_on_the_datasets_as_they_are() -> None:
    rows = table("frontier").query("method == @FITTED")
    assert not (rows["note"] == "diverged").any()
    assert not (rows["note"] == "constant")[~rows["dataset"].str.endswith("_leak")].any()
    strengths = PARAMS["frontier"]["strengths"][FITTED]
    assert min(strengths) <= 0.1 and max(strengths) >= 30


# -- the README -----------------------------------------------------------------------------------


def stable() -> str:
    rows = table("frontier").query("method == @FITTED and split == 'test'")
    lost = int((rows["note"] == "diverged").sum())
    constant = rows[rows["note"] == "constant"]
    where = "; ".join(
        f"{place((row['dataset'], row['setting']))}, α = {row['strength']:g}"
        for row in constant.to_dict("records")
    )
    return (
        f"Of its {len(rows)} models with α from 0.1 to 30, {lost or 'none'} diverged, and "
        f"{len(constant)} is constant ({where}), which the tables say."
    )


def held() -> str:
    goal = table("goal")
    lost = goal[goal["holds"] == "no"]
    met = standings.would_hold(table("frontier_summary"), pd.read_csv(ROOT / fronts.PAPER))
    said = []
    for key in lost[fronts.PLACE].itertuples(index=False, name=None):
        strengths = ", ".join(f"{strength:g}" for strength in met.get(key, [])) or "none"
        said.append(f"{place(key)}: {strengths}")
    return (
        f"It holds in {len(goal) - len(lost)} of {len(goal)} cells. With these α of the grid the "
        f"others would meet it on the test rows, but the validation rows choose another "
        f"({'; '.join(said)})."
    )


def ahead() -> str:
    best = table("best")
    cells = list(dict.fromkeys(best[fronts.PLACE].itertuples(index=False, name=None)))
    plain = [key for key in cells if not key[0].endswith(fronts.WITHOUT_LEAK)]
    rivals: dict[tuple[str, str], set[str]] = {}
    for row in standings.ahead(best, FITTED):
        rivals.setdefault((row["dataset"], row["setting"]), set()).add(row["rival"])
    free = [key for key in plain if key not in rivals]
    of_new = [key for key in plain if not rivals.get(key, set()) & NEW]
    ranks = [
        row["above_chord_rank"]
        for row in standings.standings(table("hypervolume"), FITTED)
        if (row["dataset"], row["setting"]) in plain
    ]
    first, near = sum(rank == 1 for rank in ranks), sum(rank <= 3 for rank in ranks)
    where = "; ".join(map(place, free))
    return (
        f"The front of `infofair_fitted` is on or above those of the four new baselines in "
        f"{len(of_new)} of the {len(plain)} cells of the datasets as they are, and on or above "
        f"those of all other methods in {len(free)} ({where}). By hypervolume above the chord it "
        f"is the first of all methods in {first} and among the first three in {near}."
    )


def bits() -> str:
    means = table("information").groupby([*fronts.PLACE, "strength"])
    means = means[["running", "held_out", "held_out_score"]].mean()
    apart = (means["running"] - means["held_out"]).abs().mean()
    one = means.loc["adult", "gender", 10.0]
    return (
        f"The two are {apart:.3f} bits apart on average. A classifier that may tell scores apart "
        f"where z hardly differs finds more: on Adult, gender, at α = 10 the running estimate is "
        f"{one['running']:.3f}, the held-out one {one['held_out']:.3f}, and that of the score "
        f"{one['held_out_score']:.3f} bits."
    )


def survives() -> str:
    rows = report.by_method(table("honest_summary"), tables.DATASETS)
    own = rows["infofair"]
    lower, higher = (report.sides(own, "imparity")[side] for side in ("lower", "higher"))
    change = [row["more_micro_f1"] for row in own.values()]
    others = report.matching(rows, "infofair")
    named = ", ".join(
        f"{tables.method_name(m)} ({row['lowered']} of {row['settings']})"
        for m, row in others.items()
    )
    pairs = report.beside(rows, FITTED, "infofair")
    of_fitted = len(report.sides(rows[FITTED], "imparity")["lower"])
    return (
        f"There, InfoFair's imparity is below vanilla's, with the whole interval of the "
        f"difference, in {len(lower)} of {len(own)} settings and above it in {len(higher)}, at "
        f"{report.number(min(change))} to {report.number(max(change))} of micro F1. That it "
        f"mitigates bias at a small cost survives in these; that it is the only method to do so "
        f"consistently does not: others do in as many settings or more: {named}. With fitted "
        f"estimators its imparity is below vanilla's in {of_fitted}, and below that of InfoFair as "
        f"released in {sum(p['lower'] for p in pairs)} of {len(pairs)}."
    )


@pytest.mark.parametrize("passage", [stable, held, ahead, bits, survives])
def test_the_readme_says_what_the_results_are(passage: object) -> None:
    said = shown_in_readme(passage.__name__)  # type: ignore[attr-defined]
    assert " ".join(said.split()) == passage()  # type: ignore[operator]


def test_the_readme_shows_the_goal() -> None:
    assert shown_in_readme("goal") == tables.goal_to_markdown(table("goal")).strip()


def test_the_readme_shows_the_honest_table() -> None:
    shown = (ROOT / "results/figures/honest_table.md").read_text(encoding="utf-8")
    table("honest_summary")
    assert shown_in_readme("honest") == shown.strip()
    assert honest_table.SUMMARY == honest.SUMMARY


def test_the_page_has_the_readmes_counts() -> None:
    goal = table("goal")
    page = (ROOT / "reports/index.html").read_text(encoding="utf-8")
    holds = int(np.sum(goal["holds"] == "yes"))
    assert f"It holds in <strong>{holds}</strong> of {len(goal)} cells" in page

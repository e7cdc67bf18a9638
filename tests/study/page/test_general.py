"""What the page says of the generalisations follows from their tables."""

from pathlib import Path

import pandas as pd
import pytest

from infofair.errors import Problem
from stages import document
from study import labels, paths, results
from study.page import general
from study.page.general import shown
from tests import generalised
from tests.conftest import edit_params, paper_params
from tests.study.page import inputs
from tests.study.page.inputs import text_of


def said(table: pd.DataFrame, study: str, folder: Path) -> str:
    """The paragraph of a study, if this is its table, in the document."""
    inputs.write_beyond(folder)
    results.write_general(table.to_dict("records"), study)
    document.main("results-beyond")
    text = paths.BEYOND_DOCUMENT.read_text("utf-8")
    return text.split(f'<a id="study-{study}"></a>')[1].split("<a id=")[0]


def moved(table: pd.DataFrame, method: str, metric: str, **to: float) -> pd.DataFrame:
    """Other figures of one method, at all its strengths."""
    of = (table["method"] == method) & (table["metric"] == metric)
    return table.assign(**{name: table[name].mask(of, value) for name, value in to.items()})


def test_the_page_has_every_study_with_its_figure_its_rows_and_its_terms(beyond: str) -> None:
    text = text_of(beyond)
    for study, table in generalised.tables().items():
        assert f'<h3 id="study-{study}">' in beyond
        assert f'<svg xmlns="http://www.w3.org/2000/svg" id="general-{study}"' in beyond
        made = general.grid(study, table)
        points = table.drop_duplicates(["dataset", "setting", "method", "strength"])
        assert len(made.rows) == len(points)
        assert all(len(row) == len(made.columns) for row in made.rows)
        assert made.caption in text
    for dataset in ("law", "crime", "ml100k", "bail", "german"):
        (terms,) = general.terms([dataset]).values()
        assert f"{labels.dataset_name(dataset)}: {terms}" in text


def test_the_table_marks_the_chosen_strength_and_has_floors_of_gaps_alone() -> None:
    made = general.grid("graph", generalised.table("graph", {"bail": ["gender"]}, ("fitted",)))
    assert [row[3] for row in made.rows] == ["", "0.1", "1*", "10"]
    assert [(c.group, c.heading) for c in made.columns[4:]] == [
        ("Micro F1", "mean ± std"), ("AUC", "mean ± std"), ("Imparity", "mean ± std"),
        ("Imparity", "by chance"), ("Imparity", "95 %"),
    ]  # fmt: skip
    assert made.ids == {(0, 2): "graph-bail-gender-vanilla", (1, 2): "graph-bail-gender-fitted"}


def test_a_gap_is_said_to_be_lower_only_where_it_clearly_is() -> None:
    table = generalised.table("graph", {"bail": ["gender"]}, ("fitted", "gap"))
    vanilla = table.query("method == 'vanilla' and metric == 'imparity'")["mean"].item()
    error = (2 * 0.01**2 / 5) ** 0.5
    for off, side in ((-1.9, "alike"), (-2.1, "lower"), (2.1, "higher"), (0.0, "alike")):
        own = moved(table, "fitted", "imparity", mean=vanilla + off * error)
        (told,) = shown("graph", own, paper_params()).cells
        assert "fitted" in [p.method for p in getattr(told, side)]
    alone = generalised.table("graph", {"bail": ["gender"]}, ("fitted",), splits=1)
    (told,) = shown("graph", alone, paper_params()).cells
    assert [p.method for p in told.alike] == ["fitted"]  # of one split nothing is clear


def test_rivals_are_named_that_are_no_worse() -> None:
    table = generalised.table("graph", {"bail": ["gender"]}, ("fitted", "gap", "joint"))
    better = moved(moved(table, "gap", "imparity", mean=0.001), "gap", "micro_f1", mean=0.7)
    (told,) = shown("graph", better, paper_params()).cells
    assert [p.method for p in told.rivals] == ["gap"]
    worse = moved(table, "gap", "micro_f1", mean=0.1)
    (told,) = shown("graph", worse, paper_params()).cells
    assert told.rivals == []


def test_what_stronger_strengths_do_is_told_where_validation_rows_choose_a_weaker_one() -> None:
    table = generalised.table("graph", {"bail": ["gender"]}, ("fitted", "gap", "joint"))
    (told,) = shown("graph", table, paper_params()).cells
    assert [name for name, _ in told.stronger] == ["InfoFair, fitted", "Gap penalty"]
    for _, points in told.stronger:
        assert [point.strength for point in points] == [10]  # 1 is chosen
    strongest = table["strength"].where(table["method"] == "fitted").max()
    own = table["method"] == "fitted"
    chosen = table.assign(chosen=table["chosen"].mask(own, table["strength"] == strongest))
    (told,) = shown("graph", chosen, paper_params()).cells
    assert told.stronger == []


def test_the_paragraph_has_the_figures_of_stronger_strengths(workspace: Path) -> None:
    table = generalised.table("graph", {"bail": ["gender"]}, ("fitted",))
    of = (table["method"] == "fitted") & (table["strength"] == 10)
    for metric, mean in (("micro_f1", 0.652), ("imparity", 0.068)):
        table.loc[of & (table["metric"] == metric), "mean"] = mean
    text = said(table, "graph", workspace)
    assert "InfoFair, fitted has micro F1 0.652 and imparity 0.068" in text and "(at 10)" in text


def test_equalised_odds_have_a_paragraph_with_their_own_gap_and_rivals(workspace: Path) -> None:
    places, names = {"adult": ["gender"]}, ("fitted_odds", "gap_odds", "thresholds_odds")
    table = generalised.table("equal_opportunity", places, names)
    table = moved(moved(table, "gap_odds", "odds_gap", mean=0.001), "gap_odds", "micro_f1", mean=1)
    table = moved(table, "thresholds_odds", "odds_gap", mean=0.9)
    text = said(table, "equal_opportunity", workspace)
    (own,) = [line for line in text.splitlines() if ", equalised odds**: vanilla has" in line]
    assert "gap of both rates" in own and "gap of true positive rates" not in own
    assert "Gap penalty, equalised odds has at once no worse micro F1 and no larger gap" in own
    assert "both against Thresholds, equalised odds." in own


@pytest.mark.parametrize(
    ("f1", "verdict"),
    [
        (0.5, "the graph helps"),
        (0.655, "the graph does not clearly help"),
        (0.665, "the graph does not help"),
        (0.8, "the graph does harm"),
    ],
)
def test_whether_the_graph_helps_is_read_off(f1: float, verdict: str, workspace: Path) -> None:
    table = generalised.table("graph", {"bail": ["gender"]}, ("mlp", "fitted"))
    table = moved(moved(table, "mlp", "micro_f1", mean=f1), "vanilla", "micro_f1", mean=0.66)
    assert f"On Bail, gender {verdict}: " in said(table, "graph", workspace)


def test_the_form_as_printed_is_said_to_widen_the_gap_only_if_it_does(workspace: Path) -> None:
    table = generalised.table("regression", {"law": ["gender"]}, ("fitted", "joint"))
    wide = said(table, "regression", workspace)
    assert "run) at some strength in **1** of 1 cells (Law School, gender)" in wide
    narrow = said(moved(table, "joint", "ks", mean=0.2), "regression", workspace)
    assert "run) at some strength in **0** of 1 cells." in narrow
    decayed = generalised.table(
        "regression", {"law": ["gender"]}, ("vanilla_decay", "fitted", "joint")
    )
    as_wide = said(moved(decayed, "vanilla_decay", "ks", mean=2.0), "regression", workspace)
    assert "run) at some strength in **0** of 1 cells." in as_wide


def test_the_barycentre_is_said_to_be_beaten_only_if_it_is(workspace: Path) -> None:
    table = generalised.table("regression", {"law": ["gender"]}, ("fitted", "barycentre"))
    best = moved(table, "barycentre", "r2", mean=0.9)
    told = said(best, "regression", workspace)
    assert "by W₂ to the barycentre in **0** of 1 cells and by KS, mean over pairs in **0**" in told
    worst = moved(moved(table, "barycentre", "r2", mean=0.0), "barycentre", "ks", mean=0.9)
    worst = moved(worst, "barycentre", "w2", mean=0.0)  # nothing is as fair
    told = said(worst, "regression", workspace)
    assert "by W₂ to the barycentre in **0** of 1 cells" in told
    assert "by KS, mean over pairs in **1** of 1 cells (Law School, gender)" in told


def test_a_gap_that_chance_gives_is_said_to_be_one(workspace: Path) -> None:
    table = generalised.table("graph", {"german": ["gender"]}, ("fitted",))
    text = said(moved(table, "vanilla", "imparity", null_95=0.9), "graph", workspace)
    assert "which chance gives as well, so that there is little to lower." in text


@pytest.mark.parametrize(("constant", "useless"), [(0.6, False), (0.66, True), (0.7, True)])
def test_a_network_that_decides_no_better_than_a_constant_is_said_to(
    constant: float, useless: bool, workspace: Path
) -> None:
    table = generalised.table("graph", {"german": ["gender"]}, ("fitted",))
    table = moved(table, "vanilla", "micro_f1", mean=0.66)
    own = table.query("method == 'vanilla' and metric == 'micro_f1'")
    own = own.assign(metric="constant", mean=constant, std=0.0)
    text = said(pd.concat([table, own]), "graph", workspace)
    assert (
        f"The constant predictor has {constant:.3f}, and vanilla not clearly" in text
    ) is useless


def test_simulated_data_is_in_the_banner(workspace: Path) -> None:
    said(generalised.table("graph", {"bail": ["gender"]}, data="simulated"), "graph", workspace)
    text = paths.BEYOND_DOCUMENT.read_text("utf-8")
    assert "> Not the paper’s data: Bail is simulated." in text


def test_a_study_that_was_not_run_is_named_with_its_stage(workspace: Path) -> None:
    inputs.write_beyond(workspace)
    paths.general("graph").unlink()
    with pytest.raises(Problem, match=r"graph\.csv does not exist; .*dvc\.yaml:general@graph$"):
        document.main("results-beyond")
    asked = paper_params().general.model_dump()
    runs = {name: run for name, run in asked["runs"].items() if run["study"] != "graph"}
    studies = [study for study in asked["studies"] if study != "graph"]
    edit_params(general=asked | {"runs": runs, "studies": studies})
    document.main("results-beyond")  # not asked for, it is not missed
    assert "study-graph" not in paths.BEYOND_DOCUMENT.read_text("utf-8")

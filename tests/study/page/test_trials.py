"""The generalisations beside earlier trials: what agrees, at which strength, and what differed."""

from pathlib import Path

import pandas as pd
import pytest

from stages import document
from study import paths, results
from study.page import places, trials
from study.page.trials import CAUSES, OTHER_STRENGTH, Beside
from study.tables.general import STUDIES, Figure
from tests import generalised
from tests.conftest import ROOT, paper_params
from tests.study.page import inputs


def reference() -> pd.DataFrame:
    return results.checked(ROOT / places.TRIALS, trials.COLUMNS)


def beside(ours: float, std: float, strength: float = 1.0) -> Beside:
    """A trial's imparity of 0.1 ± 0.02 at strength 1, and ours."""
    trial = {"study": "graph", "dataset": "bail", "setting": "intersection", "method": "fitted"}
    trial |= {"metric": "imparity", "strength": 1.0, "mean": 0.1, "std": 0.02}
    return Beside(trial, strength, Figure("imparity", ours, std, 5))


def test_a_trial_has_one_figure_of_everything_that_it_has() -> None:
    table = reference()
    assert not table.duplicated([*trials.COLUMNS[:-2]]).any()
    assert set(table["study"]) == set(STUDIES)
    assert table["mean"].between(0, 1).all() and (table["std"].dropna() > 0).all()


@pytest.mark.parametrize(
    ("ours", "std", "agrees"),
    [(0.13, 0.01, True), (0.131, 0.01, False), (0.07, 0.01, True), (0.12, float("nan"), True)],
)
def test_it_agrees_within_both_spreads_together(ours: float, std: float, agrees: bool) -> None:
    own = beside(ours, std)
    assert own.agrees is agrees
    assert bool(own.causes) is not agrees


def test_a_strength_that_is_far_is_a_cause() -> None:
    assert OTHER_STRENGTH not in beside(0.5, 0.01, strength=1.4).causes
    assert OTHER_STRENGTH in beside(0.5, 0.01, strength=1.6).causes
    assert beside(0.1, 0.01, strength=0.6).causes == [OTHER_STRENGTH]  # though it agrees


def test_the_nearest_strength_is_nearest_by_its_ratio() -> None:
    table = generalised.table("graph", {"bail": ["intersection"]}, ("fitted",))
    found = {own.trial["strength"]: own for own in trials.beside("graph", table)}
    assert {at: own.strength for at, own in found.items()} == {0.0: 0.0, 0.3: 0.1, 1.0: 1.0}
    assert trials.distance(0.3, 0.1) < trials.distance(0.3, 1.0)


def test_every_difference_has_a_cause_beside_the_strength() -> None:
    for row in reference().to_dict("records"):
        assert any(cause.of(row) for cause in CAUSES if cause is not OTHER_STRENGTH), row


def test_simulated_rows_are_not_compared() -> None:
    table = generalised.table("graph", {"bail": ["intersection"]}, data="simulated")
    assert trials.trials("graph", table, paper_params()) is None


def test_page_and_document_say_how_many_agree(workspace: Path) -> None:
    inputs.write_beyond(workspace)
    made = trials.trials("graph", generalised.table("graph"), paper_params())
    assert made is not None and 0 < made.agreeing < made.near < made.of == len(made.grid.rows)
    verdicts = [row[-2] for row in made.grid.rows]
    assert verdicts.count("yes") == made.agreeing
    assert verdicts.count("yes") + verdicts.count("no") == made.near
    assert all(row[-1] for row in made.grid.rows if row[-2] != "yes")
    document.main("results-beyond")
    text = paths.BEYOND_DOCUMENT.read_text("utf-8")
    assert f"Of {made.of} that have a counterpart, {made.near} are of a strength like" in text
    assert f"of these, **{made.agreeing}** agree" in text
    assert all(f"({letter}) {said}" in text for letter, said in made.causes)

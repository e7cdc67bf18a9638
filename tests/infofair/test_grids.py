"""Which strengths are looked at: one rule, by validation rows alone."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from infofair import grids, metrics

STRENGTHS = grids.scan((0.01, 100.0), 5)  # 0.01, 0.1, 1, 10, 100
TRIED = [0.0, *STRENGTHS]  # vanilla first
TOLERANCES = grids.scan((1.0, 0.0001), 5)  # the strongest is least, the loosest is vanilla
VANILLA = (0.2, 0.8)
Figures = tuple[float, float] | None


def seen(*figures: Figures) -> list[grids.Row | None]:
    """Imparity and micro F1 of every strength, None if it diverged; the constant has 0.7."""
    return [
        None if f is None else {"imparity": f[0], "micro_f1": f[1], "constant": 0.7}
        for f in figures
    ]


def ends(*figures: Figures, vanilla: Figures = VANILLA) -> tuple[float, float]:
    """Of the grid, by what every strength did."""
    found = grids.grid(TRIED, {"gender": seen(vanilla, *figures)}, 4, budget=0.02)
    assert len(found) == 4
    return found[0], found[-1]


# -- the first look -------------------------------------------------------------------------------


def test_a_scan_is_in_equal_ratios_from_the_weakest_to_the_strongest() -> None:
    assert STRENGTHS == [0.01, 0.1, 1.0, 10.0, 100.0]
    assert grids.scan((1.0, 0.001), 4) == [1.0, 0.1, 0.01, 0.001]  # a tolerance
    assert grids.scan((0.1, 10.0), 4) == [0.1, 0.464, 2.15, 10.0]  # three digits


@pytest.mark.parametrize("seed", range(5))
def test_what_it_measures_are_the_figures_of_the_tables(seed: int) -> None:
    rng = np.random.default_rng(seed)
    probability, y = rng.uniform(size=90), rng.integers(0, 2, 90)
    group = rng.choice([0, 1, 3], 90)  # of five, two have no row here
    found = grids.look(probability, y, group)
    decided = (probability > 0.5).astype(int)
    assert found["imparity"] == pytest.approx(metrics.imparity(decided, group, 5))
    assert found["micro_f1"] == pytest.approx(f1_score(y, decided, average="micro"))
    assert found["constant"] == pytest.approx(max(np.mean(y), 1 - np.mean(y)))


def test_a_single_group_has_no_imparity() -> None:
    assert grids.look(np.array([0.2, 0.7]), np.array([0, 1]), np.array([1, 1]))["imparity"] == 0


# -- where the grid begins and ends ---------------------------------------------------------------


def test_it_leads_from_where_nothing_happens_yet_to_the_budget() -> None:
    assert ends((0.2, 0.8), (0.2, 0.8), (0.1, 0.8), (0.01, 0.8), (0.0, 0.8)) == (0.1, 10)


def test_a_strength_that_took_less_than_a_tenth_is_vanilla_still() -> None:
    weak = ((0.2, 0.8), (0.19, 0.8), (0.181, 0.8))
    assert ends(*weak, (0.1, 0.8), (0.01, 0.8)) == (1, 100)
    assert ends((0.2, 0.8), (0.179, 0.8), (0.181, 0.8), (0.1, 0.8), (0.01, 0.8)) == (0.01, 100)
    # likewise of the lead over the constant predictor
    assert ends((0.2, 0.8), (0.2, 0.791), (0.2, 0.78), (0.1, 0.78), (0.01, 0.78)) == (0.1, 100)


def test_if_the_weakest_is_not_vanilla_any_more_it_begins_there() -> None:
    assert ends((0.1, 0.8), (0.1, 0.8), (0.01, 0.8), (0.01, 0.8), (0.0, 0.8)) == (0.01, 1)


def test_it_ends_where_most_of_what_can_be_lost_is_lost() -> None:
    assert ends((0.2, 0.8), (0.1, 0.8), (0.105, 0.8), (0.1, 0.8), (0.099, 0.8)) == (0.01, 0.1)


def test_strengths_at_which_it_has_collapsed_do_not_count() -> None:
    """Less than a quarter of its lead over the constant predictor is left."""
    assert ends((0.2, 0.8), (0.15, 0.8), (0.14, 0.72), (0.1, 0.7), (0.0, 0.7)) == (0.01, 0.1)
    assert ends((0.2, 0.8), (0.15, 0.8), (0.14, 0.73), (0.1, 0.7), (0.0, 0.7)) == (0.01, 1)


def test_strengths_that_diverged_do_not_count() -> None:
    assert ends((0.2, 0.8), (0.15, 0.8), None, None, (0.0, 0.8)) == (0.01, 100)
    assert ends((0.2, 0.8), (0.15, 0.8), (0.0, 0.8), None, None) == (0.01, 1)


def test_where_vanilla_diverged_everything_is_taken() -> None:
    whole = ((0.2, 0.8), (0.15, 0.8), (0.1, 0.8), (0.0, 0.8), (0.0, 0.8))
    assert ends(*whole, vanilla=None) == (0.01, 100)


@pytest.mark.parametrize("figures", [VANILLA, (0.3, 0.8), None, (0.0, 0.7)])
def test_what_does_nothing_or_never_works_is_looked_at_everywhere(figures: Figures) -> None:
    assert ends(*[figures] * 5) == (0.01, 100)


def test_tolerances_run_downwards_and_the_loosest_is_vanilla() -> None:
    rows = seen((0.2, 0.8), (0.2, 0.8), (0.1, 0.8), (0.01, 0.8), (0.0, 0.8))
    found = grids.grid(TOLERANCES, {"gender": rows}, 5, budget=0.02)
    assert (found[0], found[-1]) == (0.1, 0.001)
    assert found == sorted(found, reverse=True)


def test_every_setting_counts() -> None:
    """From where none has begun to where all are done."""
    quick = seen(VANILLA, (0.2, 0.8), (0.0, 0.8), (0.0, 0.8), (0.0, 0.8), (0.0, 0.8))
    slow = seen(VANILLA, (0.2, 0.8), (0.2, 0.8), (0.2, 0.8), (0.1, 0.8), (0.01, 0.8))
    found = grids.grid(TRIED, {"gender": quick, "race": slow}, 3, budget=0.02)
    assert (found[0], found[-1]) == (0.01, 100)


def test_a_method_that_handles_no_setting_is_looked_at_everywhere() -> None:
    assert grids.grid(TRIED, {}, 3, budget=0.02) == [0.01, 1, 100]


# -- whatever is seen -----------------------------------------------------------------------------

figure = st.none() | st.tuples(st.floats(0, 1), st.floats(0.5, 1))
looked = st.lists(st.lists(figure, min_size=6, max_size=6), min_size=1, max_size=3)


def rows_of(figures: list[list[Figures]], tried: list[float]) -> dict[str, list[grids.Row | None]]:
    return {str(i): seen(*of[: len(tried)]) for i, of in enumerate(figures)}


@given(looked, st.integers(2, 9), st.sampled_from([TRIED, TOLERANCES]))
# it collapses before its imparity is any less
@example([[(0.2, 0.9), (0.2, 0.9), (0.2, 0.7), (0.2, 0.7), (0.2, 0.7), (0.0, 0.7)]], 4, TRIED)
def test_it_has_as_many_strengths_as_asked_all_different_in_order_and_within_what_was_tried(
    figures: list[list[Figures]], count: int, tried: list[float]
) -> None:
    found = grids.grid(tried, rows_of(figures, tried), count, budget=0.02)
    strengths = [strength for strength in tried if strength]
    assert len(set(found)) == count
    assert found == sorted(found, reverse=tried is TOLERANCES)
    assert found[0] in strengths and found[-1] in strengths
    ratios = np.diff(np.log(found))  # equal, to three digits
    np.testing.assert_allclose(ratios, ratios.mean(), atol=0.011)


@given(looked, st.integers(2, 9))
def test_the_unit_of_a_strength_and_the_order_of_settings_do_not_matter(
    figures: list[list[Figures]], count: int
) -> None:
    rows = rows_of(figures, TRIED)
    found = grids.grid(TRIED, rows, count, budget=0.02)
    backwards = dict(reversed(rows.items()))
    assert grids.grid(TRIED, backwards, count, budget=0.02) == found
    thousandfold = grids.grid([1000 * strength for strength in TRIED], rows, count, budget=0.02)
    np.testing.assert_allclose(thousandfold, 1000 * np.array(found), rtol=1e-9)


@given(st.lists(st.floats(0, 0.2), min_size=5, max_size=5), st.floats(0, 0.2), st.floats(0, 0.2))
def test_a_tighter_budget_never_ends_the_grid_sooner(
    gaps: list[float], one: float, other: float
) -> None:
    rows = {"gender": seen(VANILLA, (0.2, 0.8), *((gap, 0.8) for gap in sorted(gaps)[:0:-1]))}
    tight, loose = (grids.grid(TRIED, rows, 3, budget)[-1] for budget in sorted((one, other)))
    assert tight >= loose or loose == STRENGTHS[-1]

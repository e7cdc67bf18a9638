"""All tables of the comparison, by name."""

import pandas as pd

from study.comparison import areas, choices, goals
from study.comparison.measured import authors
from study.results import TABLES


def frontier(rows: pd.DataFrame) -> pd.DataFrame:
    """The models of the authors' split, as they are."""
    rows = authors(rows)
    return rows.loc[rows["notion"] == "", TABLES["frontier"]].reset_index(drop=True)


def tables(rows: pd.DataFrame, paper: pd.DataFrame) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """From `measured` of all datasets and the paper's table; and the strengths at operating points.

    Those say which models thresholds are put on, for the table `unprocessed`.
    """
    summary, strengths = choices.operating(rows)
    spanned, goal = areas.hypervolumes(rows), goals.goals(rows, paper)
    found = {
        "frontier": frontier(rows),
        "fronts": choices.fronts(rows),
        "best": choices.best(rows),
        "honest_summary": summary,
        "hypervolume": spanned,
        "ranks": areas.ranks(spanned, set(paper["dataset"])),
        "pairs": areas.pairs(rows),
        "goal": goal,
        "goal_counts": goals.counts(goal),
    }
    return found, strengths

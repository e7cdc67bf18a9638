"""The table "as run" on the page: what is printed, what its authors ran, what explains it.

Plain functions of results/as_run.csv (study/explained.py makes it, and trains nothing here).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from study import labels, results
from study.page.cells import Place
from study.page.grid import Grid, figures, texts
from study.results import Row
from study.tables.layout import number, spread

TOLERANCE = 0.002  # of study/explained.py: what `within` says
SHOWN = ("micro_f1", "macro_f1", "imparity")
OURS = ("micro_f1", "macro_f1", "imparity_released")
EXPLAINED, GUESSED = "explained", "guessed"
NOT, IMPOSSIBLE = "not explained", "impossible"
MARKS = {EXPLAINED: "✓", GUESSED: "≈", NOT: "✗", IMPOSSIBLE: "⊘"}


@dataclass(frozen=True)
class Cell:
    """One printed cell."""

    attributes: str  # the setting as a reader knows it
    row: Row  # of results/as_run.csv

    @property
    def dataset(self) -> str:
        return str(self.row["dataset"])

    @property
    def method(self) -> str:
        return str(self.row["method"])

    @property
    def place(self) -> str:
        return f"{labels.dataset_name(self.dataset)}, {self.attributes}"

    @property
    def state(self) -> str:
        return state(self.row)

    @property
    def mark(self) -> str:
        return MARKS[self.state]

    @property
    def printed(self) -> str:
        return _joined(number(self.row[f"paper_{figure}"]) for figure in SHOWN)

    @property
    def as_run(self) -> str:
        return _joined(number(self.row[figure]) for figure in OURS)

    @property
    def should(self) -> list[str]:
        """Each figure with its spread, if there is more than one seed."""
        own = [(self.row[f"should_{f}"], self.row[f"should_{f}_std"]) for f in OURS]
        return [spread(*figure) for figure in own]

    @property
    def explanation(self) -> str:
        return str(self.row["explanation"])


def _joined(shown: Any) -> str:
    return " / ".join(shown)


def state(row: Mapping[Any, Any]) -> str:
    """What the metric cannot give is impossible, whatever else is explained of it."""
    if row["possible"] == "no":
        return IMPOSSIBLE
    if row["within"] == "no":
        return NOT
    return GUESSED if row["guessed"] == "yes" else EXPLAINED


def counts(table: pd.DataFrame) -> dict[str, int]:
    """Cells that are printed, that come out (some by a guess, and fewer if figures are not rounded
    to the printed digits), and that the released metric cannot produce."""
    within = table["within"] == "yes"
    return {
        "printed": len(table),
        "within": int(within.sum()),
        "guessed": int((within & (table["guessed"] == "yes")).sum()),
        "unrounded": int((table["distance"].round(6) <= TOLERANCE).sum()),
        "impossible": int((table["possible"] == "no").sum()),
    }


def facts(attributes: Mapping[Place, str]) -> dict[str, Any]:
    """The table, by method, and what is counted over it."""
    table = results.read("as_run")
    by: dict[str, list[Cell]] = {method: [] for method in labels.in_order(table["method"])}
    for row in table.to_dict("records"):
        key = row["dataset"], row["setting"]
        by[row["method"]].append(Cell(attributes.get(key, row["setting"]), row))
    every = [cell for of in by.values() for cell in of]
    ours = {method: sum(c.row["within"] == "yes" for c in of) for method, of in by.items()}
    return {
        "near": TOLERANCE,
        "as_run": by,
        "run": counts(table),
        "run_by_method": by_method(by),
        "run_grid": grid(every),
        "came_out": {m: n for m, n in ours.items() if n},
        "whole": [m for m, n in ours.items() if n == len(by[m])],
        "part": {m: (n, len(by[m])) for m, n in ours.items() if 0 < n < len(by[m])},
        "never": {m: len(by[m]) for m, n in ours.items() if not n},
        "impossible": [cell for cell in every if cell.state == IMPOSSIBLE],
        "unexplained": [cell for cell in every if cell.state == NOT],
    }


def by_method(by: Mapping[str, list[Cell]]) -> Grid:
    rows = []
    for method, of in [*by.items(), ("", [cell for own in by.values() for cell in own])]:
        states = [cell.state for cell in of]
        off = max((cell.row["distance"] for cell in of), default=float("nan"))
        within = sum(cell.row["within"] == "yes" for cell in of)
        shown = [str(len(of)), str(within), *(str(states.count(s)) for s in (IMPOSSIBLE, NOT))]
        name = labels.full_method_name(method) if method else "All"
        rows.append([name, *shown, number(off)])
    return Grid(
        "Agreement with the paper",
        f"Printed cells that come out as run, within {TOLERANCE} in micro F1, macro F1 and "
        "imparity at once; and how far off the furthest figure is.",
        [
            *texts("Method"),
            *figures("Cells", "Come out", "Impossible", "Not explained", "Most off"),
        ],
        rows,
        {len(rows) - 1},
    )


def grid(every: list[Cell]) -> Grid:
    """The same table in plain rows, for the document."""
    rows = [
        [
            labels.full_method_name(cell.method), cell.place, cell.printed, cell.as_run,
            _joined(cell.should), f"{cell.mark} {cell.state}", cell.explanation,
        ]
        for cell in every
    ]  # fmt: skip
    return Grid(
        "As run",
        CAPTION,
        [
            *texts("Method", "Cell"), *figures("Printed", "As run", "As it should be"),
            *texts("State", "What explains it"),
        ],
        rows,
    )  # fmt: skip


CAPTION = (
    "Micro F1 / macro F1 / imparity as released, on test rows. As run: the run that the authors "
    "evidently made, mistakes included. As it should be: the method done right, mean ± standard "
    "deviation over seeds."
)

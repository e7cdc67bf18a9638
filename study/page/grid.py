"""A table as data, for the pages to show as HTML and the documents as Markdown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

TEXT = "text"  # the class of a column of words; figures have none


@dataclass(frozen=True)
class Column:
    heading: str
    kind: str = ""  # its class
    group: str = ""  # a heading above it and its neighbours of the same group


@dataclass(frozen=True)
class Head:
    """A heading of the first of two lines of them."""

    text: str
    columns: int
    kind: str
    is_group: bool


@dataclass(frozen=True)
class Grid:
    label: str  # for who cannot see it
    caption: str
    columns: Sequence[Column]
    rows: list[list[str]]  # the first cell of each is its heading
    rules: set[int] = field(default_factory=set)  # the rows with a line above them
    ids: dict[tuple[int, int], str] = field(default_factory=dict)  # of cells, by row and column

    @property
    def grouped(self) -> bool:
        return any(column.group for column in self.columns)

    @property
    def heads(self) -> list[Head]:
        """The first line of headings."""
        found = []
        for group, run in groupby(self.columns, key=lambda column: column.group):
            of = list(run)
            if group:
                found.append(Head(group, len(of), "", True))
            else:
                found += [Head(column.heading, 1, column.kind, False) for column in of]
        return found

    @property
    def below(self) -> list[Column]:
        """The second line, if there are groups."""
        return [column for column in self.columns if column.group]


PLACE = (Column("Dataset", TEXT), Column("Setting", TEXT))


def figures(*headings: str, group: str = "") -> list[Column]:
    return [Column(heading, group=group) for heading in headings]


def texts(*headings: str) -> list[Column]:
    return [Column(heading, TEXT) for heading in headings]


def changes(keys: Iterable[object]) -> set[int]:
    """The rows whose key is not that of the row before."""
    listed = list(keys)
    return {i for i in range(1, len(listed)) if listed[i] != listed[i - 1]}


def by_place(
    label: str,
    caption: str,
    columns: Sequence[Column],
    rows: list[list[str]],
    ids: dict[tuple[int, int], str] | None = None,
) -> Grid:
    """A line above each dataset; the first two columns are dataset and setting."""
    return Grid(
        label, caption, [*PLACE, *columns], rows, changes(row[0] for row in rows), ids or {}
    )

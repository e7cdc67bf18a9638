"""People who could be found: of one to four of them no committed table has a count or a rate.

A table leaves such a figure empty, and a page says "< 5". Who has the data can compute it from
totals; what `infofair audit` makes of anybody's table is protected against that, too.
"""

import math
from collections.abc import Iterable

import pandas as pd

SMALL = 5  # people


def few(count: float) -> bool:
    return 0 < count < SMALL


def hidden(table: pd.DataFrame, counts: Iterable[str], figures: Iterable[str] = ()) -> pd.DataFrame:
    """Without these counts where they are of a few people, and without figures about them."""
    table = table.copy()
    for name in counts:
        of_few = table[name].map(few)
        table[name] = table[name].astype("Int64").mask(of_few)
        for figure in figures:
            table[figure] = table[figure].mask(of_few)
    return table


def shown(count: float | None) -> str:
    """On a page, where a hidden one is nothing or NaN."""
    return f"< {SMALL}" if count is None or math.isnan(count) else f"{count:,.0f}"

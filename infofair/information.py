"""How many bits a score tells about the group, by a fresh estimate on rows it has not seen."""

import numpy as np

BINS = 16
LEAST = 10  # fitted rows of a group that takes part
PRIOR = 10.0  # rows that the groups' shares count as in every bin


def held_out(
    fitted: dict[str, np.ndarray],
    tested: dict[str, np.ndarray],
    *,
    between: tuple[float, float] | None = None,
) -> float:
    """An estimate of I(score; s) in bits; `fitted` and `tested` have `score` and `s` of their rows.

    I(z; s) = E[log p(s|z) / p(s)]. p(s|z) is that of the bin of z: the shares of the groups in it,
    drawn to those of all rows by a prior that counts as PRIOR rows; bins can follow any function of
    the score. Both are of some rows, and the mean is over others. So it does not grow with what is
    learnt by heart: on average it is at most the truth, and below 0 if there is nothing to find.
    Groups with fewer than LEAST fitted rows are left out. The bins have equally many fitted rows
    each, or are equally wide `between` two scores, for an estimate that sees no finer differences.
    """
    counts = np.bincount(fitted["s"])
    known = np.flatnonzero(counts >= LEAST)
    rows, others = np.isin(fitted["s"], known), np.isin(tested["s"], known)
    if len(known) < 2 or not others.any():
        return 0.0
    places = np.linspace(0, 1, BINS + 1)[1:-1]
    if between is None:  # quantiles may coincide where many rows have one score
        edges = np.unique(np.quantile(fitted["score"][rows], places))
    else:
        edges = between[0] + (between[1] - between[0]) * places

    def cells(of: dict[str, np.ndarray], kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.searchsorted(edges, of["score"][kept]), np.searchsorted(known, of["s"][kept])

    shares = counts[known] / counts[known].sum()
    place, group = cells(fitted, rows)
    seen = np.bincount(place * len(known) + group, minlength=(len(edges) + 1) * len(known))
    seen = seen.reshape(-1, len(known)) + PRIOR * shares
    log_p = np.log(seen / seen.sum(axis=1, keepdims=True)) - np.log(shares)
    return float(log_p[cells(tested, others)].mean() / np.log(2))

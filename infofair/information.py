"""How many bits a score tells about the group, by a fresh classifier on rows it has not seen."""

from typing import Any

import numpy as np

BINS = 16
LEAST = 10  # fitted rows of a group that takes part


def held_out(
    fitted: dict[str, np.ndarray],
    tested: dict[str, np.ndarray],
    *,
    between: tuple[float, float] | None = None,
) -> float:
    """An estimate of I(score; s) in bits; `fitted` and `tested` have `score` and `s` of their rows.

    I(z; s) = E[log p(s|z) / p(s)]. p(s|z) is a multinomial logistic regression on bins of the
    score, which can follow any function of it, p(s) the groups' shares; both are fitted on some
    rows, and the mean is over others. So it does not grow with what the classifier learns by
    heart: on average it is at most the truth, and below 0 if there is nothing to find. Groups with
    fewer than LEAST fitted rows are left out. The bins have equally many fitted rows each, or are
    equally wide `between` two scores, for an estimate that sees no finer differences than these.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

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

    def binned(score: np.ndarray) -> np.ndarray:
        return np.searchsorted(edges, score)[:, None]

    classifier: Any = make_pipeline(
        OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000)
    )
    classifier.fit(binned(fitted["score"][rows]), fitted["s"][rows])
    log_p = classifier.predict_log_proba(binned(tested["score"][others]))
    place = np.searchsorted(known, tested["s"][others])
    shares = counts[known] / counts[known].sum()
    gain = log_p[np.arange(len(place)), place] - np.log(shares[place])
    return float(gain.mean() / np.log(2))

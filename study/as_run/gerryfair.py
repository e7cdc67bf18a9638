"""GerryFair as in the official code, which AIF360 carries: the auditor's counter does not count.

The update of the costs goes through the rows with a counter of negatives, by which it looks up
whether a negative is in the group g. The counter is set to zero inside the loop, so that every
negative is taken for the first one:

    cᵢ = 1/n + 1/n avg_τ λ_τ (Pr[g_τ | y = 0] − g_τ(x_first negative))

That shifts the costs of all negatives alike, so that every h_t is a threshold of the one linear
regression of y. No group is treated differently from another, and whether the threshold rises or
falls depends on which row comes first. Where a violation is found (gender, both), that is neither
the paper's row of Adult nor of Dutch; the auditor put right is linear regression there, as printed.
"""

import numpy as np

from infofair.methods.gerryfair import GerryFair


class GerryFairMiscounted(GerryFair):
    def pull(self, members: np.ndarray) -> np.ndarray:
        """Pr[g | y = 0] − g(x) of the first negative, for all of them: here is the mistake."""
        return np.full(len(members), members.mean() - members[0])

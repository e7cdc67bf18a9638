"""FCFC as the paper's authors evidently ran it: the labels left in {0, 1}.

With y ∈ {0, 1} in place of {−1, +1} a negative's loss log(1 + exp(−y wᵀx)) = log 2 does not depend
on w, so that only positives are learnt: their loss falls for ever as the intercept, which no
constraint on covariances holds back, grows. Whoever stops says 1 to everybody, in every setting.
"""

import numpy as np

from infofair.methods.fcfc import FCFC


class FCFCWithLabels01(FCFC):
    def labels(self, y: np.ndarray) -> np.ndarray:
        """The classes themselves: here is the mistake."""
        return y

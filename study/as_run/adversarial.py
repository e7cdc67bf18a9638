"""Adversarial: a reading that gives the paper's constant rows (study/tried has one that does not).

In print Adversarial predicts class 0 for every row of every dataset and setting, and its imparity
is 0.000 even where the released metric gives a constant predictor more.
"""

import numpy as np

from infofair.methods.base import Fit, Solver, Task


class OneOutputByArgmax(Solver):
    """A predictor with one output, read as if it had one for each class.

    Zhang's predictor, and those of AIF360 and fairlearn, put out one number, the score of class 1.
    The released evaluation takes the largest of a row's outputs for its class; the largest of one
    is the first, so that everybody gets class 0, whatever was trained. That is why nothing is
    trained here: the score is any column.
    """

    random = False

    def fit(self, task: Task, seed: int) -> Fit:
        def predict(X: np.ndarray) -> np.ndarray:
            scores = X[:, :1]  # rows × 1 output
            return np.argmax(scores, axis=1).astype(float)  # here is the mistake

        return Fit(predict)

"""Logistic regression, unconstrained: a base that thresholds are put on.

scikit-learn's, with its default L2 term so that there is a minimum. Nothing is drawn.
"""

from sklearn.linear_model import LogisticRegression

from infofair.methods.base import Fit, Problem, Solver, Task, knob


class Logistic(Solver):
    C: float = knob(1.0, gt=0, source="inverse weight of the L2 term; scikit-learn's default")

    random = False
    uses_groups = False

    def fit(self, task: Task, seed: int) -> Fit:
        # one-hot features of a few dozen columns: Newton's method needs ten steps
        model = LogisticRegression(C=self.C, solver="newton-cholesky")
        y = task.y["train"]
        if y.min() == y.max():
            raise Problem(f"logistic: every training row has class {y[0]}; expected both")
        model.fit(task.X["train"], y)
        row = {"iterations": float(model.n_iter_[0])}
        return Fit(lambda X: model.predict_proba(X)[:, 1], [row])

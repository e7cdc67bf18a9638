"""Gradient-boosted trees, unconstrained: the strong base that thresholds are put on.

scikit-learn's histogram boosting with its defaults, which are LightGBM's: nothing is tuned. Cruz
and Hardt, "Unprocessing Seven Years of Algorithmic Fairness", ICLR 2024, found that thresholds on
the most accurate unconstrained model contain what other methods reach. All rows and all features
are used in every tree and no rows are held back for early stopping, so nothing is drawn.
"""

from sklearn.ensemble import HistGradientBoostingClassifier

from infofair.methods.base import Fit, Problem, Solver, Task, knob


class Boosting(Solver):
    rounds: int = knob(100, ge=1, source="trees; scikit-learn's default")
    # scikit-learn calls it learning_rate, which here is the networks'
    shrinkage: float = knob(0.1, gt=0, source="of each tree; scikit-learn's default")
    leaves: int = knob(31, ge=2, source="of a tree at most; scikit-learn's default")

    random = False
    uses_groups = False

    def fit(self, task: Task, seed: int) -> Fit:
        model = HistGradientBoostingClassifier(
            max_iter=self.rounds,
            learning_rate=self.shrinkage,
            max_leaf_nodes=self.leaves,
            early_stopping=False,
            random_state=0,
        )
        y = task.y["train"]
        if y.min() == y.max():
            raise Problem(f"boosting: every training row has class {y[0]}; expected both")
        model.fit(task.X["train"], y)
        return Fit(lambda X: model.predict_proba(X)[:, 1], [{"trees": float(model.n_iter_)}])

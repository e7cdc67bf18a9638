"""scikit-learn estimators over the paper's framework: any extractor, attribute and task.

    model = InfoFairClassifier(alpha=3, fair="equal_opportunity")
    model.fit(X, y, sensitive_features=df[["sex", "race", "age"]])
    model.predict(X_new), model.predict_proba(X_new), model.information_

docs/estimators.md has examples. infofair/framework has what is behind it.

s is needed to fit and never to predict, so a group that nobody had seen is no problem. Without
`sensitive_features` there is nothing that α could act on: if α was asked for, that is an error;
with the default α the model is trained without fairness, and a warning says so. (scikit-learn's
tools, and its `check_estimator`, fit every estimator by X and y alone.)
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.utils.multiclass import check_classification_targets

from infofair.errors import Problem
from infofair.framework import notions, recipe
from infofair.framework.checks import Invalid, among
from infofair.framework.estimator import Fair, fit_together


@dataclass(eq=False, repr=False, kw_only=True)
class InfoFairClassifier(ClassifierMixin, Fair):
    """Classes, fair by `fair` in `outcome`.

    fair: "statistical_parity", "equal_opportunity" (rows of the positive class only) or
    "equalized_odds" (every class by itself).
    outcome: "decision"; "score", fair at every threshold; or "representation", a stochastic
    bottleneck of which every later use is fair.
    """

    fair: str = notions.PARITY
    outcome: str = recipe.DECISION  # type: ignore[misc]
    positive_label: Any = None  # the class of equal opportunity; None: the last of classes_
    sharpness: float | None = None  # κ of a decision

    OUTCOMES = (recipe.DECISION, recipe.SCORE, recipe.REPRESENTATION)

    def _notion(self) -> str:
        among("fair", self.fair, notions.NOTIONS)
        return self.fair

    def _target(self, y: np.ndarray) -> tuple[np.ndarray, int, int]:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise Invalid(f"y has one class, {self.classes_[0]!r}; expected at least two")
        return codes.astype(np.int64), len(self.classes_), self._positive()

    def _positive(self) -> int:
        if self.positive_label is None:
            return len(self.classes_) - 1
        found = np.flatnonzero(self.classes_ == self.positive_label)
        if not len(found):
            there = ", ".join(map(repr, self.classes_.tolist()))
            raise Invalid(f"positive_label is {self.positive_label!r}; y has the classes {there}")
        return int(found[0])

    def _probabilities(self, X: np.ndarray) -> np.ndarray:
        logits = self._outputs(X)
        odds = np.exp(logits - logits.max(2, keepdims=True))
        return (odds / odds.sum(2, keepdims=True)).mean(0)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class, rows × classes."""
        return self._probabilities(self._seen(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most likely class of every row."""
        likely = self.predict_proba(X).argmax(1)
        return self.classes_[likely]

    def _arrays(self) -> dict[str, np.ndarray]:
        classes = self.classes_
        if classes.dtype == object:
            if not all(isinstance(own, str) for own in classes):
                raise Problem("classes_ are objects; expected strings or numbers, to be saved")
            return {"classes_of_objects": classes.astype(str)}
        return {"classes": classes}

    def _take(self, arrays: dict[str, np.ndarray]) -> int:
        objects = arrays.get("classes_of_objects")
        self.classes_ = arrays["classes"] if objects is None else objects.astype(object)
        return len(self.classes_)

    def _audited(self) -> dict[str, Any]:
        """The positive class against all others."""
        assert self._kept is not None
        positive, p = self._positive(), self._probabilities(self._kept.X.astype(np.float64))
        return {
            "y": (self._kept.y == self.classes_[positive]).astype(int),
            "score": p[:, positive],
            "decision": (p.argmax(1) == positive).astype(int),
        }


@dataclass(eq=False, repr=False, kw_only=True)
class InfoFairRegressor(RegressorMixin, Fair):
    """A number, by squared error, of which s tells nothing.

    outcome: "prediction", or "representation" as for classes.
    """

    outcome: str = recipe.PREDICTION  # type: ignore[misc]

    OUTCOMES = (recipe.PREDICTION, recipe.REPRESENTATION)

    def _target(self, y: np.ndarray) -> tuple[np.ndarray, int, int]:
        self.mean_, self.std_ = float(np.mean(y)), float(np.std(y))
        if self.std_ == 0:
            raise Invalid(f"y is {self.mean_:g} in every row; expected different numbers")
        return ((y - self.mean_) / self.std_).astype(np.float32), 0, 0

    def predict(self, X: Any) -> np.ndarray:
        return self._numbers(self._seen(X))

    def _numbers(self, X: np.ndarray) -> np.ndarray:
        return self._outputs(X).mean(0)[:, 0] * self.std_ + self.mean_

    def _arrays(self) -> dict[str, np.ndarray]:
        return {"moments": np.array([self.mean_, self.std_])}

    def _take(self, arrays: dict[str, np.ndarray]) -> int:
        self.mean_, self.std_ = map(float, arrays["moments"])
        return 0

    def _audited(self) -> dict[str, Any]:
        assert self._kept is not None
        score = self._numbers(self._kept.X.astype(np.float64))
        return {"y": self._kept.y, "score": score, "task": "regression"}


def fit_many(
    estimator: Any, X: Any, y: Any, *, sensitive_features: Any,
    strengths: Iterable[float] | None = None, seeds: Iterable[int] = (0,),
) -> dict[tuple[float, int], Any]:  # fmt: skip
    """Fitted copies of an estimator by (strength, seed), all trained in one pass.

    strengths: `estimator.alphas`, unless told.
    Each is, to the bit, what `fit` makes of the estimator with this alpha and random_state
    (infofair/framework/stacked.py names the exceptions), at a fraction of the time.
    """
    tried = estimator.alphas if strengths is None else strengths
    asked = list(product(map(float, tried), map(int, seeds)))
    if not asked:
        raise Invalid("fit_many: no strength or no seed; expected at least one of each")
    if sensitive_features is None:
        raise Invalid("fit_many: no sensitive_features that strengths could act on")
    made = [clone(estimator).set_params(alpha=a, random_state=seed) for a, seed in asked]
    fit_together(made, X, y, sensitive_features)
    return dict(zip(asked, made, strict=True))

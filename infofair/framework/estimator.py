"""What both scikit-learn estimators share: parameters, fitting, predicting, keeping."""

import copy
import warnings
from dataclasses import KW_ONLY, asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from infofair.errors import Damaged, Problem
from infofair.framework import (
    estimate,
    notions,
    outcomes,
    recipe,
    sensitive,
    stacked,
    storage,
    trunk,
)
from infofair.framework.checks import Invalid, among, number
from infofair.framework.plan import Model, Plan, Replaced
from infofair.framework.players import DIMENSIONS, DRAWS
from infofair.framework.rows import Scale, held_back
from infofair.parallel.progress import bar
from infofair.training import batched
from infofair.training.streams import stream

ROWS = 4096  # predicted at a time: bounds the memory
MODULES = ("extractor", "target_predictor", "sensitive_predictor", "density_ratio")
ALPHA = 1.0  # where s is given and alpha is not


@dataclass(frozen=True)
class Kept:
    """The rows that were held back."""

    rows: np.ndarray  # their numbers
    X: np.ndarray  # as the extractor sees them
    y: np.ndarray  # as it was given
    sensitive: Any  # likewise, as columns with names; None if there is no s
    attributes: list[sensitive.Attribute]
    parts: list[sensitive.Part]


@dataclass(eq=False, repr=False)
class Fair(BaseEstimator):
    """What both estimators share. None: as infofair/framework/recipe.py has it."""

    alpha: float | None = None  # the weight of I(z; s), in nats; 1 if there is an s
    _: KW_ONLY
    attributes: str = "intersection"  # or "parallel": each attribute alone
    continuous: Any = "auto"  # or the names of the attributes that are numbers
    extractor: Any = None  # these four: a torch.nn.Module, or what makes one (modules.py)
    target_predictor: Any = None
    sensitive_predictor: Any = None
    density_ratio: Any = None
    hidden: tuple[int, ...] = (32,)  # units of the default extractor's layers
    beta: float | None = None  # weight of KL(p(z|x) ‖ N(0, I)) of a representation
    epochs: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    weight_decay: float | None = None
    critic_learning_rate: float | None = None
    critic_steps: int | None = None  # before each step of the others
    warm_up: int | None = None  # epochs before alpha counts
    early_stopping: bool = False  # when the validation objective stands still; the last model stays
    patience: int = 10  # epochs, then
    validation_fraction: float = 0.1  # of the rows: held back, for `information_` and `report`
    random_state: Any = 0
    device: str | None = None  # to train on: cpu, cuda, …; what there is, if it is not told
    progress: bool = True  # a bar, if somebody watches

    outcome: ClassVar[Any]  # what z is; the estimators' own
    OUTCOMES: ClassVar[tuple[str, ...]]
    # Strengths worth a try, for `fit_many` and searches. (scikit-learn's checks set the alpha of
    # regressors that have no such list to 0.01, as if it were a ridge, and fit without s.)
    alphas: ClassVar[tuple[float, ...]] = (0.0, 0.3, 1.0, 3.0, 10.0)

    # -- fitting ----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None) -> Self:
        """X: rows × features; y: rows; sensitive_features: Series, DataFrame, array or list."""
        fit_together([self], X, y, sensitive_features)
        return self

    def _validated(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        return validate_data(
            self, X, y, dtype=np.float64, allow_nd=self.extractor is not None,
            ensure_min_samples=2, y_numeric=isinstance(self, RegressorMixin),
        )  # fmt: skip

    def _target(self, y: np.ndarray) -> tuple[np.ndarray, int, int]:
        """y as it is trained on, the number of classes (0: a number), and which one is positive."""
        raise NotImplementedError

    def _notion(self) -> str:
        return notions.PARITY

    def _alpha(self, given: Any) -> float:
        if self.alpha is not None:
            number("alpha", self.alpha, least=0)
        if given is not None:
            return ALPHA if self.alpha is None else float(self.alpha)
        if self.alpha:
            raise Invalid(
                f"alpha is {self.alpha:g}, but there are no sensitive_features that it could act "
                "on: expected fit(X, y, sensitive_features=…); in a Pipeline or a search, "
                "set_fit_request(sensitive_features=True) passes them on"
            )
        if self.alpha is None:
            warnings.warn(
                "no sensitive_features: trained without fairness (alpha = 0 says that it is meant)",
                stacklevel=4,
            )
        return 0.0

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def _plan(self, X: np.ndarray, y: np.ndarray, attributes: list[sensitive.Attribute]) -> Plan:
        among("outcome", self.outcome, self.OUTCOMES)
        number("validation_fraction", self.validation_fraction, least=0, above=True)
        if self.validation_fraction >= 1:
            raise Invalid(
                f"validation_fraction is {self.validation_fraction}; expected less than 1"
            )
        target, classes, positive = self._target(y)
        parts = sensitive.parts(attributes, self.attributes)
        strata = [target if classes else np.zeros(len(y), int), *(part.g for part in parts)]
        split = held_back(strata, self.validation_fraction)
        scaled = self.extractor is None
        self.scale_ = Scale.of(X[split["train"]]) if scaled else None
        training = recipe.training(
            self.outcome, parts, len(split["train"]),
            patience=self.patience if self.early_stopping else None,
            **{
                name: getattr(self, name, None) for name in recipe.BOUNDS if name != "patience"
            },
        )  # fmt: skip
        return Plan(
            self._scaled(X), target, parts, split, classes, self._notion(), positive,
            self.outcome, training, self._replaced(),
        )  # fmt: skip

    def _replaced(self) -> Replaced:
        if not all(isinstance(units, int | np.integer) and units > 0 for units in self.hidden):
            raise Invalid(f"hidden is {self.hidden!r}; expected the units of each layer")
        return Replaced(**{n: getattr(self, n) for n in MODULES}, hidden=tuple(self.hidden))

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return (X if self.scale_ is None else self.scale_(X)).astype(np.float32)

    def _finish(self, plan: Plan, fitted: stacked.Fitted, kept: Kept) -> None:
        # in double precision no row's prediction depends visibly on those beside it; somebody's own
        # module may hold constants in single
        own = plan.replaced.extractor or plan.replaced.target_predictor
        self.predictor_ = fitted.predictor if own else fitted.predictor.double()
        self.critics_, self.loss_curve_ = fitted.critics, fitted.curve
        self.n_iter_ = len(fitted.curve)
        self.outcome_, self.shape_ = plan.outcome, plan.X.shape[1:]
        self.information_ = None
        self._kept: Kept | None = kept
        if kept.attributes:
            self.information_ = estimate.information(
                self._z(plan, kept.X), plan.y[kept.rows], kept.attributes, kept.parts,
                outcome=plan.outcome, fair=plan.fair, positive=plan.positive,
            )  # fmt: skip

    # -- predicting -------------------------------------------------------------------------------

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        """Of every row and draw of a representation: draws × rows × outputs."""
        predictor = self.predictor_
        dtype = next(predictor.parameters()).dtype
        noise = torch.randn(
            DRAWS, DIMENSIONS, generator=stream(0, "predict", on=torch.device("cpu"))
        )
        found = []
        with torch.no_grad():
            for start in range(0, len(X), ROWS):
                rows = torch.from_numpy(X[start : start + ROWS]).to(dtype)
                if predictor.bottleneck is None:
                    found.append(predictor(rows).output[None])
                else:  # the same draws for every row
                    each = [
                        predictor(rows, own.to(dtype).expand(len(rows), -1)).output for own in noise
                    ]
                    found.append(torch.stack(each))
        return torch.cat(found, 1).double().numpy()

    def _z(self, plan: Plan, X: np.ndarray) -> np.ndarray:
        """What is to be fair, rows × dimensions; a representation is drawn anew for every row."""
        predictor = self.predictor_
        dtype = next(predictor.parameters()).dtype
        rows = torch.from_numpy(X).to(dtype)
        noise = torch.randn(len(rows), DIMENSIONS, generator=stream(0, "z", on=torch.device("cpu")))
        with torch.no_grad():
            predicted = predictor(
                rows, *([] if predictor.bottleneck is None else [noise.to(dtype)])
            )
            if plan.outcome == recipe.SCORE:
                return outcomes.log_odds(predicted.output).double().numpy()
            return plan.z(predicted).double().numpy()

    def _seen(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        own = self.extractor is not None
        X = validate_data(self, X, dtype=np.float64, reset=False, allow_nd=own)
        return X if self.scale_ is None else self.scale_(X)

    # -- keeping ----------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """One file without pickle and without any rows: what predicts, and `information_`."""
        check_is_fitted(self)
        given = {
            name: own for name, own in self.get_params(deep=False).items() if name not in MODULES
        }
        given["random_state"] = self.seed_
        about = {
            "class": type(self).__name__,
            "parameters": given,
            "own": [name for name in MODULES[:2] if getattr(self, name) is not None],
            "shape": list(self.shape_),
            "features": list(getattr(self, "feature_names_in_", [])),
            "loss_curve": self.loss_curve_,
            "information": None if self.information_ is None else asdict(self.information_),
        }
        arrays = {} if self.scale_ is None else asdict(self.scale_)
        storage.save(Path(path), about, arrays | self._arrays(), self.predictor_)

    @classmethod
    def load(cls, path: str | Path, **modules: Any) -> Self:
        """What `save` wrote. Code is not in the file: modules of one's own are given again."""
        path = Path(path)
        about, arrays, state = storage.load(path)
        try:
            if about["class"] != cls.__name__:
                raise Problem(f"{path} is an {about['class']}; expected an {cls.__name__}")
            if {*about["own"]} != {*modules}:
                asked = ", ".join(about["own"]) or "none"
                raise Problem(f"{path}: expected the modules it was trained with: {asked}")
            found = cls(**about["parameters"] | modules)
            found._restore(about, arrays, state)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise Damaged(path, error) from None
        return found

    def _restore(
        self, about: dict[str, Any], arrays: dict[str, np.ndarray], state: dict[str, torch.Tensor]
    ) -> None:
        self.shape_ = tuple(about["shape"])
        self.n_features_in_ = self.shape_[0] if self.shape_ else 1
        if about["features"]:
            self.feature_names_in_ = np.array(about["features"], object)
        self.scale_ = Scale(arrays["shift"], arrays["factor"]) if "shift" in arrays else None
        self.loss_curve_, self.seed_ = about["loss_curve"], about["parameters"]["random_state"]
        self.n_iter_ = len(self.loss_curve_)
        self.information_ = about["information"] and estimate.Information(**about["information"])
        self.critics_, self._kept = None, None
        classes = self._take(arrays)
        plan = Plan(
            np.zeros((2, *self.shape_), np.float32), np.zeros(2), [], {}, classes, notions.PARITY,
            0, self.outcome, recipe.Training(), self._replaced(),
        )  # fmt: skip
        predictor = plan.predictor(0).to(next(iter(state.values())).dtype)
        predictor.load_state_dict(state)
        self.predictor_ = predictor.train(False)

    def _arrays(self) -> dict[str, np.ndarray]:
        """What else is kept."""
        raise NotImplementedError

    def _take(self, arrays: dict[str, np.ndarray]) -> int:
        """The other way round; the number of classes."""
        raise NotImplementedError

    def report(self, folder: str | Path | None = None) -> Any:
        """The audit of the held-back rows (infofair.audit); into a folder, if there is one.

        s is as it was given. A loaded model has no rows.
        """
        check_is_fitted(self)
        if self._kept is None or self._kept.sensitive is None:
            raise Problem(
                "report() needs the rows that fit held back, with their sensitive_features; this "
                "model has none (a file has no rows): infofair.audit takes any others"
            )
        from infofair.auditing.run import audit  # what only fits and predicts does without it

        found = audit(**self._audited(), sensitive_features=self._kept.sensitive)
        if folder is not None:
            found.write(Path(folder))
        return found

    def _audited(self) -> dict[str, Any]:
        """What the audit is told of the held-back rows."""
        raise NotImplementedError


def fit_together(estimators: list[Any], X: Any, y: Any, given: Any) -> None:
    """Estimators that differ by alpha and random_state only."""
    first = estimators[0]
    X, y = first._validated(X, y)
    alphas = []
    for own in estimators:  # no comprehension: its frame would hide the caller from a warning
        alphas.append(own._alpha(given))
    attributes, columns = [], None
    if given is not None:
        columns = sensitive.frame(given, len(X))
        attributes = sensitive.read(columns, len(X), first.continuous)
    plan: Plan = first._plan(X, y, attributes)
    rows = plan.split["validation"]
    kept = Kept(
        rows, plan.X[rows], y[rows], None if columns is None else columns.iloc[rows],
        [own.at(rows) for own in attributes], [own.at(rows) for own in plan.parts],
    )  # fmt: skip
    models = [Model(own._seed(), alpha) for own, alpha in zip(estimators, alphas, strict=True)]
    train = trunk.train if trunk.serves(plan) else stacked.train
    with bar(plan.training.epochs, "fit", "epoch", shown=first.progress) as shown:

        def say(epoch: int, loss: float) -> None:
            shown.update()
            shown.set_postfix({"T": f"{loss:.3f}"})

        fitted = train(plan, list(dict.fromkeys(models)), _device(first.device), say)
    learnt = {name: own for name, own in vars(first).items() if name.endswith("_")}
    for own, model in zip(estimators, models, strict=True):
        vars(own).update(learnt)
        own.seed_ = model.seed
        own._finish(plan, copy.deepcopy(fitted[model]), kept)


def _device(name: str | None) -> torch.device:
    try:
        return batched.device(name)
    except Problem as problem:
        if name is None:
            raise
        reason = str(problem).removeprefix(f"INFOFAIR_DEVICE={name}: ")
        raise Invalid(f"device is {name!r}: {reason}") from None

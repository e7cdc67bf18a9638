"""The estimators as a user has them: scikit-learn's contract, s in any form, files, mistakes."""

import pickle
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
import torch
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn

from infofair import InfoFairClassifier, InfoFairRegressor, fit_many
from infofair.auditing import run as auditing
from infofair.errors import Damaged, Problem
from infofair.framework import recipe, stacked, trunk
from tests.documents import blocks

Table = tuple[np.ndarray, np.ndarray, pd.DataFrame]


def table(n: int = 900, seed: int = 0) -> Table:
    """X, two classes and three attributes on which they depend."""
    rng = np.random.default_rng(seed)
    s = pd.DataFrame({
        "sex": rng.choice(["f", "m"], n), "race": rng.choice(list("abc"), n),
        "age": rng.integers(18, 80, n),
    })  # fmt: skip
    X = rng.normal(size=(n, 5))
    X[:, 0] += 2.0 * (s["sex"] == "m")
    score = X[:, 0] + X[:, 1] + (s["race"] == "a") + s["age"] / 40 + rng.normal(size=n)
    return X, (score > np.median(score)).astype(int), s


QUICK: dict[str, Any] = {"epochs": 3, "warm_up": 1, "batch_size": 128, "critic_steps": 2}


def state(model: Any) -> dict[str, torch.Tensor]:
    return model.predictor_.state_dict()


def same(one: Any, other: Any) -> bool:
    return all(torch.equal(a, state(other)[name]) for name, a in state(one).items())


# -- scikit-learn's contract ----------------------------------------------------------------------

# trained shorter than by default, which the slow ones are
CHECKED = [
    InfoFairClassifier(epochs=4, learning_rate=0.1),
    InfoFairRegressor(epochs=3, learning_rate=0.1),
]


@pytest.mark.filterwarnings("ignore:no sensitive_features")
@parametrize_with_checks(CHECKED)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:no sensitive_features")
@parametrize_with_checks([InfoFairClassifier(), InfoFairRegressor()])
def test_scikit_learns_checks_with_the_defaults(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_search_and_a_pipeline_pass_s_on() -> None:
    X, y, s = table(400)
    with sklearn.config_context(enable_metadata_routing=True):
        own = InfoFairClassifier(**QUICK).set_fit_request(sensitive_features=True)
        search = GridSearchCV(own, {"alpha": [0.0, 5.0]}, cv=2)
        search.fit(X, y, sensitive_features=s[["sex"]])
        assert {"sex"} == set(search.best_estimator_.information_.attributes)
        pipeline = make_pipeline(StandardScaler(), own)
        pipeline.fit(X, y, sensitive_features=s["race"])
        assert list(pipeline[-1].information_.attributes) == ["race"]
    # without a word on routing, s does not arrive, and that is no silent loss of fairness
    silent = GridSearchCV(InfoFairClassifier(**QUICK), {"alpha": [5.0]}, cv=2, error_score="raise")
    with pytest.raises(Problem, match="set_fit_request"):
        silent.fit(X, y)


def test_labels_and_names_are_kept() -> None:
    X, y, s = table(300)
    named = pd.DataFrame(X, columns=list("abcde"))
    model = InfoFairClassifier(**QUICK).fit(
        named, np.where(y == 1, "yes", "no"), sensitive_features=s[["sex", "race"]]
    )
    assert model.classes_.tolist() == ["no", "yes"] and set(model.predict(named)) <= {"no", "yes"}
    assert list(model.feature_names_in_) == list("abcde")
    assert set(model.information_.attributes) == {"sex", "race"}
    assert model.information_.rows == 30 and np.isnan(float(model.information_))


# -- every option trains --------------------------------------------------------------------------

OPTIONS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "opportunity": ({"fair": "equal_opportunity"}, ["sex", "race"]),
    "odds": ({"fair": "equalized_odds"}, ["sex"]),
    "score": ({"outcome": "score"}, ["sex"]),
    "representation": ({"outcome": "representation"}, ["sex"]),
    "parallel": ({"attributes": "parallel"}, ["sex", "race", "age"]),
    "age": ({}, ["age"]),
    "mixed": ({}, ["sex", "race", "age"]),
    "stopping": ({"early_stopping": True, "patience": 1}, ["sex"]),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_trains_and_is_the_same_in_a_pass_of_many(option: str) -> None:
    X, y, s = table(500)
    given, columns = OPTIONS[option]
    own = InfoFairClassifier(2.0, **QUICK | {"epochs": 2} | given)
    model = own.fit(X, y, sensitive_features=s[columns])
    p = model.predict_proba(X)
    assert p.shape == (500, 2) and np.allclose(p.sum(1), 1) and (model.score(X, y) > 0.5)
    many = fit_many(own, X, y, sensitive_features=s[columns], strengths=[0.0, 2.0], seeds=[0, 1])
    assert list(many) == [(0.0, 0), (0.0, 1), (2.0, 0), (2.0, 1)]
    assert same(many[2.0, 0], model) and not same(many[2.0, 1], model)


def test_several_classes_train_by_every_notion() -> None:
    X, y, s = table(400)
    three = np.array(["low", "middle", "high"])[y + (X[:, 1] > 0.5)]
    for fair in ("statistical_parity", "equal_opportunity", "equalized_odds"):
        for outcome in ("decision", "score"):
            model = InfoFairClassifier(
                1.0, fair=fair, outcome=outcome, positive_label="high", **QUICK | {"epochs": 2}
            ).fit(X, three, sensitive_features=s["sex"])
            assert model.predict_proba(X).shape == (400, 3)
            assert set(model.predict(X)) <= {"low", "middle", "high"}


def test_the_fast_trunk_serves_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, s = table(3000)
    used = []
    for module in (trunk, stacked):
        whole = module.train
        monkeypatch.setattr(
            module, "train", lambda *given, m=module, f=whole: (used.append(m), f(*given))[1]
        )
    own = InfoFairClassifier(1.0, epochs=2)
    model = own.fit(X, y, sensitive_features=s[["sex", "race"]])
    many = fit_many(own, X, y, sensitive_features=s[["sex", "race"]], seeds=[0, 3])
    assert used == [trunk, trunk] and len(many) == 2 * len(own.alphas)
    assert same(many[1.0, 0], model)
    InfoFairClassifier(1.0, epochs=2).fit(X, y, sensitive_features=s[["sex", "age"]])
    assert used[2] is stacked


# -- it does what it is for -----------------------------------------------------------------------


def gap(model: Any, X: np.ndarray, s: pd.Series, rows: np.ndarray) -> float:
    accepted = model.predict(X)
    return abs(accepted[rows & (s == "m")].mean() - accepted[rows & (s == "f")].mean())


def test_alpha_closes_the_gap_that_the_notion_speaks_of() -> None:
    X, y, s = table(3000)
    new, y_new, s_new = table(3000, seed=1)
    how: dict[str, Any] = {"epochs": 12, "warm_up": 2, "batch_size": 256, "critic_steps": 4}
    for fair, rows in (("statistical_parity", y_new >= 0), ("equal_opportunity", y_new == 1)):
        own = InfoFairClassifier(fair=fair, **how)
        many = fit_many(own, X, y, sensitive_features=s["sex"], strengths=[0.0, 3.0])
        gaps = [gap(model, new, s_new["sex"], rows) for model in many.values()]
        assert gaps[0] > 0.15 and gaps[1] < gaps[0] / 2, fair
        assert all(0.2 < model.predict(new).mean() < 0.8 for model in many.values())
        bits = [model.information_.bits for model in many.values()]
        assert bits[1] < bits[0] or fair != "statistical_parity"


def test_a_fair_regression_comes_near_the_best_there_is() -> None:
    """y = x + s + ε, p = .3: Bayes R² = 1.21 / 2.21, and 1 / 2.21 of those independent of s."""

    def rows(seed: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        x, s = rng.normal(size=n), (rng.random(n) < 0.3).astype(int)
        return np.stack([x, s], 1), x + s + rng.normal(size=n), s

    X, y, s = rows(0, 6000)
    new, y_new, s_new = rows(1, 20_000)
    own = InfoFairRegressor(critic_steps=2, epochs=20)
    many = fit_many(own, X, y, sensitive_features=s, strengths=[0.0, 10.0])
    assert many[0.0, 0].score(new, y_new) == pytest.approx(0.5475, abs=0.02)
    assert many[10.0, 0].score(new, y_new) == pytest.approx(0.458, abs=0.025)
    predicted = many[10.0, 0].predict(new)
    assert abs(predicted[s_new == 1].mean() - predicted[s_new == 0].mean()) < 0.25
    assert many[10.0, 0].information_.bits < many[0.0, 0].information_.bits / 3


def test_what_a_bottleneck_tells_of_s_is_at_most_its_kl() -> None:
    X, y, s = table(2000)
    model = InfoFairClassifier(0.0, outcome="representation", epochs=6).fit(
        X, y, sensitive_features=s["sex"]
    )
    with torch.no_grad():
        scaled = torch.from_numpy(model.scale_(X))
        kl = float(model.predictor_(scaled).kl)
    assert 0.0 < model.information_.bits <= kl / np.log(2)


# -- files and reports ----------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["opportunity", "representation"])
def test_a_saved_model_predicts_the_same(option: str, tmp_path: Path) -> None:
    X, y, s = table(400)
    given, columns = OPTIONS[option]
    labels = np.array(["no", "yes"], object)[y]
    own = InfoFairClassifier(
        np.float64(2),
        **QUICK | given,
        random_state=np.random.RandomState(4),
        continuous=np.array([]),
    )
    model = own.fit(pd.DataFrame(X, columns=list("abcde")), labels, sensitive_features=s[columns])
    model.save(tmp_path / "model.npz")
    found = InfoFairClassifier.load(tmp_path / "model.npz")
    named = pd.DataFrame(X, columns=list("abcde"))
    assert (found.predict_proba(named) == model.predict_proba(named)).all()
    assert (found.predict(named) == model.predict(named)).all()
    assert found.information_.attributes.keys() == model.information_.attributes.keys()
    with pytest.raises(Problem, match="a file has no rows"):
        found.report()
    found.save(tmp_path / "again.npz")  # and again
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "model.npz").read_bytes()
    assert (pickle.loads(pickle.dumps(model)).predict(named) == model.predict(named)).all()  # noqa: S301


def test_a_saved_regressor_and_a_module_of_ones_own(tmp_path: Path) -> None:
    X, y, s = table(400)
    path = tmp_path / "model.npz"
    extractor = nn.Sequential(nn.Linear(5, 7), nn.Tanh())
    own = InfoFairRegressor(1.0, extractor=extractor, **QUICK)
    model = own.fit(X, X[:, 0] + y, sensitive_features=s[["sex"]])
    model.save(path)
    with pytest.raises(Problem, match="modules it was trained with: extractor"):
        InfoFairRegressor.load(path)
    with pytest.raises(Problem, match="is an InfoFairRegressor; expected an InfoFairClassifier"):
        InfoFairClassifier.load(path, extractor=extractor)
    with pytest.raises(Damaged):
        InfoFairRegressor.load(path, extractor=nn.Linear(5, 7))
    found = InfoFairRegressor.load(path, extractor=extractor)
    assert (found.predict(X) == model.predict(X)).all()
    (tmp_path / "torn.npz").write_bytes(path.read_bytes()[:100])
    with pytest.raises(Damaged):
        InfoFairRegressor.load(tmp_path / "torn.npz")


class Audit:
    """A stand-in for infofair.audit."""

    def __init__(self, y: Any, **told: Any) -> None:
        self.told = told | {"y": y}

    def write(self, folder: Path) -> None:
        (folder / "index.html").write_text("page")


def test_the_report_is_the_audit_of_the_rows_held_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(auditing, "audit", Audit)
    X, y, s = table(400)
    model = InfoFairClassifier(**QUICK).fit(X, y, sensitive_features=s)
    told = model.report(tmp_path).told
    rows = model._kept.rows
    assert len(rows) == 40 and (told["y"] == y[rows]).all()
    assert (
        told["sensitive_features"]
        .reset_index(drop=True)
        .equals(s.iloc[rows].reset_index(drop=True))
    )
    np.testing.assert_allclose(told["score"], model.predict_proba(X[rows])[:, 1], atol=1e-5)
    assert (told["decision"] == model.predict(X[rows])).all()
    assert (tmp_path / "index.html").exists()
    regressor = InfoFairRegressor(**QUICK).fit(X, X[:, 0], sensitive_features=s[["sex"]])
    assert regressor.report().told["task"] == "regression"


def test_the_report_is_the_page_of_the_audit(tmp_path: Path) -> None:
    X, y, s = table(600)
    model = InfoFairClassifier(**QUICK).fit(X, y, sensitive_features=s["sex"])
    found = model.report(tmp_path / "audit").to_dict()
    assert [own["name"] for own in found["settings"]] == ["sex"] and found["rows"] == 60
    assert "<title>" in (tmp_path / "audit/index.html").read_text(encoding="utf-8")


def test_a_report_that_cannot_be_is_said() -> None:
    X, y, _ = table(300)
    plain = InfoFairClassifier(0.0, **QUICK).fit(X, y)
    with pytest.raises(Problem, match="needs the rows that fit held back"):
        plain.report()
    assert plain.information_ is None


# -- what users get wrong -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "changed", "said"),
    [
        ({"alpha": 3}, {"s": None}, "alpha is 3, but there are no sensitive_features"),
        ({"alpha": -1}, {}, "alpha is -1; expected a number of at least 0"),
        ({"alpha": "much"}, {}, "alpha is 'much'; expected a number"),
        ({"fair": "fair"}, {}, "fair is 'fair'; expected 'statistical_parity' or"),
        ({"outcome": "logit"}, {}, "outcome is 'logit'; expected 'decision' or 'score' or"),
        ({"attributes": "all"}, {}, "attributes is 'all'; expected 'intersection' or 'parallel'"),
        ({"epochs": 0}, {}, "epochs is 0; expected a whole number of at least 1"),
        ({"epochs": 5, "warm_up": 5}, {}, "alpha would never count"),
        ({"validation_fraction": 1.0}, {}, "expected less than 1"),
        ({"hidden": (0,)}, {}, "hidden is (0,)"),
        ({"device": "toaster"}, {}, "device is 'toaster'"),
        ({"positive_label": 7}, {}, "positive_label is 7; y has the classes 0, 1"),
        ({}, {"y": np.ones(300)}, "y has one class"),
        ({}, {"s": ["f", "m"]}, "sensitive_features has 2 rows; expected 300"),
        ({}, {"s": [*["f"] * 298, "m", None]}, "missing (NaN) in row 299"),
        ({}, {"y": np.ones(299)}, "inconsistent numbers of samples"),
        ({}, {"X": np.full((300, 2), np.nan)}, "Input X contains NaN"),
    ],
)
def test_mistakes_are_named(parameters: dict[str, Any], changed: dict[str, Any], said: str) -> None:
    X, y, s = table(300)
    given = {"X": X, "y": y, "s": s["sex"]} | changed
    with pytest.raises(ValueError) as raised:
        InfoFairClassifier(**{"epochs": 1} | parameters).fit(
            given["X"], given["y"], sensitive_features=given["s"]
        )
    assert said in str(raised.value)


def test_a_forgotten_s_is_a_warning_unless_alpha_was_asked_for() -> None:
    X, y, _ = table(300)
    with pytest.warns(UserWarning, match="trained without fairness") as warned:
        InfoFairClassifier(epochs=1).fit(X, y)
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        InfoFairClassifier(0, epochs=1).fit(X, y)
    with pytest.raises(Problem, match="y is 3 in every row"):
        InfoFairRegressor(0, epochs=1).fit(X, np.full(300, 3.0))
    with pytest.raises(Problem, match="no strength or no seed"):
        fit_many(InfoFairClassifier(), X, y, sensitive_features=y, seeds=[])
    with pytest.raises(Problem, match="no sensitive_features"):
        fit_many(InfoFairClassifier(), X, y, sensitive_features=None)


# -- the documents --------------------------------------------------------------------------------


def test_the_documents_examples_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other, as a reader would run them, but not for as long."""
    whole = recipe.training

    def short(*given: Any, **named: Any) -> recipe.Training:
        return replace(whole(*given, **named | {"warm_up": None}), epochs=2, warm_up=1)

    monkeypatch.setattr(recipe, "training", short)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code in blocks("docs/estimators.md", "python"):
        exec(compile(code, "docs/estimators.md", "exec"), names)
    said = capsys.readouterr().out
    assert said.startswith("Information(bits=") and len(said.splitlines()) == 7
    X = names["X"]
    assert (names["again"].predict(X) == names["model"].predict(X)).all()

"""The audit itself: every setting's figures, tests, power and remedy, and one family of tests."""

import html
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from infofair.auditing import chance, groups, leaks, power, regression, remedies, report
from infofair.auditing.chance import Test
from infofair.auditing.figures import Figures, Shares
from infofair.auditing.groups import Setting
from infofair.auditing.measures import FOUR_FIFTHS
from infofair.auditing.rows import Rows, check
from infofair.errors import Problem
from infofair.metrics import imparity
from infofair.parallel.progress import bar
from infofair.thresholds import NOTIONS
from infofair.uncertainty import null_quantile

NAMED = 50  # tiny groups
HEIGHT = 640  # of the page in a notebook, in pixels


@dataclass(frozen=True)
class Audit:
    """What an audit found; `to_dict` is audit.json (docs/audit.md has its schema)."""

    content: dict[str, Any]

    @property
    def evidence(self) -> bool:
        """Whether any gap is more than chance."""
        return bool(self.content["evidence"])

    def to_dict(self) -> dict[str, Any]:
        return self.content

    def write(self, folder: str | Path) -> Path:
        """index.html, audit.json and model_card.md, all or none of them; the page's path."""
        return report.write(self.content, Path(folder))

    def show(self) -> Path:
        """Opens the page in a browser; its path, in a temporary folder."""
        import webbrowser  # which only who looks at it needs

        page = self.write(tempfile.mkdtemp(prefix="infofair-audit-"))
        webbrowser.open(page.as_uri())
        return page

    def _repr_html_(self) -> str:
        """In a notebook, the page in a frame: its styles and ids stay its own."""
        from infofair.auditing import page

        framed = html.escape(page.page(self.content))
        return f'<iframe srcdoc="{framed}" title="Audit" width="100%" height="{HEIGHT}"></iframe>'


def audit(
    y: Any,
    *,
    score: Any = None,
    decision: Any = None,
    sensitive_features: Any,
    weights: Any = None,
    splits: Any = None,
    features: Any = None,
    task: str = "classification",
    notion: str = "parity",
    positive: Any = None,
    threshold: float = 0.5,
    show_small: bool = False,
    seed: int = 0,
    names: Mapping[str, str | None] | None = None,
) -> Audit:
    """Audit a model by its predictions.

    y: the label, 0 or 1, or two values of which `positive` is one; numbers with task="regression".
    score: the probability of label 1, or the predicted number. decision: 0 or 1; without it,
    who scores above the threshold. sensitive_features: a Series, DataFrame, dictionary or array, as
    fairlearn's MetricFrame takes it. weights: sampling weights. splits: the parts that remedies are
    cross-validated on. features: columns to search for those that give the label away. notion: what
    remedies make equal: parity, opportunity or odds. show_small: do not protect cells of fewer than
    five people.
    """
    rows = check(
        y, score=score, decision=decision, sensitive_features=sensitive_features, weights=weights,
        splits=splits, features=features, task=task, positive=positive, threshold=threshold,
        names=names,
    )  # fmt: skip
    if notion not in NOTIONS:
        raise Problem(f"no notion {notion!r}; there are {', '.join(NOTIONS)}")
    if task == "regression" and features is not None:
        raise Problem("features are searched for leaks of a label with two values only")
    return of_rows(rows, notion=notion, threshold=threshold, show_small=show_small, seed=seed)


def of_rows(rows: Rows, *, notion: str, threshold: float, show_small: bool, seed: int) -> Audit:
    settings, notes = groups.settings(rows)
    family = len(settings) * questions_each(rows)
    made = []
    with bar(len(settings), "audit", "setting") as progress:
        for place, setting in enumerate(settings):
            made.append(_setting(rows, setting, family, notion, [seed, place]))
            progress.update()
    for own, tests in zip(made, chance.family([own["tests"] for own in made]), strict=True):
        del own["tests"]
        own["measures"] = [_test(test) for test in tests]
    found = {
        "schema": report.SCHEMA,
        "task": rows.task,
        "source": _source(rows, threshold),
        "rows": len(rows),
        "overall": _overall(rows),
        "rules": report.rules(rows, family, seed, notion),
        "family": family,
        "evidence": any(test["verdict"] == "evidence" for own in made for test in own["measures"]),
        "headline": {own["name"]: _headline(own["measures"]) for own in made},
        "settings": made,
        "leaks": None if rows.features is None else leaks.leaks(rows.features, rows.y, seed),
        "notes": notes,
    }
    return Audit(report.tidy(found, report.small_cells(rows, settings), show_small))


def questions_each(rows: Rows) -> int:
    """What is asked of one setting: about selection and errors, and about the score."""
    if rows.task == "regression":
        return regression.QUESTIONS
    return 2 if rows.score is None else 3


def _setting(
    rows: Rows, setting: Setting, family: int, notion: str, seed: list[int]
) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    found: dict[str, Any] = {
        "name": setting.name,
        "attributes": list(setting.attributes),
        "cuts": {name: list(cuts) for name, cuts in setting.cuts.items()},
        "pooled": _pooled(setting),
    }
    draw = int(np.random.default_rng(seed).integers(2**31))
    if rows.task == "regression":
        of = regression.Figures.of(rows, setting)
        found["groups"] = _regression_groups(of, setting)
        found["tests"] = regression.tests(rng, rows, setting, of, family)
        pooled = float(np.sqrt(np.average(of.prediction.deviations**2, weights=of.rows)))
        found["power"] = power.of_means(
            pooled, of.prediction.trials, setting.names, len(rows), family, draw
        )
        return found | {"unpooled": None, "remedy": None, "splits": None}
    figures = Figures.of(rows, setting)
    assert rows.decision is not None
    found["groups"] = _groups(figures, setting)
    found["tests"] = chance.decision_tests(rng, figures)
    if rows.score is not None:
        found["tests"] += chance.score_tests(
            rng, rows.score, setting.group, setting.groups, rows.weights, family
        )
    found["unpooled"] = chance.unpooled_imparity(rng, rows.decision, setting.unpooled, rows.weights)
    found["power"] = [
        entry
        for name, shares in (("selection_rate", figures.selection_rate), ("tpr", figures.tpr))
        for entry in power.of_shares(name, shares, setting.names, len(rows), family, draw)
    ]
    scored = rows.score is not None
    found["remedy"] = remedies.remedy(rows, setting, notion, draw) if scored else None
    found["splits"] = _splits(rows, setting)
    return found


def _headline(measures: list[dict[str, Any]]) -> dict[str, float]:
    """Values, and how many are evidence: flat, so that `dvc metrics diff` shows them."""
    values = {own["measure"]: own["value"] for own in measures}
    return values | {"evidence": sum(own["verdict"] == "evidence" for own in measures)}


def _pooled(setting: Setting) -> list[dict[str, Any]]:
    """The tiny groups, largest first; of very many, the rest together."""
    ordered = sorted(setting.pooled.items(), key=lambda own: -own[1])
    found = [{"name": name, "rows": size} for name, size in ordered[:NAMED]]
    if more := ordered[NAMED:]:
        found.append({"name": f"{len(more)} more", "rows": sum(size for _, size in more)})
    return found


def _test(test: Test) -> dict[str, Any]:
    found: dict[str, Any] = {
        "measure": test.measure,
        "question": test.question,
        "value": test.value,
        "null_95": test.null_95,
        "p_value": test.p_value,
        "p_joint": test.p_joint,
        "p_holm": test.p_holm,
        "verdict": test.verdict,
    }
    if test.measure == "parity_ratio":
        found["four_fifths"] = "kept" if test.value >= FOUR_FIFTHS else "broken"
    return found


def _interval(value: float, between: np.ndarray) -> dict[str, float]:
    return {"value": float(value), "low": float(between[0]), "high": float(between[1])}


def _groups(figures: Figures, setting: Setting) -> list[dict[str, Any]]:
    shares: dict[str, Shares] = {
        name: getattr(figures, name) for name in ("selection_rate", "tpr", "fpr", "accuracy")
    }
    intervals = {name: of.intervals() for name, of in shares.items()}
    calibration = figures.calibration()
    found = []
    for g, name in enumerate(setting.names):
        own: dict[str, Any] = {"name": name, "rows": int(figures.rows[g])}
        own |= {key: _interval(of.rates[g], intervals[key][g]) for key, of in shares.items()}
        own["calibration"] = (
            None if calibration is None else _interval(calibration[0][g], calibration[1][g])
        )
        found.append(own)
    return found


def _regression_groups(figures: regression.Figures, setting: Setting) -> list[dict[str, Any]]:
    means = {
        "mean_prediction": figures.prediction,
        "mean_label": figures.label,
        "mean_error": figures.error,
        "mean_absolute_error": figures.absolute_error,
    }
    intervals = {name: of.intervals() for name, of in means.items()}
    return [
        {
            "name": name,
            "rows": int(figures.rows[g]),
            **{key: _interval(of.means[g], intervals[key][g]) for key, of in means.items()},
        }
        for g, name in enumerate(setting.names)
    ]


def _splits(rows: Rows, setting: Setting) -> list[dict[str, Any]] | None:
    """Whether the gap is there in every split; rows count once here, whatever their weights."""
    if rows.splits is None:
        return None
    assert rows.decision is not None
    found = []
    for place, name in enumerate(rows.split_names):
        own = rows.splits == place
        decision, group = rows.decision[own], setting.group[own]
        sizes = np.bincount(group, minlength=setting.groups)
        found.append(
            {
                "name": name,
                "rows": int(own.sum()),
                "accuracy": float(np.mean(decision == rows.y[own])),
                "selection_rate": float(decision.mean()),
                "imparity": imparity(decision, group, setting.groups),
                "null_95": null_quantile(float(decision.mean()), sizes)[0],
            }
        )
    return found


def _overall(rows: Rows) -> dict[str, float]:
    nobody = np.zeros(len(rows), np.int64)
    if rows.task == "regression":
        assert rows.score is not None
        off = rows.score - rows.y
        w = rows.weights
        return {
            "mean_prediction": float(np.average(rows.score, weights=w)),
            "mean_label": float(np.average(rows.y, weights=w)),
            "mean_error": float(np.average(off, weights=w)),
            "mean_absolute_error": float(np.average(np.abs(off), weights=w)),
        }
    of = Figures.among(rows, nobody, 1)
    return {
        "positives": of.positives.overall,
        "selection_rate": of.selection_rate.overall,
        "tpr": of.tpr.overall,
        "fpr": of.fpr.overall,
        "accuracy": of.accuracy.overall,
    }


def _source(rows: Rows, threshold: float) -> dict[str, Any]:
    named = dict(rows.names or {})
    decided = named.get("decision")
    if rows.task == "classification" and decided is None:
        given = "decision" if rows.score is None else f"score > {threshold:g}"
        decided = given
    return {
        "file": named.get("file"),
        "label": named.get("label") or "label",
        "score": named.get("score") or (None if rows.score is None else "score"),
        "decision": decided,
        "sensitive": list(rows.sensitive),
        "weights": named.get("weights") or (None if rows.weights is None else "weights"),
        "splits": named.get("splits") or (None if rows.splits is None else "splits"),
    }

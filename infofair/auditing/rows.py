"""What is audited: the columns of a table, checked one by one.

Takes what fairlearn's MetricFrame takes: lists, arrays, Series; for sensitive features also a
DataFrame, a dictionary or an array with one column per feature.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from infofair.errors import Problem

TASKS = ("classification", "regression")
SHOWN = 5  # values that a message names
MOST_SPLITS = 20


@dataclass(frozen=True)
class Rows:
    """One entry per row in every array; names say what they are called in the user's table."""

    task: str
    y: np.ndarray  # int8 0/1, or float in a regression
    decision: np.ndarray | None  # int8 0/1; None in a regression
    score: np.ndarray | None  # float; a regression's prediction
    sensitive: dict[str, pd.Series]
    weights: np.ndarray | None = None
    splits: np.ndarray | None = None  # int, with their names
    split_names: tuple[str, ...] = ()
    features: pd.DataFrame | None = None
    names: Mapping[str, str | None] | None = None  # role -> column, for the report

    def __len__(self) -> int:
        return len(self.y)


def check(
    y: Any,
    *,
    score: Any = None,
    decision: Any = None,
    sensitive_features: Any,
    weights: Any = None,
    splits: Any = None,
    features: Any = None,
    task: str = "classification",
    positive: Any = None,
    threshold: float = 0.5,
    names: Mapping[str, str | None] | None = None,
) -> Rows:
    """The rows of an audit, or a Problem that names the column and the first wrong row."""
    if task not in TASKS:
        raise Problem(f"task {task!r}: expected one of {', '.join(TASKS)}")
    called = {"label": "label", "score": "score", "decision": "decision", "weights": "weights"}
    called |= {role: name for role, name in (names or {}).items() if name is not None}
    label = column(y, called["label"])
    if not len(label):
        raise Problem("there are no rows")
    sensitive = columns(sensitive_features, len(label))
    if score is None and (decision is None or task == "regression"):
        what = "a score" if task == "regression" else "a score or a decision"
        raise Problem(f"nothing to audit: give {what}")
    if decision is not None and task == "regression":
        raise Problem("a regression has no decision; give the predicted numbers as the score")
    of_score = None if score is None else numbers(column(score, called["score"], len(label)))
    if task == "regression":
        target, decided = numbers(label), None
    else:
        target = classes(label, positive, both=True)
        decided = _decisions(of_score, decision, called, positive, threshold, len(label))
    return Rows(
        task=task,
        y=target,
        decision=decided,
        score=of_score,
        sensitive=sensitive,
        weights=None if weights is None else _weights(weights, called["weights"], len(label)),
        **_splits(splits, len(label)),
        features=None if features is None else _features(features, len(label)),
        names=names,
    )


def _decisions(
    score: np.ndarray | None,
    decision: Any,
    called: Mapping[str, str],
    positive: Any,
    threshold: float,
    rows: int,
) -> np.ndarray:
    """The decisions as given, or who scores above the threshold."""
    if score is not None:
        outside = (score < 0) | (score > 1)
        if outside.any():
            raise Problem(
                f"{called['score']}: {int(outside.sum())} scores are not between 0 and 1 "
                f"(first: {score[outside][0]:g}, in row {_first(outside)}); expected the "
                "probability of the positive label"
            )
    if decision is not None:
        return classes(column(decision, called["decision"], rows), positive)
    if not 0 <= threshold <= 1:
        raise Problem(f"threshold = {threshold}: expected a number between 0 and 1")
    assert score is not None
    return (score > threshold).astype(np.int8)


def _first(wrong: np.ndarray) -> int:
    """The number of the first wrong row; rows are counted from 1."""
    return int(np.argmax(wrong)) + 1


# -- one column -----------------------------------------------------------------------------------


def column(values: Any, name: str, rows: int | None = None) -> pd.Series:
    """A column without gaps and of the right length, called by its name."""
    if isinstance(values, pd.DataFrame) and values.shape[1] == 1:
        values = values.iloc[:, 0]
    try:
        array = values.array if isinstance(values, pd.Series) else np.asarray(values)
        if not isinstance(values, pd.Series) and array.ndim == 2 and array.shape[1] == 1:
            array = array.ravel()
        found = pd.Series(array, name=name)
    except (ValueError, TypeError) as error:
        raise Problem(f"{name}: expected one value per row ({error})") from None
    if rows is not None and len(found) != rows:
        raise Problem(f"{name}: {len(found)} values; the label has {rows}")
    missing = found.isna().to_numpy()
    if missing.any():
        raise Problem(
            f"{name}: {int(missing.sum())} rows have no value (first: row {_first(missing)}); fill "
            "them in, or leave these rows out"
        )
    return found


def numbers(values: pd.Series) -> np.ndarray:
    if pd.api.types.is_bool_dtype(values.dtype):
        return values.to_numpy(float)
    found = pd.to_numeric(values, errors="coerce").to_numpy(float, na_value=np.nan)
    wrong = ~np.isfinite(found)
    if wrong.any():
        raise Problem(
            f"{values.name}: {int(wrong.sum())} values are no numbers (first: "
            f"{_shown(values.iloc[int(np.argmax(wrong))])}, in row {_first(wrong)})"
        )
    return found


def classes(values: pd.Series, positive: Any = None, *, both: bool = False) -> np.ndarray:
    """0 or 1 for every row; `both` have to occur."""
    codes, found = pd.factorize(values, sort=False)
    said = [_text(value) for value in found]
    if positive is not None and str(positive) in said:
        ones = [text == str(positive) for text in said]
    elif set(said) <= {"0", "1"}:
        ones = [text == "1" for text in said]
    else:
        listed = ", ".join(_shown(value) for value in found[:SHOWN])
        more = f" and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
        if len(said) == 2 and positive is None:
            raise Problem(
                f"{values.name}: holds {listed}; expected 0 and 1, or say which of them is the "
                "positive one (--positive)"
            )
        raise Problem(f"{values.name}: holds {listed}{more}; expected the two values 0 and 1")
    if len(said) > 2:
        raise Problem(f"{values.name}: holds {len(said)} values; expected two")
    if both and len(said) < 2:
        raise Problem(f"{values.name}: every row holds {_shown(found[0])}; expected two values")
    return np.array(ones, np.int8)[codes]


def _text(value: Any) -> str:
    """0, 0.0, False and "0" are the same."""
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (int, float, np.integer, np.floating)) and float(value).is_integer():
        return str(int(value))
    text = str(value)
    return {"false": "0", "true": "1"}.get(text.strip().lower(), text)


def _shown(value: Any) -> str:
    return repr(str(value)[:40])


def _weights(given: Any, name: str, rows: int) -> np.ndarray:
    values = column(given, name, rows)
    found = numbers(values)
    wrong = found <= 0
    if wrong.any():
        raise Problem(
            f"{values.name}: {int(wrong.sum())} weights are not above 0 (first: "
            f"{found[wrong][0]:g}, in row {_first(wrong)})"
        )
    return found / found.mean()


def _splits(values: Any, rows: int) -> dict[str, Any]:
    if values is None:
        return {}
    codes, found = pd.factorize(column(values, "splits", rows).map(str), sort=True)
    if not 2 <= len(found) <= MOST_SPLITS:
        raise Problem(f"splits: {len(found)} different values; expected 2 to {MOST_SPLITS} splits")
    return {"splits": codes, "split_names": tuple(found)}


def _features(values: Any, rows: int) -> pd.DataFrame:
    found = pd.DataFrame(values)
    if len(found) != rows:
        raise Problem(f"features: {len(found)} rows; the label has {rows}")
    return found.reset_index(drop=True)


# -- sensitive features ---------------------------------------------------------------------------


def columns(features: Any, rows: int) -> dict[str, pd.Series]:
    """Name -> column; unnamed ones are called as fairlearn calls them."""
    named: list[tuple[str, Any]]
    if isinstance(features, pd.DataFrame):
        named = [(str(name), features.iloc[:, i]) for i, name in enumerate(features.columns)]
    elif isinstance(features, Mapping):
        named = [(str(name), values) for name, values in features.items()]
    elif isinstance(features, pd.Series):
        named = [(_name(features.name, 0), features)]
    else:
        array = np.asarray(features)
        parts = [array] if array.ndim == 1 else list(array.T)
        named = [(_name(None, i), part) for i, part in enumerate(parts)]
    if not named:
        raise Problem("no sensitive feature; expected at least one")
    names = [name for name, _ in named]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise Problem(f"sensitive features: {repeated[0]!r} is there twice")
    return {name: column(values, name, rows) for name, values in named}


def _name(name: Any, place: int) -> str:
    return f"sensitive_feature_{place}" if name is None else str(name)

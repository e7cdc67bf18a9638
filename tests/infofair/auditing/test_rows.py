"""What can be wrong with what is given, one message each; and what fairlearn takes, we take."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame, selection_rate

import infofair
from infofair.auditing.rows import check, classes
from infofair.errors import Problem
from tests.infofair.auditing.people import people

pytestmark = pytest.mark.usefixtures("few_draws")
FRAME = people(200)

Y, P, G = FRAME["y"], FRAME["p"], FRAME["g"]
H = pd.Series(["x", "z"] * 100, name="h")
ONE = np.arange(len(FRAME)) == 16  # row 17
SAME = pd.Series(["x"] * len(FRAME), name="g")
TEXT = P.astype(str)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"score": P.where(~ONE)}, r"^score: 1 rows have no value \(first: row 17\)"),
        ({"score": P.mask(ONE, 1.5)}, r"^score: 1 scores are not between 0 and 1 \(first: 1.5, in"),
        ({"score": P.mask(ONE, -0.1)}, "^score: 1 scores are not between 0 and 1"),
        ({"score": P.mask(ONE, np.inf)}, r"^score: 1 values are no numbers \(first: 'inf', in row"),
        ({"score": TEXT.mask(ONE, "high")}, "^score: 1 values are no numbers .first: 'high'"),
        ({"score": P[:-1]}, "^score: 199 values; the label has 200"),
        ({"score": None}, "^nothing to audit: give a score or a decision"),
        ({"decision": P}, r"^decision: holds '0\.\d+', .* more; expected the two values 0 and 1"),
        ({"weights": P * 0}, r"^weights: 200 weights are not above 0 \(first: 0, in row 1\)"),
        ({"splits": np.arange(200)}, "^splits: 200 different values; expected 2 to 20"),
        ({"splits": np.zeros(200)}, "^splits: 1 different values"),
        ({"features": pd.DataFrame({"x": [1]})}, "^features: 1 rows; the label has 200"),
        ({"sensitive_features": G.where(~ONE)}, r"^g: 1 rows have no value \(first: row 17\)"),
        ({"sensitive_features": SAME}, "^g: every row holds 'x'; an audit compares at least two"),
        ({"sensitive_features": SAME.mask(ONE, "z")}, "^g: fewer than two groups have 20 rows"),
        ({"sensitive_features": {}}, "^no sensitive feature"),
        ({"sensitive_features": pd.concat([G, G], axis=1)}, "^sensitive features: 'g' is there tw"),
        ({"sensitive_features": TEXT.mask(ONE, "?").rename("age")},
         r"^age: 1 of its values are no numbers \(first: '\?', in row 17"),
        ({"sensitive_features": P.mask(ONE, np.inf).rename("age")}, "^age: holds an infinite n"),
        ({"task": "ranking"}, "^task 'ranking': expected one of classification, regression"),
        ({"task": "regression", "decision": Y}, "^a regression has no decision"),
        ({"task": "regression", "features": FRAME}, "^features are searched .* two values only"),
        ({"notion": "luck"}, "^no notion 'luck'; there are parity, opportunity, odds"),
        ({"threshold": 2}, "^threshold = 2: expected a number between 0 and 1"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Problem, match=message) as raised:
        infofair.audit(Y, **({"score": P, "sensitive_features": G} | given))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y * 0, "^label: every row holds '0'; expected two values"),
        (Y + 1, "^label: holds '[12]', '[12]'; expected 0 and 1, or say which"),
        (Y.map({0: "no", 1: "yes"}), "^label: holds 'no', 'yes'|^label: holds 'yes', 'no'"),
        (Y + ONE * 2, "^label: holds .*; expected the two values 0 and 1"),
        (Y.where(~ONE), "^label: 1 rows have no value"),
        (pd.Series([], dtype=int), "^there are no rows"),
    ],
)
def test_a_label_that_is_not_two_values_is_refused(y: pd.Series, message: str) -> None:
    with pytest.raises(Problem, match=message):
        infofair.audit(y, score=P, sensitive_features=G)


@pytest.mark.parametrize(
    "y",
    [Y.astype(bool), Y.astype(float), Y.astype(str), Y.tolist(), Y.to_numpy(), Y.to_frame(),
     Y.astype(bool).astype(str), Y.astype("category")],
    ids=["bool", "float", "text", "list", "array", "frame", "True and False", "category"],
)  # fmt: skip
def test_labels_may_be_written_in_several_ways(y: Any) -> None:
    rows = check(y, score=P, sensitive_features=G)
    assert rows.y.tolist() == Y.tolist()


def test_the_positive_one_of_two_values_can_be_named() -> None:
    named = Y.map({0: "refused", 1: "granted"})
    assert classes(named, "granted", both=True).tolist() == Y.tolist()
    assert classes(named, "refused").tolist() == (1 - Y).tolist()


@pytest.mark.parametrize(
    "features",
    [
        G, G.to_frame(), {"g": G}, {"g": G.tolist()}, G.tolist(), G.to_numpy(),
        G.to_numpy()[:, None], pd.DataFrame({"g": G, "h": H}).to_numpy(),
        pd.DataFrame({"g": G, "h": H}), {"g": G, "h": H},
    ],
    ids=["series", "frame", "dict", "dict of lists", "list", "array", "column", "2-d array",
         "frame of two", "dict of two"],
)  # fmt: skip
def test_what_a_metric_frame_takes_is_audited_with_the_same_rates(features: Any) -> None:
    decision = (P > 0.5).astype(int)
    theirs = MetricFrame(
        metrics=selection_rate, y_true=Y, y_pred=decision, sensitive_features=features
    )
    found = infofair.audit(Y, decision=decision, sensitive_features=features, show_small=True)
    setting = found.to_dict()["settings"][-1]
    names = [str(name) for name in theirs.sensitive_levels]
    assert setting["attributes"] == names
    ours = {g["name"]: g["selection_rate"]["value"] for g in setting["groups"]}
    by_group = theirs.by_group.dropna()
    expected = {
        " × ".join(map(str, key if isinstance(key, tuple) else (key,))): value
        for key, value in by_group.items()
    }
    assert ours == pytest.approx(expected, abs=1e-5)

"""Thresholds by group, tried on rows they were not chosen on; columns that give the label away."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import demographic_parity_difference
from sklearn.tree import DecisionTreeClassifier

from infofair.auditing import leaks, remedies
from infofair.auditing.groups import settings
from infofair.auditing.rows import Rows, check
from infofair.data import checks
from infofair.thresholds import NOTIONS
from tests.infofair.auditing.people import people

FRAME = people(3000, 3, gap=0.25)


def rows_of(**given: object) -> Rows:
    return check(FRAME["y"], score=FRAME["p"], sensitive_features=FRAME["g"], **given)


@pytest.mark.parametrize("notion", NOTIONS)
def test_a_tighter_tolerance_leaves_a_smaller_gap(notion: str) -> None:
    rows = rows_of()
    [setting] = settings(rows)[0]
    found = remedies.remedy(rows, setting, notion, 0)
    gaps = [own["gap"] for own in found["front"]]
    assert gaps == sorted(gaps)
    assert gaps[0] < 0.08 < 0.2 < found["before"]["gap"]
    assert [own["tolerance"] for own in found["front"]] == list(remedies.TOLERANCES)
    [chosen] = [own for own in found["front"] if own["tolerance"] == found["chosen"]]
    assert found["cost_in_accuracy"] == pytest.approx(
        found["before"]["accuracy"] - chosen["accuracy"]
    )


def test_before_is_the_model_as_it_is_and_extremes_are_of_groups() -> None:
    rows = rows_of()
    [setting] = settings(rows)[0]
    found = remedies.remedy(rows, setting, "parity", 0)
    assert rows.decision is not None
    assert found["before"]["accuracy"] == pytest.approx(np.mean(rows.decision == rows.y))
    expected = demographic_parity_difference(
        rows.y, rows.decision, sensitive_features=setting.group
    )
    assert found["before"]["gap"] == pytest.approx(expected)
    by_name = {own["name"]: own for own in found["groups"]}
    for key, of in found["extremes"].items():
        values = [own[key] for own in found["groups"]]
        assert (of["worst_value"], of["best_value"]) == (min(values), max(values))
        assert by_name[of["worst"]][key] == min(values)


def test_a_row_is_decided_by_a_rule_that_has_not_seen_it(monkeypatch: pytest.MonkeyPatch) -> None:
    splits = np.arange(len(FRAME)) % 3
    rows = rows_of(splits=splits)
    [setting] = settings(rows)[0]
    plain = remedies._cross_validated(rows, setting, "parity", 0)
    # other labels in a split change other splits' rules, but not its own
    y = np.where(splits == 1, 1 - rows.y, rows.y)
    other = Rows(rows.task, y, rows.decision, rows.score, {}, splits=rows.splits)
    changed = remedies._cross_validated(other, setting, "parity", 0)
    for tolerance, chance in plain.items():
        same = chance == changed[tolerance]
        assert same[splits == 1].all()
        assert not same[splits != 1].all()


def test_many_scores_become_levels_in_the_same_order() -> None:
    score = np.random.default_rng(0).random(5000)
    levels = remedies._levels(score)
    assert len(np.unique(levels)) <= remedies.LEVELS
    assert np.abs(levels - score).max() < 0.01
    order = np.argsort(score)
    assert (np.diff(levels[order]) >= 0).all()
    assert remedies._levels(score[:900]) is not levels
    np.testing.assert_array_equal(remedies._levels(score[:900]), score[:900])


# -- leaks ----------------------------------------------------------------------------------------


def test_a_column_that_knows_the_label_is_found_and_names_are_not() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 800)
    features = pd.DataFrame(
        {
            "noise": rng.normal(size=800),
            "copy": np.where(y, "granted", "refused"),
            "amount": y * 100 + rng.normal(size=800),
            "name": [f"person {i}" for i in range(800)],
            "town": rng.choice(["a", "b", "c"], 800),
            "empty": [None] * 800,
        }
    )
    found = {own["column"]: own for own in leaks.leaks(features, y, 0)}
    assert [name for name, own in found.items() if own["gives_label_away"]] == ["copy", "amount"]
    assert found["name"]["balanced_accuracy"] == pytest.approx(0.5, abs=0.01)
    assert found["noise"]["balanced_accuracy"] < 0.6
    assert "empty" not in found


def test_numbers_are_judged_as_by_the_pipelines_own_audit_and_by_a_tree() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 600)
    x = y + rng.normal(size=600)
    [found] = leaks.leaks(pd.DataFrame({"x": x}), y, 0)
    [theirs] = checks.audit(pd.DataFrame({"x": x, "y": y}), "y")
    assert round(found["balanced_accuracy"], 4) == theirs["balanced_accuracy"]
    weights = np.where(y == 1, 1 / y.mean(), 1 / (1 - y.mean()))
    stump = DecisionTreeClassifier(max_depth=1).fit(x[:, None], y, weights)
    predicted = stump.predict(x[:, None])
    tree = np.mean([np.mean(predicted[y == c] == c) for c in (0, 1)])
    assert found["balanced_accuracy"] >= tree - 1e-9

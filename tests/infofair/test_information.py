"""The held-out estimate of mutual information against closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infofair.information import LEAST, held_out


def rows(count: int, joint: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Rows drawn from a joint distribution, scores × groups."""
    rng = np.random.default_rng(seed)
    cell = rng.choice(joint.size, count, p=joint.ravel())
    return {"score": (cell // joint.shape[1]) / 10, "s": cell % joint.shape[1]}


def information(joint: np.ndarray) -> float:
    independent = joint.sum(1, keepdims=True) * joint.sum(0)
    seen = joint > 0
    return float(np.sum(joint[seen] * np.log2(joint[seen] / independent[seen])))


JOINTS = {
    "two groups": np.array([[0.4, 0.1], [0.1, 0.4]]),
    # which no linear function of the score would find
    "high and low alike": np.array([[0.2, 0.05], [0.05, 0.2], [0.05, 0.2], [0.2, 0.05]]),
    "four groups": np.array([[0.2, 0.1, 0.05, 0.01], [0.04, 0.1, 0.3, 0.2]]),
}


@pytest.mark.parametrize("name", JOINTS)
def test_it_is_the_mutual_information(name: str) -> None:
    joint = JOINTS[name]
    found = held_out(rows(20_000, joint, 0), rows(20_000, joint, 1))
    assert found == pytest.approx(information(joint), abs=0.02)


@given(st.integers(0, 1000), st.integers(2, 8))
@settings(max_examples=15, deadline=None)
def test_nothing_to_find_is_not_found(seed: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [
        {"score": rng.random(1000), "s": rng.choice(groups, 1000, p=rng.dirichlet([3] * groups))}
        for _ in range(2)
    ]
    # both parts have the shares of the first, or else these would differ by chance
    parts[1]["s"] = rng.permutation(parts[0]["s"])
    assert -0.2 < held_out(*parts) < 0.02


def test_a_score_that_is_the_same_for_all_tells_nothing() -> None:
    s = np.repeat([0, 1], 50)
    same = {"score": np.full(100, 0.5), "s": s}
    assert held_out(same, same) == pytest.approx(0, abs=1e-3)


def test_groups_that_are_too_small_to_fit_are_left_out() -> None:
    joint = JOINTS["two groups"]
    fitted, tested = rows(5000, joint, 0), rows(5000, joint, 1)
    expected = held_out(fitted, tested)
    few = {"score": np.zeros(LEAST - 1), "s": np.full(LEAST - 1, 2)}
    more = [{k: np.concatenate([part[k], few[k]]) for k in few} for part in (fitted, tested)]
    assert held_out(*more) == pytest.approx(expected, abs=1e-9)
    assert held_out(few, few) == 0.0


def test_bins_of_equal_width_see_no_finer_differences() -> None:
    fine = JOINTS["two groups"]
    fitted, tested = (rows(20_000, fine, seed) for seed in (0, 1))  # scores 0 and 0.1
    apart = held_out(fitted, tested, between=(0.0, 0.2))
    assert apart == pytest.approx(information(fine), abs=0.02)
    assert held_out(fitted, tested, between=(-9.0, 10.0)) == pytest.approx(0, abs=0.001)

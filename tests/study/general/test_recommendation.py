"""The recommender: its prediction as it is written, strengths side by side, and attackers."""

import numpy as np
import pandas as pd
import pytest
import torch

from study.general import attackers, recommender
from study.general.figures import recommendation as figures
from study.general.models import recommendation as models
from study.general.penalties import parity_gap
from study.general.recommender import Ratings, Recommender, Seen


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Women like the even films; nothing else is to be known."""
    rng = np.random.default_rng(0)
    users, items = 120, 40
    woman, age = rng.random(users) < 0.4, rng.integers(15, 60, users)
    u, i = np.divmod(rng.choice(users * items, 2400, replace=False), items)
    liked = 3 + np.where(woman[u] == (i % 2 == 0), 0.4, -0.4) + rng.normal(0, 1, len(u))
    return pd.DataFrame({
        "user": u + 1, "item": i + 1, "age": age[u],
        "gender": pd.Categorical(np.where(woman, "F", "M")[u], ["M", "F"]),
        "rating": np.clip(liked.round(), 1, 5).astype(int),
    })  # fmt: skip


@pytest.fixture(scope="module")
def rows(frame: pd.DataFrame) -> models.Rows:
    return models.rows("ml100k", "intersection", frame, 0)


def test_a_rating_is_predicted_as_it_is_written() -> None:
    torch.manual_seed(0)
    known = Ratings(np.array([0, 0, 2]), np.array([1, 3, 0]), np.array([1.0, -2, 0.5]), (3, 4))
    asked = Ratings(np.array([0, 1]), np.array([2, 0]), np.zeros(2), (3, 4))
    own = Recommender(4)
    own.w.data.normal_()
    own.c.data.normal_()
    x = torch.zeros(3, 4)
    x[0, 1], x[0, 3], x[2, 0] = 1.0, -2.0, 0.5
    z = torch.tanh(x @ own.extractor.weight.T + own.extractor.bias)
    said = [own.w @ z[u] + z[u] @ own.e[i] + own.c[i] for u, i in [(0, 2), (1, 0)]]
    found_z, found = recommender.represented(own, known, asked)
    np.testing.assert_allclose(found_z, z.detach(), rtol=1e-5)
    np.testing.assert_allclose(found, torch.stack(said).detach(), rtol=1e-5)


def test_nobody_is_in_two_parts_and_item_means_are_of_known_ratings(rows: models.Rows) -> None:
    held_out = rows.split["test"][~rows.more["seen"]]
    parts = [rows.split["train"], rows.split["validation"], held_out]
    assert sorted(np.concatenate(parts)) == list(range(120))
    assert set(rows.split["test"][rows.more["seen"]]) == set(rows.split["train"])
    assert sum(len(rows.more[part].user) for part in ("train", "validation", "test")) == 2400
    known = rows.more["train"]
    total = np.bincount(known.item, known.left)  # Σ (r − μ − b) = b · FEW
    count = np.bincount(known.item)
    b = total / models.FEW
    rating_less_mean = np.bincount(known.item, known.left + b[known.item])
    np.testing.assert_allclose(b, rating_less_mean / (count + models.FEW), atol=1e-5)


@pytest.mark.parametrize("matched", [False, True])
def test_a_recommenders_bits_do_not_depend_on_who_shares_its_pass(
    rows: models.Rows, matched: bool
) -> None:
    part, users = rows.parts[0], rows.split["train"]
    told = Seen(part.at(users), users, parity_gap([part]) if matched else None)
    known = rows.more["train"]
    together = recommender.train(known, [0.0, 1.0, 5.0], 0, 6, told)
    for few in ([1.0], [1.0, 5.0]):
        alone = recommender.train(known, few, 0, 6, told)[0].state_dict()
        expected = together[1].state_dict()
        assert all(torch.equal(alone[name], expected[name]) for name in alone)
    vanilla = recommender.train(known, [0.0], 0, 6, None)[0].state_dict()
    zero = together[0].state_dict()
    assert all(torch.equal(vanilla[name], zero[name]) for name in zero)


def test_taste_tells_gender_until_it_is_asked_not_to(rows: models.Rows) -> None:
    vanilla = models.Trained(aware=False)({0: rows}, [0.0], 100)[0.0, 0]
    fair = models.Trained()({0: rows}, [10.0], 100)[10.0, 0]
    before, after = (figures.gaps(own, rows, rows.s("test")) for own in (vanilla, fair))
    for users in ("gender_above_half", "gender_above_half_known"):
        assert before[users] > 0.25
        assert after[users] < before[users] - 0.1
    assert models.look(vanilla, rows)["imparity"] > 0.1


def test_attackers_find_what_is_there_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    s = np.arange(400) % 2
    z = rng.normal(size=(400, 3))
    assert abs(attackers.above_half(z, s)) < 0.1
    told = z + s[:, None]
    auc = 0.5 + attackers.above_half(told, s)
    # of N(0, 1) against N(1, 1) in three dimensions: Φ(√3 / √2)
    assert auc == pytest.approx(0.8896, abs=0.03)
    assert attackers.above_half(told[:40], s[:40], (told[40:], s[40:])) > 0.25
    assert attackers.above_half(told, np.zeros(400, int)) == 0


def test_an_attacker_is_scikit_learns() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 4))
    s = (x[:, 0] + rng.normal(size=80) > 0.5).astype(int)
    found = attackers.logistic(x, s)
    expected = LogisticRegression(tol=1e-10).fit(x, s)
    np.testing.assert_allclose(found[:-1], expected.coef_[0], rtol=1e-4)
    np.testing.assert_allclose(found[-1:], expected.intercept_, rtol=1e-4)
    tied = x[:, 0].round(1)
    assert attackers.auc(tied, s) == pytest.approx(roc_auc_score(s, tied))

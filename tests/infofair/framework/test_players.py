"""What the critics estimate and what is minimised, against plug-in, closed forms and by hand."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from infofair.framework import modules, notions, outcomes, recipe
from infofair.framework.plan import Model, Replaced
from infofair.framework.players import Critics, Judged, Pair
from infofair.framework.stacked import Pass, train
from tests.infofair.framework.plans import CPU, entropy, plan, plug_in


def fitted(critics: Critics, steps: int, rate: float, *given: object) -> Judged:
    """What critics say after so many steps on the same rows."""
    adam = torch.optim.Adam(critics.parameters(), lr=rate)
    for _ in range(steps):
        adam.zero_grad()
        critics(*given).loss.backward()
        adam.step()
    with torch.no_grad():
        return critics(*given)


def pairs(d: int, groups: int, conditions: int) -> Critics:
    torch.manual_seed(0)
    return Critics([
        [Pair(modules.Critic(d, groups), modules.Critic(d, groups), 0) for _ in range(conditions)]
    ])  # fmt: skip


def decisions(n: int = 600) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ŷ, three groups and y, all dependent."""
    rng = np.random.default_rng(3)
    s, y = rng.integers(0, 3, n), rng.integers(0, 2, n)
    return (rng.random(n) < 0.2 + 0.2 * s + 0.2 * y).astype(int), s, y


# -- A: equal opportunity and equalized odds ------------------------------------------------------


@pytest.mark.parametrize("fair", notions.NOTIONS)
def test_of_a_binary_z_the_estimate_is_the_plug_in(fair: str) -> None:
    decided, s, y = decisions()
    rows = notions.conditions(fair, torch.from_numpy(y), 2, 1)
    weights = notions.weights(fair, torch.from_numpy(y), 2)
    z = torch.from_numpy(2.0 * decided - 1).float()[:, None]
    given = z, [(torch.from_numpy(s), torch.zeros(len(s), 0))], [None], rows, weights
    judged = fitted(pairs(1, 3, len(rows)), 400, 0.03, *given)
    nats = float(judged.log_q + judged.log_ratio)
    expected = 0.0
    for of, weight in zip(rows.bool().numpy(), weights.tolist(), strict=True):
        nats += weight * entropy(np.bincount(s[of]) / of.sum())
        expected += weight * plug_in(decided[of], s[of])
    assert nats == pytest.approx(expected, abs=5e-4)
    assert expected > 0.01


def test_odds_are_the_mean_of_both_classes_opportunities() -> None:
    """I(z; s | y) = Σ p(y) I(z; s | y = y), with the same critics in both forms."""
    decided, s, y = (torch.from_numpy(own) for own in decisions())
    z, of = 2.0 * decided[:, None] - 1, [(s, torch.zeros(len(s), 0))]
    odds = pairs(1, 3, 2)
    for parameter in odds.parameters():
        nn.init.normal_(parameter)
    both = odds(
        z,
        of,
        [None],
        notions.conditions(notions.ODDS, y, 2, 1),
        notions.weights(notions.ODDS, y, 2),
    )
    alone = [
        Critics([[odds.pairs[0][label]]])(
            z, of, [None], notions.conditions(notions.OPPORTUNITY, y, 2, label), torch.ones(1)
        )
        for label in (0, 1)
    ]
    share = float((y == 1).float().mean())
    for part in ("log_q", "log_ratio"):
        expected = (1 - share) * getattr(alone[0], part) + share * getattr(alone[1], part)
        torch.testing.assert_close(getattr(both, part), expected)


def test_where_all_are_positive_equal_opportunity_is_parity_to_the_bit() -> None:
    ones = np.ones(320, np.int64)
    found = [
        train(plan(fair=fair, y=ones), [Model(0, 3.0)], CPU, lambda *_: None)[Model(0, 3.0)]
        for fair in (notions.PARITY, notions.OPPORTUNITY)
    ]
    for kind in ("predictor", "critics"):
        states = [getattr(own, kind).state_dict() for own in found]
        assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_rows_outside_the_condition_have_no_say() -> None:
    decided, s, y = (torch.from_numpy(own) for own in decisions())
    positive = y == 1
    critics = pairs(1, 3, 1)
    for parameter in critics.parameters():
        nn.init.normal_(parameter)
    z = 2.0 * decided[:, None] - 1

    def said(own: Tensor, fair: str) -> Judged:
        return critics(
            z[own], [(s[own], torch.zeros(int(own.sum()), 0))], [None],
            notions.conditions(fair, y[own], 2, 1), torch.ones(1),
        )  # fmt: skip

    found, expected = said(y >= 0, notions.OPPORTUNITY), said(positive, notions.PARITY)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)


# -- B: adversarial debiasing ---------------------------------------------------------------------


class Nothing(nn.Module):
    """f ≡ 0."""

    def __init__(self, d: int, groups: int, numbers: int) -> None:
        super().__init__()
        self.zero = nn.Parameter(torch.zeros(groups), requires_grad=False)

    def forward(self, z: Tensor) -> Tensor:
        return self.zero.expand(len(z), -1)


def test_without_the_ratio_it_is_adversarial_debiasing_without_its_projection() -> None:
    """The predictor's gradient is that of T − α · (the adversary's loss)."""
    own = plan(replaced=Replaced(hidden=(8,), density_ratio=Nothing))
    predictor, critics = own.predictor(0), own.critics(0)
    for parameter in critics.parameters():
        if parameter.requires_grad:
            nn.init.normal_(parameter)
    X, y = torch.from_numpy(own.X), torch.from_numpy(own.y)
    s, alpha = torch.from_numpy(own.parts[0].g), 2.0
    leaves = list(predictor.parameters())

    predicted = predictor(X)
    judged = critics(
        own.z(predicted), [(s, torch.zeros(len(s), 0))], [None], own.conditions(y), torch.ones(1)
    )
    loss = own.task_loss(predicted.output, y) + alpha * (judged.log_q + judged.log_ratio)
    found = torch.autograd.grad(loss, leaves)

    logits = predictor.target(predictor.extractor(X))
    adversary = critics.pairs[0][0].predictor
    z = torch.tanh(own.training.sharpness / 2 * (logits[:, 1:] - logits[:, :1]))
    debiased = F.cross_entropy(logits, y) - alpha * F.cross_entropy(adversary(z), s)
    expected = torch.autograd.grad(debiased, leaves)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-7)
        assert other.abs().max() > 0


# -- C: the information bottleneck ----------------------------------------------------------------


def test_cross_entropy_of_the_posterior_is_minus_the_information_up_to_the_entropy() -> None:
    """−I(ỹ; y) = E[−log p(y|ỹ)] − H(y): Tishby's term is the task's loss."""
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 5, 400), rng.integers(0, 2, 400)
    y = np.where(rng.random(400) < 0.5, y, x % 2)
    posterior = np.stack([np.bincount(y[x == v], minlength=2) / (x == v).sum() for v in range(5)])
    logits = torch.from_numpy(np.log(posterior))[x]
    loss = float(F.cross_entropy(logits, torch.from_numpy(y)))
    assert entropy(np.bincount(y) / 400) - loss == pytest.approx(plug_in(x, y), abs=1e-9)


def test_the_kl_of_gaussians_is_torchs() -> None:
    torch.manual_seed(0)
    mean, scale = torch.randn(50, 8), torch.rand(50, 8) + 0.1
    normal = torch.distributions.Normal
    expected = torch.distributions.kl_divergence(normal(mean, scale), normal(0.0, 1.0)).sum(1)
    torch.testing.assert_close(outcomes.kl(mean, scale), expected)


def test_what_a_bottleneck_tells_is_at_most_its_kl() -> None:
    """I(z; x) ≤ E KL, for x of two values and z of one dimension, by numerical integration."""
    z = np.linspace(-12, 12, 4001)
    for apart, sigma in ((0.3, 1.0), (1.0, 0.5), (2.0, 0.3)):
        density = np.exp(-0.5 * ((z - np.array([[-apart], [apart]])) / sigma) ** 2) / sigma
        density /= density.sum(1, keepdims=True)
        mixed = density.mean(0)
        told = np.where(density > 0, density * np.log(np.maximum(density, 1e-300) / mixed), 0)
        kl = outcomes.kl(torch.tensor([[apart]]), torch.tensor([[sigma]]))
        assert 0 < told.sum(1).mean() <= float(kl)


def test_the_predictor_draws_from_its_gaussian() -> None:
    own = plan(outcome=recipe.REPRESENTATION)
    predictor = own.predictor(0)
    X, noise = torch.from_numpy(own.X), torch.randn(320, 8)
    found = predictor(X, noise)
    mean, scale = predictor.gaussian(predictor.extractor(X))
    torch.testing.assert_close(found.representation, mean + scale * noise)
    torch.testing.assert_close(found.output, predictor.target(mean + scale * noise))
    torch.testing.assert_close(predictor(X).representation, mean)


# -- what z is ------------------------------------------------------------------------------------


def test_a_decision_of_two_classes_is_that_of_several() -> None:
    logits = torch.randn(40, 2)
    several = 2 * (4.0 * logits).softmax(1) - 1
    torch.testing.assert_close(outcomes.decision(logits, 4.0), several[:, 1:])


@pytest.mark.parametrize("classes", [2, 4])
def test_log_odds_are_those_of_the_probabilities(classes: int) -> None:
    logits = torch.randn(40, classes, dtype=torch.float64)
    p = logits.softmax(1)[:, 1 if classes == 2 else 0 :]
    torch.testing.assert_close(outcomes.log_odds(logits), (p / (1 - p)).log())
    assert outcomes.score(logits).shape == (40, p.shape[1] * len(outcomes.THRESHOLDS))


def test_a_prediction_cannot_hide_by_shrinking() -> None:
    value = torch.randn(40, 1, dtype=torch.float64, requires_grad=True)
    z = outcomes.prediction(value)
    torch.testing.assert_close(z, outcomes.prediction(value * 1e-2), rtol=1e-3, atol=1e-3)
    (gradient,) = torch.autograd.grad((z**3).sum(), value)
    assert (
        abs(float((gradient * value).detach().sum())) < 1e-5
    )  # nothing is to be gained by a factor


# -- the passes take what they are given ----------------------------------------------------------


def test_a_step_of_the_pass_is_that_of_two_optimisers() -> None:
    """One step against autograd and torch.optim: critics first, then the others."""
    own = plan(n=160, batch_size=128, critic_steps=2)
    running = Pass(own, [Model(0, 2.0)], CPU, batched=True)
    rows = next(running.minibatches())
    predictor, critics = own.predictor(0), own.critics(0)
    first = torch.optim.Adam(predictor.parameters(), lr=own.training.learning_rate)
    second = torch.optim.Adam(critics.parameters(), lr=own.training.critic_learning_rate)
    X, y = torch.from_numpy(own.X)[rows[0]], torch.from_numpy(own.y)[rows[0]]
    s = torch.from_numpy(own.parts[0].g)[rows[0]]
    none = torch.zeros(len(s), 0)
    predicted = predictor(X)
    z = own.z(predicted)
    for half in (slice(0, 64), slice(64, 128)):
        judged = critics(
            z.detach()[half], [(s[half], none[half])], [None], torch.ones(1, 64), torch.ones(1)
        )
        second.zero_grad()
        judged.loss.backward()
        second.step()
    judged = critics(z, [(s, none)], [None], torch.ones(1, 128), torch.ones(1))
    first.zero_grad()
    (own.task_loss(predicted.output, y) + 2 * (judged.log_q + judged.log_ratio)).backward()
    first.step()
    running.step(rows, 0)
    assert running.critics is not None
    for stack, module in ((running.predictors, predictor), (running.critics, critics)):
        for name, parameter in module.named_parameters():
            torch.testing.assert_close(stack.views[name][0], parameter, rtol=1e-4, atol=2e-6)

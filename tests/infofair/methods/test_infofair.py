"""InfoFair's terms against the paper's formulas row by row, and its Gumbel-Softmax."""

import dataclasses

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from infofair import methods
from infofair.methods.infofair import InfoFair, gumbel_softmax
from infofair.training.streams import gumbel, stream
from tests.plain import CPU
from tests.steps import outputs

METHOD = InfoFair(learning_rate=1e-3, halve_temperature_every=2)


@pytest.mark.parametrize("term", ["T", "S", "D"])
def test_gradients_of_each_term_agree_with_finite_differences(term: str) -> None:
    out, batch = outputs(METHOD, 0, (3, 3), rows=5)
    names = list(out)

    def value(*tensors: torch.Tensor) -> torch.Tensor:
        return METHOD.values(dict(zip(names, tensors, strict=True)), batch)[term]

    assert torch.autograd.gradcheck(value, tuple(t.requires_grad_() for t in out.values()))


def test_the_terms_are_the_papers_formulas() -> None:
    out, batch = outputs(METHOD, 1, (3, 3), rows=5)
    terms = METHOD.values(out, batch)
    assert batch.noise is not None
    for r in range(2):
        total = {"T": 0.0, "S": 0.0, "D": 0.0}
        for b in range(5):
            y, s = int(batch.y[r, 0, b]), int(batch.s[r, 0, b])
            q = torch.softmax(out["sensitive"][r, :, b], 0)
            drawn = torch.softmax(torch.log(q) + batch.noise[r, :, b], 0)
            w1z, w2 = out["w1"][r, 0, b], out["w2"][r, 0]
            total["T"] -= float(torch.log_softmax(out["target"][r, :, b], 0)[y]) / 5
            total["S"] += float(batch.alpha[r] * torch.log(q[s])) / 5
            total["D"] += float(batch.alpha[r] * ((w1z + w2[s]) + (w1z + w2 @ drawn)) / 2) / 5
        for name, expected in total.items():
            assert float(terms[name][r]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("name", "terms"), methods.ABLATIONS.items())
def test_an_ablation_has_infofairs_terms_and_no_part_of_those_it_lacks(
    name: str, terms: tuple[str, ...]
) -> None:
    ablation = methods.make(name)
    assert isinstance(ablation, InfoFair)
    out, batch = outputs(METHOD, 2)
    own = {part: out[part] for part in (*ablation.heads, *ablation.free)}
    assert ("w1" in own) == ("w2" in own) == ablation.uses_noise == ("D" in terms)
    found, expected = ablation.values(own, batch), METHOD.values(out, batch)
    assert tuple(found) == terms
    for term in terms:
        torch.testing.assert_close(found[term], expected[term])


@given(st.integers(0, 1000), st.integers(2, 6))
@settings(max_examples=30)
def test_gumbel_softmax_is_one_hot_when_cold_and_uniform_when_hot(seed: int, groups: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    log_q = torch.randn(1, groups, 4, generator=generator).log_softmax(1)
    noise = gumbel((1, groups, 4), generator)
    cold = gumbel_softmax(log_q, noise, 1e-6)
    winner = (log_q + noise).argmax(1, keepdim=True)
    torch.testing.assert_close(cold, torch.zeros_like(cold).scatter_(1, winner, 1.0))
    hot = gumbel_softmax(log_q, noise, 1e6)
    torch.testing.assert_close(hot, torch.full_like(hot, 1 / groups), atol=1e-4, rtol=0)


def test_cold_gumbel_softmax_draws_from_q() -> None:
    q = torch.tensor([0.5, 0.3, 0.2])
    rows = 20_000
    noise = gumbel((1, 3, rows), stream(0, "test", on=CPU))
    drawn = gumbel_softmax(q.log()[None, :, None], noise, 1e-4).mean((0, 2))
    torch.testing.assert_close(drawn, q, atol=0.012, rtol=0)  # over 3 standard errors


def test_the_temperature_is_halved_as_its_knob_says() -> None:
    out, batch = outputs(METHOD, 2)
    by_epoch = [
        METHOD.values(out, dataclasses.replace(batch, epoch=epoch))["D"] for epoch in range(5)
    ]
    assert torch.equal(by_epoch[0], by_epoch[1])  # halved every 2 epochs
    half = InfoFair(temperature=0.5, halve_temperature_every=99)
    assert torch.equal(by_epoch[2], half.values(out, batch)["D"])
    assert not torch.equal(by_epoch[3], by_epoch[4])

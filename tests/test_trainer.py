"""The batched pass against the plain loop, and what it promises about every single model."""

import dataclasses
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from stages import methods
from stages.files import Problem
from stages.jobs import Job, Trained, Variant
from stages.methods import ALL, Batch, Network
from stages.methods.infofair import InfoFair, gumbel_softmax
from stages.params import Training
from stages.trainer import Pass, device, gumbel, stream, train
from tests.conftest import ROOT
from tests.plain import CPU, probabilities, train_plain
from tests.simulated import processed

SETTINGS = ["gender", "race", "intersection"]
KNOBS = SimpleNamespace(learning_rate=1e-3, temperature=1.0, halve_temperature_every=2)


def training(**changes: float) -> Training:
    knobs = {"epochs": 3, "patience": 5, "batch_size": 16, "weight_decay": 0.01}
    return Training(**(knobs | changes))


def pass_of(seeds: list[int], settings: list[str]) -> Pass:
    """InfoFair's models of these seeds and settings, untrained."""
    models = [Trained(seed, Variant(setting, 0.1)) for seed in seeds for setting in settings]
    return Pass(Job(methods.load("infofair"), KNOBS, [8], training()), processed(), models, CPU)


def run(
    method: str = "infofair",
    seeds: tuple[int, ...] = (0, 1),
    settings: tuple[str, ...] = tuple(SETTINGS),
    hidden: tuple[int, ...] = (8,),
    alphas: tuple[float, ...] = (0.1,),
    rows: int = 700,
    knobs: SimpleNamespace = KNOBS,
    **changes: float,
) -> dict[tuple[int, str, float], Trained]:
    variants = [Variant(setting, alpha) for setting in settings for alpha in alphas]
    models = [(seed, variant) for seed in seeds for variant in variants]
    job = Job(methods.load(method), knobs, list(hidden), training(**changes))
    found = train(job, processed(rows), models, CPU)
    return {(m.seed, m.variant.setting, m.variant.alpha): m for m in found}


def same_bits(one: Trained, other: Trained) -> bool:
    return one.curves == other.curves and all(
        np.array_equal(one.probabilities[part], other.probabilities[part])
        for part in ("validation", "test")
    )


# -- against the plain loop ---------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [(8,), (8, 6)])
@pytest.mark.parametrize(
    ("method", "terms"), [("infofair", "TSD"), ("infofair_ts", "TS"), ("infofair_td", "TD")]
)
def test_the_batched_pass_agrees_with_the_plain_loop(
    method: str, terms: str, hidden: tuple[int, ...]
) -> None:
    # 700 rows leave a last minibatch that is smaller than the others, and more than one chunk
    batched = run(method, hidden=hidden, epochs=4)
    for (seed, setting, alpha), model in batched.items():
        plain, history = train_plain(
            processed(), setting, seed, hidden=list(hidden), training=training(epochs=4),
            alpha=alpha, terms=terms, learning_rate=1e-3, halve_every=2,
        )  # fmt: skip
        np.testing.assert_allclose(
            [row["validation"] for row in model.curves], history, rtol=1e-4, atol=1e-5
        )
        for part in ("validation", "test"):
            expected = probabilities(plain, processed(), part).numpy()
            np.testing.assert_allclose(model.probabilities[part], expected, atol=2e-5)


def test_vanilla_is_the_plain_loop_without_its_fairness_terms() -> None:
    batched = run("vanilla", settings=(ALL,))
    for (seed, _, _), model in batched.items():
        plain, _ = train_plain(
            processed(), "gender", seed, hidden=[8], training=training(), terms="T",
            learning_rate=1e-3,
        )  # fmt: skip
        expected = probabilities(plain, processed(), "test").numpy()
        np.testing.assert_allclose(model.probabilities["test"], expected, atol=2e-5)


# -- every model for itself ---------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [(32,), (32, 32)])
def test_a_model_is_unaffected_by_its_neighbours(hidden: tuple[int, ...]) -> None:
    everyone = run(seeds=(0, 1, 2), hidden=hidden, alphas=(0.1, 0.5))
    for seeds, names, alphas in [
        ((1,), ("race",), (0.1,)),
        ((2, 1), ("intersection", "gender"), (0.5,)),
        ((0, 2), ("race",), (0.5, 0.1)),
    ]:
        for key, model in run(seeds=seeds, settings=names, hidden=hidden, alphas=alphas).items():
            assert same_bits(model, everyone[key]), key


def test_the_same_run_twice_gives_the_same_bits() -> None:
    first, second = run(), run()
    assert all(same_bits(first[key], second[key]) for key in first)


def test_seeds_and_settings_differ() -> None:
    found = [m.probabilities["test"] for m in run().values()]
    assert all(not np.array_equal(a, b) for i, a in enumerate(found) for b in found[:i])


# -- early stopping -----------------------------------------------------------------------------


def test_every_model_stops_by_its_own_validation_objective() -> None:
    # a large step makes validation noisy, so that models stop at different epochs
    hasty = SimpleNamespace(learning_rate=0.3)
    found = run(
        "vanilla", settings=(ALL,), seeds=tuple(range(6)), knobs=hasty, epochs=40, patience=2
    )
    lengths = {len(model.curves) for model in found.values()}
    assert len(lengths) > 1
    for model in found.values():
        values = [row["validation"] for row in model.curves]
        waited = [i - int(np.argmin(values[: i + 1])) for i in range(len(values))]
        assert all(w < 2 for w in waited[:-1])
        assert waited[-1] == 2 or len(values) == 40


def test_a_stopped_model_keeps_the_predictions_of_its_last_epoch() -> None:
    hasty = SimpleNamespace(learning_rate=0.3)
    seeds = tuple(range(6))
    found = run("vanilla", settings=(ALL,), seeds=seeds, knobs=hasty, epochs=40, patience=2)
    for seed in seeds:
        model = found[seed, ALL, 0.1]
        until = len(model.curves)
        alone = run(
            "vanilla", settings=(ALL,), seeds=(seed,), knobs=hasty, epochs=until, patience=99
        )
        assert same_bits(model, alone[seed, ALL, 0.1])


def test_stopped_models_leave_the_batch() -> None:
    batched = pass_of([0, 1, 2, 3], SETTINGS)
    batched.train_epoch(0)
    kept = {
        (m.seed, m.variant.setting): parameters.clone()
        for m, parameters in zip(batched.models, batched.parameters["heads"], strict=True)
    }
    staying = [(1, "race"), (2, "gender"), (2, "intersection"), (3, "intersection")]
    for model in batched.models:
        model.running = (model.seed, model.variant.setting) in staying
    batched.compact()
    # seeds with equally many models are neighbours: their first layers are one product
    assert [(b.E, b.K) for b in batched.blocks] == [(1, 2), (2, 1)]
    assert batched.seeds == [2, 1, 3]
    found = [(m.seed, m.variant.setting) for m in batched.models]
    assert found == [*staying[1:3], staying[0], staying[3]]
    for name, parameters in zip(found, batched.parameters["heads"], strict=True):
        assert torch.equal(parameters, kept[name])
    batched.train_epoch(1)


def test_leaving_the_batch_changes_nothing_for_those_who_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hasty = SimpleNamespace(learning_rate=0.1, temperature=1.0, halve_temperature_every=50)
    options = {
        "seeds": (0, 1, 2, 3),
        "knobs": hasty,
        "epochs": 25,
        "patience": 1,
        "alphas": (1e-4,),
    }
    leaving = run(**options)
    assert len({len(model.curves) for model in leaving.values()}) > 2
    monkeypatch.setattr(Pass, "compact", lambda self: None)
    staying = run(**options)
    assert all(same_bits(leaving[key], staying[key]) for key in leaving)


# -- faults -------------------------------------------------------------------------------------


def test_a_loss_that_is_not_finite_names_the_model_and_the_epoch() -> None:
    wild = SimpleNamespace(learning_rate=1e30, temperature=1.0, halve_temperature_every=50)
    with pytest.raises(Problem, match=r"setting gender, seed 0, alpha 0\.1 .* epoch 1"):
        run(knobs=wild)


def test_an_unknown_device_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFOFAIR_DEVICE", "abacus")
    with pytest.raises(Problem, match="INFOFAIR_DEVICE=abacus"):
        device()
    monkeypatch.setenv("INFOFAIR_DEVICE", "cpu")
    assert device() == CPU


MEMORY = """
import torch
from types import SimpleNamespace
from stages import methods
from stages.params import Training
from stages.jobs import Job, Variant
from stages.trainer import train
from tests.simulated import processed
data = processed(45_222, 104)
variants = [Variant(s, a) for s in data.settings for a in (0.1, 0.2, 0.5)]
models = [(seed, variant) for seed in range(5) for variant in variants]
knobs = SimpleNamespace(learning_rate=1e-4, temperature=1.0, halve_temperature_every=50)
training = Training(epochs=1, patience=5, batch_size=128, weight_decay=0.01)
job = Job(methods.load("infofair"), knobs, [32], training)
train(job, data, models, torch.device("cpu"))
import resource
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_forty_five_models_on_rows_like_adults_stay_under_two_gibibytes() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], cwd=ROOT, capture_output=True, text=True, check=True
    )
    kibibytes = int(done.stdout)
    assert kibibytes < 2 * 1024**2


# -- the objective ------------------------------------------------------------------------------


def outputs(seed: int, groups: int = 3, rows: int = 5) -> tuple[dict[str, torch.Tensor], Batch]:
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        drawn = torch.randn(shape, generator=generator, dtype=torch.float64)
        return drawn.requires_grad_()

    out = {
        "target": normal(2, 2, rows),
        "sensitive": normal(2, groups, rows),
        "w1": normal(2, 1, rows),
        "w2": normal(2, 1, groups),
    }
    batch = Batch(
        y=torch.randint(2, (2, 1, rows), generator=generator),
        s=torch.randint(groups, (2, 1, rows), generator=generator),
        groups=groups,
        noise=gumbel((2, groups, rows), generator).double(),
        mask=None,
        alpha=torch.tensor([0.1, 2.0], dtype=torch.float64),
        epoch=0,
        shares=torch.zeros(2, groups, 2),
    )
    return out, batch


@pytest.mark.parametrize("term", ["T", "S", "D"])
def test_gradients_of_each_term_agree_with_finite_differences(term: str) -> None:
    out, batch = outputs(0)
    names = list(out)

    def value(*tensors: torch.Tensor) -> torch.Tensor:
        given = dict(zip(names, tensors, strict=True))
        return InfoFair("T", "S", "D").objective(given, batch, KNOBS)[term]

    assert torch.autograd.gradcheck(value, tuple(out.values()))


@pytest.mark.parametrize("terms", ["TSD", "TS", "TD"])
def test_the_closed_form_of_the_gradient_agrees_with_autograd(terms: str) -> None:
    out, batch = outputs(3)
    out = {n: t for n, t in out.items() if "D" in terms or not n.startswith("w")}
    batch.epoch = 3  # a temperature other than 1
    batch.noise = batch.noise if "D" in terms else None
    with torch.no_grad():
        found = InfoFair(*terms).gradients(out, batch, KNOBS)
    expected = Network.gradients(InfoFair(*terms), out, batch, KNOBS)
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name].expand_as(gradient), gradient)


def test_the_terms_are_the_papers_formulas() -> None:
    out, batch = outputs(1)
    out = {name: tensor.detach() for name, tensor in out.items()}
    terms = InfoFair("T", "S", "D").objective(out, batch, KNOBS)
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


def test_the_temperature_is_halved_as_params_say() -> None:
    out, batch = outputs(2)
    by_epoch = [
        InfoFair("T", "D").objective(out, dataclasses.replace(batch, epoch=epoch), KNOBS)["D"]
        for epoch in range(5)
    ]
    assert torch.equal(by_epoch[0], by_epoch[1])  # halved every 2 epochs
    half = SimpleNamespace(learning_rate=1e-3, temperature=0.5, halve_temperature_every=99)
    assert torch.equal(by_epoch[2], InfoFair("T", "D").objective(out, batch, half)["D"])
    assert not torch.equal(by_epoch[3], by_epoch[4])


def test_groups_a_setting_does_not_have_play_no_part() -> None:
    batched = pass_of([0], ["gender", "intersection"])
    batched.train_epoch(0)
    # rows of the heads: 2 classes, 6 groups, w1; gender has two groups only
    assert not batched.parameters["heads"][0, 4:8].any()
    assert not batched.parameters["w2"][0, 0, 2:].any()
    assert batched.parameters["heads"][1, :9].any(1).all()

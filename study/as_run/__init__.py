"""The paper's baselines as its authors evidently ran them, mistakes included, by name.

Nothing else uses these: the library has the methods as they should be. study/explained.py says
which of them explains which printed row.
"""

from dataclasses import dataclass

from infofair.data.prepared import Prepared
from infofair.methods.base import Method, Network, Solver
from infofair.training import fit
from infofair.training.plan import Job, Training
from infofair.training.predictions import Predictions
from infofair.training.solve import solve
from study.as_run.adversarial import OneOutputByArgmax
from study.as_run.fcfc import FCFCWithLabels01
from study.as_run.gerryfair import GerryFairMiscounted
from study.as_run.lfr import LFRByAIF360
from study.as_run.mindiff import MinDiffMiscut

ALPHA = 0.1  # of the networks, in the paper


@dataclass(frozen=True)
class Variant:
    name: str
    stands_for: str  # the method whose row of the paper's table it may be
    method: Method


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("lfr_aif360", "lfr", LFRByAIF360()),
        Variant("mindiff_miscut", "mindiff", MinDiffMiscut()),
        Variant("fcfc_labels01", "fcfc", FCFCWithLabels01()),
        Variant("gerryfair_miscounted", "gerryfair", GerryFairMiscounted()),
        Variant("adversarial_argmax", "adversarial", OneOutputByArgmax()),
    )
}


def run(
    method: Method, data: Prepared, seeds: list[int], hidden: list[int], training: Training,
    title: str, strength: float = ALPHA,
) -> Predictions:  # fmt: skip
    """What a method's models of all settings and seeds predict."""
    if isinstance(method, Network):
        job = Job(method, hidden, training, curves=False)
        trained, _ = fit.train(job, data, [strength], seeds, title)
        found = {(m.variant.setting, m.variant.alpha, m.seed): m.probabilities for m in trained}
        return Predictions.of(found, data)
    assert isinstance(method, Solver)
    solved = solve(method, data, [], seeds, title)
    found = {(m.setting, m.strength, m.seed): m.best.probabilities for m in solved}
    return Predictions.of(found, data)

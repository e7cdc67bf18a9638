"""Readings of printed rows that were tried, none of which is the authors' run.

They are run like those of study/as_run, with the authors' streams. A single cell that comes out
says little: five seeds of nearly any reading lie within some thousandths of print, and one of them
is chosen. Who has found the run gets all cells of a row, as InfoFair's.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from infofair.data.prepared import INTERSECTION, Prepared
from infofair.methods.base import Method
from infofair.methods.di import DI
from infofair.methods.gdp import GDP
from infofair.training.plan import Training
from infofair.training.predictions import Predictions
from infofair.training.solve import one_thread, task_of
from study import as_run
from study.tried.adversarial import AdversarialGrowing
from study.tried.di import DIByCategories, DIWithoutSensitive
from study.tried.gdp import GDPByKernel, GDPInInfoFair
from study.tried.gerryfair import readings

FAST = 1e-3  # ten times InfoFair's learning rate
UPSIDE_DOWN = 10.0  # the strength at which λ = 0.909: (1 − λ)/λ = α, the fraction upside down


@dataclass(frozen=True)
class Reading:
    stands_for: str  # the method whose row of the paper's table it might have been
    what: str
    method: Method
    strength: float = as_run.ALPHA


READINGS = {
    "di_slow": Reading("di", "InfoFair's learning rate", DI().with_knobs(learning_rate=1e-4)),
    "di_upside_down": Reading("di", "λ = 0.909", DI(), UPSIDE_DOWN),
    "di_categories": Reading("di", "categories repaired too, at random", DIByCategories()),
    "di_categories_again": Reading(
        "di", "the same, other draws", DIByCategories().with_knobs(repair_seed=1)
    ),
    "di_categories_upside_down": Reading(
        "di", "categories repaired too, λ = 0.909", DIByCategories(), UPSIDE_DOWN
    ),
    "di_without_sensitive": Reading(
        "di", "categories repaired too, sensitive attributes no input", DIWithoutSensitive()
    ),
    "di_only_without_sensitive": Reading(
        "di", "nothing repaired, sensitive attributes no input", DIWithoutSensitive(), 0.0
    ),
    "gdp_fast": Reading("gdp", "ten times the learning rate", GDP().with_knobs(learning_rate=FAST)),
    "gdp_kernel": Reading("gdp", "the official kernel and grid", GDPByKernel()),
    "gdp_kernel_fast": Reading(
        "gdp", "the same, ten times the learning rate", GDPByKernel().with_knobs(learning_rate=FAST)
    ),
    "gdp_in_infofair": Reading("gdp", "InfoFair's other heads built, unused", GDPInInfoFair()),
    "gdp_in_infofair_fast": Reading(
        "gdp",
        "the same, ten times the learning rate",
        GDPInInfoFair().with_knobs(learning_rate=FAST),
    ),
    "adversarial_growing": Reading(
        "adversarial", "strength √t in step t, a random start", AdversarialGrowing(), 1.0
    ),
}
# readings of one cell alone, Adult's gender & race
OF_GERRYFAIR = {f"gerryfair_{i}": reading for i, reading in enumerate(readings(), 1)}
WHAT = {name: reading.what for name, reading in (READINGS | OF_GERRYFAIR).items()}


def stands_for(name: str) -> str:
    return READINGS[name].stands_for if name in READINGS else "gerryfair"


def run_all(
    data: Prepared, seeds: list[int], hidden: list[int], training: Training, title: str
) -> Iterator[tuple[str, Predictions]]:
    """What every reading predicts, by its name."""
    for name, reading in READINGS.items():
        how = data, seeds, hidden, training, f"{name} {title}", reading.strength
        yield name, as_run.run(reading.method, *how)
    if INTERSECTION not in data.settings:
        return
    task = task_of(data, INTERSECTION)
    for name, own in OF_GERRYFAIR.items():
        with one_thread():
            yield name, Predictions.of({(INTERSECTION, 0.0, 0): own.predict(task)}, data)

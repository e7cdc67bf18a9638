"""Where pages lie, and what they lead to, beyond what study/paths.py has.

Apart from that file, because every stage that trains depends on it: nothing is to be trained anew
because there is one page more.
"""

from pathlib import Path

from study.paths import DATA as DATA_FOLDER
from study.paths import REPORTS, RESULTS

METHODS = REPORTS / "methods.html"
DATA = REPORTS / "data.html"
TRIALS = DATA_FOLDER / "reference/general_trials.csv"  # figures of earlier trials
COMPARE = REPORTS / "compare.html"  # of experiments: no stage makes it, and git does not have it


def sizes(dataset: str) -> Path:
    """How many validated rows every group has."""
    return RESULTS / "sizes" / f"{dataset}.json"


# -- code, where a page leads to it ---------------------------------------------------------------


def method_file(method: str) -> Path:
    return Path("infofair/methods") / f"{method}.py"


def rule_file(rule: str) -> Path:
    """Of a rule on the scores of a model: thresholds, blind, barycentre."""
    return Path("infofair") / f"{rule}.py"


def dataset_file(dataset: str) -> Path:
    return Path("infofair/datasets") / f"{dataset}.py"


def tests_of(code: Path) -> Path:
    """The tests have the rooms of what they test."""
    return Path("tests") / code.parent / f"test_{code.name}"

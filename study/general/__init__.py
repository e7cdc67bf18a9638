"""The paper's generalisations, run: for each a file in models/, and one in figures/.

The former says what is trained, the latter what is measured.

    equal_opportunity   A: equal opportunity and equalised odds
    bottleneck          C: fair representations, by a stochastic bottleneck
    continuous          D: attributes that are numbers
    graph               E: a graph convolutional network as extractor
    regression          F: numbers to predict
    recommendation      F: ratings to predict

(B, the relation to adversarial debiasing, is a test.) What they share:

    study      what a study is
    rows       validated rows to features, targets and attributes, split at random
    networks   many models of several splits in one pass (infofair/framework)
    numbers    R² and distances between groups, of predicted numbers
    penalties  what stands in the critics' place in rivals
    recommender  a recommender of its own, for ratings
    attackers  who reads s off a representation
    training   a first look, a grid of strengths, all models
    measuring  every figure of them, with its floor
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from infofair.errors import Problem

if TYPE_CHECKING:  # a study loads torch, and its name is asked for by those who need none
    from study.general.study import Measured, Models

NAMES = (
    "equal_opportunity", "bottleneck", "continuous", "graph", "regression", "recommendation",
)  # fmt: skip


def models_of(name: str) -> "Models":
    return _loaded("models", name).MODELS


def figures_of(name: str) -> "Measured":
    return _loaded("figures", name).MEASURED


def _loaded(room: str, name: str) -> Any:
    if name not in NAMES:
        raise Problem(f"--study {name}: there are {', '.join(NAMES)}")
    return import_module(f"study.general.{room}.{name}")

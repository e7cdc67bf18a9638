"""Generalisation C: the information bottleneck, of which fair representations come.

"If we set the loss function l as the negative mutual information −I(ỹ; y)", the paper's objective
"becomes the information bottleneck method": up to H(y) that is the cross-entropy of a head that is
the posterior. What Tishby's form has besides is I(z; x), bounded by a KL:

    J = T + α (E[log q(s|z)] + E[f(z, s)]) + β KL(p(z|x) ‖ N(0, I)),      z ~ N(μ(x), σ²(x)).

The critics see z itself, so that every later use of it is fair; `deterministic` has them on a z of
as many dimensions without noise and without β, the rival a penalty on the means of the same z.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import nn

from infofair import grids
from infofair.framework import modules, recipe
from infofair.framework.plan import Replaced
from infofair.framework.players import DIMENSIONS
from study.general import networks
from study.general.penalties import parity_gap
from study.general.rows import of_setting
from study.general.study import VANILLA, Key, Method, Models, Outputs, Rows

BETA = 0.01
UNITS = 32


def narrow(inputs: int) -> nn.Module:
    """An extractor of as many dimensions as the bottleneck has, which gives what its means are."""
    return nn.Sequential(*modules.extractor(inputs, [UNITS]), nn.Linear(UNITS, DIMENSIONS))


class Represented:
    """Models whose z is a representation: drawn from a bottleneck, or what the extractor gives."""

    def __init__(self, *, drawn: bool, aware: bool = True, penalised: bool = False) -> None:
        self.drawn, self.aware, self.penalised = drawn, aware, penalised

    def __call__(
        self, splits: Mapping[int, Rows], strengths: Sequence[float], steps: int
    ) -> dict[Key, Outputs]:
        (parts, *_) = (own.parts for own in splits.values())
        how: dict[str, Any] = {"outcome": recipe.EXTRACTED, "replaced": Replaced(extractor=narrow)}
        if self.drawn:
            how = {"outcome": recipe.REPRESENTATION, "beta": BETA}
        if self.penalised:
            how |= {"penalty": parity_gap(parts)}
        return networks.fitted(splits, strengths, steps, aware=self.aware, with_z=True, **how)


def look(outputs: Outputs, rows: Rows) -> grids.Row:
    (part,) = rows.s("validation")
    return grids.look(outputs["validation"], rows.at("validation"), part.g)


MODELS = Models(
    settings={"adult": ("gender",)},
    rows=of_setting,
    methods={
        VANILLA: Method(Represented(drawn=False, aware=False), strength=False),
        "deterministic": Method(Represented(drawn=False)),
        "bottleneck": Method(Represented(drawn=True)),
        "gap_bottleneck": Method(Represented(drawn=True, penalised=True)),
    },
    look=look,
)

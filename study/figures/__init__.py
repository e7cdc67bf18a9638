"""The figures: functions from tables to matplotlib figures, all in one style."""

from study.figures.ablation import ablation
from study.figures.frontier import frontier
from study.figures.general import general
from study.figures.luck import luck
from study.figures.positions import positions
from study.figures.style import png, save, svg
from study.figures.sweep import sweep
from study.figures.tradeoff import tradeoff

__all__ = [
    "ablation", "frontier", "general", "luck", "png", "positions", "save", "svg", "sweep",
    "tradeoff",
]  # fmt: skip

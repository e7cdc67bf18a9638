"""The figures: functions from tables to matplotlib figures, all in one style."""

from study.figures.ablation import ablation
from study.figures.frontier import frontier
from study.figures.luck import luck
from study.figures.style import png, save
from study.figures.sweep import sweep
from study.figures.tradeoff import tradeoff

__all__ = ["ablation", "frontier", "luck", "png", "save", "sweep", "tradeoff"]

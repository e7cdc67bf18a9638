"""Charts as SVG within the page. Colours are the style sheet's, so that they follow light and dark;
every chart has a table behind it."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from infofair.auditing.words import MEASURES, number

WIDTH = 360  # of the drawing; it is scaled to the column it stands in
LEFT, RIGHT = 16, 16
ROW = 30
LONGEST = 46  # characters of a group's name that fit
MARGIN, TOP, BOTTOM = 46, 26, 194  # of the front
MOST_TIMES = 6.0  # what chance gives, that the chart of measures shows


def _svg(title: str, described: str, height: float, parts: Sequence[str]) -> str:
    inside = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" '
        f'aria-label="{escape(title)}. {escape(described)}">\n{inside}\n</svg>'
    )


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


class Axis:
    """A scale with round ticks that spans some values."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        low, high = min(values), max(values)
        span = (high - low) or abs(high) or 1.0
        self.step = _round_step(span / 4)
        self.low = np.floor(low / self.step + 1e-9) * self.step
        self.high = np.ceil(high / self.step - 1e-9) * self.step
        if self.high <= self.low:
            self.high = self.low + self.step
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return float(self.start + share * (self.end - self.start))

    @property
    def ticks(self) -> list[float]:
        steps = round((self.high - self.low) / self.step)
        return [float(self.low + i * self.step) for i in range(steps + 1)]

    def label(self, tick: float) -> str:
        digits = max(0, -int(np.floor(np.log10(self.step) + 1e-9)))
        if round(self.step, digits) != round(self.step, digits + 1):  # 0.25, 0.025
            digits += 1
        return f"{tick + 0.0:.{digits}f}".replace("-", "−")


def _round_step(rough: float) -> float:
    size = 10 ** float(np.floor(np.log10(rough)))
    return float(next(m * size for m in (1, 2, 2.5, 5, 10) if m * size >= rough * 0.999))


def intervals(title: str, groups: list[dict[str, Any]], key: str, overall: float | None) -> str:
    """A point with its interval for every group; a dashed line for all rows."""
    ends = [g[key][end] for g in groups for end in ("low", "high", "value")]
    ends += [overall] if overall is not None else []
    axis = Axis(ends, LEFT, WIDTH - RIGHT)
    bottom = len(groups) * ROW + 6
    parts = [_line("grid", axis(t), 0, axis(t), bottom) for t in axis.ticks]
    if overall is not None:
        parts.append(_line("overall", axis(overall), 0, axis(overall), bottom))
    for place, group in enumerate(groups):
        of, y = group[key], place * ROW + 22
        said = f"{number(of['value'])} ({number(of['low'])} to {number(of['high'])})"
        parts += [
            f"<g><title>{escape(group['name'])}: {said}</title>",
            _text("name", LEFT, y - 8, _short(group["name"])),
            _line("interval", axis(of["low"]), y, axis(of["high"]), y),
            f'<circle class="point" cx="{axis(of["value"]):.1f}" cy="{y:.1f}" r="4"/></g>',
        ]
    parts += [_text("tick", axis(t), bottom + 12, axis.label(t)) for t in axis.ticks]
    lowest = min(groups, key=lambda g: g[key]["value"])
    highest = max(groups, key=lambda g: g[key]["value"])
    described = (
        f"{len(groups)} groups, from {number(lowest[key]['value'])} ({lowest['name']}) to "
        f"{number(highest[key]['value'])} ({highest['name']})"
    )
    return _svg(title, described, bottom + 18, parts)


def measures(title: str, tests: list[dict[str, Any]]) -> str:
    """Every measure as a multiple of what chance gives a fair model in 95 %."""
    axis = Axis([0.0, 1.0, min(max(map(times, tests)), MOST_TIMES)], LEFT, WIDTH - RIGHT)
    bottom = len(tests) * ROW + 6
    parts = [_line("grid", axis(t), 0, axis(t), bottom) for t in axis.ticks]
    parts.append(_line("overall", axis(1), 0, axis(1), bottom))
    for place, test in enumerate(tests):
        y, x = place * ROW + 22, axis(min(times(test), MOST_TIMES))
        name = MEASURES[test["measure"]][0]
        parts += [
            f"<g><title>{escape(name)}: {times(test):.2f} times chance, {test['verdict']}</title>",
            _text("name", LEFT, y - 8, f"{name}: {test['verdict']}"),
            _line(f"interval {test['verdict']}", axis(0), y, x, y),
            f'<circle class="point {test["verdict"]}" cx="{x:.1f}" cy="{y:.1f}" r="4"/></g>',
        ]
    parts += [_text("tick", axis(t), bottom + 12, axis.label(t)) for t in axis.ticks]
    proven = sum(test["verdict"] == "evidence" for test in tests)
    described = f"{proven} of {len(tests)} measures are evidence; 1 is what chance gives in 95 %"
    return _svg(title, described, bottom + 18, parts)


def times(test: dict[str, Any]) -> float:
    """How many times what chance gives; of a ratio, its distance from 1."""
    value, null = test["value"], test["null_95"]
    if test["measure"] == "parity_ratio":
        value, null = 1 - value, 1 - null
    if null <= 0:
        return MOST_TIMES if value > 0 else 0.0
    return float(value / null)


def front(title: str, remedy: dict[str, Any]) -> str:
    """Accuracy against the gap: as it is, and with thresholds at every tolerance."""
    points = sorted(remedy["front"], key=lambda point: point["gap"])
    everyone = [*points, remedy["before"]]
    across = Axis([0.0, *(p["gap"] for p in everyone)], MARGIN, WIDTH - RIGHT)
    up = Axis([p["accuracy"] for p in everyone], BOTTOM, TOP)
    parts = [_line("grid", across(t), TOP, across(t), BOTTOM) for t in across.ticks]
    parts += [_line("grid", MARGIN, up(t), WIDTH - RIGHT, up(t)) for t in up.ticks]
    path = " ".join(f"{across(p['gap']):.1f},{up(p['accuracy']):.1f}" for p in points)
    parts.append(f'<polyline class="front" points="{path}"/>')
    for point in points:
        chosen = " chosen" if point["tolerance"] == remedy["chosen"] else ""
        said = f"tolerance {point['tolerance']:g}: gap {number(point['gap'])}"
        parts.append(
            f'<circle class="point{chosen}" cx="{across(point["gap"]):.1f}" '
            f'cy="{up(point["accuracy"]):.1f}" r="{6 if chosen else 4}">'
            f"<title>{said}, accuracy {number(point['accuracy'])}</title></circle>"
        )
    x, y = across(remedy["before"]["gap"]), up(remedy["before"]["accuracy"])
    parts.append(
        f'<path class="before" d="M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z"><title>as it is: gap '
        f"{number(remedy['before']['gap'])}, accuracy {number(remedy['before']['accuracy'])}"
        "</title></path>"
    )
    parts += [_text("tick", across(t), BOTTOM + 14, across.label(t)) for t in across.ticks]
    parts += [_text("tick end", MARGIN - 4, up(t) + 4, up.label(t)) for t in up.ticks]
    parts += [_text("tick", (MARGIN + WIDTH - RIGHT) / 2, BOTTOM + 30, "largest gap")]
    parts += [_text("name", 2, 10, "accuracy")]
    described = (
        f"as it is, gap {number(remedy['before']['gap'])} and accuracy "
        f"{number(remedy['before']['accuracy'])}; thresholds by group reach a gap of "
        f"{number(points[0]['gap'])} at {number(points[0]['accuracy'])}"
    )
    return _svg(title, described, BOTTOM + 36, parts)

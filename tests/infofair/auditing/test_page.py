"""The page and the model card: what they say, that they are safe, self-contained and well built."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infofair
from infofair.auditing import card, charts, page, words
from infofair.auditing.run import Audit
from tests.infofair.auditing.people import loans, people
from tests.study.page.inputs import Page, text_of

pytestmark = pytest.mark.usefixtures("few_draws")
HOSTILE = """</script></style><script>alert("1")</script><img src=x onerror='alert(2)'>&amp;|`*"""


@pytest.fixture(scope="module")
def audit(few_draws: None) -> Audit:
    frame = loans(1500)
    return infofair.audit(
        frame["y"], score=frame["p"], sensitive_features=frame[["sex", "race", "age"]],
        features=frame[["p"]], splits=np.arange(1500) % 3, show_small=True,
        names={"file": "loans.csv", "label": "y", "score": "p"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def made(audit: Audit) -> str:
    return page.page(audit.to_dict())


def test_it_says_which_gaps_are_evidence_and_which_are_noise(audit: Audit, made: str) -> None:
    said = text_of(made)
    assert "Fairness audit of loans.csv" in said
    for setting in audit.to_dict()["settings"]:
        assert words.verdict(setting) in said
        assert words.gap(setting, "selection_rate") in said
        for entry in setting["power"]:
            assert words.power(entry) in said
        assert page.cost(setting["remedy"]) in said
        if setting["pooled"]:
            assert (words.pooled(setting) or "?") in said
            assert (words.unpooled(setting) or "?") in said
    sex = audit.to_dict()["settings"][0]
    assert words.verdict(sex).startswith("Evidence")


def test_every_figure_is_on_the_page(audit: Audit, made: str) -> None:
    cells = set(re.findall(r"<td[^>]*>([^<]*)</td>", made))
    for setting in audit.to_dict()["settings"]:
        for group in setting["groups"]:
            for key in words.shown_figures(setting):
                assert words.number(group[key]["value"]) in cells
        for test in setting["measures"]:
            assert words.number(test["value"]) in cells
            assert words.p_value(test["p_holm"]) in cells


def test_every_chart_has_a_table_behind_it(audit: Audit, made: str) -> None:
    figures = re.findall(r"<figure>.*?</figure>", made, re.DOTALL)
    each = len(words.shown_figures(audit.to_dict()["settings"][0])) + 2  # measures, front
    assert len(figures) == each * len(audit.to_dict()["settings"])
    for figure in figures:
        assert figure.count('<svg viewBox="') == figure.count("<table>") == 1
        assert re.search(r'role="img" aria-label="[^"]{20,}"', figure)


def test_it_is_well_built(made: str) -> None:
    assert made.startswith('<!DOCTYPE html>\n<html lang="en">')
    found = Page(made)
    levels = [int(tag[1]) for tag, _, _ in found.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(found.all("table")) == len(found.all("caption"))
    ids = [attributes["id"] for _, attributes, _ in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="#|aria-labelledby=")([^"]+)', made)) <= set(ids)
    shown = re.sub(r"<style>.*?</style>", "", made, flags=re.DOTALL)
    assert not re.search(r"\bnan\b|\bNone\b|\binf\b", shown)


def test_it_needs_nothing_else(made: str) -> None:
    assert not re.search(r"<script|@import|url\(|\bsrc=|https?://", made)


@pytest.mark.parametrize("given", ["classification", "regression"])
def test_names_from_data_cannot_become_markup(given: str, tmp_path: Path) -> None:
    frame = people(300, 2, equal=True)
    hostile = frame["g"].replace("g1", HOSTILE)
    found = infofair.audit(
        frame["y"] + 0.0 if given == "regression" else frame["y"], score=frame["p"],
        sensitive_features={HOSTILE: hostile, "b": frame["g"]}, task=given,
        features=None if given == "regression" else {HOSTILE: frame["p"]},
        names={"file": HOSTILE, "label": HOSTILE, "score": HOSTILE},
    )  # fmt: skip
    found.write(tmp_path)
    text = (tmp_path / "index.html").read_text()
    tags = {tag for tag, _, _ in Page(text).elements}
    assert not tags & {"script", "img"}
    assert not [e for e in Page(text).elements if any(name.startswith("on") for name in e[1])]
    markdown = (tmp_path / "model_card.md").read_text()
    assert not re.search(r"(?<!\\)[<`]", markdown)


def test_a_long_name_is_cut_in_charts_and_whole_in_tables() -> None:
    frame = people(300, 2, equal=True)
    long = "x" * 200
    found = infofair.audit(
        frame["y"], score=frame["p"], sensitive_features={"g": frame["g"].replace("g1", long)}
    )
    text = page.page(found.to_dict())
    assert f"<td>{long}" in text or f'<th scope="row">{long}</th>' in text
    assert f">{'x' * (charts.LONGEST - 1)}…</text>" in text


# -- axes and numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.0, 1.0], ["0.00", "0.25", "0.50", "0.75", "1.00"]),
        ([0.91, 1.0], ["0.900", "0.925", "0.950", "0.975", "1.000"]),
        ([0.13, 0.31], ["0.10", "0.15", "0.20", "0.25", "0.30", "0.35"]),
        ([-0.02, 0.02], ["−0.02", "−0.01", "0.00", "0.01", "0.02"]),
        ([5.0, 5.0], ["4", "6"]),
        ([0.0], ["0.00", "0.25"]),
    ],
)
def test_axes_have_round_ticks(values: list[float], ticks: list[str]) -> None:
    axis = charts.Axis(values, 0, 100)
    labels = [axis.label(tick) for tick in axis.ticks]
    assert len(labels) == len(set(labels)) >= 2
    assert set(ticks) <= set(labels)
    assert [float(label.replace("−", "-")) for label in labels] == pytest.approx(axis.ticks)
    assert axis.low <= min(values) <= max(values) <= axis.high
    assert (axis(axis.low), axis(axis.high)) == (0, 100)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1234, "0.123"), (0.59, "0.59"), (0.0, "0.00"), (-0.0421, "−0.042"), (0.00004, "4e−05"),
     (12345.678, "12345.7"), (None, "–"), (1.0, "1.00")],
)  # fmt: skip
def test_numbers_are_written_with_the_digits_they_have(value: float | None, text: str) -> None:
    assert words.number(value) == text


def test_p_values_are_never_zero() -> None:
    assert [words.p_value(p) for p in (0.0001, 0.0496, 1.0)] == ["< 0.001", "0.050", "1.000"]


# -- the model card -------------------------------------------------------------------------------


def test_the_card_has_its_sections_filled_in(audit: Audit) -> None:
    text = card.card(audit.to_dict())
    sections = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert sections == [
        "Model details and intended use", "Factors", "Metrics", "Evaluation data",
        "Quantitative analyses", "Ethical considerations", "Caveats and recommendations",
    ]  # fmt: skip
    assert text.count(card.TO_SAY) == 1
    content: dict[str, Any] = audit.to_dict()
    for setting in content["settings"]:
        assert f"### {card.text(setting['name'])}" in text
        for group in setting["groups"]:
            assert f"| {card.text(group['name'])} |" in text
    for line in re.findall(r"^\|.*$", text, re.MULTILINE):
        assert line.endswith("|")

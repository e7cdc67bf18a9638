"""The fairness sections of a model card (Mitchell et al., "Model Cards for Model Reporting", 2019),
filled in; what the data cannot tell is left for its author to say."""

import re
from typing import Any

from infofair.auditing import words
from infofair.auditing.page import cost
from infofair.auditing.words import FIGURES, MEASURES, count, number, p_value

TO_SAY = "*To be filled in by the model's author.*"


def text(value: object) -> str:
    """Text from data as Markdown that shows it as it is."""
    one_line = " ".join(str(value).split())
    return re.sub(r"([\\`*_{}\[\]<>#|~!&$])", r"\\\1", one_line)


def card(content: dict[str, Any]) -> str:
    source = content["source"]
    parts = [
        f"# Model card: fairness of {text(source['file'] or 'a model')}",
        "## Model details and intended use",
        TO_SAY,
        "## Factors",
        _factors(content),
        "## Metrics",
        _metrics(content),
        "## Evaluation data",
        f"{count(content['rows'])} rows; label {text(source['label'])}"
        + (f", decision {text(source['decision'])}" if source["decision"] else "")
        + (f", score {text(source['score'])}" if source["score"] else "")
        + (". Counts are rounded to protect small cells." if content["protected"] else "."),
        "## Quantitative analyses",
        *(_setting(content, setting) for setting in content["settings"]),
        "## Ethical considerations",
        _considerations(content),
        "## Caveats and recommendations",
        _caveats(content),
    ]
    return "\n\n".join(parts) + "\n"


def _factors(content: dict[str, Any]) -> str:
    lines = []
    for setting in content["settings"]:
        line = f"- {text(setting['name'])}: {len(setting['groups'])} groups."
        pooled = words.pooled(setting)
        lines.append(line + (f" {text(pooled)}" if pooled else ""))
    return "\n".join(lines)


def _metrics(content: dict[str, Any]) -> str:
    names = [of["measure"] for of in content["settings"][0]["measures"]]
    lines = [f"- {MEASURES[name][0]}: {MEASURES[name][1]}." for name in names]
    rule = (
        f"Evidence: p ≤ {content['rules']['significance']:g}, corrected for all measures and for "
        f"{content['family']} questions (Holm); noise otherwise."
    )
    return "\n".join([*lines, "", rule])


def _setting(content: dict[str, Any], setting: dict[str, Any]) -> str:
    keys = words.shown_figures(setting)
    groups = _table(
        ["Group", "Rows", *(FIGURES[key][0] for key in keys)],
        [
            [text(g["name"]), count(g["rows"]), *(_interval(g[key]) for key in keys)]
            for g in setting["groups"]
        ],
    )
    tests = _table(
        ["Measure", "Value", "Chance, 95 %", "p of all", "Verdict"],
        [
            [MEASURES[t["measure"]][0], number(t["value"]), number(t["null_95"]),
             text(p_value(t["p_holm"])), t["verdict"]]
            for t in setting["measures"]
        ],
    )  # fmt: skip
    told = [text(words.verdict(setting)), text(words.unpooled(setting) or "")]
    return "\n\n".join([f"### {text(setting['name'])}", *filter(None, told), groups, tests])


def _interval(of: dict[str, float]) -> str:
    return f"{number(of['value'])} ({number(of['low'])} to {number(of['high'])})"


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _considerations(content: dict[str, Any]) -> str:
    key = words.main_figure(content)
    return "\n".join(
        f"- {text(setting['name'])}: {text(words.gap(setting, key))}"
        for setting in content["settings"]
    )


def _caveats(content: dict[str, Any]) -> str:
    lines = []
    for setting in content["settings"]:
        lines += [f"- {text(setting['name'])}, {text(words.power(of))}" for of in setting["power"]]
    for setting in content["settings"]:
        if setting["remedy"]:
            lines.append(f"- {text(setting['name'])}: {text(cost(setting['remedy']))}")
    for leak in content["leaks"] or []:
        if leak["gives_label_away"]:
            lines.append(f"- The column {text(leak['column'])} gives the label away.")
    return "\n".join([*lines, *(f"- {text(note)}" for note in content["notes"])])

"""The words that the page, the model card and the terminal share."""

from typing import Any

from infofair.uncertainty import SIGNIFICANT

# measure -> its name, and what it is
MEASURES = {
    "imparity": ("Imparity", "mean gap between two groups, over all pairs (InfoFair's definition)"),
    "largest_gap": ("Largest gap", "highest − lowest group (demographic parity difference)"),
    "parity_ratio": ("Parity ratio", "lowest / highest group; the four-fifths rule asks for 0.8"),
    "differential_fairness": (
        "ε-differential fairness",
        "largest log ratio of two groups' chances, for either decision, smoothed; in nats",
    ),
    "mutual_information": ("Mutual information", "what the outcome tells about the group, in bits"),
    "opportunity_gap": ("Equal opportunity gap", "highest − lowest true positive rate"),
    "odds_gap": ("Equalised odds gap", "the larger gap of true and of false positive rates"),
    "ks": ("KS of the score", "largest gap that any one threshold would have"),
    "abcc": ("ABCC of the score", "area between groups' cumulative curves, mean over pairs"),
    "error_gap": ("Gap of mean errors", "highest − lowest mean of prediction − label"),
    "absolute_error_gap": ("Gap of absolute errors", "highest − lowest mean absolute error"),
}
# figure of a group -> its name, and what it is
FIGURES = {
    "selection_rate": ("Selection rate", "share that gets the positive decision"),
    "tpr": ("True positive rate", "share selected of those with label 1"),
    "fpr": ("False positive rate", "share selected of those with label 0"),
    "accuracy": ("Accuracy", "share of decisions that are the label"),
    "calibration": (
        "Calibration",
        "label's rate − mean score; above 0, scores are too low",
    ),
    "mean_prediction": ("Mean prediction", "what is predicted, on average"),
    "mean_label": ("Mean label", "what is true, on average"),
    "mean_error": ("Mean error", "prediction − label, on average"),
    "mean_absolute_error": ("Mean absolute error", "how far off predictions are"),
}
NOTIONS = {
    "parity": "demographic parity (equal selection rates)",
    "opportunity": "equal opportunity (equal true positive rates)",
    "odds": "equalised odds (equal true and false positive rates)",
}


def number(value: float | None, digits: int = 3) -> str:
    """A rate or gap; very small and very large ones with significant digits."""
    if value is None:
        return "–"
    if round(value, 2) == value:
        digits = 2  # as many as there are, if small cells are protected
    if value and not 0.5 * 10**-digits <= abs(value) < 10**4:
        text = f"{value:.2g}" if abs(value) < 1 else f"{value:.6g}"
    else:
        text = f"{value:.{digits}f}"
    return text.replace("-", "−")


def count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def p_value(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def main_figure(content: dict[str, Any]) -> str:
    """What groups are compared by first."""
    return "mean_prediction" if content["task"] == "regression" else "selection_rate"


def shown_figures(setting: dict[str, Any]) -> list[str]:
    first = setting["groups"][0]
    return [key for key in FIGURES if first.get(key) is not None]


def measure(setting: dict[str, Any], name: str) -> dict[str, Any]:
    return next(of for of in setting["measures"] if of["measure"] == name)


def found_by(setting: dict[str, Any]) -> list[str]:
    """The measures that are evidence."""
    return [MEASURES[of["measure"]][0] for of in setting["measures"] if of["verdict"] == "evidence"]


def verdict(setting: dict[str, Any]) -> str:
    """One sentence on a setting's gaps."""
    own, all_of_them = found_by(setting), setting["measures"]
    if len(own) == len(all_of_them):
        return "Evidence, by every measure."
    if own:
        listed = ", ".join(_within(name) for name in own)
        return f"Evidence, by {len(own)} of {len(all_of_them)} measures: {listed}."
    hints = [MEASURES[of["measure"]][0] for of in all_of_them if of["p_value"] <= SIGNIFICANT]
    if not hints:
        return "No evidence: every gap is within what chance gives a fair model."
    listed = ", ".join(map(_within, hints))
    return (
        "No evidence that holds among all tests of this audit. By itself more than chance gives in "
        f"95 %, a hint and no more: {listed}."
    )


def _within(name: str) -> str:
    """A measure's name within a sentence."""
    return name[0].lower() + name[1:] if name[1:2].islower() else name


def gap(setting: dict[str, Any], key: str) -> str:
    """From which group to which, and what chance would give."""
    ordered = sorted(setting["groups"], key=lambda group: group[key]["value"])
    low, high = ordered[0], ordered[-1]
    test = measure(setting, "largest_gap")
    return (
        f"{FIGURES[key][0]}s run from {number(low[key]['value'])} ({low['name']}) to "
        f"{number(high[key]['value'])} ({high['name']}), a gap of {number(test['value'])}; chance "
        f"alone gives a fair model up to {number(test['null_95'])} (95 %)."
    )


def unpooled(setting: dict[str, Any]) -> str | None:
    """On the imparity of all groups as they are, tiny ones included."""
    of = setting["unpooled"]
    if of is None:
        return None
    p = p_value(of["p_value"])
    tiny = ", tiny ones included" if setting["pooled"] else ""
    says = "more than chance gives" if of["above_chance"] else "no evidence of bias by this figure"
    return (
        f"Imparity over the {of['groups']} groups as they are{tiny}: "
        f"{number(of['value'])}; a fair model has up to {number(of['null_95'])} by chance (95 %), "
        f"p {'' if p.startswith('<') else '= '}{p}: {says}."
    )


def power(entry: dict[str, Any]) -> str:
    """What this sample could show of one group."""
    name = FIGURES[entry["rate"]][0].lower()
    least, rows = entry["smallest_gap"], entry["rows_for_gap"]
    could = (
        "no gap would be found in four of five audits"
        if least is None
        else f"a gap of {number(least)} or more would be found in four of five audits"
    )
    take = (
        f"a gap of {number(entry['gap'])} cannot be, or takes a billion rows"
        if rows is None
        else f"a gap of {number(entry['gap'])} takes about {count(rows)} rows in all"
    )
    return f"{entry['group']}, {name}: {could}; {take}."


def pooled(setting: dict[str, Any]) -> str | None:
    """Which tiny groups are together in one."""
    of = setting["pooled"]
    if not of:
        return None
    names = "; ".join(
        own["name"] + ("" if own["rows"] is None else f" ({count(own['rows'])})") for own in of
    )
    return f"Pooled, because they are too small to stand alone: {names}."


def summary(content: dict[str, Any]) -> list[str]:
    """A few lines for the terminal."""
    lines = [f"{count(content['rows'])} rows, {content['family']} questions"]
    for setting in content["settings"]:
        lines.append(f"{setting['name']}: {verdict(setting)}")
        lines.append(f"  {gap(setting, main_figure(content))}")
    for leak in content["leaks"] or []:
        if leak["gives_label_away"]:
            accuracy = number(leak["balanced_accuracy"])
            lines.append(f"{leak['column']} gives the label away (balanced accuracy {accuracy})")
    return lines + content["notes"]

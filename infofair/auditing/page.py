"""audit.json as a page for people: it needs no other file, no network and no script.

Names come from the user's data and are escaped wherever they stand.
"""

from collections.abc import Iterable
from html import escape
from importlib.resources import files
from typing import Any

from infofair.auditing import charts, words
from infofair.auditing.words import FIGURES, MEASURES, count, number, p_value

Cell = tuple[str, str]  # class, text


def page(content: dict[str, Any], above: str = "") -> str:
    """above: markup for the top of the page, of those who have more pages than this one."""
    title = f"Fairness audit of {content['source']['file'] or 'a model'}"
    settings = content["settings"]
    links = [("found", "What was found"), ("measures", "Measures beside chance")]
    links += [(f"setting-{i}", own["name"]) for i, own in enumerate(settings)]
    links += [("leaks", "Columns that give the label away")] if content["leaks"] else []
    links += [("made", "How this was made")]
    contents = "".join(f'<li><a href="#{to}">{escape(name)}</a></li>' for to, name in links)
    head = f'{_lead(content)}\n<nav aria-label="Contents"><ul>{contents}</ul></nav>'
    parts = [
        _found(content),
        _measures(content),
        *(_setting(content, own, place) for place, own in enumerate(settings)),
        _leaks(content["leaks"]) if content["leaks"] else "",
        _made(content),
    ]
    return _whole(title, head, "\n".join(part for part in parts if part), above)


def nothing(why: str, above: str = "") -> str:
    """A page for rows that cannot be audited, where a pipeline wants one."""
    return _whole("Fairness audit", "", _section("found", "Nothing was compared", _p(why)), above)


def _whole(title: str, head: str, main: str, above: str) -> str:
    css = files("infofair.auditing").joinpath("page.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n<link rel="icon" href="data:,">\n<style>\n{css}</style>\n'
        '</head>\n<body>\n<a class="skip" href="#found">To what was found</a>\n<header>\n'
        f"{above}<h1>{escape(title)}</h1>\n{head}\n</header>\n<main>\n{main}\n</main>\n</body>\n</html>\n"
    )


def _lead(content: dict[str, Any]) -> str:
    source, overall = content["source"], content["overall"]
    what = f"{count(content['rows'])} rows; label {source['label']}"
    what += f", score {source['score']}" if source["score"] else ""
    what += f", decision {source['decision']}" if source["decision"] else ""
    told = ", ".join(
        f"{FIGURES[key][0].lower()} {number(value)}" if key in FIGURES else
        f"label's rate {number(value)}"
        for key, value in overall.items()
    )  # fmt: skip
    lead = f'<p class="lead">{escape(what)}. Over all rows: {escape(told)}.</p>'
    if content["protected"]:
        lead += (
            '<p class="banner" role="note">Some cells hold fewer than five people. Figures about '
            "them are left out; counts are rounded to the nearest five and rates to a few digits, "
            "so that what is left out cannot be computed from what is shown.</p>"
        )
    return lead


def _section(place: str, title: str, *parts: str) -> str:
    inside = "\n".join(part for part in parts if part)
    return (
        f'<section id="{place}" aria-labelledby="{place}-title">\n'
        f'<h2 id="{place}-title">{escape(title)}</h2>\n{inside}\n</section>'
    )


def _p(text: str | None, kind: str = "") -> str:
    own = f' class="{kind}"' if kind else ""
    return f"<p{own}>{escape(text)}</p>" if text else ""


def table(caption: str, heads: list[Cell], rows: Iterable[list[Cell]]) -> str:
    """The first cell of a row names it."""
    head = "".join(f'<th scope="col"{_class(kind)}>{escape(text)}</th>' for kind, text in heads)
    body = []
    for row in rows:
        (_, name), *rest = row
        cells = "".join(f"<td{_class(kind)}>{escape(text)}</td>" for kind, text in rest)
        body.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">\n<table>\n'
        f"<caption>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n"
        + "\n".join(body)
        + "\n</tbody>\n</table>\n</div>"
    )


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _plain(*texts: str) -> list[Cell]:
    return [("", text) for text in texts]


def _figure(title: str, told: str, chart: str, behind: str) -> str:
    return (
        f"<figure><h4>{escape(title)}</h4><figcaption>{escape(told)}</figcaption>\n{chart}\n"
        f"<details><summary>{escape(title)} as a table</summary>\n{behind}\n</details></figure>"
    )


# -- sections -------------------------------------------------------------------------------------


def _found(content: dict[str, Any]) -> str:
    key = words.main_figure(content)
    items = []
    for place, setting in enumerate(content["settings"]):
        kind = "evidence" if words.found_by(setting) else "noise"
        items.append(
            f'<li class="{kind}"><a href="#setting-{place}"><b class="{kind}">'
            f"{escape(setting['name'])}</b></a>: {escape(words.verdict(setting))}"
            f"{_p(words.gap(setting, key))}{_p(words.unpooled(setting))}</li>"
        )
    rule = (
        "“Evidence” means that a fair model would show such a gap too rarely to put it down to "
        f"chance: all tests of this audit together, which ask {content['family']} questions, have "
        "a chance of at most 5 % to find anything where there is nothing. “Noise” does not mean "
        "that there is no gap; each part below says how small a gap this sample could have shown."
    )
    return _section(
        "found", "What was found", _p(rule), f'<ul class="verdicts">{"".join(items)}</ul>',
        *(_p(note) for note in content["notes"]),
    )  # fmt: skip


def _measures(content: dict[str, Any]) -> str:
    heads = [("text", "Group by"), ("text", "Measure"), *_plain("Value", "Chance, 95 %"),
             *_plain("p", "p of all"), ("text", "Verdict"), ("text", "What it is")]  # fmt: skip
    rows = []
    for setting in content["settings"]:
        for test in setting["measures"]:
            name, what = MEASURES[test["measure"]]
            four = test.get("four_fifths")
            what += f" (here {four})" if four else ""
            rows.append(
                [("", setting["name"]), ("text", name), *_plain(number(test["value"]),
                 number(test["null_95"]), p_value(test["p_value"]), p_value(test["p_holm"])),
                 (f"text {test['verdict']}", test["verdict"]), ("what", what)]
            )  # fmt: skip
    caption = (
        "Every measure, what chance gives a fair model in 95 of 100 cases (of the parity ratio, at "
        "least), the p-value by itself and corrected for all tests: for measures that ask the same "
        "by their common draws, for the questions of all parts by Holm."
    )
    return _section("measures", "Measures beside chance", table(caption, heads, rows))


def _setting(content: dict[str, Any], setting: dict[str, Any], place: int) -> str:
    title = " and ".join(setting["attributes"])
    cuts = [
        f"{name} is cut at its quartiles: {', '.join(f'{cut:g}' for cut in of)}."
        for name, of in setting["cuts"].items()
    ]
    return _section(
        f"setting-{place}", f"By {title}",
        _p(words.verdict(setting)), _p(words.unpooled(setting)), *(_p(text) for text in cuts),
        _p(words.pooled(setting)),
        "<h3>Figures of every group</h3>",
        f'<div class="charts">{_group_charts(content, setting)}{_measure_chart(setting)}</div>',
        _power(setting), _split_table(setting), _remedy(setting, place),
    )  # fmt: skip


def _group_charts(content: dict[str, Any], setting: dict[str, Any]) -> str:
    found = []
    for key in words.shown_figures(setting):
        name, what = FIGURES[key]
        heads = [("text", "Group"), *_plain("Rows", name, "low", "high")]
        rows = [
            [("", g["name"]), *_plain(count(g["rows"]), *(number(g[key][of]) for of in
             ("value", "low", "high")))]
            for g in setting["groups"]
        ]  # fmt: skip
        overall = 0.0 if key == "calibration" else content["overall"].get(key)
        chart = charts.intervals(f"{name} by group", setting["groups"], key, overall)
        behind = table(f"{name} of every group, with its 95 % interval.", heads, rows)
        line = "dashed: 0" if key == "calibration" else "dashed: all rows"
        found.append(_figure(name, f"{what}; 95 % intervals; {line}", chart, behind))
    return "".join(found)


def _measure_chart(setting: dict[str, Any]) -> str:
    heads = [("text", "Measure"), *_plain("Times chance"), ("text", "Verdict")]
    rows = [
        [("", MEASURES[t["measure"]][0]), *_plain(f"{charts.times(t):.2f}"), ("text", t["verdict"])]
        for t in setting["measures"]
    ]
    chart = charts.measures("Measures as multiples of chance", setting["measures"])
    told = "value / what chance gives in 95 % (dashed: 1; of the parity ratio, distances from 1)"
    return _figure("Gaps beside chance", told, chart, table("Value / chance.", heads, rows))


def _power(setting: dict[str, Any]) -> str:
    items = "".join(f"<li>{escape(words.power(entry))}</li>" for entry in setting["power"])
    told = (
        "If one group’s rate differed from that of all others, which were alike, with the groups "
        "as large as they are here:"
    )
    return f"<h3>What this sample could show</h3>\n{_p(told)}<ul>{items}</ul>"


def _split_table(setting: dict[str, Any]) -> str:
    if not setting["splits"]:
        return ""
    heads = [
        ("text", "Split"),
        *_plain("Rows", "Accuracy", "Selection rate", "Imparity", "Chance, 95 %"),
    ]
    rows = [
        [("", of["name"]), *_plain(count(of["rows"]), *(number(of[key]) for key in
         ("accuracy", "selection_rate", "imparity", "null_95")))]
        for of in setting["splits"]
    ]  # fmt: skip
    return f"<h3>Split by split</h3>\n{table('The gap in every split by itself.', heads, rows)}"


def _remedy(setting: dict[str, Any], place: int) -> str:
    remedy = setting["remedy"]
    if remedy is None:
        return ""
    heads = [("text", "Rule"), *_plain("Largest gap", "Accuracy", "Imparity", "Selection rate")]
    keys = ("gap", "accuracy", "imparity", "selection_rate")
    rows = [[("", "as it is"), *_plain(*(number(remedy["before"][key]) for key in keys))]]
    rows += [
        [("", f"tolerance {of['tolerance']:g}"), *_plain(*(number(of[key]) for key in keys))]
        for of in remedy["front"]
    ]
    chart = charts.front("Accuracy against the largest gap", remedy)
    behind = table("What every tolerance gives on rows the rule has not seen.", heads, rows)
    told = "diamond: as it is; ring: the rule below; line: thresholds by group"
    before = [("text", "Group"), *_plain("Rate before", "after", "Accuracy before", "after")]
    each = [
        [("", g["name"]), *_plain(*(number(g[key]) for key in
         ("rate_before", "rate_after", "accuracy_before", "accuracy_after")))]
        for g in remedy["groups"]
    ]  # fmt: skip
    groups = table(f"Groups before and after, tolerance {remedy['chosen']:g}.", before, each)
    return (
        f'<h3 id="remedy-{place}">What thresholds by group would do</h3>\n{_p(cost(remedy))}'
        f'<div class="charts">{_figure("Accuracy and gap", told, chart, behind)}'
        f"<div>{groups}</div></div>"
    )


def cost(remedy: dict[str, Any]) -> str:
    """The chosen rule in words."""
    chosen = next(of for of in remedy["front"] if of["tolerance"] == remedy["chosen"])
    worst, before = remedy["extremes"]["accuracy_after"], remedy["extremes"]["accuracy_before"]
    costs = remedy["cost_in_accuracy"]
    change = (
        f"costs {number(costs)} of accuracy" if costs > 0 else f"gains {number(-costs)} of accuracy"
    )
    return (
        f"One threshold per group, chosen for {words.NOTIONS[remedy['notion']]} to within "
        f"{remedy['chosen']:g} and tried on rows it has not seen, takes the largest gap from "
        f"{number(remedy['before']['gap'])} to {number(chosen['gap'])} and {change} "
        f"({number(remedy['before']['accuracy'])} to {number(chosen['accuracy'])}). Worst group by "
        f"accuracy: {before['worst']} ({number(before['worst_value'])}) before, {worst['worst']} "
        f"({number(worst['worst_value'])}) after; best: {before['best']} "
        f"({number(before['best_value'])}) before, {worst['best']} ({number(worst['best_value'])}) "
        "after. It needs the group of everyone it decides about."
    )


def _leaks(found: list[dict[str, Any]]) -> str:
    heads = [("text", "Column"), *_plain("Balanced accuracy"), ("text", "Gives the label away")]
    rows = [
        [("", of["column"]), *_plain(number(of["balanced_accuracy"])),
         ("text", "yes" if of["gives_label_away"] else "no")]
        for of in found
    ]  # fmt: skip
    told = (
        "How well each column predicts the label alone. One that does almost perfectly was "
        "probably recorded after the fact, and a model that reads it is not what it seems."
    )
    body = table("Balanced accuracy of the best rule on one column; from 0.9 on: yes.", heads, rows)
    return _section("leaks", "Columns that give the label away", _p(told), body)


def _made(content: dict[str, Any]) -> str:
    rules = content["rules"]
    dealt = (
        "groups are dealt to rows anew (permutation)"
        if rules["null"] == "permutation"
        else "groups draw their effective numbers of rows (weights) from the shares of all rows"
    )
    told = [
        f"Groups of fewer than {rules['smallest_group']} rows, or in a classification fewer than "
        f"{rules['smallest_class']} of either label, are pooled; beyond {rules['most_groups']} "
        "groups, the smallest are. Nothing is dropped.",
        f"Chance: {dealt}, {count(rules['draws'])} times for rates and "
        f"{count(rules['score_draws'])} times for scores in {rules['score_bins']} bins; seed "
        f"{rules['seed']}. Significance {rules['significance']:g} over all tests: jointly "
        "(Westfall and Young) for measures that ask the same, by Holm for the questions.",
        f"Power: found in {rules['power']:.0%} of audits. Intervals: {rules['interval']:.0%}.",
        f"Thresholds were tried on {rules['folds']} parts that they were not chosen on.",
        "The same rows give the same bytes. Nothing was sent anywhere. The figures are in "
        f"audit.json ({content['schema']}); infofair’s docs/audit.md explains them.",
    ]
    listed = "".join(f"<li>{escape(text)}</li>" for text in told)
    return _section("made", "How this was made", f"<ul>{listed}</ul>")

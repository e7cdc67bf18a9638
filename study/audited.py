"""The audit on our own models: vanilla on the test rows, as if somebody else had handed it in.

Its seed is the one with the best macro F1 on the validation rows, as evidently in the paper. The
paper's data are public: where every group has five people, figures have all their digits. Where one
has fewer (COMPAS), groups that our tables hide are one, and people are protected as in anybody's
audit; so are those of other data. The imparity of the groups as they are is there all the same, of
the paper's data, with two digits: it is in the table of the runs, with more.
"""

import hashlib
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
from sklearn.metrics import f1_score

from infofair import audit
from infofair.auditing import chance, page, words
from infofair.auditing.report import SCHEMA, to_json
from infofair.data.prepared import ALL, INTERSECTION, Prepared
from infofair.errors import Problem
from infofair.storage import read_json, whole, write_text
from infofair.training.predictions import Predictions
from study import notebooks, paths, people
from study.files import need, prepared
from study.labels import DATASETS, dataset_name, full_method_name

METHOD = "vanilla"
NOTEBOOK = "audit"


def chosen(stored: Predictions, data: Prepared) -> np.ndarray:
    """The test rows' scores of the seed with the best validation macro F1; of equals the first."""
    y = data.y[data.split["validation"]]
    models = [stored.model(ALL, stored.strengths[0], seed) for seed in stored.seeds]
    kept = [model for model in models if model]
    if not kept:
        raise Problem(f"every model of {METHOD} diverged; there is nothing to audit")
    f1 = [f1_score(y, model["validation"] > 0.5, average="macro") for model in kept]
    return kept[int(np.argmax(f1))]["test"]


def sensitive(data: Prepared) -> tuple[dict[str, np.ndarray], bool]:
    """Every attribute of the test rows by name, and whether any group has one to four of them.

    Values that tables hide (study/people.py) are one here: of each, rates would tell the number.
    (If there are others; else there is nothing to compare.)
    """
    test = data.split["test"]
    rows = {setting: data.groups[setting][test] for setting in data.settings}
    counts = {s: np.bincount(of, minlength=len(data.group_names[s])) for s, of in rows.items()}
    hidden = people.covered({setting: of.tolist() for setting, of in counts.items()})
    found = {}
    for setting in data.settings:
        if setting != INTERSECTION:
            names = np.array(data.group_names[setting], dtype=object)
            if (own := hidden[setting])[counts[setting] > 0].sum() < (counts[setting] > 0).sum():
                names[own] = " or ".join(names[own])
            found[setting] = names[rows[setting]]
    return found, any(people.few(n) for of in counts.values() for n in of)


def found(dataset: str) -> dict[str, Any]:
    """What audit.json holds; of data that are too few to compare groups, why there is nothing."""
    data = prepared(dataset)
    path = need(paths.predictions(dataset, METHOD), f"train@{dataset}-{METHOD}")
    test = data.split["test"]
    attributes, few = sensitive(data)
    simulated = "" if data.data == "real" else f" ({data.data})"
    score = chosen(Predictions.load(path), data).astype(float)
    public = dataset in DATASETS  # a CSV of a user's is not
    try:
        content = audit(
            data.y[test],
            score=score,
            sensitive_features=attributes,
            features=pd.DataFrame(data.X[test], columns=data.features),
            show_small=public and not few,
            names={
                "file": f"{full_method_name(METHOD)} on {dataset_name(dataset)}{simulated}",
                "label": "y of the test rows",
                "score": "the probability of y = 1",
            },
        ).to_dict()
    except Problem as problem:
        return {"schema": SCHEMA, "not_audited": str(problem)}
    return as_they_are(content, data, score) if public and few else content


def as_they_are(content: dict[str, Any], data: Prepared, score: np.ndarray) -> dict[str, Any]:
    """With the imparity of all groups, those that are one here, too, and what chance gives."""
    test = data.split["test"]
    settings = []
    for own in content["settings"]:
        setting = own["name"] if len(own["attributes"]) == 1 else INTERSECTION
        group = data.groups[setting][test]
        of = chance.unpooled_imparity(np.random.default_rng(0), score > 0.5, group, None) or {}
        # a count of groups and a verdict have no digits
        short = {k: float(f"{v:.2g}") if isinstance(v, float) else v for k, v in of.items()}
        settings.append(own | {"unpooled": short or None})
    return content | {"settings": settings}


def origin(dataset: str, text: str) -> str:
    """The way back to the other pages; what this one is made from, by its hash, stage, notebook.

    text: of audit.json, which lies under another name here.
    """
    file = paths.audit(dataset).as_posix()
    notebook = paths.executed(f"{NOTEBOOK}-{dataset}").name
    md5 = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    return (
        f'<p><a href="{paths.INDEX.name}">InfoFair, reproduced</a>. Made from '
        f'<a href="../{file}">{file}</a> (audit.json; md5 <code>{md5}</code>), '
        f"stage <code>{paths.stage('audit', dataset)}</code>, notebook "
        f'<a href="{notebook}">{notebook}</a>.</p>\n'
    )


def write(dataset: str) -> None:
    """The figures, their page, and the notebook that sums them up."""
    content = found(dataset)
    told = content.get("not_audited")
    text = to_json(content)
    write_text(paths.audit(dataset), text)
    above = origin(dataset, text)
    write_text(
        paths.audit_page(dataset), page.nothing(told, above) if told else page.page(content, above)
    )
    given = {"audit": str(paths.audit(dataset))}
    done = notebooks.execute(need(paths.notebook(NOTEBOOK), "a fresh clone"), given)
    with whole(paths.executed(f"{NOTEBOOK}-{dataset}")) as partial:
        nbformat.write(done, partial)


# -- for the notebook -----------------------------------------------------------------------------


def summary(path: str | Path) -> str:
    """Which gaps are evidence and which are noise, as Markdown."""
    content = read_json(Path(path))
    if "not_audited" in content:
        return str(content["not_audited"])
    heads = ["groups by", "groups", "largest gap", "chance, 95 %", "evidence by"]
    lines = [heads, ["---"] * len(heads)]
    for setting in content["settings"]:
        gap = words.measure(setting, "largest_gap")
        proven = f"{len(words.found_by(setting))} of {len(setting['measures'])} measures"
        lines.append(
            [setting["name"], str(len(setting["groups"])), words.number(gap["value"]),
             words.number(gap["null_95"]), proven]
        )  # fmt: skip
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def sentences(path: str | Path) -> str:
    """What the page says first, as a list in Markdown."""
    content = read_json(Path(path))
    if "not_audited" in content:
        return ""
    lines = []
    for setting in content["settings"]:
        told = [words.verdict(setting), words.gap(setting, "selection_rate")]
        told += [words.unpooled(setting) or ""]
        lines.append(f"- **{setting['name']}**: {' '.join(filter(None, told))}")
    return "\n".join(lines)

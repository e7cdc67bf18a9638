"""What reports/beyond.html and docs/results-beyond.md say, by section.

Reads what the stages of beyond/dvc.yaml make, the raw data's SOURCE.json and the paper's table, and
no other result of dvc.yaml.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from study import labels, paths, results
from study.page import (
    answer,
    compared,
    explorer,
    general,
    goals,
    scores,
    sources,
    standing,
    strengths,
    unprocessed,
)
from study.page.cells import FAR
from study.page.compared import TABLES, Found
from study.page.survival import LARGE, judged
from study.params import Params
from study.tables import honest, layout
from study.tables.summary import constant_in_print

HERE = Path(__file__).parent


def facts(params: Params) -> dict[str, Any]:
    """Everything that the page and the document show, but for tables and figures of other rooms."""
    found = compared.read(params)
    generalised = general.facts(params)
    return {
        "params": params,
        "attributes": found.attributes,
        "unlike": unlike(found, generalised["generally_unlike"]),
        **answer.facts(found),
        **survival(found),
        **standing.facts(found),
        **unprocessed.facts(found),
        **scores.facts(found),
        **goals.facts(found),
        **strengths.facts(found),
        **generalised,
    }


def unlike(found: Found, generally: dict[str, str]) -> list[tuple[str, str, str]]:
    """The datasets whose data is not real: name, data, split (all are split at random here)."""
    table = found.tables["honest_summary"]
    of = generally | dict(zip(table["dataset"], table["data"], strict=True))
    return sorted((dataset, data, "authors") for dataset, data in of.items() if data != "real")


def survival(found: Found) -> dict[str, Any]:
    paper = results.paper()
    printed = paper[paper["dataset"].isin(found.paper)].add_prefix("paper_").to_dict("records")
    collapsed = labels.in_order(row["paper_method"] for row in printed if constant_in_print(row))
    of_infofair = [row for row in printed if row["paper_method"] == "infofair"]
    return {
        "judged": judged(found.tables["honest_summary"], found.paper, collapsed, FAR),
        "large": LARGE,
        "limit": FAR,
        "given_up": honest.GIVEN_UP,
        "of_lead": honest.OF_LEAD,
        "linear": honest.linear(found.honest),
        "told": told(found.honest),
        # in how many of the paper's own cells InfoFair is said to lower imparity
        "claimed": (sum(row["paper_reduction"] > 0 for row in of_infofair), len(of_infofair)),
    }


def told(table: pd.DataFrame) -> dict[str, int]:
    """Of how many rows the imparity is clearly not vanilla's, before and after Holm's correction;
    `p_holm` is of those that do something about fairness."""
    tested = table[table["p_holm"].notna()]
    return {
        "of": len(tested),
        "before": int((tested["p_imparity"] < honest.ALPHA).sum()),
        "after": int((tested["p_holm"] < honest.ALPHA).sum()),
    }


def of_page(params: Params) -> dict[str, Any]:
    """What the page shows and the document does not."""
    table = results.read("honest_summary")
    return {
        "honest_table": layout.to_html(honest.blocks(table), honest.layout(table), boxed=True),
        "frontier": sources.drawing(paths.figure("frontier", "svg"), "beyond/dvc.yaml:figure"),
        **explorer.facts(compared.read(params)),
        **{f"explorer_{kind}": _own(kind) for kind in ("css", "js")},
        "drawn": {study: Markup(drawing(study)) for study in params.general.studies},
        **sources.made(params, paths.LOCKS[1], "beyond/dvc.yaml:comparison", outputs(params)),
    }


def _own(kind: str) -> Markup:
    """The explorer's style or script; the latter begins with the plot."""
    names = ["plot", "explorer"] if kind == "js" else ["explorer"]
    texts = ((HERE / f"{name}.{kind}").read_text(encoding="utf-8") for name in names)
    return Markup("\n".join(texts))


def drawing(study: str) -> str:
    """The figure of a generalisation."""
    path = paths.general_figure(study, "svg")
    return sources.drawing(path, f"{paths.PIPELINE_BEYOND}:general_figure@{study}")


def outputs(params: Params) -> Iterator[Path]:
    """The data, the models and the tables that the page is made from."""
    for dataset, methods in params.compared_datasets.items():
        yield paths.DATA / "variants" / dataset
        yield from (paths.beyond("sweep", dataset, method) for method in methods)
    yield from (paths.table(name) for name in TABLES)
    yield paths.figure("frontier", "svg")
    for study in params.general.studies:
        names = params.general.datasets_of(study)
        yield from (paths.general_trained(study, dataset) for dataset in names)
        yield from (paths.general(study), paths.general_figure(study, "svg"))

"""What experiments change: those of `dvc exp run -S alpha=…` beside the last commit.

Prints what alpha does to InfoFair, what differs, and which cells moved by more than their spread
over seeds, as Markdown, and writes reports/compare.html, which shows all cells and the fronts; its
picture is reports/compare.png. With --base, the workspace is put beside that commit instead.
"""

import pandas as pd

from infofair.storage import write_text
from study import cli, figures, revisions
from study.labels import dataset_name, setting_name
from study.page import compare, places
from study.page.compare import HOW_TO, Comparison
from study.page.words import short
from study.revisions import FIGURES, Compared, Revision
from study.tables.layout import markdown, markdown_row, number, percent


def read(base: str | None = None) -> Compared:
    """The last commit and its experiments; or a commit and the workspace."""
    return revisions.against(base) if base else revisions.experiments()


def infofair(compared: Compared) -> pd.DataFrame:
    """InfoFair's and vanilla's figures in the commit and in each experiment.

    One row per experiment, dataset and setting. `changed` names the parameters, other than alpha,
    in which an experiment differs from the commit.
    """
    rows = []
    for revision in (compared.base, *compared.others):
        contents = [compared.base.params, revision.params]
        changed = sorted(key for key in compare.differing(contents) if key != "alpha")
        about = {
            "experiment": revision.name,
            "baseline": revision is compared.base,
            "alpha": revision.params.get("alpha"),
            "changed": ", ".join(changed),
        }
        rows += [about | figures for figures in _figures(revision)]
    columns = ["experiment", "baseline", "alpha", "changed", "dataset", "setting"]
    columns += [*FIGURES, *(f"vanilla_{figure}" for figure in FIGURES)]
    return pd.DataFrame(rows, columns=columns)


def _figures(revision: Revision) -> list[dict[str, object]]:
    """One row per dataset and setting in which InfoFair was run."""
    means = revision.summary[revision.summary["protocol"] == "mean"]
    place = ["dataset", "setting"]
    ours, vanilla = (
        means.loc[means["method"] == method, [*place, *FIGURES]].set_index(place)
        for method in ("infofair", "vanilla")
    )
    beside = ours.join(vanilla.add_prefix("vanilla_"))
    return beside.reset_index().to_dict("records")  # type: ignore[return-value]


def to_markdown(frame: pd.DataFrame) -> str:
    """The commit and its experiments, by alpha; or what to run when there are none."""
    if frame["baseline"].all():
        return HOW_TO
    parts = []
    for (dataset, setting), rows in frame.groupby(["dataset", "setting"], sort=False):
        names = list(dict.fromkeys(frame.loc[frame["dataset"] == dataset, "setting"]))
        title = f"{dataset_name(str(dataset))}, {setting_name(str(setting), names)}"
        heads = ["experiment", "alpha", "micro F1", "imparity", "reduction", "also changed"]
        parts += [
            f"**{markdown(title)}**",
            "",
            markdown_row(heads),
            "|---|" + "---:|" * 4 + "---|",
        ]
        for row in rows.to_dict("records"):
            name = f"*{markdown(row['experiment'])} (this commit)*"
            name = name if row["baseline"] else markdown(row["experiment"])
            shown = [number(row["micro_f1"]), number(row["imparity"]), percent(row["reduction"])]
            alpha = short(row["alpha"])
            parts.append(markdown_row([name, alpha, *shown, markdown(row["changed"])]))
        parts.append("")
    return "\n".join(parts)


def main(base: str | None = None) -> None:
    compared = read(base)
    of = Comparison(compared)
    if not base:
        print(to_markdown(infofair(compared)))
    if compared.others:
        print(compare.to_markdown(of))
    drawn = compare.picture(of)
    if drawn:
        figures.save(drawn, places.COMPARE.with_suffix(".png"))
    write_text(places.COMPARE, compare.page(of, drawn))


if __name__ == "__main__":
    cli.run(main, __doc__, optional=["base"], base="a commit: compare the workspace with it")

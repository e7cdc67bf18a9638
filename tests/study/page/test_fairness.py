"""Evidence, thresholds and groups on the page: every count again, from the summary."""

import re
from pathlib import Path

import pandas as pd
import pytest

from stages import document, page
from study import labels, paths, results
from study.page.cells import attributes_of
from study.tables.layout import percent
from tests.conftest import ROOT
from tests.study.page.inputs import summary, text_of

ABLATIONS = set(labels.VARIANTS) - {"infofair"}


def varied() -> pd.DataFrame:
    """Two settings without evidence; some verdicts either way."""
    table = summary()
    table.loc[table["setting"] == "race", "evidence"] = "no"
    for place, verdict in (("compas", "yes"), ("adult", "no")):
        here = (table["dataset"] == place) & (table["method"] == "infofair")
        table.loc[here, "more_than_threshold"] = verdict
    table.loc[table["method"].isin(["vanilla", "fcfc"]), "more_than_threshold"] = ""
    down = (table["method"] == "infofair") & (table["setting"] == "gender")
    table.loc[down, "levelling_down"] = "yes"
    return table


def said(table: pd.DataFrame) -> list[str]:
    """The sentences of this summary, counted naively."""
    mean = table[(table["protocol"] == "mean") & table["dataset"].isin(labels.DATASETS)]
    vanilla, own = (
        mean[mean["method"] == name].set_index(["dataset", "setting"])
        for name in ("vanilla", "infofair")
    )
    std = table[table["protocol"] == "std"].set_index(["dataset", "setting", "method"])["imparity"]
    some = int((vanilla["evidence"] == "yes").sum())
    gain = (vanilla["imparity"] - own["imparity"])[own["evidence"] == "yes"]
    clearly = sum(
        value > std[(*key, "vanilla")] + std[(*key, "infofair")] for key, value in gain.items()
    )
    judged = mean[(mean["more_than_threshold"] != "") & ~mean["method"].isin(ABLATIONS)]
    more = judged["more_than_threshold"] == "yes"
    of_own = judged["method"] == "infofair"
    fair = [int((of["imparity_released"] <= of["null_95_released"]).sum()) for of in (vanilla, own)]
    sentences = [
        f"is evidence of bias in {some} of {len(vanilla)} settings",
        f"mean imparity is below vanilla’s in {(gain > 0).sum()} of {len(gain)} settings",
        f"by more than both standard deviations together in {clearly}",
        f"InfoFair does in {(more & of_own).sum()} of {of_own.sum()} settings",
        f"that can be judged, {more.sum()} of {len(judged)} do.",
        f"Vanilla’s mean imparity is there in {fair[0]} of {len(vanilla)} settings",
        f", InfoFair’s in {fair[1]}.",
        f"parity ratio is higher in {(own['parity_ratio'] > vanilla['parity_ratio']).sum()} of",
        f"lower in {(own['differential_fairness'] < vanilla['differential_fairness']).sum()}, and",
        "in the worst group higher in "
        f"{(own['worst_accuracy'] > vanilla['worst_accuracy']).sum()}.",
        f"does not rise, in {(own['levelling_down'] == 'yes').sum()}",
    ]
    names = attributes_of(table)
    for (dataset, setting), row in own.iterrows():
        change = row["selection_rate"] / vanilla.loc[(dataset, setting), "selection_rate"] - 1
        sentences.append(
            f"{row['micro_f1']:.3f} / {row['imparity_released']:.3f} against "
            f"{row['control_micro_f1']:.3f} / {row['control_imparity_released']:.3f} "
            f"({names[dataset, setting]}, where it selects {percent(abs(change))} "
            f"{'more' if change > 0 else 'fewer'} than vanilla)"
        )
    for dataset, rows in own.groupby("dataset"):
        count = (rows["more_than_threshold"] == "yes").sum()
        verdict = (
            "does no more than a moved threshold" if count == 0
            else "does more than a moved threshold" if count == len(rows)
            else f"does more than a moved threshold in {count} of {len(rows)} settings"
        )  # fmt: skip
        sentences.append(f"On {labels.dataset_name(str(dataset))}, InfoFair {verdict}: micro F1")
    return sentences


def plain(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return re.sub(r" (?=[.,:)])", "", text_of(text))
    return re.sub(r"\*\*|\\(?=.)", "", text)


def test_every_count_is_that_of_the_summary(copy: Path) -> None:
    table = varied()
    results.write(table, "summary")
    page.main("index")
    document.main("results")
    sentences = said(results.read("summary"))
    assert "On COMPAS, InfoFair does more than a moved threshold: micro F1" in sentences
    assert "On Adult Income, InfoFair does no more than a moved threshold: micro F1" in sentences
    for path in (paths.INDEX, paths.DOCUMENT):
        text = plain(path)
        assert [sentence for sentence in sentences if sentence not in text] == []
        assert "In the others (COMPAS, race; Adult Income, race)" in text


@pytest.mark.parametrize("written", [paths.INDEX, paths.DOCUMENT], ids=str)
def test_every_count_of_the_committed_results(written: Path) -> None:
    path = ROOT / paths.table("summary")
    if not path.exists() or "null_95" not in path.read_text().partition("\n")[0]:
        pytest.skip("results/summary.csv is not there, or of an earlier run: run dvc repro")
    text = plain(ROOT / written)
    if "What it does to groups" not in text:
        pytest.skip(f"{written} is of an earlier run: run dvc repro")
    table = results.read("summary", path)
    if set(table["dataset"]) != set(labels.DATASETS) or (table["data"] != "real").any():
        pytest.skip("the results in this workspace are not of the paper's three datasets")
    assert [sentence for sentence in said(table) if sentence not in text] == []


def test_changes_without_evidence_are_in_parentheses_on_the_page(copy: Path) -> None:
    results.write(varied(), "summary")
    page.main("index")
    text = paths.INDEX.read_text(encoding="utf-8")
    for setting, brackets in (("gender", False), ("race", True)):
        row = text.partition(f'<tr id="row-adult-{setting}-infofair"')[2].partition("</tr>")[0]
        shown = re.findall(r">(\(?[−\d.]+%[^<]*)</td>", row)
        assert len(shown) == 3
        assert [one.startswith("(") and one.endswith(")") for one in shown] == [brackets] * 3
        assert ("race ‡</td>" in row) == brackets

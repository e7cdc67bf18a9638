"""The paper: its lemmas of our metrics, its tables as we keep them, and the map to the code."""

import ast
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infofair.metrics import imparity, mutual_information, opportunity_gap
from study import paths
from tests.conftest import ROOT

MAP = (ROOT / "docs/paper-to-code.md").read_text(encoding="utf-8")


def repeated(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Predictions and groups of a population with these counts, groups × 2 classes."""
    group, predicted = np.indices(counts.shape)
    return np.repeat(predicted.ravel(), counts.ravel()), np.repeat(group.ravel(), counts.ravel())


@given(
    st.lists(st.integers(1, 6), min_size=2, max_size=5),
    st.integers(0, 5),
    st.integers(1, 5),
    st.booleans(),
)
def test_parity_is_zero_mutual_information(
    sizes: list[int], accepted: int, rejected: int, disturbed: bool
) -> None:
    counts = np.outer(sizes, [rejected, accepted])
    counts[0, 1] += disturbed
    predicted, group = repeated(counts)
    parity = imparity(predicted, group, len(sizes)) < 1e-12
    assert parity is (not disturbed)
    assert (mutual_information(predicted, group, len(sizes)) < 1e-12) is parity


@given(
    st.lists(st.integers(1, 6), min_size=2, max_size=5),
    st.integers(0, 5),
    st.integers(1, 5),
    st.booleans(),
)
def test_equal_opportunity_is_zero_conditional_mutual_information(
    sizes: list[int], accepted: int, rejected: int, disturbed: bool
) -> None:
    """I(ŷ; s | y = 1) is that of the positives; what becomes of the negatives does not count."""
    counts = np.outer(sizes, [rejected, accepted])
    counts[0, 1] += disturbed
    predicted, group = repeated(counts)
    of_negatives, others = repeated(np.stack([sizes, 2 * np.arange(len(sizes))], 1))
    y = np.repeat([1, 0], [len(predicted), len(of_negatives)])
    every, s = np.concatenate([predicted, of_negatives]), np.concatenate([group, others])
    fair = opportunity_gap(every, y, s, len(sizes)) < 1e-12
    assert fair is (not disturbed)
    assert (mutual_information(every[y == 1], s[y == 1], len(sizes)) < 1e-12) is fair


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=2, max_size=2),
    st.integers(0, 4),
    st.integers(1, 4),
)
def test_parity_for_the_intersection_is_parity_for_each_attribute(
    sizes: list[list[int]], accepted: int, rejected: int
) -> None:
    joint = np.array(sizes)  # how common each combination of two attributes is
    predicted, group = repeated(np.outer(joint.ravel(), [rejected, accepted]))
    assert imparity(predicted, group, 6) < 1e-12
    for attribute, values in ((group // 3, 2), (group % 3, 3)):
        assert imparity(predicted, attribute, values) < 1e-12


@given(st.integers(0, 10_000))
def test_the_variational_form_holds_for_every_q(seed: int) -> None:
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.ones(12)).reshape(4, 3)  # p(y, s)
    q = rng.dirichlet(np.ones(3), size=4)  # q(s | y), anything
    p_y, p_s = joint.sum(1, keepdims=True), joint.sum(0, keepdims=True)
    information = (joint * np.log(joint / (p_y * p_s))).sum()
    entropy = -(p_s * np.log(p_s)).sum()
    likelihood = (joint * np.log(q)).sum()
    ratio = (joint * np.log(joint / (p_y * q))).sum()
    assert information == pytest.approx(entropy + likelihood + ratio, abs=1e-12)


def test_the_reference_table_is_the_papers_own() -> None:
    path = ROOT / "../shared/paper/infofair.tex"
    if not path.exists():
        pytest.skip("the paper's LaTeX is not at hand")
    text = path.read_text()
    start = text.index(r"\label{tab:effectiveness}")
    block = text[start : text.index(r"\end{tabular}", start)]
    printed = iter(re.findall(r"\$([\d.]+)/([\d.]+)\$|\$(-?[\d.]+)(\\%)?\$|(N/A)", block))
    table = pd.read_csv(ROOT / paths.PAPER)
    assert len(table) == 3 * 9 * 3
    for row in table.itertuples():
        found = [next(printed) for _ in range(3)]
        if found[0][4]:
            assert np.isnan([row.micro_f1, row.macro_f1, row.imparity, row.reduction]).all()
        else:
            assert (row.micro_f1, row.macro_f1) == (float(found[0][0]), float(found[0][1]))
            assert row.imparity == float(found[1][2])
            assert row.reduction == pytest.approx(float(found[2][2]) / 100, abs=1e-12)
    assert next(printed, None) is None
    rows = re.findall(r"\\textbf\{(Vanilla|LFR|MinDiff|DI|Adversarial|FCFC|GerryFair|GDP)\}", block)
    assert [name.lower() for name in rows] == [
        m for _, g in table.groupby("dataset", sort=False) for m in dict.fromkeys(g["method"])
        if m != "infofair"
    ]  # fmt: skip


def test_the_reference_statistics_are_the_papers_own() -> None:
    path = ROOT / "../shared/paper/infofair.tex"
    if not path.exists():
        pytest.skip("the paper's LaTeX is not at hand")
    text = path.read_text()
    block = text[: text.index(r"\label{tab:datasets}")].rsplit(r"\begin{tabular}", 1)[1]
    rows = re.findall(r"^\s*(\w+)[ \w]* & ([\d,]+) & (\d+) & (\d+) \\\\", block, re.MULTILINE)
    table = pd.read_csv(ROOT / paths.PAPER_STATISTICS)
    printed = [(name.lower(), int(n.replace(",", "")), int(a), int(c)) for name, n, a, c in rows]
    assert list(table.itertuples(index=False, name=None)) == printed
    assert len(printed) == 3


@cache
def names_in(path: str) -> set[str]:
    """Functions and classes of a file, and methods as Class.method."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    defined = (ast.FunctionDef, ast.ClassDef)
    found = set()
    for node in tree.body:
        if isinstance(node, defined):
            found.add(node.name)
            inner = node.body if isinstance(node, ast.ClassDef) else []
            found |= {f"{node.name}.{child.name}" for child in inner if isinstance(child, defined)}
    return found


POINTERS = sorted(set(re.findall(r"`([\w/]+\.(?:py|ipynb|csv|yaml))(?:::([\w.]+))?`", MAP)))


def test_what_the_map_points_to_exists() -> None:
    lost = [
        f"{path}::{name}"
        for path, name in POINTERS
        if not (ROOT / path).exists() or (name and name not in names_in(path))
    ]
    assert lost == []


def test_the_map_names_every_method() -> None:
    pointed = {path for path, _ in POINTERS}
    files = (ROOT / "infofair/methods").glob("[a-z]*.py")
    methods = {f"infofair/methods/{path.name}" for path in files}
    assert methods <= pointed

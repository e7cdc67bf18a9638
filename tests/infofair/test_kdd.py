"""KDD Census-Income: its own reader and columns; the real files, where they were fetched before."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pooch
import pytest

from infofair.data import checks
from infofair.data.fetch import Places
from infofair.data.prepare import Preparation, prepare
from infofair.data.tabular import parse, read_lines, source
from infofair.datasets import kdd
from infofair.errors import Problem
from study import paths
from tests.conftest import ROOT


def spoil(text: str, kind: str) -> str:
    lines = text.split("\n")
    match kind:
        case "blank lines":
            lines[3:3] = ["", ""]
        case "carriage returns":
            lines = [f"{line}\r" for line in lines]
        case "quoted":
            lines[4] = lines[4].replace("Not in universe", '"Not in universe"', 1)
        case "tab":
            lines[4] = lines[4].replace(", ", ",\t", 1)
        case "form feed":
            lines[4] = lines[4].replace(", ", ", \x0c", 1)
        case "more blanks":
            lines[4] = "  " + lines[4].replace(", ", ",   ")
        case "empty cells":
            lines[4] = ", " * (len(kdd.COLUMNS) - 1)
        case "line of blanks":
            lines[4] = "   "
        case "long":
            lines[4] = lines[4].replace("Not in universe", "x" * 20_000, 1)
        case "too long":
            lines[4] = lines[4].replace("Not in universe", "x" * 200_000, 1)
        case "field missing":
            lines[4] = lines[4].rpartition(",")[0]
        case "no last line break":
            lines = lines[:-1]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "kind",
    [
        "intact", "blank lines", "carriage returns", "quoted", "tab", "form feed", "more blanks",
        "empty cells", "line of blanks", "long", "too long", "field missing", "no last line break",
    ],
)  # fmt: skip
def test_the_quick_reader_agrees_with_the_strict_one(kind: str, tmp_path: Path) -> None:
    kdd.write(kdd.simulate(60, 0), tmp_path)
    path = tmp_path / kdd.TRAIN
    path.write_bytes(spoil(path.read_text(), kind).encode())

    def outcome(read: Any) -> pd.DataFrame | str:
        try:
            return read()
        except Problem as problem:
            return str(problem)

    expected = outcome(lambda: parse(path, read_lines(path), kdd.COLUMNS, first=1))
    found = outcome(lambda: kdd.read_file(path))
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
    else:
        pd.testing.assert_frame_equal(found, expected)


def test_an_intact_file_is_read_quickly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kdd.write(kdd.simulate(60, 0), tmp_path)
    monkeypatch.setattr(kdd, "parse", lambda *_, **__: pytest.fail("by the slow reader"))
    assert len(kdd.read(tmp_path)) == 60


@cache
def simulated() -> pd.DataFrame:
    return kdd.clean(kdd.SCHEMA.validate(kdd.simulate(2_000, 0)))


def test_every_column_is_a_feature_or_left_out_for_a_reason() -> None:
    encoded = kdd.encode(simulated())
    used = {source(feature) for feature in encoded}
    assert used | kdd.LEFT_OUT.keys() | {"income"} == set(kdd.COLUMNS)
    assert used.isdisjoint(kdd.LEFT_OUT)
    assert len(encoded) <= 130
    assert "instance-weight" in kdd.LEFT_OUT


def test_who_was_not_asked_has_zeros_and_others_one_of_the_values() -> None:
    encoded = kdd.encode(simulated())
    for column, levels in kdd.LEVELS.items():
        if column in ("sex", "year"):
            continue
        ones = np.sum([x for name, x in encoded.items() if source(name) == column], axis=0)
        assert kdd.NOT_ASKED.get(column, levels[0]) in levels
        asked = simulated()[column] != kdd.NOT_ASKED.get(column)
        np.testing.assert_array_equal(ones, asked)


def test_rows_are_kept_small() -> None:
    sizes = simulated().dtypes.map(lambda dtype: getattr(dtype, "itemsize", 8))
    assert not simulated().isna().any().any()
    for column in kdd.LEVELS:
        assert simulated()[column].cat.codes.dtype == np.int8
    assert sizes[list(kdd.NUMBERS)].max() == 4


# The real files.


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The raw files, out of the mirror or of what a download on this machine left."""
    target = tmp_path_factory.mktemp("kdd")
    nowhere = Path("nowhere")
    caches = [ROOT / paths.DOWNLOADS, Path(pooch.os_cache("infofair")) / ".cache"]
    mirror = Path(os.environ.get("INFOFAIR_MIRROR") or ROOT / "../shared/datasets")
    for file in kdd.DATASET.files:
        kept = [Places(nowhere, cache, nowhere).cached(file) for cache in caches]
        found = [path for path in (mirror / "kdd" / file.name, *kept) if path.is_file()]
        if not found:
            pytest.skip("no real files of kdd: infofair.load_dataset('kdd') fetches them")
        (target / file.name).symlink_to(found[0].resolve())
    return target


@pytest.fixture(scope="session")
def validated(folder: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    rows, report = checks.validate(folder, kdd.DATASET, real=True)
    assert rows is not None, report["failures"]
    return rows, report


@pytest.mark.real
def test_the_real_rows_are_as_described_and_no_column_gives_the_label_away(
    validated: tuple[pd.DataFrame, dict[str, Any]],
) -> None:
    _, report = validated
    committed = json.loads((ROOT / paths.validation_report("kdd")).read_text())
    assert report | {"dataset": "kdd", "data": "real", "sha256": committed["sha256"]} == committed
    assert (report["rows"], report["label"]["ones"]) == (299_285, 18_568)
    assert report["leaks"] == []


@pytest.mark.real
def test_every_real_race_and_sex_has_over_a_thousand_rows(
    validated: tuple[pd.DataFrame, dict[str, Any]], folder: Path
) -> None:
    how = Preparation(split="random")
    data = prepare(validated[0], kdd.DATASET, how, folder=folder, data="real")
    group = data.groups["intersection"]
    assert np.bincount(group, minlength=10).min() > 1_000
    assert np.bincount(group[data.split["test"]], minlength=10).min() > 100
    assert data.X.shape == (299_285, 130)


@pytest.mark.real
def test_no_simulated_line_is_a_real_one(folder: Path, tmp_path: Path) -> None:
    kdd.write(kdd.simulate(20_000, 0), tmp_path)

    def lines(where: Path) -> set[str]:
        return {line for name in (kdd.TRAIN, kdd.TEST) for line in read_lines(where / name)}

    shared = len(lines(tmp_path) & lines(folder))  # counted first: no real row is printed
    assert shared == 0

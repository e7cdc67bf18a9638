"""The data of the paper's generalisations: their files, columns and groups; the real ones, too."""

import os
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pooch
import pytest

from infofair.data import checks, load_rows
from infofair.data import dataset as datasets
from infofair.data.fetch import Places
from infofair.data.load import load_dataset
from infofair.data.prepare import Preparation, features, groups, prepare
from infofair.data.tabular import source
from infofair.datasets import bail, crime, german, law, ml100k
from infofair.errors import Problem
from study import paths
from tests.conftest import ROOT
from tests.raw import GENERAL, changed

each_dataset = pytest.mark.parametrize("name", GENERAL)
NUMBERS = [name for name in GENERAL if datasets.load(name).number]


@pytest.fixture
def simulated(tmp_path: Path) -> Callable[[str], Path]:
    """Gives the folder of 400 simulated rows."""

    def place(name: str) -> Path:
        dataset = datasets.load(name)
        dataset.write(dataset.simulate(400, 0), tmp_path)
        return tmp_path

    return place


@cache
def rows_of(name: str) -> pd.DataFrame:
    """Simulated rows, typed."""
    dataset = datasets.load(name)
    return dataset.clean(dataset.schema.validate(dataset.simulate(2_000, 0)))


def failures(name: str, folder: Path, row: int, **cells: str) -> list[dict[str, Any]]:
    """What is wrong with simulated files in which one row has other cells."""
    dataset = datasets.load(name)
    dataset.write(changed(name, dataset.simulate(60, 0), row=row, **cells), folder)
    return checks.validate(folder, dataset, real=False)[1]["failures"]


# Rows and features.


@each_dataset
def test_every_column_is_a_feature_or_not_for_a_reason(name: str) -> None:
    dataset, rows = datasets.load(name), rows_of(name)
    used = {source(feature) for feature in dataset.encode(rows)}
    others = {"age", "gender", "occupation"} if name == "ml100k" else set()  # of the user
    assert used | others == set(rows.columns) - {dataset.label}
    assert dataset.identifying.isdisjoint(rows.columns)
    assert not rows.isna().any().any()


def test_what_is_left_out_is_not_in_the_rows() -> None:
    for name, gone in {
        "law": law.LATER, "crime": (*crime.PLACES, *crime.INCOMPLETE), "bail": bail.LEFT_OUT,
        "german": german.LEFT_OUT, "ml100k": ("zip_code", "timestamp"),
    }.items():  # fmt: skip
        raw = datasets.load(name).simulate(40, 0)
        assert set(gone) <= set(raw.columns)
        assert set(gone).isdisjoint(rows_of(name).columns)


def test_the_simulated_label_of_bail_leaks_like_the_real_one_and_is_found_by_itself() -> None:
    report = checks.label_of(rows_of("bail"), bail.DATASET)
    assert report["leaks"] == ["TIME"] == list(bail.DATASET.leaking)
    honest = features(rows_of("bail"), bail.DATASET, Preparation(drop_leaking_columns=True))
    assert len(honest) == 15
    assert "TIME" not in honest


@pytest.mark.parametrize("name", NUMBERS)
def test_simulated_numbers_can_be_learned_and_no_column_gives_them_away(name: str) -> None:
    report = checks.label_of(rows_of(name), datasets.load(name))
    assert report["leaks"] == []
    assert set(report["label"]) == {"column", "mean", "std"}
    if name != "ml100k":  # of which each user and film has but a few ratings here
        assert report["audit"][0]["r2"] > 0.05


@pytest.mark.parametrize("name", NUMBERS)
def test_the_report_of_a_number_has_its_mean_and_standard_deviation(
    name: str, simulated: Callable[[str], Path]
) -> None:
    dataset = datasets.load(name)
    rows, report = checks.validate(simulated(name), dataset, real=False)
    assert rows is not None
    y = rows[dataset.label].to_numpy(float)
    expected = {"column": dataset.label, "mean": y.mean(), "std": y.std()}
    assert report["label"] == pytest.approx(expected, abs=5.1e-5)
    assert f"400 rows kept, label {y.mean():.3f} ± {y.std():.3f}" in checks.describe(report)
    assert " alone: R² " in checks.describe(report)


def test_a_column_that_repeats_a_number_is_said_to_give_it_away(
    simulated: Callable[[str], Path],
) -> None:
    leaking = replace(law.DATASET, clean=lambda df: law.clean(df).assign(again=df["ZFYA"] * -2))
    _, report = checks.validate(simulated("law"), leaking, real=False)
    assert report["leaks"] == ["again"]
    assert "again alone: R² 0.9" in checks.describe(report)
    assert "<- gives the label away" in checks.describe(report)


# Groups, and labels that are numbers.


def test_attributes_that_are_numbers_have_no_groups() -> None:
    assert all(attribute.number for attribute in crime.DATASET.sensitive.values())
    assert groups(rows_of("crime"), dict(crime.DATASET.sensitive)) == ({}, {})
    mixed = dict(law.DATASET.sensitive) | {"score": crime.DATASET.sensitive["black"]}
    numbers, names = groups(rows_of("law"), mixed)
    assert list(numbers) == list(names) == ["race", "gender", "intersection"]


@pytest.mark.parametrize("name", ["bail", "german"])
def test_a_label_of_zero_and_one_is_prepared_as_ever(name: str) -> None:
    data = prepare(
        rows_of(name), datasets.load(name), Preparation(split="random"), folder=Path(), data="x"
    )
    assert set(data.y) == {0, 1}
    assert len(data.group_names["intersection"]) == 4


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_not_taken_for_a_label_of_zero_and_one(name: str, tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"^the label \w+ is a number; expected one of 0 and 1$"):
        prepare(rows_of(name), datasets.load(name), Preparation(), folder=Path(), data="x")
    with pytest.raises(Problem) as caught:  # before anything is fetched
        load_dataset(name, folder=tmp_path)
    assert f"infofair.data.load_rows('{name}') gives its rows" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_rows_without_groups_cannot_be_prepared() -> None:
    coarse = rows_of("crime").assign(ViolentCrimesPerPop=0)
    with pytest.raises(Problem, match="no sensitive attribute has groups"):
        prepare(
            coarse, replace(crime.DATASET, number=False), Preparation(), folder=Path(), data="x"
        )


def test_rows_come_in_one_call_and_say_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    rows = load_rows("crime", folder=tmp_path, fallback="simulate")
    assert rows.shape == (1_994, 100)
    assert rows.attrs["data"] == "simulated"
    with pytest.raises(Problem, match=r"^fallback is 'no'; expected none or simulate$"):
        load_rows("crime", folder=tmp_path, fallback="no")


# What is wrong is said with its place.


@pytest.mark.parametrize(
    ("name", "cells", "column", "place"),
    [
        ("law", {"LSAT": "high"}, "LSAT", "law.csv:5"),
        ("law", {"ZFYA": "7"}, "ZFYA", "law.csv:5"),
        ("law", {"Race_White": "1", "Race_Black": "1"}, "several columns", "law.csv:5"),
        ("law", {"Sex_1": "0", "Sex_2": "0"}, "several columns", "law.csv:5"),
        ("law", {"PF_0": "1", "PF_1": "1"}, "several columns", "law.csv:5"),
        ("crime", {"racepctblack": "1.01"}, "racepctblack", "communities.data:4"),
        ("crime", {"racepctblack": "?"}, "racepctblack", "communities.data:4"),
        ("crime", {"PolicCars": "0.123"}, "PolicCars", "communities.data:4"),
        ("crime", {"communityname": "x1"}, "communityname", "communities.data:4"),
        (
            "crime",
            {"county": "?", "community": "7"},
            "several columns",
            "communities.data:4",
        ),
        ("ml100k", {"rating": "6"}, "rating", "ml-100k.inter:5, ml-100k.user:5"),
        ("ml100k", {"item_id": "1683"}, "item_id", "ml-100k.inter:5, ml-100k.user:5"),
        ("ml100k", {"gender": "X"}, "gender", "ml-100k.inter:5, ml-100k.user:5"),
        ("bail", {"AGE": "young"}, "AGE", "bail.csv:5"),
        ("bail", {"TIME": "-1"}, "TIME", "bail.csv:5"),
        ("bail", {"PROPTY": "1", "PERSON": "1"}, "several columns", "bail.csv:5"),
        ("bail", {"PRIORS": "-8"}, "several columns", "bail.csv:5"),
        ("bail", {"PRIORS": "-9", "FILE": "1"}, "several columns", "bail.csv:5"),
        ("german", {"GoodCustomer": "0"}, "GoodCustomer", "german.csv:5"),
        ("german", {"HasTelephone": "yes"}, "HasTelephone", "german.csv:5"),
        ("german", {"OwnsHouse": "1", "RentsHouse": "1"}, "several columns", "german.csv:5"),
    ],
)
def test_a_wrong_value_is_reported_with_its_column_and_place(
    name: str, cells: dict[str, str], column: str, place: str, tmp_path: Path
) -> None:
    found = failures(name, tmp_path, 3, **cells)
    assert [(entry["column"], entry["rows"]) for entry in found] == [(column, [place])]


def test_a_film_that_a_user_rates_twice_is_reported_at_both_places(tmp_path: Path) -> None:
    first = ml100k.simulate(60, 0).iloc[0]
    cells = {column: str(first[column]) for column in first.index if column != "timestamp"}
    [entry] = failures("ml100k", tmp_path, 3, **cells)
    assert (entry["rule"], entry["count"]) == ("a user rates a film once", 2)
    assert [place.split(",")[0] for place in entry["rows"]] == [
        "ml-100k.inter:2",
        "ml-100k.inter:5",
    ]


def spoil(path: Path, edit: Callable[[list[str]], object]) -> None:
    lines = path.read_text().splitlines()
    edit(lines)
    path.write_text("\n".join([*lines, ""]))


def refusal(name: str, folder: Path) -> str:
    with pytest.raises(Problem) as caught:
        checks.validate(folder, datasets.load(name), real=False)
    return str(caught.value)


def test_ratings_and_users_must_fit_each_other(simulated: Callable[[str], Path]) -> None:
    folder = simulated("ml100k")
    users = folder / ml100k.USERS
    whole = users.read_text()
    spoil(users, lambda lines: lines.append(lines[4]))
    last = len(whole.splitlines()) + 1
    assert refusal("ml100k", folder).endswith(f"ml-100k.user:{last}: a user who is there before")
    users.write_text(whole)
    spoil(users, lambda lines: lines.pop(1))
    assert "ml-100k.inter:2: a user who is not in ml-100k.user" in refusal("ml100k", folder)
    users.write_text(whole.replace("age:token", "age:float", 1))
    assert refusal("ml100k", folder).startswith(f"{users}: line 1 is 'user_id:token\\tage:float")


@pytest.mark.parametrize("line", ["1 1", "1", "1 2 3", "0.5 2", "-1 3", "a b", "nan 1", "1e30 1"])
def test_an_edge_that_is_none_is_refused_with_its_line(
    line: str, simulated: Callable[[str], Path]
) -> None:
    folder = simulated("german")
    spoil(folder / german.EDGES, lambda lines: lines.insert(6, line))
    expected = f"german_edges.txt: line 7 is '{line}'; expected two different row numbers"
    assert refusal("german", folder).endswith(expected)


def test_an_edge_of_a_client_that_is_not_there_is_refused(
    simulated: Callable[[str], Path],
) -> None:
    folder = simulated("german")
    spoil(folder / german.EDGES, lambda lines: lines.append("3 400"))
    assert refusal("german", folder).endswith("row 400 has an edge; german.csv has 400 rows")


def test_every_edge_is_there_once_whatever_its_order(simulated: Callable[[str], Path]) -> None:
    folder = simulated("german")
    found = german.edges(folder)
    assert found.dtype == np.int64
    assert (found[:, 0] < found[:, 1]).all()
    lines = (folder / german.EDGES).read_text().splitlines()
    pairs = {frozenset(map(float, line.split())) for line in lines}
    assert len(found) == len(pairs) < len(lines) == german.NEIGHBOURS * 400
    assert {frozenset(map(float, pair)) for pair in found.tolist()} == pairs


def test_an_archive_with_anything_else_in_it_is_refused(simulated: Callable[[str], Path]) -> None:
    folder = simulated("law")
    path = folder / law.FILE
    content = path.read_bytes()
    path.write_bytes(content[:-40])
    assert refusal("law", folder).startswith(f"{path} is damaged (")
    path.write_bytes(content)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../more.csv", "x")
    assert "expected law.csv, up to 10000000 bytes" in refusal("law", folder)
    assert not (folder.parent / "more.csv").exists()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(law.INSIDE, bytes(law.LARGEST + 1))  # which takes 10 kB
    assert "it holds {'law.csv': 10000001}" in refusal("law", folder)


# The real files.


@pytest.fixture(scope="session")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the folder of a dataset's real files, from a mirror or what a download left here."""
    top = tmp_path_factory.mktemp("genuine")
    nowhere = Path("nowhere")
    caches = [ROOT / paths.DOWNLOADS, Path(pooch.os_cache("infofair")) / ".cache"]
    mirror = Path(os.environ.get("INFOFAIR_MIRROR") or ROOT / "../shared/datasets")

    @cache
    def folder(name: str) -> Path:
        links = {}
        for file in datasets.load(name).files:
            kept = [Places(nowhere, cache, nowhere).cached(file) for cache in caches]
            mirrored = mirror / (file.folder or name) / file.name
            found = [path for path in (mirrored, *kept) if path.is_file()]
            if not found:
                pytest.skip(f"no real files of {name}: infofair.data.load_rows({name!r}) does it")
            links[top / name / file.name] = found[0].resolve()
        (top / name).mkdir()
        for link, target in links.items():
            link.symlink_to(target)
        return top / name

    return folder


@cache
def validated(name: str, folder: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    rows, report = checks.validate(folder, datasets.load(name), real=True)
    assert rows is not None, report["failures"]
    return rows, report


@pytest.mark.real
@each_dataset
def test_the_real_files_have_their_pinned_hashes(name: str, genuine: Callable[[str], Path]) -> None:
    for file in datasets.load(name).files:
        assert sha256((genuine(name) / file.name).read_bytes()).hexdigest() == file.sha256


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "features", "label", "leaks"),
    [
        ("law", 11, {"mean": 0.0964, "std": 0.9326}, []),
        ("crime", 99, {"mean": 0.238, "std": 0.2329}, []),
        ("ml100k", 2, {"mean": 3.5299, "std": 1.1257}, []),
        ("bail", 16, {"ones": 7_104}, ["TIME"]),
        ("german", 27, {"ones": 700}, []),
    ],
)
def test_the_real_rows_are_as_described_and_the_audit_finds_time_by_itself(
    name: str,
    features: int,
    label: dict[str, float],
    leaks: list[str],
    genuine: Callable[[str], Path],
) -> None:
    rows, report = validated(name, genuine(name))
    dataset = datasets.load(name)
    assert len(dataset.encode(rows)) == features
    assert report["label"] == {"column": dataset.label} | label
    assert report["leaks"] == leaks == list(dataset.leaking)


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("law", [39, 60, 417, 428, 800, 482, 233, 255, 168, 221, 127, 166, 49, 61, 7_704, 10_581]),
        ("ml100k", [166, 231, 125, 148, 68, 79, 69, 57]),
        ("bail", [625, 8_692, 474, 9_085]),
        ("german", [85, 605, 105, 205]),
    ],
)
def test_the_real_groups_have_the_sizes_that_are_known(
    name: str, sizes: list[int], genuine: Callable[[str], Path]
) -> None:
    rows, _ = validated(name, genuine(name))
    if name == "ml100k":
        rows = rows.drop_duplicates("user")
    group, names = groups(rows, dict(datasets.load(name).sensitive))
    assert np.bincount(group["intersection"]).tolist() == sizes
    assert len(names["intersection"]) == len(sizes)


@pytest.mark.real
def test_ratings_without_their_first_line_are_those_of_grouplens(
    genuine: Callable[[str], Path],
) -> None:
    content = (genuine("ml100k") / ml100k.RATINGS).read_bytes().partition(b"\n")[2]
    u_data = "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490"
    assert sha256(content).hexdigest() == u_data


@pytest.mark.real
def test_time_is_nearly_the_real_label_of_bail(genuine: Callable[[str], Path]) -> None:
    rows, report = validated("bail", genuine("bail"))
    assert ((rows["TIME"] > 0) == rows["RECID"]).mean() == pytest.approx(0.994, abs=5e-4)
    assert report["audit"][0] == {"column": "TIME", "balanced_accuracy": 0.9945}
    assert report["audit"][1]["balanced_accuracy"] < 0.6


@pytest.mark.real
def test_the_real_graph_of_german_has_the_edges_that_are_known(
    genuine: Callable[[str], Path],
) -> None:
    found = german.edges(genuine("german"))
    assert found.shape == (21_742, 2)
    assert (found.min(), found.max()) == (0, 999)


@pytest.mark.real
@each_dataset
def test_no_simulated_line_is_a_real_one(
    name: str, genuine: Callable[[str], Path], tmp_path: Path
) -> None:
    dataset = datasets.load(name)
    dataset.write(dataset.simulate(dataset.rows[0], 0), tmp_path)

    def lines(folder: Path) -> set[tuple[str, ...]]:
        rows = dataset.read(folder)
        return set(rows.itertuples(index=False, name=None))

    shared = len(lines(tmp_path) & lines(genuine(name)))  # counted first: no real row is printed
    if name == "law":  # five values of few digits: drawn rows equal real ones by chance
        assert shared < 0.05 * dataset.rows[0]
    else:
        assert shared == 0

"""load_dataset: from a mirror, a folder or nowhere to rows ready for training, in one call."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import infofair
from examples import loans, make_loans
from infofair.data import dataset as datasets
from infofair.data import fetch, load_dataset
from infofair.data.dataset import RawFile
from infofair.data.prepared import Prepared
from infofair.errors import Problem
from infofair.storage import sha256
from tests.infofair.data.test_prepared import assert_same


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's cache is touched, nothing is remembered, and nothing outside is asked."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(fetch, "ATTEMPTS", 1)
    fetch.unreachable.clear()


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror that has COMPAS, of few rows, which are taken for the real ones."""
    folder = tmp_path / "mirror/compas"
    folder.mkdir(parents=True)
    compas = datasets.load("compas")
    compas.write(compas.simulate(300, 0), folder)
    order = np.random.default_rng(0).permutation(253)  # that its filters keep
    np.save(folder / "train_idx.npy", order[:200])
    np.save(folder / "test_idx.npy", order[200:])
    dead = "http://127.0.0.1:9/"  # nobody listens there

    def pinned(files: tuple[RawFile, ...]) -> tuple[RawFile, ...]:
        return tuple(RawFile(f.name, sha256(folder / f.name), dead + f.name) for f in files)

    found = replace(compas, files=pinned(compas.files), split=pinned(compas.split), rows=(300, 253))
    monkeypatch.setattr(datasets, "load", lambda _: found)
    return folder.parent


def test_a_dataset_comes_from_the_mirror_and_then_from_the_folder(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = load_dataset("compas", mirror=small, folder=tmp_path / "data")
    assert (first.data, first.partition) == ("real", "authors")
    assert len(first.split["train"]) == 200
    assert (tmp_path / "data/raw/compas/SOURCE.json").exists()
    assert not (tmp_path / "cache").exists()
    monkeypatch.setattr(fetch, "download", lambda *_: pytest.fail("it is there already"))
    assert_same(load_dataset("compas", folder=str(tmp_path / "data")), first)


def test_without_a_folder_it_is_kept_in_the_users_cache(small: Path, tmp_path: Path) -> None:
    first = infofair.load_dataset("compas", mirror=str(small))
    if sys.platform == "linux":
        assert (tmp_path / "cache/infofair/raw/compas/SOURCE.json").exists()
    assert_same(infofair.load_dataset("compas"), first)


def test_a_damaged_file_in_the_folder_is_fetched_again(small: Path, tmp_path: Path) -> None:
    first = load_dataset("compas", mirror=small, folder=tmp_path)
    (tmp_path / "raw/compas/compas-scores-two-years.csv").write_text("damaged")
    assert_same(load_dataset("compas", mirror=small, folder=tmp_path), first)


def test_the_options_are_those_of_the_preparation(small: Path) -> None:
    load: Callable[..., Prepared] = lambda **how: load_dataset("compas", mirror=small, **how)  # noqa: E731
    plain = load()
    assert "is_recid" in plain.features
    assert "is_recid" not in load(drop_leaking_columns=True).features
    assert "sex=Male" not in load(sensitive_as_input=False).features
    first, second = load(split="random"), load(split="random", seed=1, scale="train_rows")
    assert first.partition == second.partition == "random"
    assert not np.array_equal(first.split["test"], second.split["test"])
    assert np.abs(second.X[second.split["train"]]).max() == 1


def test_without_a_source_it_is_a_problem_or_simulated_and_marked(
    small: Path, tmp_path: Path
) -> None:
    with pytest.raises(Problem) as caught:
        load_dataset("compas", folder=tmp_path / "data")
    assert "no source serves compas (fallback is none)" in str(caught.value)
    assert "<mirror>/compas/\nand give <mirror> as the mirror" in str(caught.value)
    assert "dvc" not in str(caught.value)
    assert not (tmp_path / "data/raw/compas").exists()
    found = load_dataset("compas", folder=tmp_path / "data", fallback="simulate")
    assert (found.data, found.partition, len(found.y)) == ("simulated", "random", 253)
    # it is not taken for the real one later, when there is a source
    again = load_dataset("compas", folder=tmp_path / "data", mirror=small)
    assert (again.data, again.partition) == ("real", "authors")


def test_rows_that_break_the_schema_are_a_problem(small: Path, tmp_path: Path) -> None:
    path = small / "compas/compas-scores-two-years.csv"
    compas = datasets.load("compas")
    path.write_bytes(path.read_bytes().replace(b",Female,", b",Woman,", 1))
    pinned = RawFile(path.name, sha256(path), compas.files[0].url)
    broken = replace(compas, files=(pinned,))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "load", lambda _: broken)
        with pytest.raises(Problem, match=r"raw/compas: 300 rows read; these rules fail:\n  sex: "):
            load_dataset("compas", mirror=small, folder=tmp_path)


def test_a_csv_of_ones_own_is_taken_anew_and_split_at_random(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "load", lambda _: loans.DATASET)
    own = tmp_path / "own/dutch"  # under a name that there is
    with pytest.raises(Problem, match=rf"^{own}/loans\.csv: no such file"):
        load_dataset("dutch", folder=tmp_path)
    own.mkdir(parents=True)
    for rows in (200, 300):
        (own / "loans.csv").write_text("\n".join(make_loans.lines(rows)))
        found = load_dataset("dutch", folder=tmp_path)
        assert (len(found.y), found.partition) == (rows, "random")
    assert found.settings == ["gender", "region", "age_group", "intersection"]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"split": "mine"}, "split is 'mine'; expected authors or random"),
        ({"scale": "none"}, "scale is 'none'; expected all_rows or train_rows"),
        ({"fallback": True}, "fallback is True; expected none or simulate"),
    ],
)
def test_an_unknown_choice_is_a_problem(how: dict[str, str], message: str) -> None:
    with pytest.raises(Problem) as caught:
        load_dataset("compas", **how)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["iris", "", "../compas", "os"])
def test_an_unknown_name_gets_those_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(Problem, match=f"there is no dataset '{name}'; expected adult, bail, com"):
        load_dataset(name, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_missing_packages_are_one_line_that_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for package in ("pandera", "pooch"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(Problem) as caught:
        load_dataset("compas")
    assert str(caught.value) == "load_dataset needs pandera, pooch: pip install 'infofair[data]'"


@pytest.mark.real
@pytest.mark.parametrize(
    "name", ["compas", *(pytest.param(name, marks=pytest.mark.slow) for name in ("adult", "dutch"))]
)
def test_the_real_data_are_those_of_the_pipeline(
    name: str, real: Path, real_data: Callable[[str], Prepared], tmp_path: Path
) -> None:
    found = load_dataset(name, mirror=real, folder=tmp_path)
    same = all(  # compared first: a failure must not print real rows
        np.array_equal(a, b)
        for a, b in [(found.X, real_data(name).X), (found.y, real_data(name).y)]
    )
    assert same
    assert (found.data, found.partition) == ("real", "authors")
    assert [path.name for path in (tmp_path / "raw").iterdir()] == [name]

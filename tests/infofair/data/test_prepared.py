"""The file of a prepared dataset: the same bytes at any time, and no wrong byte goes unnoticed."""

import random
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from infofair.data.prepared import Prepared
from infofair.errors import Damaged
from tests import simulated
from tests.infofair.data.test_prepare import each_dataset, prepared


def assert_same(a: Prepared, b: Prepared) -> None:
    assert vars(a).keys() == vars(b).keys()
    for name, value in vars(a).items():
        np.testing.assert_equal(vars(b)[name], value, strict=isinstance(value, np.ndarray))
    for name in ("groups", "split"):
        assert [x.dtype for x in vars(a)[name].values()] == [
            x.dtype for x in vars(b)[name].values()
        ]


@each_dataset
def test_a_prepared_dataset_survives_the_disk(name: str, tmp_path: Path) -> None:
    result = prepared(name)
    result.save(tmp_path / "a.npz")
    assert_same(Prepared.load(tmp_path / "a.npz"), result)


def test_the_same_dataset_is_written_as_the_same_bytes_at_any_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = simulated.prepared(rows=50)
    result.save(tmp_path / "now.npz")
    with monkeypatch.context() as later:
        # Archives hold the time of writing, to two seconds, unless told otherwise.
        later.setattr(
            time, "localtime", lambda *_: time.struct_time((2040, 1, 1, 0, 0, 0, 6, 1, 0))
        )
        result.save(tmp_path / "later.npz")
    assert (tmp_path / "now.npz").read_bytes() == (tmp_path / "later.npz").read_bytes()


def test_a_prepared_file_is_never_pickled(tmp_path: Path) -> None:
    path = tmp_path / "pickled.npz"
    np.savez(path, X=np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(Damaged, match=str(path)):
        Prepared.load(path)
    unnamed = replace(simulated.prepared(rows=50), features=["age", None])
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        unnamed.save(tmp_path / "unnamed.npz")
    assert not (tmp_path / "unnamed.npz").exists()


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A small prepared file."""
    path = tmp_path / "small.npz"
    simulated.prepared(rows=20, features=3).save(path)
    return path


def test_a_changed_byte_is_noticed_or_does_no_harm(saved: Path) -> None:
    content, intact = saved.read_bytes(), Prepared.load(saved)
    noticed, rng = 0, random.Random(0)
    positions = range(0, len(content), 7)  # every array has a header like this one's
    for position in positions:
        changed = bytearray(content)
        changed[position] ^= rng.choice([0xFF, rng.randrange(1, 256)])
        saved.write_bytes(changed)
        try:
            assert_same(Prepared.load(saved), intact)
        except Damaged as problem:
            assert str(problem).startswith(f"{saved} is damaged")
            noticed += 1
    assert noticed > len(positions) / 3  # the rest are fields of the archive that nobody reads


def test_a_truncated_file_is_named(saved: Path) -> None:
    content = saved.read_bytes()
    for length in range(0, len(content), 7):
        saved.write_bytes(content[:length])
        with pytest.raises(Damaged, match=str(saved)):
            Prepared.load(saved)


@pytest.mark.parametrize("content", ["text", "one array", "other arrays", "folder"])
def test_another_file_in_its_place_is_named(content: str, saved: Path) -> None:
    saved.unlink()
    match content:
        case "text":
            saved.write_text("not an archive\n")
        case "one array":
            with saved.open("wb") as file:
                np.save(file, np.arange(3))
        case "other arrays":
            np.savez(saved, X=np.arange(3))
        case "folder":
            saved.mkdir()
    with pytest.raises(Damaged, match=str(saved)):
        Prepared.load(saved)


def test_members_and_sizes_are_of_a_part() -> None:
    data = simulated.prepared(rows=200)
    for setting in data.settings:
        group, groups = data.members(setting, "test")
        assert groups == len(data.group_names[setting])
        assert group.tolist() == [data.groups[setting][row] for row in data.split["test"]]
        assert data.sizes(setting, "test").tolist() == [
            group.tolist().count(g) for g in range(groups)
        ]
    assert data.attributes("race") == ["race"]
    assert data.attributes("intersection") == ["gender", "race"]

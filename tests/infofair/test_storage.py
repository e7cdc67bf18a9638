"""Files are written whole or not at all, as the same bytes, and read without trust."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from infofair import storage
from infofair.errors import Damaged, Problem


@pytest.mark.promise("A file is written whole or not at all.")
def test_a_file_appears_when_it_is_complete_and_its_folder_with_it(tmp_path: Path) -> None:
    path = tmp_path / "a/b/c.txt"
    with storage.whole(path) as partial:
        partial.write_text("half")
        assert not path.exists()
    assert path.read_text() == "half"
    assert [p.name for p in path.parent.iterdir()] == ["c.txt"]


@pytest.mark.promise("A file is written whole or not at all.")
def test_an_error_on_the_way_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    storage.write_text(path, "before")
    with pytest.raises(RuntimeError), storage.whole(path) as partial:
        partial.write_text("after")
        raise RuntimeError
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_full_disk_names_the_file_and_not_the_temporary_one(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with pytest.raises(OSError, match="No space left") as caught, storage.whole(path) as partial:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(partial))
    assert caught.value.filename == str(path)
    # an error about another file is that one's
    with pytest.raises(OSError, match="other") as caught, storage.whole(path):
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), "other")
    assert caught.value.filename == "other"


def test_json_survives_the_disk_and_damaged_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    content = {"é": [1, 2.5, None], "b": {"c": True}}
    storage.write_json(path, content)
    assert storage.read_json(path) == content
    assert path.read_bytes().endswith(b"}\n")
    assert "é" in path.read_text("utf-8")
    for wrong in (b"{", b"", b"\xff\xfe"):
        path.write_bytes(wrong)
        with pytest.raises(Damaged, match=f"^{path} is damaged"):
            storage.read_json(path)


def test_numbers_in_a_table_have_eight_digits_and_lines_end_alike_everywhere(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    storage.write_rows(path, [{"x": 1 / 3, "n": 7}, {"x": float("nan"), "n": None}], ["n", "x"])
    assert path.read_bytes() == b"n,x\n7,0.33333333\n,nan\n"
    with pytest.raises(ValueError, match="not in fieldnames"):
        storage.write_rows(path, [{"y": 1}], ["x"])
    assert path.read_bytes().startswith(b"n,x\n7")


def test_arrays_survive_the_disk_and_nothing_is_pickled(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    arrays = {"a/b": np.arange(6, dtype=np.int16).reshape(2, 3), "names": np.array(["x", "é"])}
    storage.save_arrays(path, arrays)
    found = storage.load_arrays(path)
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array, strict=True)
    with pytest.raises(ValueError, match="Object arrays"):
        storage.save_arrays(path, {"o": np.array([{}], dtype=object)})
    np.savez(path, o=np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(Damaged, match=str(path)):
        storage.load_arrays(path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        storage.load_arrays(path)


def test_what_is_damaged_is_a_problem_with_a_path_and_a_reason() -> None:
    error = Damaged(Path("a/b.npz"), "no array 'X'")
    assert isinstance(error, Problem)
    assert str(error) == "a/b.npz is damaged (no array 'X')"


def test_the_sha256_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert storage.sha256(tmp_path / "a") == expected

"""What `make verify` compares, and how it says what differs."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.commands import verify

TABLE = "dataset,setting,micro_f1\nadult,gender,0.81\nadult,race,0.82\n"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("committed", "found"):
        (tmp_path / name).mkdir()
    return tmp_path / "committed", tmp_path / "found"


def both(folders: tuple[Path, Path], name: str, before: str, after: str) -> list[str]:
    for folder, text in zip(folders, (before, after), strict=True):
        (folder / name).write_text(text, encoding="utf-8")
    return verify.compare(*folders, [name])


def test_equal_files_do_not_differ(folders: tuple[Path, Path]) -> None:
    for name in ("runs.csv", "index.html", "dvc.lock"):
        assert both(folders, name, TABLE, TABLE) == []


def test_a_tables_difference_is_named_by_line_and_column(folders: tuple[Path, Path]) -> None:
    said = both(folders, "runs.csv", TABLE, TABLE.replace("0.82", "0.83"))
    assert said == ["runs.csv: line 3, micro_f1: committed 0.82, now 0.83"]


def test_a_missing_row_is_named(folders: tuple[Path, Path]) -> None:
    said = both(folders, "runs.csv", TABLE, TABLE[: TABLE.index("adult,race")])
    assert "runs.csv: line 3, setting: committed race, now nothing" in said


def test_a_json_files_difference_is_named_by_its_key(folders: tuple[Path, Path]) -> None:
    before = {"adult": {"gender": [{"micro_f1": 0.81}, 2]}}
    after = {"adult": {"gender": [{"micro_f1": 0.81}, 3]}}
    said = both(folders, "metrics.json", json.dumps(before), json.dumps(after))
    assert said == ["metrics.json: adult.gender[1]: committed 2, now 3"]


def test_a_locks_difference_is_named_by_its_stage_in_whatever_order_stages_ran(
    folders: tuple[Path, Path],
) -> None:
    one, two = "  one:\n    outs:\n    - md5: ab\n", "  two:\n    cmd: run\n"
    assert both(folders, "dvc.lock", f"stages:\n{one}{two}", f"stages:\n{two}{one}") == []
    said = both(
        folders, "dvc.lock", f"stages:\n{one}{two}", f"stages:\n{one}{two}".replace("ab", "cd")
    )
    assert said == ["dvc.lock: stages.one.outs[0].md5: committed ab, now cd"]


def test_a_texts_difference_is_named_by_line_and_cut_short(folders: tuple[Path, Path]) -> None:
    said = both(folders, "index.html", "<p>\n" + "a" * 500, "<p>\n" + "b" * 500)
    assert len(said) == 1
    assert re.fullmatch(r"index.html: line 2: committed a{77}…, now b{77}…", said[0])


def test_a_picture_that_differs_and_a_file_that_is_missing_are_named(
    folders: tuple[Path, Path],
) -> None:
    (folders[0] / "a.png").write_bytes(b"\x89PNG\xff")
    (folders[1] / "a.png").write_bytes(b"\x89PNG\xff\xff")
    (folders[0] / "b.csv").write_text(TABLE)
    assert verify.compare(*folders, ["a.png", "b.csv"]) == [
        "a.png: bytes: committed 5 bytes, now 6 bytes",
        "b.csv: was not made",
    ]


def test_only_the_first_differences_of_a_file_are_shown(folders: tuple[Path, Path]) -> None:
    said = both(folders, "page.html", "a\n" * 100, "b\n" * 100)
    assert len(said) == verify.SHOWN + 1
    assert said[-1] == f"page.html: and {100 - verify.SHOWN} more"


def test_the_commit_a_result_was_made_from_is_no_difference(folders: tuple[Path, Path]) -> None:
    before = {"revision": "abc", "dirty": True, "packages": {"torch": "2.13.0"}}
    after = {"revision": "def", "dirty": False, "packages": {"torch": "2.13.0"}}
    assert both(folders, "provenance.json", json.dumps(before), json.dumps(after)) == []
    after["packages"] = {"torch": "2.14.0"}
    said = both(folders, "provenance.json", json.dumps(before), json.dumps(after))
    assert said == ["provenance.json: packages.torch: committed 2.13.0, now 2.14.0"]


nested = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)


@given(nested, nested)
def test_flattened_contents_are_equal_only_if_the_contents_are(one: object, other: object) -> None:
    assert (verify.flat(one) == verify.flat(other)) == (one == other)


def test_what_is_run_again_is_what_the_lock_names_and_git_has(tmp_path: Path) -> None:
    """Neither what DVC keeps in its cache nor the results of another pipeline."""
    lock = (
        "schema: '2.0'\nstages:\n  train:\n    cmd: x\n    outs:\n    - path: results/predictions\n"
        "  summarize:\n    cmd: x\n    outs:\n    - path: results/runs.csv\n"
        "    - path: results/figures\n"
    )
    ours = ["dvc.lock", "results/figures/a b.svg", "results/provenance.json", "results/runs.csv"]
    for name in [*ours, "beyond/dvc.lock", "results/frontier.csv", "params.yaml"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(lock)
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / "results/predictions").write_text("in the cache")
    assert verify.results(tmp_path, Path("dvc.lock")) == ours

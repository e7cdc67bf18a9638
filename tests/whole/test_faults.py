"""Full disks, damaged files: a stage names them, writes nothing, and no result is ever wrong.

What takes a whole pipeline (kill -9, two runs at once) is in test_kills.py.
"""

import subprocess
from collections.abc import Callable, Iterator
from mmap import PAGESIZE
from pathlib import Path

import numpy as np
import pytest

from infofair.data import dataset as datasets
from infofair.data.fetch import source_of
from infofair.data.prepared import ALL, PARTS, Prepared
from infofair.errors import Damaged, Problem
from infofair.training.predictions import Predictions
from stages import evaluate, preprocess, validate
from study import cli, evaluation, paths
from tests.conftest import compared, write_plans
from tests.raw import COMPAS, place, spoiled
from tests.simulated import prepared

STAGES = {"validate": validate, "preprocess": preprocess, "evaluate": evaluate}
NPZ = "data/processed/compas.npz"
PREDICTIONS = "results/predictions/compas/vanilla.npz"
PARQUET = "data/validated/compas.parquet"
RAW = f"data/raw/compas/{COMPAS}"


@pytest.fixture
def finished(workspace: Path) -> Path:
    """A folder in which validate, preprocess and evaluate have run, on simulated rows."""
    write_plans(
        datasets=["compas"],
        methods={"trained": ["vanilla"], "ablations": [], "solved": []},
        beyond={"trained": [], "solved": []},
        comparison=compared(),
    )
    place("compas", datasets.load("compas").simulate(700, 0))
    validate.main("compas")
    preprocess.main("compas")
    save_predictions(Prepared.load(Path(NPZ)))
    evaluate.main("compas")
    return workspace


def save_predictions(data: Prepared) -> None:
    rng = np.random.default_rng(0)
    drawn = {part: rng.random(len(data.split[part])) for part in PARTS}
    Predictions.of({(ALL, 0.0, 0): drawn}, data).save(Path(PREDICTIONS))


def everything() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def refusal(stage: str) -> str:
    """What a stage that must fail says; nothing may have changed."""
    before = everything()
    with pytest.raises((Problem, OSError)) as caught:
        STAGES[stage].main("compas")
    assert everything() == before
    return cli.explain(caught.value)


# -- no space, no permission ---------------------------------------------------------------------

WRITING = {
    PARQUET: "validate",
    NPZ: "preprocess",
    "results/evaluation/compas/runs.csv": "evaluate",
}


@pytest.fixture
def mounted() -> Iterator[Callable[[Path], None]]:
    """Puts a file system in the place of a folder, with the same files and no room for more."""
    done: list[Path] = []

    def mount(folder: Path) -> None:
        content = {path.name: path.read_bytes() for path in folder.iterdir()}
        pages = sum(-(-len(of) // PAGESIZE) for of in content.values())
        command = ["mount", "-t", "tmpfs", "-o", f"size={pages * PAGESIZE}", "tmpfs", str(folder)]
        tried = subprocess.run(command, capture_output=True, text=True)
        if tried.returncode:
            pytest.skip(f"no file system can be mounted here: {tried.stderr.strip()}")
        done.append(folder)
        for name, of in content.items():
            (folder / name).write_bytes(of)

    yield mount
    for folder in done:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize("path", WRITING)
@pytest.mark.promise("A full disk and a read-only one are named, and change nothing.")
def test_a_full_disk_and_a_read_only_one_are_named_and_change_nothing(
    path: str, finished: Path, mounted: Callable[[Path], None]
) -> None:
    folder = (finished / path).parent
    mounted(folder)
    for reason in ("No space left on device", "Read-only file system"):
        assert refusal(WRITING[path]) == f"{path}: {reason}"
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)


# -- damaged files -------------------------------------------------------------------------------


def flip(path: Path) -> None:
    """Change one byte in the middle of the file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("path", "stage", "expected"),
    [
        (NPZ, "evaluate", f"{NPZ} is damaged ("),
        (PREDICTIONS, "evaluate", f"{PREDICTIONS} is damaged ("),
        (PARQUET, "preprocess", f"{PARQUET} is damaged ("),
        (RAW, "validate", f"{RAW} has changed since it was downloaded: "),
        (RAW, "preprocess", f"{RAW} has changed since it was downloaded: "),
    ],
)
@pytest.mark.promise("A damaged file is noticed, named and made anew; no result is ever wrong.")
def test_a_stage_names_a_damaged_file_and_writes_nothing(
    path: str, stage: str, expected: str, finished: Path
) -> None:
    flip(Path(path))
    said = refusal(stage)
    assert said.startswith(expected)
    assert "\n" not in said


@pytest.mark.promise("A damaged file is noticed, named and made anew; no result is ever wrong.")
def test_no_changed_byte_of_predictions_changes_what_is_evaluated(workspace: Path) -> None:
    data = prepared(rows=60)
    save_predictions(data)

    def evaluated() -> list[list[bool]]:
        found = evaluation.models("compas", ["vanilla"], data.settings)
        return [model.predicted[part].tolist() for model in found for part in PARTS]

    expected = evaluated()
    for what in spoiled(Path(PREDICTIONS), 700):
        try:
            assert evaluated() == expected, what
        except Damaged as problem:
            assert str(problem).startswith(f"{PREDICTIONS} is damaged"), what


@pytest.mark.promise("A damaged file is noticed, named and made anew; no result is ever wrong.")
def test_no_changed_byte_of_the_record_of_raw_files_changes_what_it_says(workspace: Path) -> None:
    place("compas", datasets.load("compas").simulate(300, 0))
    folder = paths.raw("compas")
    expected = source_of(folder)
    for what in spoiled(folder / "SOURCE.json", 500):
        try:
            found = source_of(folder)
        except Problem as problem:
            assert str(folder) in str(problem), what
        else:
            assert (found["data"], found["split"]) == (expected["data"], expected["split"]), what

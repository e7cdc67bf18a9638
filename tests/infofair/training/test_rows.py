"""Rows that stay in a file: the same bits as in memory, and memory that they do not fill."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import infofair
from infofair import methods
from infofair.data.prepared import ALL, Prepared
from infofair.errors import Problem
from infofair.methods.base import Network
from infofair.training.plan import Training
from infofair.training.rows import Mapped, rows_of
from tests import steps
from tests.conftest import ROOT
from tests.plain import CPU
from tests.simulated import prepared
from tests.steps import same_bits


def on_disk(data: Prepared, folder: Path) -> Prepared:
    np.save(folder / "X.npy", data.X)
    return replace(
        data, X=np.load(folder / "X.npy", mmap_mode="r", allow_pickle=False), mapped=True
    )


@pytest.mark.parametrize("name", ["vanilla", "infofair", "infofair_fitted"])
def test_models_on_rows_of_a_file_are_those_on_rows_in_memory(name: str, tmp_path: Path) -> None:
    method = methods.make(name)
    assert isinstance(method, Network)
    settings = steps.SETTINGS[:2] if method.uses_groups else (ALL,)
    held = steps.run(method, settings)
    read = steps.run(method, settings, data=on_disk(prepared(), tmp_path))
    assert all(same_bits(held[key], read[key]) for key in held)


def test_a_part_of_a_file_is_read_from_where_it_is(tmp_path: Path) -> None:
    """Some rows, some columns of it, beyond its first page; in any order."""
    X = np.random.default_rng(0).random((9000, 9), dtype=np.float32)
    np.save(tmp_path / "X.npy", X)
    some = np.load(tmp_path / "X.npy", mmap_mode="r", allow_pickle=False)[7000:, 2:8]
    data = replace(prepared(), X=some, mapped=True, split={"train": np.array([1999, 0, 3])})
    found = rows_of(data, "train", 8, CPU)
    assert isinstance(found, Mapped)
    expected = np.column_stack([X[[8999, 7000, 7003], 2:8], np.ones(3), np.zeros(3)])
    np.testing.assert_array_equal(found.part(0, 9).numpy(), expected)
    out = torch.empty(2, 8)
    found.take(torch.tensor([2, 0]), out)
    np.testing.assert_array_equal(out.numpy(), expected[[2, 0]])


@pytest.mark.parametrize("kind", ["float64", "columns first"])
def test_a_file_of_another_form_is_refused(kind: str, tmp_path: Path) -> None:
    X = prepared().X
    np.save(tmp_path / "X.npy", X.astype(float) if kind == "float64" else np.asfortranarray(X))
    data = replace(
        prepared(), X=np.load(tmp_path / "X.npy", mmap_mode="r", allow_pickle=False), mapped=True
    )
    with pytest.raises(Problem, match="float32"):
        steps.run(methods.make("vanilla"), (ALL,), data=data)  # type: ignore[arg-type]


def test_workers_read_the_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", "2")
    how = {"seeds": (0, 1), "hidden": (8,), "training": Training(epochs=2, batch_size=64)}
    method = methods.make("vanilla")
    assert isinstance(method, Network)
    held = infofair.fit(method, prepared(), **how)
    read = infofair.fit(method, on_disk(prepared(), tmp_path), **how)
    X = prepared().X
    for key, model in held.items():
        assert np.array_equal(model.predict_proba(X), read[key].predict_proba(X))


MEMORY = """
import sys
from dataclasses import replace
import numpy as np, torch
from infofair import methods
from infofair.training.batched import train
from infofair.training.plan import Job, Training, Variant
from tests.simulated import prepared

data = prepared(1_000_000, 3)
X = np.lib.format.open_memmap(sys.argv[1], "w+", np.float32, (len(data.y), 500))
X[:, :3] = data.X
X.flush()
del X
data = replace(data, X=np.load(sys.argv[1], mmap_mode="r", allow_pickle=False), mapped=True)
variants = [Variant("gender", alpha) for alpha in (0.1, 1.0)]
job = Job(methods.make("gdp"), [8], Training(epochs=1, batch_size=1024))

def held():
    with open("/proc/self/status") as status:
        named = dict(line.split(":") for line in status)
    return int(named["VmHWM"].split()[0])

with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")  # begins anew
train(job, data, [(seed, v) for seed in (0, 1) for v in variants], torch.device("cpu"))
print(held())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_rows_of_a_file_are_not_all_in_memory_at_once(tmp_path: Path) -> None:
    """A file of 2 GB, and a process that has less than 1 GiB at its peak, PyTorch included."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, tmp_path / "X.npy"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(done.stdout) < 1024**2

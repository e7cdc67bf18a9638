"""Memory is estimated before anything is trained, and what there is not is refused in one line."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples import loans
from infofair import methods
from infofair.data import dataset as datasets
from infofair.data.prepared import Prepared
from infofair.errors import Problem
from stages import check
from study import memory, params, paths, plans
from tests.conftest import ROOT, edit_params, paper_params
from tests.simulated import prepared

FACTOR = 1.5  # by which the estimate may be above or below the peak

# One worker, as then the work is done in the process itself. Of /proc, not resource: it begins
# there with the peak of the process that started it, and tests are large.
TRAINED = """
import json, sys
from infofair import kernels
kernels.pin()
from infofair import methods
from infofair.training import fit
from infofair.training.plan import Job, Training
from tests.simulated import prepared
name, rows, features, hidden, batch, seeds = json.loads(sys.argv[1])
data = prepared(rows, features)
job = Job(methods.make(name), hidden, Training(epochs=1, batch_size=batch))
fit.train(job, data, [0.1], list(range(seeds)), "measured")
[peak] = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(int(peak.split()[1]) * 1024)
"""


@pytest.mark.promise(
    "What memory training needs is estimated before it begins, within a factor of 1.5."
)
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no /proc")
@pytest.mark.parametrize(
    ("largest", "asked"),
    [
        ("networks", ["vanilla", 500, 30, [1000, 1000], 128, 12]),
        pytest.param(
            "minibatches", ["infofair", 40_000, 11, [256], 16_000, 2], marks=pytest.mark.slow
        ),
        pytest.param("rows", ["vanilla", 60_000, 400, [8], 128, 2], marks=pytest.mark.slow),
    ],
)
def test_the_estimate_is_near_the_peak_of_a_training(largest: str, asked: list[Any]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TRAINED, json.dumps(asked)],
        env={"PATH": "", "PYTHONPATH": str(ROOT), "INFOFAIR_WORKERS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    name, rows, features, hidden, batch, seeds = asked
    parts = memory.estimate(
        memory.Asked(methods.make(name), hidden, batch, 1, seeds, "", ""),
        shape_of(prepared(rows, features)),
        at_once=1,
    )
    apart = sum(parts.values()) / int(done.stdout)
    assert 1 / FACTOR < apart < FACTOR, (apart, parts)
    without = {part: size for part, size in parts.items() if part != "the program"}
    assert max(without, key=lambda part: without[part]) == largest
    assert without[largest] > 100e6  # else the program alone would have been measured


def shape_of(data: Prepared) -> memory.Shape:
    groups = max(len(names) for names in data.group_names.values())
    return memory.Shape(*data.X.shape, len(data.settings), groups)


@pytest.mark.parametrize("name", params.dataset_names())
def test_the_shape_of_a_dataset_is_known_before_it_is_fetched(name: str) -> None:
    dataset = datasets.load(name)
    assert dataset.simulate
    rows = dataset.simulate(300, 0)
    for one in dataset.filters:
        rows = rows[one.keep(rows)]
    found = memory.shape(name)
    assert dataset.rows
    assert (found.rows, found.features) == (
        dataset.rows[1],
        len(dataset.encode(dataset.clean(rows))),
    )


def test_rows_of_ones_own_are_the_lines_of_its_file(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "load", lambda name: loans.DATASET)
    file = paths.own("loans") / loans.DATASET.files[0].name
    file.parent.mkdir(parents=True)
    file.write_text("header\n" + "row\n" * 700)
    found = memory.shape("loans")
    assert found.rows == 701
    assert found.features >= len(loans.DATASET.schema.columns) - 1


def test_a_dataset_that_cannot_be_asked_without_rows_has_a_feature_per_column(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dataclasses import replace

    def clean(frame: Any) -> Any:
        return frame.iloc[[0]]

    adult = datasets.load("adult")
    monkeypatch.setattr(datasets, "load", lambda name: replace(adult, clean=clean))
    assert memory.shape("adult").features == len(adult.schema.columns)


# -- what is refused ------------------------------------------------------------------------------


def refused(**changes: Any) -> str:
    with pytest.raises(Problem) as caught:
        memory.check(plans.everything(paper_params(**changes)))
    said = str(caught.value)
    assert "\n" not in said
    return said


@pytest.fixture
def four_gigabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "machine", lambda: 4e9)
    monkeypatch.setenv("INFOFAIR_WORKERS", "2")


def test_what_is_committed_needs_less_than_two_gigabytes(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "machine", lambda: 2e9)
    monkeypatch.setenv("INFOFAIR_WORKERS", "2")
    assert memory.check(plans.everything(params.load())) is None


@pytest.mark.promise(
    "Networks that the machine has no memory for are refused before anything is fetched or trained."
)
@pytest.mark.usefixtures("four_gigabytes")
def test_networks_that_are_too_large_are_refused_by_key_before_anything_else(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit_params(compas={"hidden": [20_000, 20_000]})
    with pytest.raises(Problem) as caught:
        check.main()
    assert not paths.PLANS.exists()
    said = str(caught.value)
    begins = "params.yaml: compas.hidden = [20000, 20000]: to train vanilla on compas takes about "
    assert said.startswith(begins)
    assert "of it networks" in said
    assert said.endswith(
        "and this machine has 4 GB; lower compas.hidden, training.batch_size, seeds or "
        "INFOFAIR_WORKERS"
    )


@pytest.mark.usefixtures("four_gigabytes")
def test_a_minibatch_that_is_too_large_is_named() -> None:
    training = paper_params().training.model_dump()
    said = refused(training=training | {"batch_size": 50_000}, adult={"hidden": [2048]})
    assert said.startswith("params.yaml: training.batch_size = 50000: to train ")
    assert " on adult takes about " in said
    assert "lower training.batch_size, adult.hidden, seeds or INFOFAIR_WORKERS" in said


@pytest.mark.usefixtures("four_gigabytes")
def test_what_only_the_comparison_or_luck_takes_is_said_and_not_refused(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backbone = paper_params().backbone.model_dump()
    edit_params(backbone=backbone | {"batch_size": 50_000}, adult={"hidden": [512]})
    check.main()
    assert paths.PLANS.exists()
    said = capsys.readouterr().err
    assert said.startswith("note: params.yaml: backbone.batch_size = 50000: to train ")
    assert said.endswith("comparison.splits or INFOFAIR_WORKERS\n")
    luck = paper_params().luck.model_dump() | {"seeds": 100_000}
    edit_params(backbone=backbone, adult={"hidden": [32]}, luck=luck)
    check.main()
    assert capsys.readouterr().err.endswith("luck.seeds or INFOFAIR_WORKERS\n")


def test_a_clusters_memory_is_not_ours_to_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "machine", lambda: 1.0)
    monkeypatch.setenv("INFOFAIR_SCHEDULER", "tcp://elsewhere:8786")
    memory.check(plans.everything(paper_params()))


@pytest.mark.parametrize(("limit", "less"), [("1000000\n", True), ("max\n", False)])
def test_a_container_has_what_it_may_use(
    limit: str, less: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "memory.max"
    file.write_text(limit)
    monkeypatch.setattr(memory, "LIMIT", tmp_path / "none")
    without = memory.machine()
    monkeypatch.setattr(memory, "LIMIT", file)
    assert memory.machine() == (1e6 if less else without)


@pytest.mark.parametrize(
    ("size", "said"),
    [(1, "1 bytes"), (999.4, "999 bytes"), (25_300_000_000, "25.3 GB"), (4e21, "4e+06 PB")],
)
def test_a_size_has_three_digits(size: float, said: str) -> None:
    assert memory.said(size) == said


def test_the_parts_are_finite() -> None:
    asked = memory.Asked(methods.make("vanilla"), [1], 1, 1, 1, "", "")
    parts = memory.estimate(asked, memory.Shape(1, 1, 1, 1), 1)
    assert np.isfinite(list(parts.values())).all()

"""`make verify`: every committed result, made again; and what it says of one that is not."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from study import paths
from study.commands import verify
from study.page import sources
from tests.conftest import ROOT
from tests.repository import FEW, Pipeline, write_repository, write_small

# In which result of a part a figure is changed; more of them by `make faults`.
TAMPERED = {"data": "results/sizes/compas.json"}
if os.environ.get("INFOFAIR_FAULTS"):
    TAMPERED |= {"fronts": "results/frontier.csv", "luck": "results/luck_summary.csv"}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    return write_repository(tmp_path_factory.mktemp("repository"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of packages that DVC uses
def test_every_stage_is_in_a_part(repository: Pipeline) -> None:
    def of(*parts: str) -> set[tuple[Path, str]]:
        targets = [target for part in parts for target in verify.PARTS[part]]
        found = verify.needed(repository.folder, targets)
        return {(lock, name) for lock, names in found.items() for name in names}

    every = {
        (Path(stage.pipeline, "dvc.lock"), address.rpartition(":")[2])
        for address, stage in repository.stages.items()
    }
    assert of("paper", "beyond", "luck") == every
    left = of("beyond") - of("fronts", "general", "data")  # what shows all of them
    assert {name for _, name in left} == {"document", "page", "methods_page"}


@pytest.mark.parametrize(("theirs", "said"), [(None, ""), ("arm64", "of arm64; this is ")])
def test_another_makers_processor_is_named(theirs: str | None, said: str, tmp_path: Path) -> None:
    provenance = tmp_path / paths.PROVENANCE
    provenance.parent.mkdir()
    provenance.write_text(json.dumps({"processor": theirs or sources.processor()}))
    found = verify.elsewhere(tmp_path)
    assert said in found and bool(found) == bool(said)


@pytest.mark.slow
@pytest.mark.parametrize(("part", "result"), TAMPERED.items())
@pytest.mark.promise("`make verify` makes committed results again, and names what differs.")
def test_a_part_of_a_small_pipeline_is_made_again_and_what_was_tampered_with_is_named(
    part: str, result: str, tmp_path: Path
) -> None:
    pipeline = write_small(tmp_path / "pipeline", **FEW)
    (pipeline.folder / "results/more/.kept").touch()  # a clone of this one has the folder, too
    pipeline.repro(*verify.PARTS[part])
    before, digit, after = re.split(r"(\d)(?=\D*\Z)", (pipeline.folder / result).read_text())
    (pipeline.folder / result).write_text(f"{before}{(int(digit) + 1) % 10}{after}")
    pipeline.git("add", "--all")
    pipeline.git("commit", "--quiet", "--message", "Its results, and one figure that is not")
    process = pipeline.start("-m", "study.commands.verify", "--part", part)
    said, _ = process.communicate()
    assert process.returncode == 1, said
    counted, named = said[said.index("error: ") :].splitlines()
    assert counted == "error: 1 difference from what is committed:"
    assert re.match(rf"{result}: .+: committed .+, now ", named)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # likewise
@pytest.mark.parametrize("part", ["paper", "beyond", "luck"])  # the others are parts of beyond
@pytest.mark.promise("The same commit gives the same bytes of every result that is in git.")
def test_every_committed_result_is_made_again(
    part: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    record_property: Callable[[str, object], None],
) -> None:
    """Of the real data, from the download on: INFOFAIR_VERIFY names the parts to try."""
    if part not in os.environ.get("INFOFAIR_VERIFY", "").split():
        pytest.skip("it takes long: parts are tried if INFOFAIR_VERIFY names them")
    monkeypatch.chdir(ROOT)
    verify.main(part)
    found = re.search(r"^(\d+) committed results made again", capfd.readouterr().err, re.MULTILINE)
    assert found
    record_property("tried", int(found[1]))

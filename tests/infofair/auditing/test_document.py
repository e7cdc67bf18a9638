"""docs/audit.md: its commands run, its Python too, and its YAML is what DVC and GitHub take."""

import re
import shlex
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from infofair.auditing import chance, cli, groups, power, remedies
from tests.conftest import ROOT
from tests.documents import blocks
from tests.infofair.auditing.people import loans, quick

DOCUMENT = "docs/audit.md"


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    loans().to_csv("predictions.csv", index=False)
    with quick():
        yield tmp_path


def commands(text: str) -> list[list[str]]:
    found = [line.split("#")[0].strip() for line in text.splitlines()]
    return [shlex.split(line)[1:] for line in found if line.startswith("infofair ")]


def test_its_commands_make_pages() -> None:
    [shown] = blocks(DOCUMENT, "bash")
    asked = commands(shown)
    assert [own[0] for own in asked] == ["demo", "audit"]
    assert [cli.main(own) for own in asked] == [0, 0]
    assert Path("demo-audit/index.html").exists()
    assert Path("audit/index.html").exists()


def test_its_python_runs(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, opened = loans(), list[str]()
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("tempfile.tempdir", str(workspace))
    [code] = blocks(DOCUMENT, "python")
    exec(code, {"y": frame["y"], "p": frame["p"], "people": frame})
    assert Path("audit/index.html").exists() and len(opened) == 1


def test_its_pipeline_and_its_workflow_step_run() -> None:
    pipeline, step = (YAML(typ="safe").load(text) for text in blocks(DOCUMENT, "yaml"))
    stage = pipeline["stages"]["audit"]
    assert cli.main(shlex.split(stage["cmd"])[1:]) == 0
    outs = [name for of in (*stage["outs"], *stage["metrics"]) for name in of]
    assert all(Path(name).exists() for name in outs)
    assert cli.main(shlex.split(step[0]["run"])[1:]) == 1  # there is evidence


def test_its_rules_and_options_are_those_that_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = " ".join((ROOT / DOCUMENT).read_text(encoding="utf-8").split())
    for said in (
        f"fewer than {groups.SMALLEST} rows",
        f"fewer than {groups.SMALLEST_CLASS} of either label",
        f"Beyond {groups.MOST} groups",
        f"more than {groups.NUMERIC} different ones",
        f"anew {chance.DRAWS:,} times",
        f"a gap of {power.GAP}",
        f"of {power.SMALL_EFFECT} standard",
        f"tolerance of {remedies.CHOSEN}",
    ):
        assert said in text, said
    with pytest.raises(SystemExit):
        cli.main(["audit", "--help"])
    options = set(re.findall(r"(--[a-z-]+)", capsys.readouterr().out)) - {"--help"}
    assert len(options) == 15
    assert [option for option in options if option not in text] == []


def test_every_field_of_the_schema_is_explained() -> None:
    schema = YAML(typ="safe").load(files("infofair.auditing").joinpath("schema.json").read_text())
    text = (ROOT / DOCUMENT).read_text(encoding="utf-8")
    for name in {*schema["properties"], *schema["$defs"]["setting"]["properties"]} - {
        "schema", "task", "name", "attributes", "cuts"
    }:  # fmt: skip
        assert f"`{name}`" in text, name

"""The notebooks: their sources, and what is made of them."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from infofair.errors import Problem
from study import figures, notebooks, paths, results
from study.commands import compare, quick
from study.tables import honest, layout
from study.tables import results as paper
from tests import compared, generalised, lucks
from tests.conftest import ROOT
from tests.summaries import summary

NAMES = list(notebooks.WRITTEN)
SOURCES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def source(name: str) -> NotebookNode:
    return nbformat.read(ROOT / paths.notebook(name), as_version=4)


@pytest.fixture
def small(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with the notebooks and a small summary."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    shutil.copytree(ROOT / "notebooks", "notebooks")
    compared.write({"adult": compared.SETTINGS})
    lucks.write({"adult": list(lucks.SETTINGS)})
    generalised.write()
    results.write(summary(("adult",)), "summary")
    return workspace


@pytest.fixture
def written(small: Path) -> Callable[..., None]:
    """Replaces the notebook `tradeoff` by one with these cells."""

    def write(*cells: str) -> None:
        own = source("tradeoff")
        parameters = next(cell for cell in own.cells if cell.id == "parameters")
        code = [nbformat.v4.new_code_cell(text, id=f"cell-{i}") for i, text in enumerate(cells)]
        own.cells = [own.cells[0], parameters, *code]
        nbformat.write(own, paths.notebook("tradeoff"))

    return write


def outputs(name: str) -> str:
    """Everything that the cells of an executed notebook show."""
    done = nbformat.read(paths.executed(name), as_version=4)
    return json.dumps([cell.outputs for cell in done.cells if cell.cell_type == "code"])


# -- sources -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOURCES)
def test_sources_are_clean_and_complete(name: str) -> None:
    own = source(name)
    nbformat.validate(own)
    assert own.metadata.kernelspec.name == "python3"
    assert own.metadata.language_info == {
        "name": "python", "file_extension": ".py", "mimetype": "text/x-python"
    }  # fmt: skip
    assert own.cells[0].source.startswith("# ")
    code = [cell for cell in own.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert [cell.id for cell in code if cell.metadata.get("tags")] == ["parameters"]
    assert code[0].metadata.tags == ["parameters"]
    assert all(len(cell.source.splitlines()) <= 6 for cell in code)
    assert sum(cell.cell_type == "markdown" for cell in own.cells) >= 2


@pytest.mark.parametrize("name", SOURCES)
def test_sources_only_call_the_tested_modules(name: str) -> None:
    text = "\n".join(cell.source for cell in source(name).cells if cell.cell_type == "code")
    assert set(re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE)) <= {
        "IPython", "study"
    }  # fmt: skip
    assert "def " not in text


@pytest.mark.parametrize("name", [name for name in NAMES if notebooks.WRITTEN[name]])
def test_run_by_hand_a_notebook_uses_the_paths_of_the_stage(name: str, small: Path) -> None:
    cell = next(cell for cell in source(name).cells if cell.id == "parameters")
    given: dict[str, str] = {}
    exec(cell.source, given)
    assert {k: v for k, v in given.items() if k != "__builtins__"} == notebooks.parameters(name)


# -- executed ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name != "tradeoff"))
        for name in (
            "results_table",
            "tradeoff",
            "ablation",
            "frontier",
            "luck",
            "honest_table",
            "general_graph",  # the other generalisations' differ in their words
        )
    ],  # by default a table and a figure
)
def test_a_notebook_is_executed_to_what_the_functions_give(name: str, small: Path) -> None:
    """(.ci/miniature executes each of them twice, and compares the bytes.)"""
    given = notebooks.parameters(name)
    kept = [paths.executed(name), *(Path(given[kind]) for kind in notebooks.WRITTEN[name])]
    notebooks.run(name)
    assert {path.name for path in Path("reports").iterdir()} == {f"{name}.ipynb"}
    assert len([path for path in paths.FIGURES.rglob("*") if path.is_file()]) == len(kept) - 1

    read = [results.read(table) for table in notebooks.READ.get(name, {}).values()]
    if study := notebooks.GENERAL.get(name):
        figures.save(figures.general(results.general(study), study), "again.svg")
        assert kept[1].read_bytes() == Path("again.svg").read_bytes()
        assert "image/png" in outputs(name)
    elif name.endswith("_table"):
        table = (
            (paper.blocks(*read), paper.LAYOUT)
            if name == "results_table"
            else (honest.blocks(*read), honest.layout(*read))
        )
        for path, write in zip(
            kept[1:], (layout.to_html, layout.to_latex, layout.to_markdown), strict=True
        ):
            assert path.read_text("utf-8") == write(*table)
    else:
        figures.save(getattr(figures, name)(*read[:2]), "again.svg")
        assert kept[1].read_bytes() == Path("again.svg").read_bytes()
        assert "image/png" in outputs(name)

    # and nothing in it is of this run or of this machine
    done = nbformat.read(kept[0], as_version=4)
    nbformat.validate(done)
    assert done.metadata == source(name).metadata
    for cell in done.cells:
        for output in cell.get("outputs", []):
            output.data.pop("image/png", None)
    text = nbformat.writes(done)
    for trace in (str(small), str(ROOT), sys.prefix, socket.gethostname(), "papermill"):
        assert trace not in text
    assert not re.search(r"/(home|root|tmp|usr|work)/", text)
    assert not re.search(r"20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d", text)
    assert {cell.id for cell in done.cells} == {
        *(cell.id for cell in source(name).cells), "injected-parameters"
    }  # fmt: skip


def test_what_tells_of_the_machine_goes_to_the_terminal_or_away(
    written: Callable[..., None],
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    start = small / "profile/profile_default/startup"
    start.mkdir(parents=True)
    (start / "own.py").write_text("greeting = 'of the user'")
    monkeypatch.setenv("IPYTHONDIR", str(small / "profile"))
    written(
        "import pathlib, sys, warnings\nwarnings.warn('careful')",
        "print('known:', 'greeting' in dir())",
        "print(pathlib.Path('results').resolve(), sys.executable)\nobject()",
    )
    notebooks.run("tradeoff")
    text = outputs("tradeoff")
    assert "known: False" in text
    assert "careful" not in text
    assert "./results (environment)/bin/python" in text
    assert "<object at 0x\\u2026>" in text
    said = capfd.readouterr()
    assert "UserWarning: careful" in said.err
    assert said.err.count("\n") <= 2  # and nothing else
    assert said.out == ""


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("{}['lost']", r"cell 4 \({}\['lost'\]\): KeyError: 'lost'$"),
        (
            "from study import results\nresults.read('summary', 'lost.csv')",
            r"cell 4 \(from study import results\): lost\.csv does not exist; .* summarize$",
        ),
        ("import os\nos._exit(3)", r"Kernel died"),
    ],
)
def test_a_failing_cell_is_named_and_nothing_is_written(
    cell: str, message: str, written: Callable[..., None]
) -> None:
    Path("reports").mkdir()
    paths.executed("tradeoff").write_text("of an earlier run")
    written("fine = 1", cell)
    with pytest.raises(Problem, match=rf"^notebooks/tradeoff\.ipynb\b.*{message}"):
        notebooks.run("tradeoff")
    assert [path.read_text() for path in Path("reports").iterdir()] == ["of an earlier run"]
    assert not paths.FIGURES.exists()


def test_a_notebook_finds_the_modules_of_its_own_folder(
    written: Callable[..., None], small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not those of the repository that the environment was installed from: see .ci/miniature."""
    monkeypatch.delenv("PYTHONPATH")
    Path("study").mkdir()
    Path("study/__init__.py").write_text("here = True")
    written("import study\nstudy.here")
    notebooks.run("tradeoff")
    assert "True" in outputs("tradeoff")


def stage() -> int:
    """Its status where it executes `tradeoff`, run as `make` has stages run."""
    server = quick.Server()
    try:
        asked = {"module": "stages.notebook", "options": ["--notebook", "tradeoff"]}
        return server.run(**asked, cwd=str(Path.cwd()), env=dict(os.environ))
    finally:
        server.end()


linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere stages are no copies")


@linux
def test_the_kernel_of_a_stage_is_a_copy_of_it(written: Callable[..., None]) -> None:
    """It has loaded what the stage has, and is a program of its own."""
    written("import os, sys\n'papermill' in sys.modules", "os.getsid(0) == os.getpid()")
    notebooks.run("tradeoff")
    assert "False" in outputs("tradeoff")
    assert stage() == 0
    assert "False" not in outputs("tradeoff")


@linux
def test_so_it_is_where_it_dies(
    written: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    written("fine = 1", "import os\nos._exit(3)")
    assert stage() == 1
    assert "\nerror: notebooks/tradeoff.ipynb: Kernel died\n" in capfd.readouterr().err


def test_without_a_summary_the_stage_that_makes_it_is_named(workspace: Path) -> None:
    with pytest.raises(Problem, match=r"^results/summary\.csv does not exist; .* summarize$"):
        notebooks.run("tradeoff")
    assert [path.name for path in workspace.iterdir()] == ["params.yaml"]


# -- experiments ---------------------------------------------------------------------------------

PIPELINE = """
stages:
  all:
    cmd: python run.py
    params: [alpha]
    outs:
      - results/summary.csv: {cache: false}
"""
RUN = """
import pathlib, re
from study import results
alpha = float(re.search(r"^alpha: ([0-9.]+)", pathlib.Path("params.yaml").read_text(), re.M)[1])
ours = {"micro_f1": 0.9 - alpha / 10, "imparity": 0.2 - alpha / 10, "reduction": alpha / 2}
figures = {"infofair": ours, "vanilla": {"micro_f1": 0.9, "imparity": 0.2}}
about = {"dataset": "adult", "setting": "gender", "protocol": "mean"}
rows = [about | {"method": method} | figures[method] for method in figures]
results.write(results.frame(rows, "summary"), "summary")
"""


@pytest.mark.slow
def test_experiments_are_shown_or_what_to_run(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a small DVC repository of its own."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("DVC_NO_ANALYTICS", "1")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "test")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "test@localhost")
    Path("dvc.yaml").write_text(PIPELINE)
    Path("run.py").write_text(RUN)

    def run(*command: str) -> None:
        subprocess.run(command, check=True, capture_output=True)

    run("git", "init", "--quiet", "--initial-branch=main")
    run("dvc", "init", "--quiet")
    run("dvc", "repro", "--quiet")
    run("git", "add", "--all")
    run("git", "commit", "--quiet", "--message=the baseline")
    notebooks.run("experiments")
    assert "dvc exp run -S alpha=0.5" in outputs("experiments")

    run("dvc", "exp", "run", "--quiet", "-S", "alpha=0.5", "--name=half")
    frame = compare.infofair(compare.read())
    assert frame[["experiment", "alpha", "micro_f1", "reduction"]].to_numpy().tolist() == [
        ["main", 0.1, 0.89, 0.05], ["half", 0.5, 0.85, 0.25]
    ]  # fmt: skip
    notebooks.run("experiments")
    text = outputs("experiments")
    assert "| half | 0.5 | 0.850 | 0.150 | 25.0% |  |" in text
    assert "image/png" in text

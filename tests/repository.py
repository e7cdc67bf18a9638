"""Copies of the repository, and small pipelines in them, for tests of the whole."""

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from study import paths
from tests.conftest import ROOT, compared, generalised

# The pipelines, by where their dvc.yaml is: "" is the paper's.
PIPELINES = ("", "beyond", "luck")
LOCKS = tuple(path.as_posix() for path in paths.LOCKS)
MADE = ("results/", "reports/", *LOCKS)  # by a run
# Short runs of every kind of stage on one simulated dataset.
SMALL: dict[str, Any] = {
    "datasets": ["compas"],
    "methods": {
        "trained": ["vanilla", "infofair"], "ablations": ["infofair_ts"], "solved": ["lfr"],
    },
    "beyond": {"trained": ["infofair_fitted"], "solved": ["boosting"]},
    "seeds": [0],
    "compas": {"hidden": [4]},
    "training": {
        "epochs": 2, "patience": 2, "batch_size": 512, "weight_decay": 0.01, "streams": "authors"
    },
    "backbone": {
        "learning_rates": [0.003, 0.01], "epochs": 2, "steps": 600, "patience": 2,
        "batch_size": 1024, "weight_decay": 0.0,
    },
    "comparison": compared(
        look=3, between=[0.1, 10.0], splits=[0, 1], paper=["vanilla"],
        unaware=["vanilla", "boosting"],
    ),
    "general": generalised(
        "equal_opportunity-compas", "continuous-compas", "graph-german", "regression-law",
        "recommendation-ml100k",
    ),
    "luck": {"methods": ["vanilla"], "alpha": 0.1, "seeds": 5},
}  # fmt: skip
# Fewer rounds of what takes long; a method's section may be missing.
SHORTER: dict[str, dict[str, Any]] = {
    "lfr": {"prediction": [1.0], "parity": [1.0], "iterations": 3, "prototypes": 3},
    "infofair_fitted": {"warm_up": 1, "critic_steps": 2},
    "boosting": {"rounds": 5},
}
# Even shorter: one network and one solver, for where it does not matter what is trained.
FEW: dict[str, Any] = {
    "methods": {"trained": ["vanilla"], "ablations": [], "solved": ["lfr"]},
    "beyond": {"trained": [], "solved": []},
    "comparison": compared(),
    "general": generalised("equal_opportunity-compas"),
}  # fmt: skip


class Pipeline:
    """A copy of the repository, and how to run something in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("INFOFAIR_")}
        nowhere = "http://127.0.0.1:9"  # no source serves the data, and at once
        self.environment = inherited | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(folder),
            "DVC_SITE_CACHE_DIR": f"{folder}.dvc",
            "PIP_NO_INDEX": "1",
            **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), nowhere),
        }

    def copy(self, folder: Path) -> "Pipeline":
        shutil.copytree(self.folder, folder, symlinks=True)
        return Pipeline(folder)

    def start(self, *command: str, **variables: str) -> "subprocess.Popen[str]":
        """Python with these arguments, in a process group of its own."""
        return subprocess.Popen(
            [sys.executable, *command],
            cwd=self.folder,
            env=self.environment | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *command: str, **variables: str) -> str:
        """What the command says; it must end well."""
        process = self.start(*command, **variables)
        said, _ = process.communicate()
        assert process.returncode == 0, said
        return said

    def repro(self, *targets: str) -> str:
        """What `dvc repro` says; its stages start at once."""
        return self.run("-m", "study.commands.quick", "repro", *targets, INFOFAIR_WORKERS="1")

    def git(self, *command: str) -> str:
        who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        return subprocess.run(
            ["git", *who, *command], cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout

    def made(self) -> dict[str, bytes]:
        """Everything that the stages and DVC write, with its content."""
        folders = ("raw", "validated", "more", "processed", "variants", "plans")
        roots = [*(self.folder / "data" / name for name in folders), self.folder / "results"]
        found = [path for root in [*roots, self.folder / "reports"] for path in root.rglob("*")]
        found += [self.folder / name for name in LOCKS]
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in found
            if path.is_file()
        }

    @cached_property
    def stages(self) -> dict[str, "Stage"]:
        """Every stage of all pipelines as DVC understands them, each after what it needs."""
        from networkx import dfs_postorder_nodes

        with self.dvc() as repo:
            graph = repo.index.graph
            return {stage.addressing: Stage(stage) for stage in dfs_postorder_nodes(graph)}

    @contextmanager
    def dvc(self) -> Iterator[Any]:
        """DVC's own view of the folder."""
        from dvc.repo import Repo

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the packages that DVC uses
            with chdir(self.folder), Repo() as repo:
                yield repo


class Stage:
    """One stage: its command, and the paths it depends on and writes."""

    def __init__(self, stage: Any) -> None:
        top = Path(stage.repo.root_dir)

        def relative(of: Any) -> str:
            return Path(of.fs_path).relative_to(top).as_posix()

        self.address = str(stage.addressing)
        self.name = self.address.rpartition(":")[2].partition("@")[0]
        self.pipeline = self.address.rpartition("dvc.yaml:")[0].rstrip("/")  # of PIPELINES
        self.cmd = str(stage.cmd)
        self.deps = [relative(dep) for dep in stage.deps if dep.fs_path]
        self.outs = [relative(out) for out in stage.outs]
        self.kept_in_git = [relative(out) for out in stage.outs if not out.use_cache]
        self.persistent = [relative(out) for out in stage.outs if out.persist]

    @property
    def trains(self) -> bool:
        """A method that is listed in params.yaml."""
        return any(f"stages.{door} " in self.cmd for door in ("train", "solve", "sweep"))

    def depends_on(self, path: str) -> bool:
        return any(covers(dep, path) for dep in self.deps)


def covers(listed: str, path: str) -> bool:
    """Whether a listed file or folder is the path or holds it."""
    return path == listed or path.startswith(f"{listed}/")


def write_repository(folder: Path, **changes: Any) -> Pipeline:
    """A copy of what git has or would have, without what a run makes; other keys of params.yaml."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in names.split("\0"):
        if not name.startswith((*MADE, "tests/")) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    # a clone has it, whatever data params.yaml asks for: the page of the data depends on it
    (folder / paths.validation_report(paths.MORE[0])).parent.mkdir(parents=True)
    if changes:
        yaml, path = YAML(typ="safe"), folder / "params.yaml"
        yaml.dump(yaml.load(path) | changes, path)
    pipeline = Pipeline(folder)
    pipeline.git("init", "--quiet")
    return pipeline


def write_small(folder: Path, **changes: Any) -> Pipeline:
    """A copy whose parameters make a short run of simulated data."""
    content = YAML(typ="safe").load(ROOT / "params.yaml")
    shorter = {section: content.get(section, {}) | knobs for section, knobs in SHORTER.items()}
    return write_repository(folder, **SMALL | shorter | changes)

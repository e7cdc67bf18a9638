"""Where the time of a cold run goes: the first `make repro` in a fresh clone that is set up.

That is the paper alone, without a cache. Prints the seconds of each stage, of these how many were
training or solving, the sum for each method, and puts into bench/results.json

    cold_minutes      the whole of it
    overhead_minutes  what of it was not spent inside training or solvers
    baselines_ratio   time of the paper's seven baselines / of the other networks
    noop_ratio        `dvc repro` with nothing to do / `dvc version`
    make_noop_ratio   the same of DVC as `make repro` calls it, which reads this pipeline alone
    alpha_minutes     `dvc exp run -S alpha=0.5` after that, also of the paper alone
    alpha_overhead_seconds  what of it was not spent inside training
    alpha_rest_seconds      what of it was not spent in the stages that train
    make_alpha_minutes, …   the same as `make experiment` calls DVC (with --alpha alone)

and, with --beyond, which takes another hour,

    beyond_minutes    `make beyond` (the comparison and the generalisations) after that
    beyond_seconds_by_method  of it the comparison's, with what is in starting and writing, and all
                      other stages by their names
    luck_minutes      `make luck` after that

With --nothing only the two ratios are measured, in this work tree, where nothing may be left to do;
with --alpha only the experiment, in a copy of it with its cache, where everything is committed.
With --here all is run in this work tree, which should have no cache, and stays; without alpha's.

Run it on an idle machine, with INFOFAIR_MIRROR set if the public addresses are out of reach.
"""

import argparse
import re
import shutil
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from bench import record

BASELINES = ["lfr", "mindiff", "di", "adversarial", "fcfc", "gerryfair", "gdp"]
QUICK = [sys.executable, "-m", "study.commands.quick"]  # DVC, as make calls it
ENVIRONMENTS = shutil.ignore_patterns(".venv", ".venv-audit", ".peers")
STAGE = re.compile(r"Running stage '(.+)'")
INSIDE = re.compile(r"([\d.]+) s of (?:training|fitting)")


def copy(to: Path) -> None:
    """The files git knows or would add, as a repository of their own."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.check_output(listed, text=True).split("\0"):
        if name and Path(name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, to / name)
    subprocess.run(["git", "init", "--quiet"], cwd=to, check=True)


def commit(folder: Path) -> None:
    """What `dvc exp run` starts from."""
    author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    subprocess.run(["git", "add", "--all"], cwd=folder, check=True)
    subprocess.run(
        ["git", *author, "commit", "--quiet", "--message", "cold"], cwd=folder, check=True
    )


def run_all(command: list[str], folder: Path) -> tuple[float, dict[str, float], dict[str, float]]:
    """Seconds of the whole, of each stage, and inside training or solving."""
    begin = last = time.perf_counter()
    stage = ""
    whole: dict[str, float] = {}
    inside: dict[str, float] = {}
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as run:
        for line in run.stdout or ():
            now = time.perf_counter()
            if found := STAGE.search(line):
                whole[stage], last, stage = now - last, now, found[1]
                print(f"{now - begin:7.1f} s  {stage}", file=sys.stderr)
            elif found := INSIDE.search(line):
                inside[stage] = inside.get(stage, 0) + float(found[1])
    end = time.perf_counter()
    whole[stage] = end - last
    if run.returncode:
        sys.exit(f"{' '.join(command)} failed; run it by hand to see why")
    return end - begin, whole, inside


def seconds(command: list[str], folder: Path) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def nothing_to_do(folder: Path) -> dict[str, float]:
    """Ratios to `dvc version`, of DVC and of DVC as make calls it."""
    own = ["dvc", "version"], ["dvc", "repro"], [*QUICK, "repro"]
    times = [[seconds(command, folder) for command in own] for _ in range(5)]
    plain, made = (round(median(spent[i] / spent[0] for spent in times), 1) for i in (1, 2))
    print(f"nothing to do: {plain} times `dvc version`, as make calls it {made}")
    return {"noop_ratio": plain, "make_noop_ratio": made}


def by_method(spent: dict[str, float]) -> dict[str, float]:
    """Seconds of all datasets together; stages are called train@adult-gdp, sweep_more@kdd-gdp, …"""
    methods: dict[str, float] = {}
    for address, seconds in spent.items():
        stage, _, item = address.rpartition(":")[2].partition("@")
        of_method = "-" in item and not stage.startswith("general")
        method = item.rpartition("-")[2] if of_method else stage
        methods[method] = methods.get(method, 0) + seconds
    return methods


def another_alpha(folder: Path, dvc: list[str], before: str = "") -> dict[str, float]:
    spent, stages, trained = run_all([*dvc, "exp", "run", "-S", "alpha=0.5"], folder)
    return {
        f"{before}alpha_minutes": round(spent / 60, 1),
        f"{before}alpha_overhead_seconds": round(spent - sum(trained.values())),
        f"{before}alpha_rest_seconds": round(spent - sum(stages[stage] for stage in trained)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--beyond", action="store_true", help="also the other pipelines")
    parser.add_argument("--nothing", action="store_true", help="only what nothing to do costs")
    parser.add_argument("--alpha", action="store_true", help="only what another alpha costs")
    parser.add_argument("--here", action="store_true", help="in this work tree, not in a copy")
    asked = parser.parse_args()
    if asked.nothing:
        record(**nothing_to_do(Path()))
        return
    if asked.alpha:
        for dvc, before in ((["dvc"], ""), (QUICK, "make_")):
            with TemporaryDirectory() as name:
                folder = Path(name, "copy")
                shutil.copytree(".", folder, ignore=ENVIRONMENTS, symlinks=True)
                record(**another_alpha(folder, dvc, before))
        return
    after: dict[str, Any] = {}
    with nullcontext(".") if asked.here else TemporaryDirectory() as name:
        folder = Path(name)
        if not asked.here:
            copy(folder)
        total, whole, inside = run_all([*QUICK, "repro"], folder)
        nothing = nothing_to_do(folder)
        if asked.beyond:
            for further in ("beyond", "luck"):
                spent, stages, _ = run_all([*QUICK, "repro", f"{further}/dvc.yaml"], folder)
                after[f"{further}_minutes"] = round(spent / 60, 1)
                if further == "beyond":
                    parts = sorted(by_method(stages).items(), key=lambda pair: -pair[1])
                    after["beyond_seconds_by_method"] = {n: round(s) for n, s in parts if s >= 1}
        if not asked.here:
            commit(folder)
            after |= another_alpha(folder, ["dvc"])
    print(f"\n{'stage':<32}{'seconds':>10}{'training':>10}")
    for stage, spent in whole.items():
        if stage:
            print(f"{stage:<32}{spent:>10.1f}{inside.get(stage, 0):>10.1f}")
    methods = by_method(inside)
    print(f"\n{'method, all datasets':<32}{'seconds':>10}")
    for method, spent in sorted(methods.items(), key=lambda pair: -pair[1]):
        print(f"{method:<32}{spent:>10.1f}")
    baselines = sum(spent for method, spent in methods.items() if method in BASELINES)
    rest = sum(methods.values()) - baselines
    overhead = total - sum(methods.values())
    print(
        f"\nin all {total / 60:.1f} minutes, {overhead / 60:.1f} of them outside training; "
        f"seven baselines {baselines:.0f} s, other networks {rest:.0f} s; then {after}"
    )
    record(
        cold_minutes=round(total / 60, 1),
        overhead_minutes=round(overhead / 60, 1),
        baselines_ratio=round(baselines / rest, 2),
        seconds_by_method={method: round(spent, 1) for method, spent in sorted(methods.items())},
        **nothing,
        **after,
    )


if __name__ == "__main__":
    main()

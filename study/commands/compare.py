"""What alpha does: the experiments of `dvc exp run -S alpha=…` beside the last commit."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from infofair.errors import Problem
from study import cli, paths
from study.labels import dataset_name, setting_name
from study.tables.layout import markdown, markdown_row, percent

FIGURES = ["micro_f1", "imparity", "reduction"]  # of InfoFair, in paths.METRICS
HOW_TO = (
    "There are no experiments yet on this commit. To see what alpha does, run for instance\n\n"
    "    dvc exp run -S alpha=0.01\n"
    "    dvc exp run -S alpha=0.5\n"
    "    dvc exp run -S alpha=1\n\n"
    "(each trains only what reads alpha) and then this notebook again.\n"
)


def experiments(recorded: str = "") -> pd.DataFrame:
    """InfoFair's and vanilla's figures on the last commit and in each of its experiments.

    One row per experiment, dataset and setting. `changed` names the parameters, other than alpha,
    in which an experiment differs from the commit. DVC is asked, or a file with its answer read.
    """
    command = [sys.executable, "-m", "dvc", "exp", "show", "--json"]
    if recorded:
        answer = Path(recorded).read_text("utf-8")
    else:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Problem(f"dvc exp show: {done.stderr.strip()}")
        answer = done.stdout
    shown = json.loads(answer)
    commits = [entry for entry in shown if entry["rev"] != "workspace"]
    rows = []
    for commit in commits:
        base = _parameters(commit)
        runs = [run["revs"][0] for run in commit.get("experiments") or [] if run.get("revs")]
        for run in [commit, *runs]:
            given = _parameters(run)
            changed = sorted(
                key for key in base.keys() | given.keys()
                if key != "alpha" and base.get(key) != given.get(key)
            )  # fmt: skip
            about = {
                "experiment": run.get("name") or run["rev"][:7],
                "baseline": run is commit,
                "alpha": given.get("alpha"),
                "changed": ", ".join(changed),
            }
            rows += [about | figures for figures in _figures(run)]
    columns = ["experiment", "baseline", "alpha", "changed", "dataset", "setting"]
    columns += [*FIGURES, *(f"vanilla_{figure}" for figure in FIGURES)]
    frame = pd.DataFrame(rows, columns=columns)
    order = frame.sort_values(["baseline", "alpha", "experiment"], ascending=[False, True, True])
    return order.reset_index(drop=True)


def _of(run: dict, kind: str, path: Path) -> dict:
    """A parameters or metrics file of a commit or experiment; empty if it has none, or failed."""
    content = ((run.get("data") or {}).get(kind) or {}).get(path.as_posix()) or {}
    found = content.get("data")
    return found if isinstance(found, dict) else {}


def _parameters(run: dict) -> dict[str, Any]:
    return _flat(_of(run, "params", paths.PARAMS))


def _flat(content: dict, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in content.items():
        found |= (
            _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
        )
    return found


def _figures(run: dict) -> list[dict[str, Any]]:
    """One row per dataset and setting; figures that are not there are left out."""
    rows = []
    for dataset, settings in _of(run, "metrics", paths.METRICS).items():
        for setting, methods in settings.items() if isinstance(settings, dict) else []:
            if not isinstance(methods, dict) or "infofair" not in methods:
                continue
            ours, vanilla = methods["infofair"], methods.get("vanilla", {})
            row = {"dataset": dataset, "setting": setting}
            row |= {figure: ours.get(figure) for figure in FIGURES}
            rows.append(row | {f"vanilla_{figure}": vanilla.get(figure) for figure in FIGURES})
    return rows


def to_markdown(frame: pd.DataFrame) -> str:
    """The last commit and its experiments, by alpha; or what to run when there are none."""
    if frame["baseline"].all():
        return HOW_TO
    parts = []
    for (dataset, setting), rows in frame.groupby(["dataset", "setting"], sort=False):
        names = list(dict.fromkeys(frame.loc[frame["dataset"] == dataset, "setting"]))
        title = f"{dataset_name(str(dataset))}, {setting_name(str(setting), names)}"
        heads = ["experiment", "alpha", "micro F1", "imparity", "reduction", "also changed"]
        parts += [
            f"**{markdown(title)}**",
            "",
            markdown_row(heads),
            "|---|" + "---:|" * 4 + "---|",
        ]
        for row in rows.to_dict("records"):
            name = f"*{markdown(row['experiment'])} (this commit)*"
            name = name if row["baseline"] else markdown(row["experiment"])
            figures = [_number(row["micro_f1"]), _number(row["imparity"])]
            figures.append("–" if pd.isna(row["reduction"]) else percent(row["reduction"]))
            alpha = "–" if pd.isna(row["alpha"]) else f"{row['alpha']:g}"
            parts.append(markdown_row([name, alpha, *figures, markdown(row["changed"])]))
        parts.append("")
    return "\n".join(parts)


def _number(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:.3f}"


def main() -> None:
    print(to_markdown(experiments()))


if __name__ == "__main__":
    cli.run(main, __doc__)

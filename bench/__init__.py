"""Benchmarks: ratios of things measured in one run. `make bench` runs them all; what they record is
in docs/speed.md, too."""

import json
import platform
from pathlib import Path
from typing import Any

from infofair import kernels

kernels.pin()  # what is measured is what the stages run

Figures = dict[str, Any]

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.json"
ADULT = 45_222  # rows


def record(**figures: Any) -> None:
    """Put figures into bench/results.json, beside what other benchmarks put there."""
    import joblib
    import torch

    from bench import document

    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    machine = {
        "processor": _processor(),
        "cores": joblib.cpu_count(),
        "vector": torch.backends.cpu.get_cpu_capability(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    RESULTS.write_text(json.dumps(put(results, figures, machine), indent=2) + "\n")
    document.main()


def put(results: Figures, figures: Figures, machine: Figures) -> Figures:
    """The results with these figures.

    `machine` is what most benchmarks were run on, and `elsewhere` has that of the figures that were
    measured on another: benchmarks are run on their own, and no ratio is of two machines.
    """
    known = {"machine", "elsewhere"}
    of = {name: results["machine"] for name in results if name not in known}
    of |= results.get("elsewhere", {}) | dict.fromkeys(figures, machine)
    most = max(of.values(), key=[*of.values()].count)
    others = {name: own for name, own in sorted(of.items()) if own != most}
    merged = {name: value for name, value in (results | figures).items() if name not in known}
    return merged | {"machine": most} | ({"elsewhere": others} if others else {})


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()

"""Benchmarks: ratios of things measured in one run. `make bench` runs them all; what they record is
in docs/speed.md, too."""

import json
import platform
from pathlib import Path
from typing import Any

from infofair import kernels

kernels.pin()  # what is measured is what the stages run

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.json"
ADULT = 45_222  # rows
NARROW = 16  # features of which 10 million rows fit into 4 GiB


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
    results.pop("machine", None)
    RESULTS.write_text(json.dumps(results | figures | {"machine": machine}, indent=2) + "\n")
    document.main()


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()

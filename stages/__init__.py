"""The doors: one short program per stage of the three dvc.yaml."""

import os
import sys
from importlib.util import find_spec

PACKAGES = ("dvc", "numpy", "pandas", "pandera", "papermill", "pydantic", "ruamel", "torch")

if missing := [name for name in PACKAGES if find_spec(name) is None]:
    raise SystemExit(
        f"error: {sys.executable} lacks packages of the project ({', '.join(missing)}). "
        "Run `make repro`, or activate the environment first: source .venv/bin/activate"
    )

from infofair import kernels, parallel  # noqa: E402 (after the message)

kernels.pin()  # before anything loads NumPy
if "DVC_STAGE" in os.environ:
    parallel.end_with_parent()

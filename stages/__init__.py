"""The pipeline's code: one module per stage of dvc.yaml, one file per dataset and per method."""

from importlib.util import find_spec
from sys import executable

if find_spec("pydantic") is None:
    raise SystemExit(
        f"error: {executable} has none of the project's packages.\n"
        "Run `make repro`, or activate the environment first: source .venv/bin/activate"
    )

"""The pipeline's code: one module per stage of dvc.yaml, one file per dataset and per method."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

if find_spec("pydantic") is None:
    raise SystemExit(
        f"error: {sys.executable} has none of the project's packages.\n"
        "Run `make repro`, or activate the environment first: source .venv/bin/activate"
    )

# The numerical libraries choose their kernels by the processor, and another kernel rounds
# differently. These make all of them use AVX2 on every x86-64 processor that has it, so that
# a result's hash does not tell machines with AVX-512 from those without. They are read when a
# library is loaded, so this has to come first.
KERNELS = {
    "ATEN_CPU_CAPABILITY": "avx2",  # PyTorch
    "MKL_CBWR": "AVX2",  # PyTorch's matrix products; also independent of a matrix's address
    "OPENBLAS_CORETYPE": "Haswell",  # NumPy's and SciPy's
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",  # NumPy's functions
}
_processor = Path("/proc/cpuinfo")
if not (_processor.exists() and " avx2 " in _processor.read_text()):
    KERNELS = {}
# False where another package loaded NumPy first: then results may have other bits.
PINNED = "numpy" not in sys.modules or all(os.environ.get(k) == v for k, v in KERNELS.items())
os.environ.update(KERNELS)

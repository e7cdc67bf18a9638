"""Which kernels the numerical libraries use, so that a result's bits do not tell processors apart.

The libraries choose their kernels by the processor, and another kernel rounds differently. `pin`
makes all of them use AVX2 on every x86-64 processor that has it. They read these variables when
they are loaded, so whoever wants the same bits everywhere calls it before anything else; importing
the library does not.
"""

import os
import sys
from pathlib import Path

KERNELS = {
    "ATEN_CPU_CAPABILITY": "avx2",  # PyTorch
    "MKL_CBWR": "AVX2,STRICT",  # PyTorch's matrix products; whatever a matrix's address and shape
    "OPENBLAS_CORETYPE": "Haswell",  # NumPy's and SciPy's
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",  # NumPy's functions
}
_PROCESSOR = Path("/proc/cpuinfo")
_late = False  # whether NumPy was loaded before the kernels were chosen


def _wanted() -> dict[str, str]:
    avx2 = _PROCESSOR.exists() and " avx2 " in _PROCESSOR.read_text()
    return KERNELS if avx2 else {}


def pin() -> None:
    """Choose the kernels, for this process and those it starts."""
    global _late
    if not all(os.environ.get(k) == v for k, v in _wanted().items()):
        _late = "numpy" in sys.modules
        os.environ.update(_wanted())


def pinned() -> bool:
    """False where they were not chosen, or too late: then results may have other bits."""
    return not _late and all(os.environ.get(k) == v for k, v in _wanted().items())

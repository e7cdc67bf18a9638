"""The kernels are chosen by who asks for it; importing the library changes nothing."""

import json
import os
import subprocess
import sys

import pytest

from infofair import kernels
from tests.conftest import ROOT

ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in kernels.KERNELS}


def printed(code: str) -> str:
    """What a fresh Python says, in which no kernel is chosen yet."""
    return subprocess.check_output(
        [sys.executable, "-c", code], cwd=ROOT, env=ENVIRONMENT, text=True
    ).strip()


def test_the_tests_run_with_the_pinned_kernels() -> None:
    assert kernels.pinned()
    if kernels._wanted():
        import torch

        assert torch.backends.cpu.get_cpu_capability() == "AVX2"


@pytest.mark.skipif(not kernels._wanted(), reason="no AVX2, or no way to know")
def test_pinning_in_time_counts_and_too_late_does_not() -> None:
    pin = "from infofair import kernels; {} kernels.pin(); print(kernels.pinned())"
    assert printed(pin.format("")) == "True"
    assert printed(pin.format("import numpy;")) == "False"
    assert printed("from infofair import kernels; print(kernels.pinned())") == "False"


PUBLIC = """
import json, os, sys
before = dict(os.environ), set(sys.modules)
import infofair
names = dir(infofair)
loaded = {name.split(".")[0] for name in set(sys.modules) - before[1]}
print(json.dumps([dict(os.environ) == before[0], sorted(loaded), sorted(infofair.__all__), names]))
"""


def test_importing_the_library_changes_no_variable_and_loads_nothing_else() -> None:
    same, loaded, public, listed = json.loads(printed(PUBLIC))
    assert same
    assert "infofair" in loaded
    assert set(loaded).isdisjoint({"numpy", "pandas", "pandera", "pooch", "torch", "study"})
    assert {"metrics", "methods", "load_dataset", "load_model"} <= set(public) <= set(listed)


def test_every_public_name_can_be_had_and_another_is_an_attribute_error() -> None:
    import infofair

    for name in infofair.__all__:
        assert getattr(infofair, name) is not None
    assert callable(infofair.load_dataset)
    assert callable(infofair.load_model)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = infofair.nothing

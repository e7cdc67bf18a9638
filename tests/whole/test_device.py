"""Tests on a device that is not the CPU, in a process of their own: see tests/pretend.py."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.pretend import ASKED

FILES = ("tests/infofair/test_device.py", "tests/study/general/test_device.py")


def passes(*asked: str) -> None:
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *FILES, *asked]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {ASKED: "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout


def test_the_papers_method_is_the_same_on_a_device_that_is_not_the_cpu() -> None:
    passes("-k", "infofair] or decision]")


@pytest.mark.slow
def test_everything_is_the_same_on_a_device_that_is_not_the_cpu() -> None:
    passes()

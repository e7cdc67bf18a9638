"""The rooms' tests, and in `whole` those of all rooms together."""

import os

from infofair import kernels

# Tests are run on every core already, and threads of several processes wait for each other: on a
# busy machine boosting took 18 times as long. Pipelines have all threads in .ci/miniature.
os.environ.setdefault("OMP_NUM_THREADS", "1")
kernels.pin()  # before anything loads NumPy, as the doors do

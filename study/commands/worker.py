"""Become a Dask worker for each core, with the same kernels as the stages, and join a cluster.

INFOFAIR_WORKERS is the number of workers, if not one per core; INFOFAIR_TLS the folder with ca.pem,
cert.pem and key.pem, for a scheduler at tls://.
"""

import os
import sys

from infofair import kernels
from infofair.parallel import workers
from study import cli


def main(scheduler: str) -> None:
    kernels.pin()  # for the workers: what is loaded here ends with this program
    options = ["--nthreads", "1", "--nworkers", str(workers.local())]
    for what, path in workers.certificates().items():
        options += ["--tls-ca-file" if what == "ca" else f"--tls-{what}", str(path)]
    os.execv(sys.executable, [sys.executable, "-m", "dask", "worker", scheduler, *options])


if __name__ == "__main__":
    cli.run(main, __doc__, scheduler="address of the Dask scheduler, tcp:// or tls://host:port")

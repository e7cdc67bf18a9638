"""Hand out work: to processes of this machine, or to a Dask cluster, through joblib.

INFOFAIR_WORKERS    processes of this machine (default: one per core)
INFOFAIR_SCHEDULER  the address of an existing Dask scheduler, tcp://host:8786 or tls://host:8786;
                    its workers are used instead
INFOFAIR_TLS        a folder with ca.pem, cert.pem and key.pem, for a scheduler at tls://
INFOFAIR_TIMEOUT    seconds without any result after which those at work are taken to hang (default:
                    an hour on a cluster; on this machine, never)

None changes a result. Whoever asks gives calls whose results do not depend on who makes them,
so work that was lost with its worker is simply done again.
"""

import hashlib
import multiprocessing
import os
import platform
import socket
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import joblib
from joblib.externals.loky.backend.context import set_start_method
from joblib.externals.loky.process_executor import TerminatedWorkerError

from infofair import kernels, parallel
from infofair.errors import Problem
from infofair.parallel.progress import bar as progress_bar

ATTEMPTS = 3  # at work that was lost with its worker
SCHEDULER, TLS, TIMEOUT = "INFOFAIR_SCHEDULER", "INFOFAIR_TLS", "INFOFAIR_TIMEOUT"
HANGS = 3600  # seconds after which a cluster that brings no result is taken to hang
PATIENCE = 10  # seconds to wait for a scheduler, and for its first worker
RETURN = 120  # seconds to wait for a scheduler that was there, and its workers
IDLE = 30  # seconds after which an idle process ends: it may be that nobody is left to end it


def scheduler() -> str | None:
    return os.environ.get(SCHEDULER) or None


def local() -> int:
    text = os.environ.get("INFOFAIR_WORKERS") or str(joblib.cpu_count())
    if not text.isdecimal() or int(text) < 1:
        raise Problem(f"INFOFAIR_WORKERS={text}: expected a whole number from 1 up")
    return int(text)


def timeout() -> int | None:
    """Seconds without any result after which somebody hangs."""
    text = os.environ.get(TIMEOUT) or (str(HANGS) if scheduler() else "")
    if text and (not text.isdecimal() or int(text) < 1):
        raise Problem(f"{TIMEOUT}={text}: expected a whole number of seconds from 1 up")
    return int(text) if text else None


def certificates() -> dict[str, Path]:
    """The files for a connection that is encrypted; none, if Dask's own settings are to hold."""
    if not (folder := os.environ.get(TLS)):
        return {}
    found = {what: Path(folder, f"{what}.pem").resolve() for what in ("ca", "cert", "key")}
    for path in found.values():
        if not path.is_file():
            raise Problem(
                f"{TLS}={folder}: {path.name} is missing; expected ca.pem, cert.pem, key.pem"
            )
    return found


def count() -> int:
    """How many calls are made at once."""
    if not scheduler():
        return local()
    with client() as connected:
        return sum(connected.ncores().values())


def _knock(address: str, patience: float) -> None:
    """Raises OSError or ValueError if nobody listens there.

    Asked before Dask is, whose client starts an event loop and tries again and again.
    """
    where = urlsplit(address)
    if where.scheme not in ("tcp", "tls") or not where.hostname or not where.port:
        raise ValueError("not such an address")
    end = time.monotonic() + patience
    while True:
        try:
            return socket.create_connection((where.hostname, where.port), PATIENCE).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def _security() -> Any:
    """How Dask's connection is encrypted; None: as Dask's own settings say."""
    from distributed.security import Security

    if not (files := certificates()):
        return None
    given = {"tls_ca_file": files["ca"], "tls_client_cert": files["cert"]}
    given["tls_client_key"] = files["key"]
    return Security(require_encryption=True, **{name: str(path) for name, path in given.items()})


@contextmanager
def client(patience: float = 0) -> Iterator[Any]:
    """A connection to the Dask cluster; patience: seconds to wait for one that is not there."""
    address = os.environ[SCHEDULER]
    try:
        from distributed import Client
    except ImportError:
        raise Problem(
            f"{SCHEDULER}={address}: the package distributed is missing; "
            "install it with: pip install -c constraints.txt -e '.[cluster]'"
        ) from None
    security = _security()
    try:
        _knock(address, patience)
        connected = Client(address, timeout=PATIENCE, set_as_default=False, security=security)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        keys = f", and {TLS} to a folder with its certificates" if "tls:" in address else ""
        raise Problem(
            f"{SCHEDULER}={address}: no Dask scheduler answers there ({reason}); "
            f"expected tcp://host:port or tls://host:port{keys}"
        ) from None
    with connected:
        try:
            connected.wait_for_workers(1, timeout=max(patience, PATIENCE))
        except TimeoutError:
            raise Problem(
                f"{SCHEDULER}={address}: the scheduler has no worker; start some with: "
                f"make worker SCHEDULER={address}"
            ) from None
        yield connected


@cache
def identity(package: str = "infofair") -> dict[str, str]:
    """What two processes must have in common to compute the same bits on the same processor.

    package: of the function that is called, whose code is compared, too. Found out once: a worker
    goes on with the code it has loaded, whatever becomes of the files.
    """
    code = {}
    for name in dict.fromkeys(("infofair", package)):
        digest = hashlib.sha256()
        for folder in map(Path, getattr(sys.modules.get(name), "__path__", ())):
            for path in sorted(folder.rglob("*.py")):
                digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
        code[f"the code in {name}/"] = digest.hexdigest()[:12]
    names = ("numpy", "pandas", "scipy", "scikit-learn", "torch")
    packages = {name: version(name) for name in names}
    return code | {"Python": platform.python_version()} | packages


def _package(function: Callable[..., Any]) -> str:
    """The top package of a function's module: Dask sends its name, and the worker has the code."""
    return function.__module__.partition(".")[0]


def _checked(expected: dict[str, str], function: Callable[..., Any], *arguments: Any) -> Any:
    """Make a call on a worker of a cluster, if the worker is like us."""
    own = identity(_package(function))
    different = [
        f"{what}: {own.get(what)}, here {value}"
        for what, value in expected.items()
        if own.get(what) != value
    ]
    if not kernels.pinned():
        different.append("NumPy was loaded before its kernels were chosen")
    if different:
        raise Problem(
            f"the Dask worker on {platform.node()} differs: {'; '.join(different)}; "
            "start workers with `make worker` in a checkout of the same commit"
        )
    return function(*arguments)


def _numbered(number: int, function: Callable[..., Any], *arguments: Any) -> tuple[int, Any]:
    return number, function(*arguments)


@contextmanager
def _backend(shared: list[Any], processes: int, copies: bool, again: bool) -> Iterator[Any]:
    """Gives the connection to the cluster, if there is one."""
    if not scheduler():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "`fork` start method", UserWarning)
            set_start_method(parallel.start_method if copies else "loky", force=True)
            with joblib.parallel_config(
                "loky", n_jobs=processes, idle_worker_timeout=IDLE,
                initializer=parallel.end_after, initargs=(os.getpid(),),
            ):  # fmt: skip
                yield None
        return
    from joblib._dask import DaskDistributedBackend

    class Dask(DaskDistributedBackend):
        def effective_n_jobs(self, n_jobs: int) -> int:
            # what only one can do at a time joblib would do itself, here
            return max(2, super().effective_n_jobs(n_jobs))

    # a scheduler that was there is waited for: it may have been started anew
    patience = RETURN if again else 0
    # `shared` goes to each worker once, whatever the number of calls that name it
    with (
        client(patience) as connected,
        joblib.parallel_config(Dask(client=connected, scatter=shared)),
    ):
        yield connected


def run(
    function: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    *,
    names: Sequence[str],
    title: str,
    unit: str = "call",
    shared: list[Any] | None = None,
    at_most: int | None = None,
    copies: bool = True,
    bar: bool = True,
) -> list[Any]:
    """The result of `function(*call)` for each call, in their order.

    names: of the calls, for messages; shared: large arguments that several calls name; at_most:
    processes of this machine, if not all that INFOFAIR_WORKERS allows; copies: whether processes
    may be copies of this one; bar: show the calls that are done.
    """
    if not calls:
        return []
    processes = min(at_most or local(), len(calls)) if not scheduler() else 1
    if scheduler():
        like_us = identity(_package(function))
        calls = [(like_us, function, *call) for call in calls]
        function = _checked
    died = _deaths()
    results: dict[int, Any] = {}
    hung = False
    with progress_bar(len(calls), title, unit, shown=bar) as shown:
        for attempt in range(ATTEMPTS):
            missing = [number for number in range(len(calls)) if number not in results]
            if not missing:
                break
            try:
                with _backend(shared or [], processes, copies, again=attempt > 0) as connected:
                    found = _parallel()(
                        joblib.delayed(_numbered)(number, function, *calls[number])
                        for number in missing
                    )
                    try:
                        for number, result in found:
                            if number not in results:  # else it is here for the second time
                                results[number] = result
                                shown.update()
                    except multiprocessing.TimeoutError:
                        hung = True
                        late = [names[number] for number in missing if number not in results]
                        said = f"no result for {timeout()} s of: {'; '.join(late)}"
                        print(f"{title}: {said}{_restarted(connected)}", file=sys.stderr)
            except died as error:
                who = "a worker died, or its scheduler" if scheduler() else "a worker died"
                print(f"{title}: {who} ({_first(error)})", file=sys.stderr)
    lost = [names[number] for number in range(len(calls)) if number not in results]
    if lost:
        raise _given_up(title, lost, hung)
    return [results[number] for number in range(len(calls))]


def _parallel() -> Any:
    return joblib.Parallel(return_as="generator_unordered", batch_size=1, timeout=timeout())


def _given_up(title: str, lost: list[str], hung: bool) -> Problem:
    slow = f"; or slow? {TIMEOUT} is now {timeout()} s" if hung else ""
    return Problem(
        f"{title}: workers {'hung or ' * hung}died in each of {ATTEMPTS} attempts at: "
        f"{'; '.join(lost)}; out of memory? Fewer INFOFAIR_WORKERS need less of it{slow}"
    )


def _restarted(connected: Any) -> str:
    """Start workers of a cluster anew that were busy, and name them; processes joblib has ended."""
    if connected is None:
        return ""
    busy = sorted(address for address, keys in connected.processing().items() if keys)
    try:
        connected.restart_workers(busy, timeout=PATIENCE, raise_for_error=False)
    except ValueError:  # not started by `make worker`: no process looks after them
        return f" (at work: {', '.join(busy)}, which cannot be started anew from here)"
    return f" (started anew: the workers at {', '.join(busy)})"


def _first(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _deaths() -> tuple[type[Exception], ...]:
    """What is raised when a worker dies."""
    if not scheduler():
        return (TerminatedWorkerError,)
    from concurrent.futures import CancelledError  # raised when the last copy of an input is lost

    from distributed import KilledWorker

    return (KilledWorker, CancelledError)

"""Work that is handed out: to processes of this machine, and to a real Dask cluster on loopback."""

import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from infofair import kernels, methods
from infofair.errors import Problem
from infofair.methods.base import Solver
from infofair.parallel import progress, workers
from infofair.training import fit, plan, solve
from infofair.training.plan import Job, Trained, Training, Variant
from tests.conftest import ROOT
from tests.infofair.parallel.calls import (
    Traced,
    calls_of,
    dies,
    dies_once,
    fails,
    hangs,
    hangs_once,
    square,
    takes_its_time,
    waits,
    with_large,
)
from tests.simulated import prepared
from tests.steps import same_bits

INFOFAIR = methods.make("infofair", learning_rate=1e-3, halve_temperature_every=2)


def run(
    function: Callable[..., Any], *arguments: Any, count: int = 4, shared: list[Any] | None = None
) -> list[Any]:
    """The calls function(0, …), function(1, …), and so on."""
    calls = [(number, *arguments) for number in range(count)]
    names = [f"call {number}" for number in range(count)]
    return workers.run(function, calls, names=names, title="a stage", shared=shared)


# -- processes of this machine ------------------------------------------------------------------


@pytest.fixture(params=["1", "2", pytest.param("7", marks=pytest.mark.slow)])
def some(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", request.param)


def test_results_come_in_the_order_of_the_calls(some: None, tmp_path: Path) -> None:
    assert run(square, tmp_path) == [0, 1, 4, 9]
    assert len(list(tmp_path.iterdir())) == 4


def test_no_calls_no_results() -> None:
    assert workers.run(square, [], names=[], title="nothing") == []


def test_an_error_in_a_call_is_raised_as_it_is(some: None, tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"^number 2 cannot be done$"):
        run(fails, tmp_path)


@pytest.mark.promise("What a killed worker did is done again.")
def test_what_a_killed_process_did_is_done_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", "2")
    assert run(dies_once, tmp_path) == [0, 1, 4, 9]
    assert calls_of(tmp_path, 2) == 2
    assert "a stage: a worker died" in capsys.readouterr().err


@pytest.mark.slow
def test_a_call_that_kills_every_process_ends_the_stage_and_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", "2")
    with pytest.raises(Problem, match=r"a stage: workers died in each of 3 attempts .*call 2"):
        run(dies, tmp_path)


FORKING = """
import sys
from pathlib import Path
from infofair import parallel
from infofair.parallel import workers
from tests.infofair.parallel import calls

function, folder = getattr(calls, sys.argv[1]), Path(sys.argv[2])
with parallel.forks():
    found = workers.run(function, [(n, folder) for n in range(4)], names="0123", title="a stage")
assert parallel.start_method == "loky"
print(found)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes are new ones")
@pytest.mark.parametrize(("function", "said"), [("square", ""), ("dies_once", "a worker died")])
def test_processes_that_are_copies_do_the_same(function: str, said: str, tmp_path: Path) -> None:
    """In a program of its own: in this one, which has computed, they would not be safe."""
    done = subprocess.run(
        [sys.executable, "-c", FORKING, function, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "INFOFAIR_WORKERS": "2"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "[0, 1, 4, 9]\n"), done.stderr
    assert said in done.stderr and "Warning" not in done.stderr


HANDING_OUT = """
import sys
from contextlib import nullcontext
from pathlib import Path
from infofair import parallel
from infofair.parallel import workers
from tests.infofair.parallel import calls

function, folder = getattr(calls, sys.argv[1]), Path(sys.argv[2])
with parallel.forks() if sys.argv[3] == "fork" else nullcontext():
    workers.run(function, [(n, folder) for n in range(8)], names="01234567", title="a stage")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc who is there")
@pytest.mark.parametrize("function", ["waits", "gives_much"])
@pytest.mark.parametrize("how", ["fork", "loky"])
def test_workers_end_with_the_process_that_started_them(
    function: str, how: str, tmp_path: Path
) -> None:
    """Whether they are at work or hand over a result when it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HANDING_OUT, function, str(tmp_path), how],
        env={**os.environ, "PYTHONPATH": str(ROOT), "INFOFAIR_WORKERS": "2"},
        start_new_session=True,
    )
    try:
        wait_for(lambda: len({path.name.split()[1] for path in tmp_path.iterdir()}) == 2, 60)
        assert len(session(process.pid)) >= 3
        process.kill()
        process.wait()
        wait_for(lambda: not session(process.pid), 60)
    finally:  # those that a failure of this test would leave
        for pid in session(process.pid):
            os.kill(pid, signal.SIGKILL)


def wait_for(what: Callable[[], bool], seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def session(leader: int) -> list[int]:
    """The processes of a session that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, _, _, own = (path / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(own) == leader and state != "Z":
                found.append(int(path.name))
    return found


def test_workers_are_as_many_as_asked_for_or_one_per_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", "7")
    assert workers.local() == 7
    monkeypatch.delenv("INFOFAIR_WORKERS")
    assert workers.local() >= 1
    for wrong in ("0", "-1", "1.5", "many"):
        monkeypatch.setenv("INFOFAIR_WORKERS", wrong)
        with pytest.raises(Problem, match=f"INFOFAIR_WORKERS={wrong}"):
            workers.local()


@pytest.mark.promise("A worker that hangs is ended, its work done again, and what hung is named.")
def test_a_process_that_hangs_is_ended_and_its_work_done_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", "2")
    monkeypatch.setenv("INFOFAIR_TIMEOUT", "5")
    assert run(hangs_once, tmp_path) == [0, 1, 4, 9]
    assert calls_of(tmp_path, 2) == 2
    assert "a stage: no result for 5 s of: call 2\n" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.promise("A worker that hangs is ended, its work done again, and what hung is named.")
def test_a_call_that_always_hangs_ends_the_stage_and_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("INFOFAIR_WORKERS", "2")
    monkeypatch.setenv("INFOFAIR_TIMEOUT", "3")
    with pytest.raises(Problem, match=r"hung or died in each of 3 attempts at: call 2; .* 3 s$"):
        run(hangs, tmp_path)


def test_a_time_out_is_a_number_of_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INFOFAIR_TIMEOUT", raising=False)
    monkeypatch.delenv("INFOFAIR_SCHEDULER", raising=False)
    assert workers.timeout() is None
    monkeypatch.setenv("INFOFAIR_SCHEDULER", "tcp://127.0.0.1:1")
    assert workers.timeout() == workers.HANGS
    for wrong in ("0", "-1", "1.5", "soon"):
        monkeypatch.setenv("INFOFAIR_TIMEOUT", wrong)
        with pytest.raises(Problem, match=f"INFOFAIR_TIMEOUT={wrong}"):
            workers.timeout()


@pytest.mark.promise("A result that arrives twice counts once.")
def test_a_result_that_arrives_twice_counts_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def twice(calls: Iterator[Any]) -> Iterator[Any]:
        for function, given, _ in calls:
            yield function(*given)
            yield function(*given)

    shown: list[int] = []
    bar = type("Bar", (progress._Quiet,), {"update": lambda self: shown.append(1)})
    monkeypatch.setattr(workers.joblib, "Parallel", lambda **how: twice)
    monkeypatch.setattr(workers, "progress_bar", lambda *_, **__: bar())
    assert run(square, tmp_path) == [0, 1, 4, 9]
    assert len(shown) == 4
    assert calls_of(tmp_path, 2) == 2


# -- a Dask cluster -----------------------------------------------------------------------------


class Cluster:
    """A real scheduler and workers, each a process of its own, on loopback."""

    def __init__(self, folder: Path, keys: Path | None = None) -> None:
        pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
        self.folder = folder
        self.running: list[subprocess.Popen[bytes]] = []
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.options: list[str] = []
        if keys is not None:
            files = {"ca-file": "ca", "cert": "cert", "key": "key"}.items()
            self.options += [f"--tls-{option}={keys / name}.pem" for option, name in files]
        self.schedule("0", *(["--protocol", "tls"] if keys else []))

    def schedule(self, port: str, *options: str) -> None:
        """Start a scheduler."""
        found = self.folder / "scheduler.json"
        found.unlink(missing_ok=True)
        self.scheduler = self.start(
            "dask", "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard",
            "--scheduler-file", str(found), *self.options, *options)  # fmt: skip
        wait_for(lambda: found.exists() and found.read_text().strip().endswith("}"))
        self.address = json.loads(found.read_text())["address"]

    def start(self, module: str, *command: str, **changes: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{len(self.running)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *command],
                cwd=self.folder,
                env=self.environment | changes,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        self.running.append(process)
        return process

    def worker(self) -> subprocess.Popen[bytes]:
        """A worker that is this process itself, without another one that would start it again."""
        return self.start("dask", "worker", self.address, "--nthreads", "1", "--no-nanny",
                          "--no-dashboard", "--host", "127.0.0.1")  # fmt: skip

    def command(self) -> subprocess.Popen[bytes]:
        """What `make worker` starts, where no kernel is chosen yet; it starts workers anew."""
        for name in kernels.KERNELS:
            self.environment.pop(name, None)
        return self.start(
            "study.commands.worker", "--scheduler", self.address, INFOFAIR_WORKERS="1"
        )

    def stop(self) -> None:
        for process in reversed(self.running):  # who started others ends them
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A scheduler without workers, to which this process hands out work."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Cluster(folder)
    monkeypatch.setenv("INFOFAIR_SCHEDULER", made.address)
    monkeypatch.setattr(workers, "PATIENCE", 300)  # machines are slow at times
    yield made
    made.stop()


def ready(cluster: Cluster, count: int) -> None:
    with workers.client() as client:
        wait_for(lambda: len(client.ncores()) == count)


@contextmanager
def killed_while(busy: Callable[[], bool], process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill the process once it is busy."""
    end = time.monotonic() + 300

    def watch() -> None:
        while not busy() and time.monotonic() < end:
            time.sleep(0.01)
        process.kill()

    killer = threading.Thread(target=watch)
    killer.start()
    yield
    killer.join()
    assert process.wait() == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.promise("A cluster gives the bits of this machine, though a worker is killed.")
def test_training_on_a_cluster_gives_the_bits_of_the_local_run_though_a_worker_is_killed(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = prepared(4000)
    training = Training(epochs=12, patience=99, batch_size=16, weight_decay=0.01)
    job = Job(INFOFAIR, [8], training)
    variants = [Variant(setting, 0.1) for setting in data.settings]
    models = plan.models(job, [0, 1, 2], variants)

    def everything() -> dict[tuple[int, str], Trained]:
        run = fit.Run(job, data, models)
        [trained], _ = fit.train_all([run], "infofair on made-up rows")
        return {(model.seed, model.variant.setting): model for model in trained}

    victim, _ = cluster.worker(), cluster.worker()
    ready(cluster, 2)
    assert workers.count() == 2
    with workers.client() as client:
        addresses = {
            info["pid"]: address
            for address, info in client.run(lambda: {"pid": os.getpid()}).items()
        }

        def busy() -> bool:
            return bool(client.processing().get(addresses[victim.pid]))

        with killed_while(lambda: busy() and (time.sleep(1) or True), victim):
            found = everything()
    assert len(found) == 9
    monkeypatch.delenv("INFOFAIR_SCHEDULER")
    expected = everything()
    assert all(same_bits(found[key], expected[key]) for key in expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "knobs"), [("lfr", {"prediction": (0.1,), "parity": (0.1, 0.5)}), ("gerryfair", {})]
)
@pytest.mark.promise("A cluster gives the bits of this machine, though a worker is killed.")
def test_fits_on_a_cluster_have_the_bits_of_the_local_run(
    method: str, knobs: dict[str, Any], cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, solver = prepared(), methods.make(method, **knobs)
    assert isinstance(solver, Solver)

    def everything() -> list[bytes]:
        found = solve.solve(solver, data, [], [0, 1], f"{method} on made-up rows")
        return [
            model.probabilities[part].tobytes()
            for solved in found
            for model in solved.tried
            for part in ("validation", "test")
        ]

    cluster.worker()
    ready(cluster, 1)
    found = everything()
    monkeypatch.delenv("INFOFAIR_SCHEDULER")
    assert found == everything()


@pytest.mark.slow
def test_a_shared_input_goes_to_the_workers_of_a_cluster_once_not_with_every_call(
    cluster: Cluster, tmp_path: Path
) -> None:
    processes = [cluster.worker(), cluster.worker()]
    ready(cluster, 2)
    large = Traced(tmp_path)
    assert run(with_large, large, count=20, shared=[large]) == [n**2 for n in range(20)]
    arrivals = [int(path.name.split()[1]) for path in tmp_path.glob("at *")]
    for process in processes:
        # a second time when the workers pass it on to each other
        assert 1 <= arrivals.count(process.pid) <= 2


def test_a_cluster_with_a_single_worker_of_our_command_is_used(
    cluster: Cluster, tmp_path: Path
) -> None:
    started = cluster.command()
    ready(cluster, 1)
    assert run(square, tmp_path) == [0, 1, 4, 9]  # a worker without our kernels would be refused
    (who,) = {int(path.name.split()[1]) for path in tmp_path.glob("[0-9] *")}
    assert who not in (os.getpid(), started.pid)


@pytest.mark.slow
@pytest.mark.promise("A worker of a cluster whose code or packages differ is refused.")
def test_a_worker_that_chose_no_kernels_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    if not kernels._wanted():
        pytest.skip("no AVX2: there is nothing to choose")
    for name in kernels.KERNELS:
        del cluster.environment[name]
    cluster.worker()
    ready(cluster, 1)
    with pytest.raises(Problem, match=r"differs: NumPy was loaded before its kernels were chosen"):
        run(square, tmp_path)


@pytest.mark.slow
def test_an_error_on_a_cluster_is_raised_as_it_is(cluster: Cluster, tmp_path: Path) -> None:
    cluster.worker()
    ready(cluster, 1)
    with pytest.raises(Problem, match=r"^number 2 cannot be done$"):
        run(fails, tmp_path)


@pytest.mark.slow
@pytest.mark.promise("A worker of a cluster whose code or packages differ is refused.")
def test_a_worker_with_other_code_or_packages_is_refused(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.worker()
    ready(cluster, 1)
    own = workers.identity("tests")
    for what, value in (
        ("the code in infofair/", "0123456789ab"),
        ("the code in tests/", "0123456789ab"),  # where the function is, as elsewhere study/
        ("torch", "2.0.1"),
        ("pandas", "1.0"),
    ):
        monkeypatch.setattr(workers, "identity", lambda _, other=own | {what: value}: other)
        with pytest.raises(Problem, match=rf"worker on .* differs: {what}: .* here {value}"):
            run(square, tmp_path)
        assert not calls_of(tmp_path, 0)


def test_what_is_compared_is_the_code_of_the_function_and_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    code = tmp_path / "theirs/__init__.py"
    found = []
    for text in ("def call(): return 1\n", "def call(): return 2\n"):
        code.write_text(text)
        theirs = importlib.import_module("theirs")
        assert workers._package(theirs.call) == "theirs"
        workers.identity.cache_clear()
        found.append(workers.identity("theirs"))
    one, other = found
    assert {what for what in one if one[what] != other[what]} == {"the code in theirs/"}
    assert one.items() >= workers.identity().items()
    assert "pandas" in one and "the code in infofair/" in one
    assert workers._package(abs) == "builtins"  # has no code of its own
    workers.identity("builtins")


@pytest.mark.slow
def test_a_worker_with_other_code_where_the_function_is_is_refused(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Functions are sent by their names: of study/, too, or as here of tests/."""
    shutil.copytree(ROOT / "tests", tmp_path / "other/tests", ignore=shutil.ignore_patterns("__p*"))
    calls = tmp_path / "other/tests/infofair/parallel/calls.py"
    calls.write_text(calls.read_text() + "# changed\n")
    cluster.environment["PYTHONPATH"] = f"{tmp_path / 'other'}{os.pathsep}{ROOT}"
    cluster.worker()
    ready(cluster, 1)
    with pytest.raises(Problem, match=r"worker on .* differs: the code in tests/: "):
        run(square, tmp_path)
    assert not calls_of(tmp_path, 0)


@pytest.mark.slow
@pytest.mark.promise("A result that arrives twice counts once.")
def test_what_a_cluster_does_twice_counts_once(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Two workers do every call at once, as if the first were taken to be dead."""
    cluster.worker()
    cluster.worker()
    ready(cluster, 2)
    real, shown = workers._parallel, list[int]()

    def twice() -> Callable[[Iterator[Any]], Iterator[Any]]:
        return lambda calls: real()(call for given in calls for call in (given, given))

    bar = type("Bar", (progress._Quiet,), {"update": lambda self: shown.append(1)})
    monkeypatch.setattr(workers, "_parallel", twice)
    monkeypatch.setattr(workers, "progress_bar", lambda *_, **__: bar())
    assert run(takes_its_time, tmp_path) == [0, 1, 4, 9]
    assert len(shown) == 4
    assert [calls_of(tmp_path, number) for number in range(4)] == [2, 2, 2, 2]


@pytest.mark.slow
@pytest.mark.promise("A scheduler that is started anew in mid-stage costs no result.")
def test_a_scheduler_that_restarts_in_the_middle_is_waited_for(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.command()
    ready(cluster, 1)
    port = cluster.address.rpartition(":")[2]

    def restart() -> None:
        wait_for(lambda: calls_of(tmp_path, 0) + calls_of(tmp_path, 1) > 1)
        time.sleep(2)  # so that the result of the first is here
        cluster.scheduler.kill()
        cluster.scheduler.wait()
        cluster.schedule(port)
        (tmp_path / "go").touch()
        cluster.command()  # as a service would; what is left of the old one ends by itself

    restarting = threading.Thread(target=restart)
    restarting.start()
    assert run(waits, tmp_path) == [0, 1, 4, 9]
    restarting.join()
    assert "a stage: a worker died" in capsys.readouterr().err
    assert calls_of(tmp_path, 0) == 1  # what had arrived was not done again


@pytest.mark.slow
@pytest.mark.promise("A worker that hangs is ended, its work done again, and what hung is named.")
def test_a_worker_of_a_cluster_that_hangs_is_started_anew_and_named(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    cluster.command()
    ready(cluster, 1)
    monkeypatch.setenv("INFOFAIR_TIMEOUT", "10")
    assert run(hangs_once, tmp_path) == [0, 1, 4, 9]
    said = capsys.readouterr().err
    assert "a stage: no result for 10 s of: call 2" in said
    assert "(started anew: the workers at tcp://127.0.0.1:" in said


def write_keys(folder: Path) -> Path:
    """An authority, and a key and certificate that it signed."""
    folder.mkdir()
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    new = "-newkey rsa:2048 -nodes -keyout"
    for command in (
        f"req -x509 -days 2 -subj /CN=ours {new} ca.key -out ca.pem",
        f"req -subj /CN=127.0.0.1 {new} key.pem -out asked",
        "x509 -req -days 2 -in asked -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names "
        "-out cert.pem",
    ):
        subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl to make certificates with")
@pytest.mark.promise("A tls:// cluster is used with our certificates, and not with others.")
def test_a_cluster_with_certificates_is_used_and_a_stranger_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    keys, others = write_keys(tmp_path / "keys"), write_keys(tmp_path / "others")
    (tmp_path / "calls").mkdir()
    (tmp_path / "cluster").mkdir()
    cluster = Cluster(tmp_path / "cluster", keys)
    try:
        assert cluster.address.startswith("tls://127.0.0.1:")
        monkeypatch.setenv("INFOFAIR_SCHEDULER", cluster.address)
        monkeypatch.setattr(workers, "PATIENCE", 5)
        monkeypatch.setenv("INFOFAIR_TLS", str(others))
        with pytest.raises(Problem, match=f"{cluster.address}: no Dask scheduler .*certificates$"):
            workers.count()
        monkeypatch.delenv("INFOFAIR_TLS")
        with pytest.raises(Problem, match=f"{cluster.address}: no Dask scheduler .*certificates$"):
            workers.count()
        monkeypatch.setattr(workers, "PATIENCE", 300)
        monkeypatch.setenv("INFOFAIR_TLS", str(keys))
        cluster.environment["INFOFAIR_TLS"] = str(keys)
        cluster.command()
        ready(cluster, 1)
        assert run(square, tmp_path / "calls") == [0, 1, 4, 9]
    finally:
        cluster.stop()


def test_a_folder_without_a_certificate_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    (tmp_path / "ca.pem").touch()
    monkeypatch.setenv("INFOFAIR_TLS", str(tmp_path))
    monkeypatch.setenv("INFOFAIR_SCHEDULER", "tls://127.0.0.1:1")
    with pytest.raises(Problem, match=r"INFOFAIR_TLS=.*: cert.pem is missing"):
        workers.count()


@pytest.mark.slow
def test_a_scheduler_without_workers_is_named(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "PATIENCE", 1)
    with pytest.raises(Problem, match=f"{cluster.address}: the scheduler has no worker"):
        workers.count()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense", "http://127.0.0.1:1"])
def test_a_scheduler_that_does_not_answer_is_named(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    monkeypatch.setattr(workers, "PATIENCE", 1)
    monkeypatch.setenv("INFOFAIR_SCHEDULER", address)
    with pytest.raises(Problem, match=f"INFOFAIR_SCHEDULER={address}: no Dask scheduler"):
        workers.count()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setenv("INFOFAIR_SCHEDULER", "tcp://127.0.0.1:1")
    with pytest.raises(Problem, match=r"distributed is missing; .*\[cluster\]"):
        workers.count()

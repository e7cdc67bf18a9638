"""What others take for the same: their code or their documented loop, against ours, in one run.

Networks, on made-up rows of Adult's shape, per model and epoch, by minibatch and by layers. Theirs
is one model at a time (the better of one and two threads; rows in memory, fused Adam: a loop that
leaves nothing lying about); ours 45 models on two workers, as a study trains them.

    plain       a loop of PyTorch's, cross-entropy alone                      ours: vanilla
    FFB DiffDP  + |E[p | s = 1] − E[p | s = 0]|; FFB is not on the index, so  ours: dp_gap
                its loop is written here as its code documents it (two groups)
    fairret norm, fairret KL    the package's NormLoss and KLProjectionLoss   ours: fairret_norm

Other peers, on simulated rows of Adult, by what one call takes:

    fairlearn ExponentiatedGradient   with scikit-learn's logistic regression,  ours: expgrad
                                      as its guide shows
    fairlearn ThresholdOptimizer      parity, ten groups, from given scores      ours: thresholds
    AIF360 LFR                        one step of L-BFGS: its gradients are      ours: lfr
                                      differences

AIF360's adversarial debiasing takes TensorFlow 1 and does not run here. What is not ours is
installed by `make peers` into .peers, apart from our environment. Prints tables, and puts `peers`,
`peers_calls` and `floor_by_shape` (ours over the products alone) into bench/results.json.
"""

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import torch
from torch import Tensor, nn

from bench import FOLDER, record
from bench.training import SEEDS, WORKERS, products, stamps
from infofair import methods
from infofair.data import dataset as datasets
from infofair.data.prepare import Preparation, prepare
from infofair.data.prepared import ALL, Prepared
from infofair.methods.base import Network, Solver
from infofair.thresholds import Curves
from infofair.training import plan
from infofair.training.plan import Job, Training, Variant
from infofair.training.solve import task_of
from tests.simulated import prepared

HERE = FOLDER.parent / ".peers"
BATCHES = (128, 1024, 4096)
WIDTHS = ((32,), (256,), (512, 256, 64))
OURS = {
    "plain": "vanilla",
    "FFB DiffDP": "dp_gap",
    "fairret norm": "fairret_norm",
    "fairret KL": "fairret_norm",
}
ROWS = 12_000  # what a row costs does not depend on how many there are
MODELS = 45
ROUNDS = 3

Loss = Callable[[Tensor, Tensor], Tensor]  # of log-odds, rows × 1, and groups one-hot


# -- networks -------------------------------------------------------------------------------------


def diff_dp(logits: Tensor, s: Tensor) -> Tensor:
    p = logits.sigmoid()[:, 0]
    return (p[s[:, 1] > 0].mean() - p[s[:, 1] == 0].mean()).abs()


def losses() -> dict[str, tuple[str, Loss | None]]:
    """The setting and the penalty of each."""
    from fairret.loss import KLProjectionLoss, NormLoss
    from fairret.statistic import PositiveRate

    return {
        "plain": ("gender", None),
        "FFB DiffDP": ("gender", diff_dp),
        "fairret norm": ("intersection", NormLoss(PositiveRate())),
        "fairret KL": ("intersection", KLProjectionLoss(PositiveRate())),
    }


def loop(data: Prepared, setting: str, penalty: Loss | None, batch: int, hidden: Any) -> float:
    """Seconds an epoch of one model."""
    rows = data.split["train"]
    X = torch.from_numpy(data.X[rows])
    y = torch.from_numpy(data.y[rows].astype(np.float32))[:, None]
    s = torch.eye(len(data.group_names[setting]))[
        torch.from_numpy(data.groups[setting][rows]).long()
    ]
    widths = [X.shape[1], *hidden]
    layers = [
        part for a, b in zip(widths, hidden, strict=False) for part in (nn.Linear(a, b), nn.ReLU())
    ]
    model = nn.Sequential(*layers, nn.Linear(widths[-1], 1))
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    task = nn.BCEWithLogitsLoss()
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        start = time.perf_counter()
        for places in torch.randperm(len(y)).split(batch):
            logits = model(X[places])
            loss = task(logits, y[places])
            if penalty is not None:
                loss = loss + 0.1 * penalty(logits, s[places])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        found.append(time.perf_counter() - start)
    torch.set_num_threads(1)
    return min(found)


def batched(data: Prepared, name: str, batch: int, hidden: Any) -> float:
    """Seconds per model and epoch, both workers busy; the first epoch is not counted."""
    epochs = 3
    method = methods.make(name)
    assert isinstance(method, Network)
    training = Training(epochs, patience=10_000, batch_size=batch)
    job = Job(method, list(hidden), training, curves=False)
    if method.uses_groups:
        strengths = [0.1 * (i + 1) for i in range(MODELS // (len(SEEDS) * len(data.settings)))]
        variants = [Variant(s, a) for s in data.settings for a in strengths]
        models = plan.models(job, SEEDS, variants)
    else:
        models = plan.models(job, list(range(MODELS)), [Variant(ALL, 1.0)])
    shares = plan.shares(models, WORKERS)
    work = [joblib.delayed(stamps)(job, data, share) for share in shares]
    ended = joblib.Parallel(n_jobs=WORKERS)(work)
    return max((times[-1] - times[0]) / (epochs - 1) for times in ended) / len(models)


def floor(data: Prepared, hidden: Any) -> float:
    """Seconds per model and epoch of vanilla's products alone, on both cores."""
    (first, *rest) = zip([data.X.shape[1], *hidden], [*hidden, 2], strict=True)
    # a product forward, one for the weights' gradient, one for the inputs' but in the first layer
    step = 2 * (2 * first[0] * first[1] + 3 * sum(a * b for a, b in rest))
    speed = sum(joblib.Parallel(n_jobs=WORKERS)([joblib.delayed(products)()] * WORKERS))
    return step * len(data.split["train"]) / speed


def shaped(batch: int, hidden: Any) -> str:
    return f"{batch} × {'-'.join(map(str, hidden))}"


def networks() -> dict[str, Any]:
    data = prepared(ROWS, 104, 5)
    ratios: dict[str, dict[str, float]] = {name: {} for name in OURS}
    floors: dict[str, float] = {}
    print(
        f"{'times less than':<22}" + "".join(f"{name:>14}" for name in OURS) + f"{'over floor':>14}"
    )
    for hidden in WIDTHS:
        for batch in BATCHES:
            shape = shaped(batch, hidden)
            rounds = [measured(data, batch, hidden) for _ in range(ROUNDS)]
            for name in OURS:
                ratios[name][shape] = round(statistics.median(one[name] for one in rounds), 1)
            floors[shape] = round(statistics.median(one["floor"] for one in rounds), 2)
            print(
                f"{shape:<22}"
                + "".join(f"{of[shape]:>14.1f}" for of in ratios.values())
                + f"{floors[shape]:>14.2f}",
                flush=True,
            )
    return {"peers": ratios, "floor_by_shape": floors}


def measured(data: Prepared, batch: int, hidden: Any) -> dict[str, float]:
    """Theirs over ours, by peer, and ours over the floor."""
    ours = {name: batched(data, name, batch, hidden) for name in set(OURS.values())}
    theirs = {
        name: loop(data, setting, penalty, batch, hidden)
        for name, (setting, penalty) in losses().items()
    }
    found = {name: theirs[name] / ours[OURS[name]] for name in OURS}
    return found | {"floor": ours["vanilla"] / floor(data, hidden)}


# -- others ---------------------------------------------------------------------------------------


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def adult(rows: int) -> Prepared:
    """Simulated, with the columns of the real one."""
    dataset = datasets.load("adult")
    assert dataset.simulate
    raw = dataset.simulate(rows, 0)
    for one in dataset.filters:
        raw = raw[one.keep(raw)]
    frame = dataset.clean(raw)
    return prepare(frame, dataset, Preparation(split="random"), folder=Path(), data="simulated")


def expgrad(data: Prepared) -> float:
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient
    from sklearn.linear_model import LogisticRegression

    task = task_of(data, "gender")
    bound, rounds = 0.01, 20
    theirs = ExponentiatedGradient(
        LogisticRegression(max_iter=1000),
        DemographicParity(difference_bound=bound),
        max_iter=rounds,
    )
    ours = methods.make("expgrad", difference=bound, rounds=rounds)
    assert isinstance(ours, Solver)
    own = task.X["train"], task.y["train"]
    return seconds(lambda: theirs.fit(*own, sensitive_features=task.s["train"])) / seconds(
        lambda: ours.fit(task, 0)
    )


def thresholds(data: Prepared) -> float:
    from fairlearn.postprocessing import ThresholdOptimizer
    from sklearn.base import BaseEstimator

    task = task_of(data, "intersection")
    y, s = task.y["train"], task.s["train"]
    scores = np.random.default_rng(0).random(len(y)) + 0.3 * y

    class Given(BaseEstimator):
        """An estimator that says what it is given."""

        fitted_ = True

        def fit(self, X: np.ndarray, y: np.ndarray) -> "Given":
            return self

        def predict(self, X: np.ndarray) -> np.ndarray:
            return X[:, 0]

    theirs = ThresholdOptimizer(
        estimator=Given(), constraints="demographic_parity", predict_method="predict", prefit=True
    )
    spent = seconds(lambda: theirs.fit(scores[:, None], y, sensitive_features=s))
    return spent / seconds(lambda: Curves.of(scores, y, s, task.groups).rule("parity", 0.0))


def lfr(data: Prepared) -> float:
    from aif360.algorithms.preprocessing.lfr_helpers import helpers
    from scipy.optimize import fmin_l_bfgs_b

    from infofair.methods.lfr import Point, Rows, loss

    task = task_of(data, "gender")
    X, y, s = (of["train"][:2000] for of in (task.X, task.y, task.s))
    K = 10
    start = np.random.default_rng(0).random(K * (X.shape[1] + 1))
    helpers.LFR_optim_objective.steps = 0
    arguments = X[s == 0], X[s == 1], y[s == 0], y[s == 1], K, 0.01, 1.0, 50.0, 250, 0
    # as LFR.fit calls it, for one step
    theirs = seconds(
        lambda: fmin_l_bfgs_b(
            helpers.LFR_optim_objective, start, epsilon=1e-5, args=arguments, approx_grad=True,
            maxfun=1, maxiter=1,
        )
    )  # fmt: skip
    rows, point = Rows.of(X, y, s), Point(K=K, A_x=0.01, A_y=1.0, A_z=50.0)
    ours = seconds(lambda: fmin_l_bfgs_b(loss, start, args=(rows, point), maxfun=1, maxiter=1))
    return theirs / ours


def calls() -> dict[str, float]:
    data = adult(20_000)
    peers = {
        "fairlearn ExponentiatedGradient": expgrad,
        "fairlearn ThresholdOptimizer": thresholds,
        "AIF360 LFR": lfr,
    }
    found = {}
    for name, ratio in peers.items():
        ratio(data)  # warm up
        found[name] = round(statistics.median(ratio(data) for _ in range(ROUNDS)), 1)
        print(f"{name:<36}{found[name]:>8.1f} times", flush=True)
    return found


def main() -> None:
    if not HERE.is_dir():
        sys.exit("the packages of others are not here; `make peers` installs them")
    sys.path.append(str(HERE))
    warnings.filterwarnings("ignore")  # theirs
    torch.set_num_threads(1)
    record(peers_calls=calls(), **networks())


if __name__ == "__main__":
    main()

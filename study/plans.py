"""What params.yaml asks of each stage, written down: data/plans.

Training reads its plan and nothing else of params.yaml, so it is done again when the plan changes,
not when the file does. A plan says what is trained on which data, how, and where it is written:

    method, knobs       the method and its section, complete with defaults
    hidden, training    the network and how it is trained (not of a solver)
    may_diverge         whether a model whose objective is not finite is left out, or an error
    runs                title, data, strengths, seeds, and the files to write
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from infofair import methods
from infofair.data import dataset as datasets
from infofair.methods.base import Solver
from infofair.storage import sha256
from study import paths
from study.labels import DATASETS
from study.params import Params

Plan = dict[str, Any]
# what a run of a folder of its own writes
FILES = {
    "predictions": "predictions.npz", "fits": "fits.csv", "curves": "curves.csv",
    "networks": "networks.npz",
}  # fmt: skip


def everything(params: Params) -> Iterator[tuple[Path, Plan]]:
    """Every plan, and where it is written."""
    named = {"datasets": params.datasets}
    splits = {honest_variant(seed): seed for seed in params.honest.splits}
    yield paths.plan("summarize"), named
    yield paths.plan("fronts"), named | {"methods": params.swept}
    yield paths.plan("luck"), named | {"methods": params.luck.methods}
    yield paths.plan("honest"), named | {"methods": list(params.honest.strengths), "splits": splits}
    for dataset in params.datasets:
        yield paths.plan("download", dataset), _download(dataset, params)
        yield paths.plan("prepare", dataset), _prepare(dataset, params)
        yield paths.plan("variants", dataset), _variants(dataset, params)
        yield paths.plan("evaluate", dataset), {"methods": params.method_names}
        yield paths.plan("as_run", dataset), _as_run(dataset, params)
        for method in params.method_names:
            yield paths.plan("train", dataset, method), _paper(dataset, method, params)
        for method in params.luck.methods:
            yield paths.plan("luck", dataset, method), _luck(dataset, method, params)
        for method in params.swept_names:
            yield paths.plan("fronts", dataset, method), _fronts(dataset, method, params)
            yield paths.plan("honest", dataset, method), _honest(dataset, method, params)


def _download(dataset: str, params: Params) -> Plan:
    """With the hashes of the user's own files, so that a new one is taken."""
    own = paths.own(dataset)
    found = sorted(path for path in own.rglob("*") if path.is_file())
    hashes = {path.relative_to(own).as_posix(): sha256(path) for path in found}
    return {"fallback": params.fallback, "own": hashes}


def _prepare(dataset: str, params: Params) -> Plan:
    return {
        "split": params.split,
        "random_split": params.random_split.model_dump(),
        "scale": params.scale,
        "sensitive_as_input": params.sensitive_as_input,
        "drop_leaking_columns": params.knobs(dataset).drop_leaking_columns,
    }


def _variants(dataset: str, params: Params) -> Plan:
    """The dataset's honest forms: without leak, scaled by training rows, split at random."""
    leaks = bool(datasets.load(dataset).leaking)
    honest = {"split": "random", "scale": "train_rows", "drop_leaking_columns": leaks}
    return {
        "smallest_group": params.honest.smallest_group,
        "splits": {
            honest_variant(seed): _prepare(dataset, params)
            | honest
            | {"random_split": params.random_split.model_dump() | {"seed": seed}}
            for seed in params.honest.splits
        },
    }


def honest_variant(split: int) -> str:
    return f"split{split}"


def _section(method: str, params: Params) -> Plan:
    """A method's section; the ablations have none and use InfoFair's."""
    return params.knobs("infofair" if method in params.methods.ablations else method).model_dump()


def _paper(dataset: str, method: str, params: Params) -> Plan:
    run = {
        "title": f"{method} on {dataset}",
        "data": str(paths.processed(dataset)),
        "strengths": [params.alpha if methods.load(method).uses_alpha else 0.0],
        "seeds": params.seeds,
        "predictions": str(paths.predictions(dataset, method)),
    }
    plan = {"method": method, "knobs": _section(method, params), "may_diverge": False}
    if issubclass(methods.load(method), Solver):
        run |= {"fits": str(paths.fits(dataset, method)), "strengths": []}
        return plan | {"runs": [run]}
    run |= {
        "curves": str(paths.curves(dataset, method)),
        "networks": str(paths.networks(dataset, method)),
    }
    training = params.training.model_dump()
    hidden = params.knobs(dataset).hidden
    return plan | {"hidden": hidden, "training": training, "runs": [run]}


def _as_run(dataset: str, params: Params) -> Plan:
    """What the authors' evident runs share; the rest of them is study/as_run's.

    A dataset that the paper does not have has no printed cells that they could explain.
    """
    return {
        "printed": dataset in DATASETS,
        "data": str(paths.processed(dataset)),
        "seeds": params.seeds,
        "hidden": params.knobs(dataset).hidden,
        "training": params.training.model_dump(),
    }


def _luck(dataset: str, method: str, params: Params) -> Plan:
    """The paper's run with more seeds."""
    plan = _paper(dataset, method, params)
    (run,) = plan["runs"]
    folder = paths.beyond("luck", dataset, method)
    written = {kind: str(folder / name) for kind, name in FILES.items() if kind in run}
    strengths = [params.luck.alpha] if methods.load(method).uses_alpha else [0.0]
    more = {"strengths": strengths, "seeds": list(range(params.luck.seeds))}
    return plan | {"runs": [run | written | more | {"title": f"{run['title']}, luck"}]}


def _well_trained(
    what: str, dataset: str, method: str, params: Params, runs: dict[str, Plan]
) -> Plan:
    """In the fronts and the honest table: the backbone's training. runs: by their names."""
    knobs, training = params.well_trained(method)
    folder = paths.beyond(what, dataset, method)
    solver = issubclass(methods.load(method), Solver)
    kinds = ("predictions", "fits") if solver else ("predictions", "curves", "networks")
    named = []
    for name, run in runs.items():
        written = {kind: str(folder / name / FILES[kind]) for kind in kinds}
        title = f"{method} on {dataset}" + (f", {name}" if name != dataset else "")
        named.append({"title": title} | run | written)
    plan = {"method": method, "knobs": knobs.model_dump(), "may_diverge": True, "runs": named}
    if solver:
        return plan
    how = training.model_dump(exclude={"learning_rate"})
    return plan | {"hidden": params.knobs(dataset).hidden, "training": how}


def _fronts(dataset: str, method: str, params: Params) -> Plan:
    """A method that names no strengths has a run without any: its stage still writes its files."""
    run = {"strengths": params.strengths(method), "seeds": params.frontier.seeds}
    runs = {dataset: run | {"data": str(paths.processed(dataset))}}
    dropped = params.knobs(dataset).drop_leaking_columns
    if datasets.load(dataset).leaking and not dropped:
        path = paths.variant(dataset, paths.WITHOUT_LEAK)
        runs[f"{dataset}_{paths.WITHOUT_LEAK}"] = run | {"data": str(path)}
    return _well_trained("fronts", dataset, method, params, runs)


def _honest(dataset: str, method: str, params: Params) -> Plan:
    """Likewise of a method that is not in the honest table."""
    strength = params.honest.strengths.get(method)
    run = {"strengths": [] if strength is None else [strength], "seeds": params.honest.seeds}
    names = [honest_variant(split) for split in params.honest.splits]
    runs = {name: {"data": str(paths.variant(dataset, name))} | run for name in names}
    return _well_trained("honest", dataset, method, params, runs)

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
from infofair.grids import scan
from infofair.methods.base import Method, Solver
from infofair.storage import sha256
from study import paths
from study.labels import DATASETS
from study.params import Params

Plan = dict[str, Any]
AS_IT_IS = "authors"  # the run on the paper's data and split
FITTED = "infofair_fitted"
# its ablations: without a term, and with a q that is held back
ABLATIONS: dict[str, Plan] = {
    "ts": {"terms": ["T", "S"]},
    "td": {"terms": ["T", "D"]},
    "held": {"held": True},
}
# what a run of a folder of its own writes
FILES = {
    "predictions": "predictions.npz", "fits": "fits.csv", "curves": "curves.csv",
    "networks": "networks.npz",
}  # fmt: skip


def everything(params: Params) -> Iterator[tuple[Path, Plan]]:
    """Every plan, and where it is written."""
    named = {"datasets": params.datasets}
    compared = params.compared_datasets
    yield paths.plan("summarize"), named
    yield paths.plan("luck"), named | {"methods": params.luck.methods}
    yield paths.plan("comparison"), {"datasets": compared}
    for study in params.general.studies:
        how = params.general.model_dump(exclude={"datasets", "studies", "runs"})
        yield paths.plan("general", study), how
        yield paths.plan("generalised", study), {"datasets": params.general.datasets_of(study)}
    for dataset, names in compared.items():
        yield paths.plan("download", dataset), _download(dataset, params)
        yield paths.plan("variants", dataset), _variants(dataset, params)
        yield paths.plan("posteriors", dataset), _posteriors(dataset, params)
        yield paths.plan("backbone", dataset), _chosen_rate(dataset, params)
        for method in names:
            yield paths.plan("sweep", dataset, method), _compared(dataset, method, params)
    for dataset in params.general.datasets:
        yield paths.plan("download", dataset), _download(dataset, params)
    for dataset in params.datasets:
        yield paths.plan("prepare", dataset), _prepare(dataset, params)
        yield paths.plan("evaluate", dataset), {"methods": params.method_names}
        yield paths.plan("as_run", dataset), _as_run(dataset, params)
        for method in params.method_names:
            yield paths.plan("train", dataset, method), _paper(dataset, method, params)
        for method in params.luck.methods:
            yield paths.plan("luck", dataset, method), _luck(dataset, method, params)


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
        "smallest_group": params.comparison.smallest_group,
        "splits": {
            honest_variant(seed): _prepare(dataset, params)
            | honest
            | {"random_split": params.random_split.model_dump() | {"seed": seed}}
            for seed in _splits(dataset, params)
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


# -- the comparison -------------------------------------------------------------------------------


def _compared(dataset: str, method: str, params: Params) -> Plan:
    """All forms of one method on one dataset; study/sweep.py does what it says."""
    asked, kind = params.comparison, methods.load(method)
    weakest, strongest = asked.ends.get(method, asked.between)
    knobs = params.well_trained(method).model_dump()
    plain = {"name": method, "knobs": knobs, "unaware": [], "authors": dataset in params.datasets}
    forms = [plain]
    if not issubclass(kind, Solver):
        plain |= {"training": _backbone(params), "backbone": str(paths.backbone(dataset))}
    if method in asked.paper and dataset in params.datasets:
        as_printed: Plan = {
            "knobs": _section(method, params), "training": _as_in_paper(params), "backbone": None
        }  # fmt: skip
        forms.append(plain | as_printed | {"name": f"{method}_paper", "authors": False})
    for name, changed in ABLATIONS.items() if method == FITTED else ():
        kept = knobs | changed
        forms.append(plain | {"name": f"{method}_{name}", "knobs": kept, "authors": False})
    if method in asked.unaware:
        columns = _sensitive(dataset)
        forms.append(plain | {"name": f"{method}_unaware", "unaware": columns, "authors": False})
    plan = {
        "method": method,
        "dataset": dataset,
        "folder": str(paths.beyond("sweep", dataset, method)),
        "forms": [
            form | {"runs": _runs(dataset, params, authors=form["authors"])} for form in forms
        ],
        "strengths": 0,
    }
    if not issubclass(kind, Solver):
        plan |= {"hidden": params.knobs(dataset).hidden}
    if _has_strength(kind):
        looked_at = scan((weakest, strongest), asked.look)
        plan |= {"strengths": asked.strengths, "scan": looked_at, "budget": asked.budget}
    return plan


def _has_strength(kind: type[Method]) -> bool:
    return bool(kind.strength) if issubclass(kind, Solver) else kind.uses_alpha


def _backbone(params: Params) -> Plan:
    return params.backbone.model_dump(exclude={"learning_rates"})


def _chosen_rate(dataset: str, params: Params) -> Plan:
    """What decides the learning rate of the dataset's networks; study/backbone.py does it."""
    return {
        "title": f"backbone on {dataset}",
        "runs": _runs(dataset, params, authors=dataset in params.datasets),
        "hidden": params.knobs(dataset).hidden,
        "training": _backbone(params),
        "learning_rates": params.backbone.learning_rates,
        "written": str(paths.backbone(dataset)),
    }


def _as_in_paper(params: Params) -> Plan:
    """With the trainer's own streams: the authors' are for their own data and seeds."""
    return params.training.model_dump() | {"streams": "own"}


def _posteriors(dataset: str, params: Params) -> Plan:
    splits = [honest_variant(i) for i in _splits(dataset, params)]
    return {
        "columns": _sensitive(dataset),
        "splits": {name: str(paths.variant(dataset, name)) for name in splits},
    }


def _sensitive(dataset: str) -> list[str]:
    return sorted(a.column for a in datasets.load(dataset).sensitive.values())


def _splits(dataset: str, params: Params) -> list[int]:
    large = params.comparison.large
    return large.splits if dataset in large.datasets else params.comparison.splits


def _runs(dataset: str, params: Params, *, authors: bool) -> list[Plan]:
    """The random splits, then the paper's data and split; a split's seed is its models' too."""
    runs = [
        {"name": honest_variant(i), "data": str(paths.variant(dataset, honest_variant(i)))}
        | {"seeds": [i]}
        for i in _splits(dataset, params)
    ]
    if authors:
        data = str(paths.processed(dataset))
        runs.append({"name": AS_IT_IS, "data": data, "seeds": params.comparison.seeds})
    return runs

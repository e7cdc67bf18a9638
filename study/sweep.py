"""Train one method of the comparison on one dataset, as its plan says (study/plans.py).

A method takes part in one or more forms: as it is; trained as in the paper (`_paper`); without a
term (InfoFair's ablations); without the sensitive columns (`_unaware`). A first look on the
validation rows of the first run chooses the grid of strengths (infofair/grids.py), once for all
forms that are trained alike; then all strengths are trained on every run: honest random splits, and
the paper's data and split.
Writes, in the folder of the form, grid.json (the look and the grid), and for every run the
probability of class 1 of all validation and test rows, and the networks.
"""

import math
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from infofair import grids, methods
from infofair.data.prepared import ALL, Prepared
from infofair.knobs import knobs_of
from infofair.methods.base import Method, Network, Solver
from infofair.storage import read_json, write_json
from infofair.training import fit, model
from infofair.training.plan import Job, Trained, Training
from infofair.training.predictions import Key, Predictions
from infofair.training.solve import Solved, solve_all

Plan = dict[str, Any]
Found = Sequence[Trained | Solved]


def without(data: Prepared, columns: list[str]) -> Prepared:
    """The data without the features that encode these columns."""
    kept = [i for i, name in enumerate(data.features) if name.split("=")[0] not in columns]
    return replace(data, X=data.X[:, kept].copy("C"), features=[data.features[i] for i in kept])


def trainer(method: Method, how: Plan, data: Prepared) -> tuple[Method, Training]:
    """The method and its training on these data: a large dataset takes fewer epochs.

    What the method counts in epochs is then shortened alike.
    """
    how = dict(how)
    steps, epochs = how.pop("steps", None), how["epochs"]
    if steps is not None:
        of_epoch = math.ceil(len(data.split["train"]) / how["batch_size"])
        how["epochs"] = min(epochs, max(round(steps / of_epoch), 1))
    counted = [own.name for own in knobs_of(method) if own.metadata["unit"] == "epochs"]
    shorter = {n: _shortened(getattr(method, n), how["epochs"] / epochs) for n in counted}
    return method.with_knobs(**shorter), Training(**how)


def _shortened(epochs: int, share: float) -> int:
    return max(round(epochs * share), 1) if epochs else 0


def models(found: Found) -> dict[Key, dict[str, Any]]:
    """Their probabilities, by setting, strength and seed."""
    return {_key(m): _probabilities(m) for m in found}


def _key(m: Trained | Solved) -> Key:
    if isinstance(m, Trained):
        return m.variant.setting, m.variant.alpha, m.seed
    return m.setting, m.strength, m.seed


def _probabilities(m: Trained | Solved) -> dict[str, Any]:
    return m.probabilities if isinstance(m, Trained) else m.best.probabilities


class Form:
    """One form of a method, on one dataset."""

    def __init__(self, plan: Plan, form: Plan) -> None:
        self.plan, self.form = plan, form
        self.folder = Path(plan["folder"]) / form["name"]
        self.title = f"{form['name']} on {plan['dataset']}"
        self.method = methods.make(plan["method"], **form["knobs"])
        backbone = form.get("backbone")
        chosen = read_json(Path(backbone))["runs"] if backbone else {}
        self.rates = {name: {"learning_rate": of["learning_rate"]} for name, of in chosen.items()}

    def data(self, run: Plan) -> Prepared:
        return without(Prepared.load(Path(run["data"])), self.form["unaware"])

    def network(self, run: Plan, strengths: list[float]) -> fit.Run:
        data = self.data(run)
        own = self.method.with_knobs(**self.rates.get(run["name"], {}))
        method, training = trainer(own, self.form["training"], data)
        assert isinstance(method, Network)
        job = Job(method, self.plan["hidden"], training, may_diverge=True, curves=False)
        return fit.Run.of(job, data, strengths or [0.0], run["seeds"])

    def look(self) -> Plan:
        """The run that the strengths are chosen on: one seed on the first split."""
        first = self.form["runs"][0]
        return first | {"seeds": first["seeds"][:1]}

    @property
    def tried(self) -> list[float]:
        """The strengths that are looked at; a network's vanilla beside them."""
        vanilla = [] if isinstance(self.method, Solver) else [0.0]
        return [*vanilla, *self.plan["scan"]]

    def grid(self, found: Found) -> list[float]:
        """The strengths, by what a look at validation rows shows."""
        looks = self.looked(found, self.data(self.look()), self.tried)
        chosen = grids.grid(self.tried, looks, self.plan["strengths"], self.plan["budget"])
        seen = {"tried": self.tried, "seen": looks, "strengths": chosen}
        write_json(self.folder / "grid.json", seen)
        return chosen

    def looked(
        self, found: Found, data: Prepared, tried: list[float]
    ) -> dict[str, list[grids.Row | None]]:
        """What the rule sees of each setting; validation rows alone."""
        y = data.y[data.split["validation"]]
        of = models(found)
        seeds = sorted({seed for _, _, seed in of})
        settings = dict.fromkeys(setting for setting, _, _ in of)
        looks: dict[str, list[grids.Row | None]] = {}
        for trained in settings:
            for setting in data.settings if trained == ALL else [trained]:
                group, _ = data.members(setting, "validation")
                scores = [of[trained, strength, seeds[0]].get("validation") for strength in tried]
                looks[setting] = [None if p is None else grids.look(p, y, group) for p in scores]
        return looks

    def write(self, run: Plan, found: Found) -> None:
        data = self.data(run)
        write(self.folder / run["name"], found, data)
        lost = sum(isinstance(m, Trained) and m.diverged for m in found)
        said = f"{len(found)} models{f', {lost} diverged' if lost else ''}"
        print(f"{self.title}, {run['name']} ({data.data} data): {said}", file=sys.stderr)


def write(folder: Path, found: Found, data: Prepared) -> None:
    Predictions.of(models(found), data).save(folder / "predictions.npz")
    networks = {_key(m): m.parameters for m in found if isinstance(m, Trained)}
    if networks:
        model.save_models(folder / "networks.npz", networks, data.features)


def train(
    asked: Sequence[tuple[Form, Plan]], strengths: Sequence[list[float]], title: str
) -> list[Found]:
    """The models of runs of a method's forms, each at its strengths; all are dealt out at once."""
    start = time.perf_counter()
    method = asked[0][0].method
    if isinstance(method, Solver):  # its forms have the same knobs, and so the same strengths
        runs = [(form.data(run), run["seeds"]) for form, run in asked]
        found: list[Found] = list(solve_all(method, runs, strengths[0], title))
    else:
        given = zip(asked, strengths, strict=True)
        found = list(fit.train_all([form.network(run, at) for (form, run), at in given], title)[0])
    print(f"{title}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
    return found


def run(plan: Plan) -> None:
    """All forms that are trained alike have the same strengths: those of the first."""
    forms = [Form(plan, described) for described in plan["forms"]]
    trainings = [form.form.get("training") for form in forms]
    first = [trainings.index(training) for training in trainings]
    title = f"{plan['method']} on {plan['dataset']}"
    chosen: dict[int, list[float]] = {i: [] for i in first}
    if plan["strengths"]:
        looks = [(forms[i], forms[i].look()) for i in chosen]
        found = train(looks, [form.tried for form, _ in looks], f"{title}, first look")
        chosen = {i: forms[i].grid(seen) for i, seen in zip(chosen, found, strict=True)}
    asked = [(form, own) for form in forms for own in form.form["runs"]]
    strengths = [chosen[i] for i, form in zip(first, forms, strict=True) for _ in form.form["runs"]]
    for (form, own), trained in zip(asked, train(asked, strengths, title), strict=True):
        form.write(own, trained)

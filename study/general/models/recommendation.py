"""Generalisation F: recommendation. Ratings of films, and what a user's taste tells of the user.

The model is inductive (study/general/recommender.py): who a user is follows from ratings alone, so
the fairness term can be asked about users whom it has not seen. It sees 60 % of them; strengths
are chosen by a fifth, and leakage is measured on the last fifth. Of every user's ratings 80 % are
known, 10 % choose, and by 10 % quality is measured.

Methods: InfoFair's fitted form on z, and mean matching, the squared gaps of z's means between
groups. There are 943 users: a fifth of them tells an AUC to about ± .05. This is a demonstration.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from infofair import grids
from infofair.data import dataset as datasets
from infofair.data.prepare import RandomSplit, groups, random_split
from infofair.data.prepared import INTERSECTION
from infofair.framework.sensitive import Part
from study.general import attackers, recommender
from study.general.penalties import parity_gap
from study.general.recommender import Ratings, Seen
from study.general.rows import SHARES
from study.general.study import VANILLA, Key, Method, Models, Outputs, Rows

OLD = 30  # years, from which attackers' second question is answered by yes
FEW = 5  # ratings' worth of doubt about an item's mean
RATINGS = {"train": 0.8, "validation": 0.1}  # of every user


def rows(dataset: str, setting: str, frame: pd.DataFrame, seed: int) -> Rows:
    """The users. more: ratings without μ + b_i by "known", "validation" and "test", and which of
    the split's test rows the fairness term has seen.

    Its test rows are all whom attackers are asked about: users held out, and known ones, too.
    """
    found = datasets.load(dataset)
    users = frame.drop_duplicates("user").sort_values("user")
    numbers, names = groups(users, dict(found.sensitive))
    columns = {
        INTERSECTION: (numbers[INTERSECTION], len(names[INTERSECTION])),
        "gender": (numbers["gender"], 2),
        "age": (users["age"].to_numpy() >= OLD, 2),
    }
    parts = [
        Part(name, count, g.astype(np.int64), np.zeros((len(users), 0), np.float32))
        for name, (g, count) in columns.items()
    ]
    split = random_split(parts[0].g, RandomSplit(seed, **SHARES))
    asked = np.concatenate([split["test"], split["train"]])
    seen = np.arange(len(asked)) >= len(split["test"])
    user = np.searchsorted(users["user"].to_numpy(), frame["user"].to_numpy())
    more = {"seen": seen, **of_ratings(frame, user, seed)}
    none = np.zeros(len(users), np.int64)
    return Rows(none[:, None].astype(np.float32), none, parts, split | {"test": asked}, more)


def of_ratings(frame: pd.DataFrame, user: np.ndarray, seed: int) -> dict[str, Ratings]:
    """Each user's ratings, dealt out, less μ + b_i of the known ones."""
    item = np.unique(frame["item"], return_inverse=True)[1]
    rating = frame["rating"].to_numpy(float)
    split = random_split(user, RandomSplit(seed, **RATINGS))
    known = split["train"]
    mean = rating[known].mean()
    count = np.bincount(item[known], minlength=item.max() + 1)
    b = np.bincount(item[known], rating[known] - mean, len(count)) / (count + FEW)
    every = Ratings(user, item, rating - mean - b[item], (user.max() + 1, len(count)))
    return {part: every.at(split[part]) for part in split}


# -- methods --------------------------------------------------------------------------------------


class Trained:
    """aware: whether s is known to training; matched: by its means alone."""

    def __init__(self, *, aware: bool = True, matched: bool = False) -> None:
        self.aware, self.matched = aware, matched

    def __call__(
        self, splits: Mapping[int, Rows], strengths: Sequence[float], steps: int
    ) -> dict[Key, Outputs]:
        found = {}
        for seed, rows in splits.items():
            part, known = rows.parts[0], rows.split["train"]
            penalty = parity_gap([part]) if self.matched else None
            seen = Seen(part.at(known), known, penalty) if self.aware else None
            models = recommender.train(rows.more["train"], strengths, seed, steps, seen)
            for strength, model in zip(strengths, models, strict=True):
                found[float(strength), seed] = outputs(model, rows)
        return found


def outputs(model: recommender.Recommender, rows: Rows) -> Outputs:
    """Predicted ratings less μ + b_i, and z of the users."""
    found = {}
    for part in ("validation", "test"):
        z, found[part] = recommender.represented(model, rows.more["train"], rows.more[part])
        found[f"z.{part}"] = z[rows.split[part]]
    return found


def look(outputs: Outputs, rows: Rows) -> grids.Row:
    """In place of micro F1 the explained variance, of which μ + b_i has none; of imparity, what
    attackers find, on average."""
    left = rows.more["validation"].left
    _, *asked = rows.s("validation")
    found = [attackers.above_half(outputs["z.validation"], part.g) for part in asked]
    return {
        "micro_f1": float(1 - ((outputs["validation"] - left) ** 2).mean() / (left**2).mean()),
        "imparity": max(float(np.mean(found)), 0.0),
        "constant": 0.0,
    }


MODELS = Models(
    settings={"ml100k": (INTERSECTION,)},
    rows=rows,
    methods={
        VANILLA: Method(Trained(aware=False), strength=False),
        "fitted": Method(Trained()),
        "mean_matching": Method(Trained(matched=True)),
    },
    look=look,
)

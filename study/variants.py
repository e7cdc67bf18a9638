"""Other forms of a dataset: without its leak, and without tiny groups."""

from dataclasses import replace

import numpy as np

from infofair.data import dataset as datasets
from infofair.data.prepared import Prepared
from infofair.data.tabular import source


def without_leak(dataset: str, data: Prepared) -> Prepared | None:
    """The data without the columns that give the label away, if there are such columns in it.

    Columns are scaled one by one, so this is what preprocess makes with drop_leaking_columns.
    """
    leaking = datasets.load(dataset).leaking
    kept = [i for i, name in enumerate(data.features) if source(name) not in leaking]
    if len(kept) == len(data.features):
        return None
    return replace(data, X=data.X[:, kept].copy("C"), features=[data.features[i] for i in kept])


def pooled(data: Prepared, smallest: int) -> Prepared:
    """The data without groups that have fewer than so many test rows.

    A group that has, or by its share of all rows would have, fewer is pooled with the others of
    the setting that do, and while they have fewer together, with the next larger group. A setting
    that is left with a single group is left out.
    """
    share = len(data.split["test"]) / len(data.y)
    groups, names = {}, {}
    for setting, number in data.groups.items():
        sizes = np.bincount(number, minlength=len(data.group_names[setting]))
        order = np.argsort(sizes, kind="stable")
        count = int(np.sum(sizes * share < smallest))
        while count and count < len(order) and sizes[order[:count]].sum() * share < smallest:
            count += 1
        together, kept = sorted(order[:count]), sorted(order[count:])
        place = np.full(len(order), len(kept))
        place[kept] = np.arange(len(kept))
        named = [data.group_names[setting][g] for g in kept]
        if members := [data.group_names[setting][g] for g in together if sizes[g]]:
            named.append(" or ".join(members))
        if len(named) > 1:
            groups[setting], names[setting] = place[number].astype(np.int16), named
    return replace(data, groups=groups, group_names=names)

"""The honest form of a dataset: what is different from the paper's.

leak      columns that give the label away are left out (COMPAS: is_recid, is_violent_recid)
scaling   by the training rows alone
split     several random ones, stratified by group and label, in place of the authors' one
groups    none with few test rows: `pooled`
"""

from dataclasses import replace

import numpy as np

from infofair.data.prepared import Prepared


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

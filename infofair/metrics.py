"""Fairness metrics: small pure functions of 0/1 predictions, labels and group numbers.

ŷ is the prediction, y the label, g a group, k the number of groups. A group without members (or
without positives, where a metric looks at those) has no rate, and takes no part unless a metric
says otherwise.
"""

import numpy as np

SMOOTHING = 1.0  # Foulds et al.'s α: one row more of each class in every group


def selection_rates(predicted: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """Pr(ŷ = 1 | g) for each of `groups` groups; NaN for a group without members."""
    members = np.bincount(group, minlength=groups)
    selected = np.bincount(group, weights=predicted, minlength=groups)
    return np.divide(selected, members, out=np.full(groups, np.nan), where=members > 0)


# -- imparity, the paper's metric -----------------------------------------------------------------


def sum_of_gaps(rates: np.ndarray) -> np.ndarray:
    """Σ |r₁ − r₂| over the pairs of different groups that both have members (… × k -> …).

    In order of their rates, i of m groups are below the step from the i-th to the next and m − i
    above it, so that i(m − i) pairs span it.
    """
    steps = np.diff(np.sort(rates, axis=-1))  # NaN is last
    present = np.sum(~np.isnan(rates), axis=-1, keepdims=True)
    below = np.arange(1, rates.shape[-1])
    return np.nansum(below * (present - below) * steps, axis=-1)


def average_gap(total: np.ndarray | float, present: np.ndarray | int) -> np.ndarray:
    """The text's imparity from its sum of gaps: total / (m(m−1)/2), m groups having members.

    0 if fewer than two have.
    """
    return np.asarray(total / np.maximum(present * (present - 1) / 2, 1))


def average_gap_released(
    total: np.ndarray | float, present: np.ndarray | int, groups: int
) -> np.ndarray:
    """The released imparity from its sum of gaps: (total + m(k−m)/2) / (k(k+1)/2).

    A group without members has rate 0 for both classes: its distance from one with members is r
    for one class and 1 − r for the other, 1/2 on average.
    """
    return np.asarray((total + present * (groups - present) / 2) / (groups * (groups + 1) / 2))


def released(imparity: float, present: int, groups: int) -> float:
    """The released imparity of predictions that have this imparity by the text."""
    total = imparity * present * (present - 1) / 2
    return float(average_gap_released(total, present, groups))


def imparity(predicted: np.ndarray, group: np.ndarray, groups: int) -> float:
    """The paper's average statistical imparity, as its text defines it.

    avg |Pr(ŷ = c | g₁) − Pr(ŷ = c | g₂)| over classes c and pairs of different groups. Groups
    without members have no rate and take no part; 0 if fewer than two groups have members. Both
    classes give the same gap, so class 1 is enough.
    """
    rates = selection_rates(predicted, group, groups)
    return float(average_gap(sum_of_gaps(rates), np.sum(~np.isnan(rates))))


def imparity_released(predicted: np.ndarray, group: np.ndarray, groups: int) -> float:
    """Imparity as the authors' released code computes it, and as their table prints it.

    The average is over the k(k+1)/2 pairs that include a group with itself (gap 0), and a group
    without members has rate 0 for every class. With k groups, none of them empty, it is
    (k−1)/(k+1) of the text's definition.
    """
    rates = selection_rates(predicted, group, groups)
    return float(average_gap_released(sum_of_gaps(rates), np.sum(~np.isnan(rates)), groups))


# -- the other usual ones -------------------------------------------------------------------------


def spread(rates: np.ndarray) -> float:
    """max r − min r over the groups that have a rate; 0 if none has."""
    known = rates[~np.isnan(rates)]
    return float(np.ptp(known)) if len(known) else 0.0


def largest_gap(predicted: np.ndarray, group: np.ndarray, groups: int) -> float:
    """max Pr(ŷ = 1 | g) − min Pr(ŷ = 1 | g): the demographic parity difference."""
    return spread(selection_rates(predicted, group, groups))


def parity_ratio(predicted: np.ndarray, group: np.ndarray, groups: int) -> float:
    """min Pr(ŷ = 1 | g) / max Pr(ŷ = 1 | g): the demographic parity ratio.

    The four-fifths rule asks for 0.8. If nobody is selected all rates are equal, and 0/0 is 1
    (fairlearn: NaN).
    """
    rates = selection_rates(predicted, group, groups)
    highest = np.nanmax(rates)
    return float(np.nanmin(rates) / highest) if highest > 0 else 1.0


def opportunity_gap(predicted: np.ndarray, y: np.ndarray, group: np.ndarray, groups: int) -> float:
    """max Pr(ŷ = 1 | y = 1, g) − min: the equal opportunity difference, of true positive rates.

    Over the groups that have positives; 0 if none has (fairlearn: such a group has rate 0).
    """
    return spread(selection_rates(predicted[y == 1], group[y == 1], groups))


def odds_gap(predicted: np.ndarray, y: np.ndarray, group: np.ndarray, groups: int) -> float:
    """The larger gap of true positive and of false positive rates: equalised odds, worst case.

    Groups without positives take no part in the one, groups without negatives none in the other
    (fairlearn: such a group has rate 0).
    """
    false_positives = selection_rates(predicted[y == 0], group[y == 0], groups)
    return max(opportunity_gap(predicted, y, group, groups), spread(false_positives))


def differential_fairness(predicted: np.ndarray, group: np.ndarray, groups: int) -> float:
    """ε of smoothed empirical differential fairness (Foulds et al. 2020), in nats.

    max |log Pr(ŷ = c | g₁) − log Pr(ŷ = c | g₂)| over classes c and pairs of groups with members,
    with Pr(ŷ = c | g) = (N_{c,g} + α) / (N_g + 2α) and α = 1, so that a group of which nobody is
    selected has a finite ε. 0 if fewer than two groups have members.
    """
    members = np.bincount(group, minlength=groups)
    selected = np.bincount(group, weights=predicted, minlength=groups)[members > 0]
    members = members[members > 0]
    logs = np.log([selected + SMOOTHING, members - selected + SMOOTHING])
    logs -= np.log(members + 2 * SMOOTHING)
    return float(np.ptp(logs, axis=1).max())


def worst_accuracy(predicted: np.ndarray, y: np.ndarray, group: np.ndarray, groups: int) -> float:
    """min Pr(ŷ = y | g) over the groups that have members."""
    return float(np.nanmin(selection_rates(predicted == y, group, groups)))


def lowest_rate(predicted: np.ndarray, group: np.ndarray, groups: int) -> float:
    """min Pr(ŷ = 1 | g) over the groups that have members."""
    return float(np.nanmin(selection_rates(predicted, group, groups)))


def highest_rate(predicted: np.ndarray, group: np.ndarray, groups: int) -> float:
    """max Pr(ŷ = 1 | g) over the groups that have members."""
    return float(np.nanmax(selection_rates(predicted, group, groups)))


def mutual_information(predicted: np.ndarray, group: np.ndarray, groups: int) -> float:
    """I(ŷ; s) = Σ p(c, g) log₂ [p(c, g) / (p(c) p(g))] in bits, of the observed shares p.

    This plug-in estimate is too high by about (k − 1) / (2 n ln 2) bits for n rows of which none
    depends on its group.
    """
    counts = np.bincount(2 * group + predicted, minlength=2 * groups).reshape(groups, 2)
    joint = counts / len(predicted)
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return float(np.sum(joint[seen] * np.log2(joint[seen] / independent[seen])))


def by_group(
    predicted: np.ndarray, y: np.ndarray, group: np.ndarray, groups: int
) -> list[dict[str, float]]:
    """Size, Pr(ŷ = 1 | g) and Pr(ŷ = y | g) of each group; an empty one has size 0 and NaN."""
    sizes = np.bincount(group, minlength=groups)
    selected = selection_rates(predicted, group, groups)
    correct = selection_rates(predicted == y, group, groups)
    return [
        {"size": int(size), "selection_rate": float(rate), "accuracy": float(share)}
        for size, rate, share in zip(sizes, selected, correct, strict=True)
    ]

"""Name, order, colour, mark and kind of every method, and what the paper's row turned out to be.

Also the names of datasets, attributes and settings. A version of a method, such as the same without
the sensitive columns, is called and coloured after it, and its mark says what the version is. All
else that has no entry here, such as a method of your own, is called by its file (fair_forest.py:
Fair forest), and gets a colour and a mark that nothing else has.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

from infofair.data.prepared import INTERSECTION


@dataclass(frozen=True)
class Look:
    colour: str
    mark: str  # as matplotlib has them: a letter, or between dollars what it looks like


@dataclass(frozen=True)
class Label:
    name: str
    look: Look
    finding: str = ""  # what the paper's row of this method turned out to be


# In the paper's order, then those that it does not have. The colours are Okabe and Ito's palette,
# with olive and violet for its vermillion, too near the red star that InfoFair is in the paper, and
# yellow, too pale when hollow; then what is furthest from these for every eye.
METHODS = {
    "vanilla": Label("Vanilla", Look("#000000", "o")),
    "lfr": Label(
        "LFR",
        Look("#e69f00", "v"),
        "The paper's rows are constant predictors: AIF360's defaults (K = 5, A_z = 50), which "
        "collapse; with exact gradients too, on Adult from every start and on COMPAS from most. A "
        "choice from the grid by least validation imparity would take a constant predictor as "
        "well.",
    ),
    "mindiff": Label(
        "MinDiff",
        Look("#56b4e9", "^"),
        "The MMD in the authors' repository takes the kernel between the groups for the joint one "
        "and cuts it into blocks that are not the groups'; its gradients are about 1e-4, at this "
        "weight a thousandth of the task's. So the row is vanilla at InfoFair's learning rate, a "
        "tenth of vanilla's own, and the fairest of its seeds: its printed reductions are a "
        "learning rate and a choice of seed. Ours is Prost's.",
    ),
    "di": Label(
        "DI",
        Look("#009e73", "s"),
        "At α = 0.1 the repair moves values by a tenth of their way: on Adult it changes three to "
        "five columns, on COMPAS one, on Dutch none. So DI is nearly vanilla, and on Dutch it is "
        "vanilla's models of the same seeds; the table as run says which printed cells that "
        "gives.",
    ),
    "adversarial": Label(
        "Adversarial",
        Look("#0072b2", "D"),
        "The paper's constant rows cannot be identified. Any predictor with one output whose class "
        "is read off by an argmax over outputs gives their F1 scores. Tried, and ruled out: a "
        "strength that grows as √t at a constant learning rate, which does not give them on all "
        "datasets, and picking the epoch with the lowest validation imparity.",
    ),
    "fcfc": Label(
        "FCFC",
        Look("#cc79a7", "P"),
        "The paper's row is a classifier that says yes to everyone. Its F1 scores come out, to "
        "the digit, when the labels are left in {0, 1} instead of {−1, +1}: a negative then costs "
        "log 2 whatever is predicted. Ours has the labels right.",
    ),
    "gerryfair": Label(
        "GerryFair",
        Look("#888844", "X"),
        "Nearly all of the paper's row is plain linear regression: either no group's violation "
        "reaches γ, or the rounds for a group and those against it outvote each other, which "
        "leaves the first round's classifier. The official code gives every negative the first "
        "negative's group, so that its results depend on the order of the rows; ours do not, and "
        "neither gives the paper's 0.215 on Adult's gender & race.",
    ),
    "gdp": Label("GDP", Look("#7b2be0", "p")),
    "infofair": Label("InfoFair", Look("#d4001a", "*")),
    "infofair_fitted": Label("InfoFair, fitted", Look("#0000ec", "H")),
    "dp_gap": Label("Parity gap", Look("#3c1e69", "<")),
    "plugin_mi": Label("Plug-in MI", Look("#5a0f00", ">")),
    "reweighing": Label("Reweighing", Look("#e1b4b4", "d")),
    "expgrad": Label("Exp. gradient", Look("#2d4b4b", "h")),
    "logistic": Label("Logistic", Look("#d200b4", "$▬$")),
    "boosting": Label("Boosting", Look("#0f6900", "$▮$")),
    "adversarial_fitted": Label("Adversarial, fitted", Look("#9678ff", "$♠$")),
    "fermi": Label("FERMI", Look("#b4c369", "$♣$")),
    "fairret_norm": Label("fairret, norm", Look("#874b3c", "$♥$")),
}
MORE = (  # not in the paper
    "infofair_fitted", "adversarial_fitted", "fermi", "fairret_norm", "dp_gap", "plugin_mi",
    "reweighing", "expgrad", "logistic", "boosting",
)  # fmt: skip
# How a name ends that is a version of a method: what is said after the method's own, and the mark.
VERSIONS = {
    "_ts": (" T+S", "$◤$"),
    "_td": (" T+D", "$◥$"),
    "_held": (", q held back", "$◧$"),
    "_unaware": (", without s", "$◉$"),
    "_paper": (", paper’s training", "$▣$"),
    "_thresholds": (", thresholds", "$◣$"),
    "_blind": (", blind", "$◓$"),
    "_barycentre": (", barycentre", "$❖$"),
}
BASES = ("vanilla", "logistic", "boosting")  # unconstrained
FITTED = "infofair_fitted"
PENALTIES = ("dp_gap", "plugin_mi", "fermi", "fairret_norm", "gdp")  # on the same backbone
PAPER = tuple(method for method in METHODS if method not in MORE)
VARIANTS = {"infofair": "T+S+D", "infofair_ts": "T+S", "infofair_td": "T+D"}  # the ablation's
VARIANT_LOOKS = {  # as bars: colour and hatching
    "infofair": (METHODS["infofair"].look.colour, ""),
    "infofair_ts": ("#56b4e9", "/////"),
    "infofair_td": ("#e69f00", "\\" * 5),
}
DATASETS = {"compas": "COMPAS", "adult": "Adult Income", "dutch": "Dutch Census"}  # the paper's
OTHER_DATASETS = {  # not the paper's
    "kdd": "KDD Census-Income", "law": "Law School", "crime": "Communities and Crime",
    "ml100k": "MovieLens 100k", "bail": "Bail", "german": "German Credit",
}  # fmt: skip
ATTRIBUTES = {
    "marital": "marital status", "age_gender": "age & gender",
    "black": "share of Black inhabitants", "white_gender": "White or not & gender",
    "with_leak": "with the leak",
}  # fmt: skip

# Of the paper's generalisations: how the name of a method begins, and how it looks; what follows in
# the name says of what it is.
FAMILIES = {
    "fitted": Label("InfoFair, fitted", METHODS["infofair_fitted"].look),
    "joint": Label("InfoFair, as printed", METHODS["infofair"].look),
    "bottleneck": Label("Bottleneck", Look("#0072b2", "D")),
    "deterministic": Label("Deterministic", Look("#e69f00", "v")),
    "gap": Label("Gap penalty", METHODS["dp_gap"].look),
    "correlation": Label("Correlation penalty", Look("#cc79a7", "P")),
    "mean_matching": Label("Mean matching", Look("#56b4e9", "^")),
    "mlp": Label("MLP, no graph", Look("#888844", "X")),
    "vanilla_decay": Label("Vanilla, decay as printed", Look("#2d4b4b", "h")),
    "thresholds": Label("Thresholds", Look("#0f6900", "$◣$")),
    "barycentre": Label("Barycentre", Look("#009e73", "$❖$")),
}
MEMBERS = ("$◤$", "$◥$", "$◉$", "$▣$", "$◓$")  # marks of a family's second method, third, …
OF = {
    "opportunity": "equal opportunity", "odds": "equalised odds", "parity": "statistical parity",
    "bins": "six bins",
}  # fmt: skip
# What is measured of them; the rest is called by its column.
MEASURED = {
    "micro_f1": "micro F1", "auc": "AUC", "r2": "R²", "rmse": "RMSE",
    "explained": "share explained", "opportunity_gap": "gap of true positive rates",
    "opportunity_mean_gap": "gap of true positive rates, mean over pairs",
    "opportunity_sd": "spread of true positive rates", "constant": "constant predictor’s micro F1",
    "odds_gap": "gap of both rates", "largest_gap": "largest gap of rates",
    "gender_gap": "gap of the genders’ rates", "mean_gap": "largest gap of means",
    "mean_gap_pairs": "gap of means, mean over pairs",
    "ks": "KS, mean over pairs", "w2": "W₂ to the barycentre", "hgr": "maximal correlation",
    "bits": "bits in the score",
    "score_bits": "bits in the score", "representation_bits": "bits in z",
    "gender_above_half": "AUC of gender − ½", "age_above_half": "AUC of age − ½",
    "gender_above_half_known": "AUC of gender − ½, known users",
    "age_above_half_known": "AUC of age − ½, known users",
}  # fmt: skip

# For methods without an entry: as far from the colours above, and from each other, as those are.
SPARE_COLOURS = ("#694b78", "#96c387", "#6900a5", "#3c0f3c", "#36f64e", "#a8defc")
SPARE_MARKS = ("$◖$", "$◗$", "$◢$", "$✦$", "$☗$", "$✿$")


# -- names ---------------------------------------------------------------------------------------


def _readable(name: str) -> str:
    return f"{name[:1].upper()}{name[1:]}".replace("_", " ")


def dataset_name(dataset: str) -> str:
    return (DATASETS | OTHER_DATASETS).get(dataset) or _readable(dataset)


def attribute_name(attribute: str) -> str:
    return ATTRIBUTES.get(attribute) or attribute.replace("_", " ")


def setting_name(setting: str, settings: Iterable[str]) -> str:
    """The attribute; `intersection` is called by the attributes it is made of, if known."""
    others = [name for name in settings if name != INTERSECTION]
    parts = others if setting == INTERSECTION and len(others) > 1 else [setting]
    return " & ".join(map(attribute_name, parts))


def version_of(method: str) -> tuple[str, str] | None:
    """The method with an entry that this is a version of, and how its name ends."""
    if method in METHODS or method in VARIANTS:
        return None
    ends = ((method.removesuffix(end), end) for end in VERSIONS if method.endswith(end))
    return next(((base, end) for base, end in ends if base in METHODS), None)


def method_name(method: str) -> str:
    """As the paper prints it; its ablations by the terms they keep."""
    if method in METHODS:
        return METHODS[method].name
    if version := version_of(method):
        base, end = version
        return METHODS[base].name + VERSIONS[end][0]
    return VARIANTS.get(method) or _readable(method)


def full_method_name(method: str) -> str:
    """The same, where nothing says that T+S is InfoFair's."""
    name = method_name(method)
    return f"InfoFair {name}" if method in VARIANTS and method not in METHODS else name


def finding(method: str) -> str:
    """What the paper's row of this method turned out to be; empty if there is nothing to say."""
    return METHODS[method].finding if method in METHODS else ""


# -- what a method of the comparison is, by how its name ends ------------------------------------


def parts(method: str) -> tuple[str, str]:
    """`boosting_thresholds` is boosting and thresholds; most names have no second part."""
    stem, _, end = method.rpartition("_")
    return (stem, end) if stem and f"_{end}" in VERSIONS else (method, "")


def unconstrained(method: str) -> bool:
    """Whether it does nothing about fairness, whatever it is trained on."""
    stem, end = parts(method)
    return stem in BASES and end in ("", "paper", "unaware")


def is_rule(method: str) -> bool:
    """Whether it is a rule on the scores of a model that knows nothing of fairness."""
    return parts(method)[1] in ("thresholds", "blind", "barycentre")


def trained_to_be_fair(method: str) -> bool:
    """Or solved; whether it is no base, and no rule on the scores of one."""
    return not unconstrained(method) and not is_rule(method)


def needs_s(method: str) -> bool:
    """Whether it must know the sensitive attribute of those it decides about."""
    return parts(method)[1] not in ("unaware", "blind")


# -- order and looks -----------------------------------------------------------------------------


def in_order(methods: Iterable[str]) -> list[str]:
    """Each of them once: the paper's in its order, InfoFair after those without an entry.

    Then its ablations, those of ours that the paper does not have, and the versions of all these.
    """
    there = list(dict.fromkeys(methods))
    others = [m for m in there if m not in METHODS and m not in VARIANTS and not version_of(m)]
    versions = [method + end for method in METHODS for end in VERSIONS]
    order = [m for m in PAPER if m != "infofair"] + others + [*VARIANTS, *MORE]
    order += [m for m in versions if version_of(m)]
    return [method for method in order if method in there]


def looks(methods: Iterable[str]) -> dict[str, Look]:
    """A colour and a mark for each method, no two the same.

    Those without an entry get spare ones: which, is up to a method's name, so that it looks the
    same in every figure, unless the names of two of them happen to want the same.
    """
    there = list(dict.fromkeys(methods))
    found = {method: METHODS[method].look for method in there if method in METHODS}
    for method in there:
        if version := version_of(method):
            base, end = version
            found[method] = Look(METHODS[base].look.colour, VERSIONS[end][1])
    others = sorted(method for method in there if method not in found)
    count = len(SPARE_COLOURS)
    free: list[int] = []
    for number, method in enumerate(others):
        free = free or list(range(count))
        wanted = crc32(method.encode()) % count
        place = next(i % count for i in range(wanted, wanted + count) if i % count in free)
        free.remove(place)
        mark = SPARE_MARKS[(place + number // count) % count]  # when all are taken, other pairs
        found[method] = Look(SPARE_COLOURS[place], mark)
    return {method: found[method] for method in there}


# -- of the paper's generalisations ---------------------------------------------------------------


def family(method: str) -> tuple[str, str]:
    """How a name begins, and the rest of it: `gap_opportunity` is gap, opportunity."""
    for name in FAMILIES:
        if method == name or method.startswith(f"{name}_"):
            return name, method[len(name) + 1 :]
    return method, ""


def general_name(method: str) -> str:
    name, rest = family(method)
    if name not in FAMILIES:
        return method_name(method)
    return ", ".join(filter(None, (FAMILIES[name].name, OF.get(rest) or rest.replace("_", " "))))


def general_looks(methods: Iterable[str]) -> dict[str, Look]:
    """A colour and a mark for each, no two the same: a family has one colour."""
    there = list(dict.fromkeys(methods))
    found = looks(method for method in there if family(method)[0] not in FAMILIES)
    for name, label in FAMILIES.items():
        own = [method for method in there if family(method)[0] == name]
        marks = (label.look.mark, *MEMBERS)
        found |= {m: Look(label.look.colour, marks[i % len(marks)]) for i, m in enumerate(own)}
    return {method: found[method] for method in there}


def measured_name(metric: str) -> str:
    return MEASURED.get(metric) or metric.replace("_", " ")

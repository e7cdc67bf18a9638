"""Name, order, colour and mark of every method, and what the paper's row of it turned out to be.

Also the names of datasets, attributes and settings. All that has no entry here, such as a method of
your own, is called by its file (fair_forest.py: Fair forest), and gets a colour and a mark that
nothing else has.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

from infofair.data.prepared import INTERSECTION
from study.paths import WITHOUT_LEAK


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
}
MORE = (  # not in the paper
    "infofair_fitted", "dp_gap", "plugin_mi", "reweighing", "expgrad", "logistic", "boosting",
)  # fmt: skip
PAPER = tuple(method for method in METHODS if method not in MORE)
VARIANTS = {"infofair": "T+S+D", "infofair_ts": "T+S", "infofair_td": "T+D"}  # the ablation's
VARIANT_LOOKS = {  # as bars: colour and hatching
    "infofair": (METHODS["infofair"].look.colour, ""),
    "infofair_ts": ("#56b4e9", "/////"),
    "infofair_td": ("#e69f00", "\\" * 5),
}
DATASETS = {"compas": "COMPAS", "adult": "Adult Income", "dutch": "Dutch Census"}  # the paper's
ATTRIBUTES = {"marital": "marital status"}

# For methods without an entry: as far from the colours above, and from each other, as those are.
SPARE_COLOURS = (
    "#9678ff", "#b4c369", "#874b3c", "#694b78", "#96c387", "#6900a5", "#3c0f3c",
)  # fmt: skip
SPARE_MARKS = ("$◖$", "$◗$", "$♥$", "$♠$", "$♣$", "$◢$", "$✦$")


# -- names ---------------------------------------------------------------------------------------


def _readable(name: str) -> str:
    return f"{name[:1].upper()}{name[1:]}".replace("_", " ")


def dataset_name(dataset: str) -> str:
    base = dataset.removesuffix(f"_{WITHOUT_LEAK}")
    name = DATASETS.get(base) or _readable(base)
    return name + (" without leak" if base != dataset else "")


def attribute_name(attribute: str) -> str:
    return ATTRIBUTES.get(attribute) or attribute.replace("_", " ")


def setting_name(setting: str, settings: Iterable[str]) -> str:
    """The attribute; `intersection` is called by the attributes it is made of, if known."""
    others = [name for name in settings if name != INTERSECTION]
    parts = others if setting == INTERSECTION and len(others) > 1 else [setting]
    return " & ".join(map(attribute_name, parts))


def method_name(method: str) -> str:
    """As the paper prints it; its ablations by the terms they keep."""
    if method in METHODS:
        return METHODS[method].name
    return VARIANTS.get(method) or _readable(method)


def full_method_name(method: str) -> str:
    """The same, where nothing says that T+S is InfoFair's."""
    name = method_name(method)
    return f"InfoFair {name}" if method in VARIANTS and method not in METHODS else name


def finding(method: str) -> str:
    """What the paper's row of this method turned out to be; empty if there is nothing to say."""
    return METHODS[method].finding if method in METHODS else ""


# -- order and looks -----------------------------------------------------------------------------


def in_order(methods: Iterable[str]) -> list[str]:
    """Each of them once: the paper's in its order, InfoFair after those without an entry.

    Then its ablations, and then those of ours that the paper does not have.
    """
    there = list(dict.fromkeys(methods))
    others = [m for m in there if m not in METHODS and m not in VARIANTS]
    order = [m for m in PAPER if m != "infofair"] + others + [*VARIANTS, *MORE]
    return [method for method in order if method in there]


def looks(methods: Iterable[str]) -> dict[str, Look]:
    """A colour and a mark for each method, no two the same.

    Those without an entry get spare ones: which, is up to a method's name, so that it looks the
    same in every figure, unless the names of two of them happen to want the same.
    """
    there = list(dict.fromkeys(methods))
    found = {method: METHODS[method].look for method in there if method in METHODS}
    others = sorted(method for method in there if method not in METHODS)
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

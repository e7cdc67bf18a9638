"""Every path of the repository. DVC runs each stage at its top, so all are relative to that."""

from pathlib import Path

PARAMS = Path("params.yaml")
DVC = Path(".dvc")
PROJECT = Path("pyproject.toml")
LOCKS = (Path("dvc.lock"), Path("beyond/dvc.lock"), Path("luck/dvc.lock"))
PIPELINE = Path("dvc.yaml")
PIPELINE_BEYOND = "beyond/dvc.yaml"  # its stages are called beyond/dvc.yaml:<stage>
PIPELINE_LUCK = "luck/dvc.yaml"
DATA = Path("data")
RESULTS = Path("results")
FIGURES = RESULTS / "figures"
REPORTS = Path("reports")
DOCS = Path("docs")
NOTEBOOKS = Path("notebooks")
STYLE = NOTEBOOKS / "infofair.mplstyle"
# Whatever makes results: if it had changed since the commit, the provenance says so.
SOURCES = [
    "infofair", "study", "stages", "notebooks", "data/reference", "params.yaml", "dvc.yaml",
    "beyond/dvc.yaml", "luck/dvc.yaml", "pyproject.toml", "constraints.txt",
]  # fmt: skip

# -- what is asked for, by params.yaml ------------------------------------------------------------

PLANS = DATA / "plans"


def plan(what: str, *of: str) -> Path:
    """What a stage is to do, for one dataset, or one dataset and method, or all of them."""
    return PLANS.joinpath(what, *of[:-1], f"{of[-1] if of else 'all'}.json")


# -- data -----------------------------------------------------------------------------------------

DOWNLOADS = DATA / ".cache"
DOWNLOAD_LOG = DATA / "download.log"
PAPER = DATA / "reference/paper_table.csv"
PAPER_STATISTICS = DATA / "reference/paper_statistics.csv"


# Datasets that the paper does not have are in folders of their own: the paper's pages depend on
# whole folders, and must not wait for these.
LARGE = ("kdd",)  # of the comparison
GENERAL = ("law", "crime", "ml100k", "bail", "german")  # of the paper's generalisations
MORE = (*LARGE, *GENERAL)


def room(dataset: str) -> Path:
    """The folder of its raw and validated data."""
    return DATA / "more" if dataset in MORE else DATA


def stage(name: str, dataset: str) -> str:
    """The stage `download` or `validate` of a dataset, as DVC calls it."""
    where = f"{PIPELINE_BEYOND}:" if dataset in MORE else ""
    return f"{where}{name}{'_general' if dataset in GENERAL else ''}@{dataset}"


def raw(dataset: str) -> Path:
    """Folder of the raw files and SOURCE.json."""
    return room(dataset) / "raw" / dataset


def own(dataset: str) -> Path:
    """Folder of the user's own raw files of a dataset."""
    return DATA / "own" / dataset


def validated(dataset: str) -> Path:
    return room(dataset) / "validated" / f"{dataset}.parquet"


def seal(dataset: str) -> Path:
    """The sha256 of the validated rows."""
    return room(dataset) / "validated" / f"{dataset}.sha256"


def processed(dataset: str) -> Path:
    return DATA / "processed" / f"{dataset}.npz"


def variant(dataset: str, name: str) -> Path:
    """The dataset in another form: honest, and split otherwise."""
    return DATA / "variants" / dataset / f"{name}.npz"


# -- what is trained ------------------------------------------------------------------------------


def predictions(dataset: str, method: str) -> Path:
    return RESULTS / "predictions" / dataset / f"{method}.npz"


def curves(dataset: str, method: str) -> Path:
    return RESULTS / "curves" / dataset / f"{method}.csv"


def networks(dataset: str, method: str) -> Path:
    return RESULTS / "networks" / dataset / f"{method}.npz"


def fits(dataset: str, method: str) -> Path:
    return RESULTS / "fits" / dataset / f"{method}.csv"


def as_run(dataset: str, variant: str) -> Path:
    """What a variant of a paper's baseline predicts, run as its authors did."""
    return RESULTS / "as_run" / dataset / f"{variant}.npz"


def tried(dataset: str, reading: str) -> Path:
    """What a reading of a printed row predicts that was tried in vain."""
    return RESULTS / "tried" / dataset / f"{reading}.npz"


def backbone(dataset: str) -> Path:
    """The learning rate of its networks in the comparison, and what it was chosen by."""
    return RESULTS / "backbone" / f"{dataset}.json"


def beyond(what: str, dataset: str, method: str) -> Path:
    """Folder of a method's models in the comparison (sweep) or of many seeds (luck)."""
    return RESULTS / what / dataset / method


# -- what follows from it -------------------------------------------------------------------------


def validation_report(dataset: str) -> Path:
    return RESULTS / ("more" if dataset in MORE else "validation") / f"{dataset}.json"


def evaluation(dataset: str) -> Path:
    """Folder of the tables that evaluate makes."""
    return RESULTS / "evaluation" / dataset


def general_trained(study: str, dataset: str) -> Path:
    """Folder of what the models of a generalisation predict."""
    return RESULTS / "generalised" / study / dataset


def general(study: str) -> Path:
    """Every figure of a generalisation."""
    return RESULTS / "general" / f"{study}.csv"


def measured(dataset: str) -> Path:
    """Every figure of every model of the comparison."""
    return RESULTS / "measured" / f"{dataset}.csv"


def audit(dataset: str) -> Path:
    """What the audit of vanilla found; its page is audit_page."""
    return RESULTS / "audit" / f"{dataset}.json"


def audit_page(dataset: str) -> Path:
    return REPORTS / f"audit-{dataset}.html"


METRICS = RESULTS / "metrics.json"
# Not an output that DVC knows: it names the commit, so its hash would change with every one.
PROVENANCE = RESULTS / "provenance.json"
INDEX = REPORTS / "index.html"
BEYOND = REPORTS / "beyond.html"
LUCK = REPORTS / "luck.html"
DOCUMENT = DOCS / "results.md"
BEYOND_DOCUMENT = DOCS / "results-beyond.md"
LUCK_DOCUMENT = DOCS / "results-luck.md"


def table(name: str) -> Path:
    """A table of results: runs, summary, frontier, …"""
    return RESULTS / f"{name}.csv"


def figure(name: str, kind: str) -> Path:
    return FIGURES / f"{name}.{kind}"


def general_figure(study: str, kind: str) -> Path:
    """In a folder of their own: the page depends on all of them, whichever were run."""
    return FIGURES / "general" / f"{study}.{kind}"


def notebook(name: str) -> Path:
    return NOTEBOOKS / f"{name}.ipynb"


def executed(name: str) -> Path:
    return REPORTS / f"{name}.ipynb"

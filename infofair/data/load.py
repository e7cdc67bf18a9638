"""A dataset in one call: fetched, verified, checked and ready for training.

data = load_dataset("adult")
data.X[data.split["train"]], data.y[data.split["train"]], data.groups["intersection"]
"""

from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from infofair.errors import Problem

if TYPE_CHECKING:  # loaded when they are needed: who has no pandera can still import this room
    import pandas as pd

    from infofair.data.dataset import Dataset
    from infofair.data.fetch import Places
    from infofair.data.prepared import Prepared

PACKAGES = ("pandas", "pandera", "pooch", "requests")
CHOICES = {
    "split": ("authors", "random"),
    "scale": ("all_rows", "train_rows"),
    "fallback": ("none", "simulate"),
}


def load_dataset(
    name: str,
    *,
    folder: str | Path | None = None,
    mirror: str | Path | None = None,
    split: str = "authors",
    seed: int = 0,
    scale: str = "all_rows",
    drop_leaking_columns: bool = False,
    sensitive_as_input: bool = True,
    fallback: str = "none",
) -> "Prepared":
    """A dataset of infofair/datasets, ready for training; the defaults are the paper's choices.

    folder: where raw files are kept (raw/<name>), and one's own are looked for (own/<name>); the
    user's cache folder, unless told. What is there already is verified and used.
    mirror: a folder with a folder of raw files for every dataset, asked before the public address.
    split: "authors", the released row numbers, or "random", by `seed`. A dataset that has no
    authors' split is always split at random.
    scale: columns are divided by their largest absolute value over "all_rows" or "train_rows".
    fallback: when no source serves the files, "none" is a Problem, and "simulate" makes look-alike
    rows; the result's `data` and `partition` say what it is.
    """
    _check("load_dataset", split=split, scale=scale, fallback=fallback)
    found = _named(name)
    if found.number:
        raise Problem(
            f"{name}: its label {found.label} is a number, and load_dataset prepares labels of 0 "
            f"and 1; infofair.data.load_rows({name!r}) gives its rows"
        )
    rows, raw, source = _validated(name, found, folder, mirror, fallback)

    from infofair.data.prepare import Preparation, RandomSplit, prepare

    how = Preparation(
        split="random" if source["split"] == "random" else split,
        random_split=RandomSplit(seed=seed),
        scale=scale,
        sensitive_as_input=sensitive_as_input,
        drop_leaking_columns=drop_leaking_columns,
    )
    return prepare(rows, found, how, folder=raw, data=source["data"])


def load_rows(
    name: str,
    *,
    folder: str | Path | None = None,
    mirror: str | Path | None = None,
    fallback: str = "none",
) -> "pd.DataFrame":
    """The validated rows of a dataset of infofair/datasets, one column each, the label among them.

    For labels that are numbers, and for whoever encodes and splits the rows in another way; the
    options are those of load_dataset. `attrs["data"]` says whether the rows are real or simulated.
    """
    _check("load_rows", fallback=fallback)
    rows, _, source = _validated(name, _named(name), folder, mirror, fallback)
    rows.attrs["data"] = source["data"]
    return rows


def _check(called: str, **given: str) -> None:
    for option, value in given.items():
        if value not in CHOICES[option]:
            raise Problem(f"{option} is {value!r}; expected {' or '.join(CHOICES[option])}")
    if missing := [package for package in PACKAGES if find_spec(package) is None]:
        raise Problem(f"{called} needs {', '.join(missing)}: pip install 'infofair[data]'")


def _named(name: str) -> "Dataset":
    from infofair import datasets
    from infofair.data import dataset

    names = sorted(module.name for module in iter_modules(datasets.__path__))
    if name not in names:
        raise Problem(f"there is no dataset {name!r}; expected {', '.join(names)}")
    return dataset.load(name)


def _validated(
    name: str,
    found: "Dataset",
    folder: str | Path | None,
    mirror: str | Path | None,
    fallback: str,
) -> tuple["pd.DataFrame", Path, dict[str, Any]]:
    """The rows, the folder of the raw files, and what SOURCE.json says of them."""
    import pooch

    from infofair.data import checks, fetch

    home = Path(folder) if folder is not None else Path(pooch.os_cache("infofair"))
    places = fetch.Places(
        own=home / "own" / name,
        cache=home / ".cache",
        log=home / "download.log",
        mirror=Path(mirror) if mirror is not None else None,
    )
    raw = home / "raw" / name
    source = _fetched(name, found, fallback, raw, places)
    rows, report = checks.validate(raw, found, source["data"] == "real")
    if rows is None:
        raise Problem(f"{raw}: {checks.describe(report)}")
    return rows, raw, source


def _fetched(
    name: str, dataset: "Dataset", fallback: str, raw: Path, places: "Places"
) -> dict[str, Any]:
    """What is in the folder of raw files, after fetching what is not there or not as it was."""
    from infofair.data import fetch

    public = not any(file.own for file in dataset.files)  # one's own may have changed: taken anew
    if public and (raw / "SOURCE.json").is_file():
        try:
            source = fetch.source_of(raw)
        except Problem:  # a file is damaged or gone
            source = {}
        wanted = "authors" if dataset.split else "random"
        if (source.get("data"), source.get("split")) == ("real", wanted):
            return source
    fetch.download(name, dataset, fallback, raw, places)
    return fetch.source_of(raw)

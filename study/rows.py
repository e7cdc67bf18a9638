"""The validated rows of a dataset, and how they are made ready for training."""

from typing import Any

import pandas as pd

from infofair.data import dataset as datasets
from infofair.data.fetch import source_of
from infofair.data.prepare import Preparation, RandomSplit, prepare
from infofair.data.prepared import Prepared
from infofair.errors import Damaged
from infofair.storage import sha256
from study import paths
from study.files import need


def validated(dataset: str) -> pd.DataFrame:
    """What validate wrote, after checking that no byte of it has changed."""
    made_by = paths.stage("validate", dataset)
    path, seal = need(paths.validated(dataset), made_by), need(paths.seal(dataset), made_by)
    try:
        frame = pd.read_parquet(path)
    except Exception as error:  # wrong bytes raise many kinds
        raise Damaged(path, error) from None
    if seal.read_bytes().strip() != sha256(path).encode():
        raise Damaged(path, f"its sha256 is not the one in {seal}")
    return frame


def prepared(dataset: str, plan: dict[str, Any]) -> Prepared:
    """The rows prepared as the plan says; split at random where there is no authors' split."""
    folder = paths.raw(dataset)
    source = source_of(need(folder, paths.stage("download", dataset)))
    frame = validated(dataset)
    split = "random" if source["split"] == "random" else plan["split"]
    how = Preparation(
        **plan | {"split": split, "random_split": RandomSplit(**plan["random_split"])}
    )
    return prepare(frame, datasets.load(dataset), how, folder=folder, data=source["data"])

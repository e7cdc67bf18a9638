"""Check the raw files of one dataset against its schema, apply its filters, type the rows.

Writes data/validated/<dataset>.parquet, without anything that identifies a person, its sha256
beside it, and results/validation/<dataset>.json: failures by column and rule, the rows each filter
removed, which single columns come close to giving the label away, and the sha256 again.
"""

import sys

from infofair.data import checks, fetch
from infofair.data import dataset as datasets
from infofair.errors import Problem
from infofair.storage import sha256, whole, write_json, write_text
from study import cli, files, paths


def main(dataset: str) -> None:
    folder = files.need(paths.raw(dataset), paths.stage("download", dataset))
    source = fetch.source_of(folder)
    clean, report = checks.validate(folder, datasets.load(dataset), source["data"] == "real")
    report = {"dataset": dataset, "data": source["data"], **report}
    written = paths.validation_report(dataset)
    if clean is not None:
        with whole(paths.validated(dataset)) as partial:
            clean.to_parquet(partial, index=False)
        # parquet's own checksums leave its headers out
        report["sha256"] = sha256(paths.validated(dataset))
        write_text(paths.seal(dataset), report["sha256"] + "\n")
    write_json(written, report)
    if clean is None:
        raise Problem(f"{folder}: {checks.describe(report)}\nin full: {written}")
    print(f"{dataset} ({source['data']} data): {checks.describe(report)}", file=sys.stderr)


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")

"""Encode, scale and split the validated rows of one dataset.

Writes data/processed/<dataset>.npz: features, label, the group of every row in each setting, the
split, and the names.
"""

import sys

from study import cli, files, paths, rows


def main(dataset: str) -> None:
    result = rows.prepared(dataset, files.needed_json(paths.plan("prepare", dataset), "check"))
    result.save(paths.processed(dataset))
    sizes = ", ".join(f"{len(rows)} {name}" for name, rows in result.split.items())
    print(
        f"{dataset}: {result.X.shape[1]} features; {sizes} rows ({result.partition} split); "
        + "; ".join(f"{s}: {len(result.group_names[s])} groups" for s in result.settings),
        file=sys.stderr,
    )


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")

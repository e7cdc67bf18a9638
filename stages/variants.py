"""Make the other forms of one dataset: without leak for the fronts, honest for the honest table.

Writes data/variants/<dataset>/: without_leak.npz if its label leaks, and split<seed>.npz for every
random split, without leak, scaled by its training rows, with tiny groups pooled.
"""

import sys

from study import cli, files, paths, rows, variants


def main(dataset: str) -> None:
    plan = files.needed_json(paths.plan("variants", dataset), "check")
    cleared = variants.without_leak(dataset, files.prepared(dataset))
    if cleared is not None:
        cleared.save(paths.variant(dataset, paths.WITHOUT_LEAK))
    for name, how in plan["splits"].items():
        honest = variants.pooled(rows.prepared(dataset, how), plan["smallest_group"])
        if not honest.settings:
            said = f"no setting has two groups of {plan['smallest_group']} test rows"
            print(f"{dataset}, {name}: {said} (honest.smallest_group)", file=sys.stderr)
        honest.save(paths.variant(dataset, name))


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")

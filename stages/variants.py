"""Make the honest forms of one dataset, for the comparison.

Writes data/variants/<dataset>/split<seed>.npz for every random split: without leak, scaled by its
training rows, with tiny groups pooled (study/variants.py).
"""

import sys

from study import cli, files, paths, rows, variants


def main(dataset: str) -> None:
    plan = files.needed_json(paths.plan("variants", dataset), "check")
    for name, how in plan["splits"].items():
        honest = variants.pooled(rows.prepared(dataset, how), plan["smallest_group"])
        if not honest.settings:
            said = f"no setting has two groups of {plan['smallest_group']} test rows"
            print(f"{dataset}, {name}: {said} (comparison.smallest_group)", file=sys.stderr)
        honest.save(paths.variant(dataset, name))


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")

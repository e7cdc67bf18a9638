"""Audit vanilla on a dataset's test rows, as `infofair audit` would anybody's model.

Writes results/audit/<dataset>.json (docs/audit.md has its schema), the page
reports/audit-<dataset>.html, and the notebook that sums it up, reports/audit-<dataset>.ipynb.
"""

from study import audited, cli


def main(dataset: str) -> None:
    audited.write(dataset)


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")

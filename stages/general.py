"""Measure the models of one generalisation of the paper (study/general); nothing is trained.

Writes results/general/<study>.csv: every figure of every method and strength, its mean and spread
over splits, and beside every gap what it would be if s were random.
"""

from infofair.data.fetch import source_of
from study import cli, files, paths, results, rows
from study.general import measuring, training


def main(study: str) -> None:
    asked = files.needed_json(paths.plan("generalised", study), "check")
    found = []
    for dataset in asked["datasets"]:
        made_by = f"{paths.PIPELINE_BEYOND}:general_train@{study}-{dataset}"
        folder = files.need(paths.general_trained(study, dataset), made_by)
        own = measuring.measure(study, dataset, rows.validated(dataset), training.read(folder))
        found += [row | {"data": source_of(paths.raw(dataset))["data"]} for row in own]
    results.write_general(found, study)


if __name__ == "__main__":
    cli.run(main, __doc__, study="one of the generalisations in study/general")

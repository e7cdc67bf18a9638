"""Train the models of one generalisation of the paper on one dataset (study/general).

Writes results/general/trained/<study>/<dataset>/: outputs.npz, what every model predicts for
validation and test rows, and grids.json, how the strengths were chosen.
"""

from study import cli, files, paths, rows
from study.general import training


def main(study: str, dataset: str) -> None:
    asked = files.needed_json(paths.plan("general", study), "check")
    trained, chosen = training.train(study, dataset, rows.validated(dataset), asked)
    training.write(paths.general_trained(study, dataset), trained, chosen)


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset", study="one of the generalisations in study/general")

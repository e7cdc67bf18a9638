"""Choose the learning rate of the comparison's networks, by vanilla's validation rows.

study/backbone.py says how. Writes results/backbone/<dataset>.json: of every split the rate, and
what each that was tried came to.
"""

from study import backbone, cli, files, paths


def main(dataset: str) -> None:
    backbone.run(files.needed_json(paths.plan("backbone", dataset), "check"))


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")

"""Run what was tried to explain printed rows on one dataset, in vain (study/tried).

Writes results/tried/<dataset>/<reading>.npz: the probability of class 1 of every validation and
test row. For a dataset that the paper does not have the folder stays empty.
"""

from pathlib import Path

from infofair.data.prepared import Prepared
from infofair.training.plan import Training
from study import cli, files, paths, tried


def main(dataset: str) -> None:
    plan = files.needed_json(paths.plan("as_run", dataset), "check")
    data, training = Prepared.load(Path(plan["data"])), Training(**plan["training"])
    how = data, plan["seeds"], plan["hidden"], training, f"on {dataset}"
    paths.tried(dataset, "").parent.mkdir(parents=True, exist_ok=True)
    for name, found in tried.run_all(*how) if plan["printed"] else ():
        found.save(paths.tried(dataset, name))


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")

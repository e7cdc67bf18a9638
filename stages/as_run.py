"""Run the paper's baselines on one dataset as its authors evidently did, mistakes included.

study/as_run has the variants, each by name. Writes results/as_run/<dataset>/<variant>.npz: the
probability of class 1 of every validation and test row. For a dataset that the paper does not have,
and for rows or a split that are not the paper's, the folder stays empty: nothing can come out as
printed there, and half of a run's time is saved where only a package index is reached.
"""

import sys
import time
from pathlib import Path

from infofair.data.prepared import Prepared
from infofair.training.plan import Training
from study import as_run, cli, files, paths


def main(dataset: str) -> None:
    plan = files.needed_json(paths.plan("as_run", dataset), "check")
    data = Prepared.load(Path(plan["data"]))
    training = Training(**plan["training"])
    paths.as_run(dataset, "").parent.mkdir(parents=True, exist_ok=True)
    comparable = plan["printed"] and (data.data, data.partition) == ("real", "authors")
    for variant in as_run.VARIANTS.values() if comparable else ():
        start = time.perf_counter()
        title = f"{variant.name} on {dataset}"
        found = as_run.run(variant.method, data, plan["seeds"], plan["hidden"], training, title)
        found.save(paths.as_run(dataset, variant.name))
        said = f"{time.perf_counter() - start:.1f} s of training"
        print(f"{title} ({data.data} data): {said}", file=sys.stderr)


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")

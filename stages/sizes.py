"""Count the validated rows of every group of one dataset, for its card on the page of the data.

Writes results/sizes/<dataset>.json: of each setting its groups, in their order, with how many rows
are in each; null where they are fewer than five people, or would give these away
(study/people.py).
"""

from infofair.data import dataset as datasets
from infofair.storage import write_json
from study import cli
from study.page import places
from study.rows import validated
from study.sizes import sizes


def main(dataset: str) -> None:
    write_json(places.sizes(dataset), sizes(validated(dataset), datasets.load(dataset)))


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")

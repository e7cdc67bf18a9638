"""Check params.yaml before anything else runs, and write down what it asks of each stage.

Also whether this machine has the memory for it (study/memory.py): what the paper's pipeline has not
is refused, what another has not is said.
Writes data/plans (study/plans.py says what is in it). A plan that has not changed makes no stage
run, whatever else in params.yaml has.
"""

import sys

from infofair.storage import write_json
from study import cli, memory, params, plans


def main() -> None:
    planned = list(plans.everything(params.load()))
    if said := memory.check(planned):
        print(f"note: {said}", file=sys.stderr)
    for path, plan in planned:
        write_json(path, plan)


if __name__ == "__main__":
    cli.run(main, __doc__)

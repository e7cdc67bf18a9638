"""Check params.yaml before anything else runs, and write down what it asks of each stage.

Writes data/plans (study/plans.py says what is in it). A plan that has not changed makes no stage
run, whatever else in params.yaml has.
"""

from infofair.storage import write_json
from study import cli, params, plans


def main() -> None:
    for path, plan in plans.everything(params.load()):
        write_json(path, plan)


if __name__ == "__main__":
    cli.run(main, __doc__)

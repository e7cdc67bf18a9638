"""Run one of the notebooks in notebooks/ and keep it, with what it shows, in reports/.

results_table   the paper's results table, to results/figures/results_table.{html,tex,md}
honest_table    the table of the honest data, to results/figures/honest_table.{html,tex,md}
tradeoff        micro F1 against imparity, to results/figures/tradeoff.{svg,png}
frontier        every method and rule at many strengths, to results/figures/frontier.{svg,png}
luck            the paper's training with many seeds, to results/figures/luck.{svg,png}
ablation        InfoFair without one of its terms, to results/figures/ablation.{svg,png}
general_<study> a generalisation of the paper, to results/figures/general/<study>.{svg,png}
experiments     what alpha does, from the experiments of `dvc exp run`; no stage of DVC's
"""

from infofair.errors import Problem
from study import cli, notebooks


def main(notebook: str) -> None:
    if notebook not in notebooks.WRITTEN:
        raise Problem(f"--notebook {notebook}: there are {', '.join(notebooks.WRITTEN)}")
    notebooks.run(notebook)


if __name__ == "__main__":
    cli.run(main, __doc__, notebook=f"one of {', '.join(notebooks.WRITTEN)}")

"""Turn the predictions of every method on one dataset into tables.

Writes results/evaluation/<dataset>/, on validation and test rows:

    runs.csv        every metric of each setting, method and seed; its noise floor and null_95 (the
                    imparity to expect of an exactly fair predictor that selects as many, and its
                    95 % quantile), bootstrap intervals, a permutation test of imparity, and its
                    control: vanilla with one threshold, at the same selection rate
    groups.csv      size, selection rate and accuracy of each group, of each of these models
    subsets.csv     the imparity, on each attribute alone, of models trained on the intersection
    intervals.csv   bootstrap intervals of the means over seeds, and their permutation test

and statistics.csv, what the dataset holds.
"""

from study import cli, evaluation, files, paths, results


def main(dataset: str) -> None:
    plan = files.needed_json(paths.plan("evaluate", dataset), "check")
    data = files.prepared(dataset)
    found = list(evaluation.models(dataset, plan["methods"], data.settings))
    marks = {"dataset": dataset, "data": data.data, "partition": data.partition}
    for name, rows in evaluation.tables(dataset, data, found).items():
        results.write_evaluation([marks | row for row in rows], dataset, name)


if __name__ == "__main__":
    cli.run(main, __doc__, "dataset")

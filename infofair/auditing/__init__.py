"""Audit any model: from somebody's predictions to what their gaps between groups are worth.

`infofair.audit(…)` and `infofair audit FILE` compare the groups of every sensitive attribute, and
of their intersection: figures of every group with intervals, disparities beside what chance alone
gives, the gaps that this sample could have shown, and what thresholds by group would cost.
docs/audit.md has the rules; every one of them is a constant of the module that follows it.

    rows      what is audited: columns checked, one clear message for each way to be wrong
    table     the same from a CSV or Parquet file
    groups    values to groups: ranges of numbers, intersections, tiny groups pooled
    figures   rates of every group, with intervals
    measures  disparities, of many draws at a time
    chance    what an exactly fair model has: draws of counts, p-values
    power     the smallest gap that would be found, and the rows it takes to find a given one
    regression   the same questions for predicted numbers
    remedies  thresholds by group, cross-validated
    leaks     columns that give the label away
    run       all of it together
    report    the result: what is protected, audit.json (schema.json)
    page, charts, card, words   the same for people
    demo, cli   the command `infofair`

The package is not called audit, because `infofair.audit` is the function.
"""

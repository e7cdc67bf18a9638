"""What the names of methods say, and the rows that the comparison starts from."""

import numpy as np
import pandas as pd
import pytest

from study.comparison import measured
from study.comparison.measured import TRIAL
from study.results import FIGURES
from tests.study.comparison import made_up


@pytest.mark.parametrize(
    ("method", "parts", "with_s", "base", "vanilla"),
    [
        ("vanilla", ("vanilla", ""), True, True, "vanilla"),
        ("vanilla_paper", ("vanilla", "paper"), True, True, "vanilla_paper"),
        ("logistic_unaware", ("logistic", "unaware"), False, True, "vanilla_unaware"),
        ("dp_gap", ("dp_gap", ""), True, False, "vanilla"),
        ("dp_gap_unaware", ("dp_gap", "unaware"), False, False, "vanilla_unaware"),
        ("infofair_paper", ("infofair", "paper"), True, False, "vanilla_paper"),
        ("infofair_fitted", ("infofair_fitted", ""), True, False, "vanilla"),
        ("infofair_fitted_td", ("infofair_fitted", "td"), True, False, "vanilla"),
        ("boosting_thresholds", ("boosting", "thresholds"), True, False, "vanilla"),
        ("boosting_blind", ("boosting", "blind"), False, False, "vanilla"),
        ("boosting_barycentre", ("boosting", "barycentre"), True, False, "vanilla"),
        ("paper", ("paper", ""), True, False, "vanilla"),  # somebody's own method
    ],
)
def test_a_name_says_how_a_method_came_about(
    method: str, parts: tuple[str, str], with_s: bool, base: bool, vanilla: str
) -> None:
    assert measured.split_name(method) == parts
    assert measured.needs_s(method) == with_s
    assert measured.is_base(method) == base
    assert measured.vanilla_of(method) == vanilla


def test_the_authors_rows_are_those_without_a_number_of_the_split() -> None:
    rows = made_up.measured()
    honest, authors = measured.honest(rows), measured.authors(rows)
    assert len(honest) + len(authors) == len(rows)
    assert set(authors["dataset"]) == {"compas"} and set(authors["partition"]) == {"authors"}
    assert set(honest["partition"]) == {"random"}
    as_text = rows.assign(partition_seed=rows["partition_seed"].map("{:g}".format))
    as_text["partition_seed"] = as_text["partition_seed"].replace("nan", "")
    pd.testing.assert_frame_equal(measured.honest(as_text), honest)


def test_a_trial_has_the_figures_of_both_parts_as_a_plain_loop_finds_them() -> None:
    rows = made_up.measured(("vanilla", "gdp"), made_up.PLACES[:1])
    rows = pd.concat([rows, rows.assign(seed=1, micro_f1=rows["micro_f1"] + 0.01)])
    rows.loc[(rows["seed"] == 1) & (rows["strength"] == 0.5), "note"] = "constant"
    lost = (rows["seed"] == 1) & (rows["strength"] == 8.0) & (rows["partition_seed"] == 2)
    rows.loc[lost, "note"] = "diverged"  # and, by mistake, has figures
    found = measured.trials(rows)
    honest = rows[rows["partition_seed"].notna()].to_dict("records")
    assert len(found) == 4 * (1 + 4)
    for trial in found.to_dict("records"):
        own = [row for row in honest if all(row[key] == trial[key] for key in TRIAL)]
        is_lost = trial["strength"] == 8.0 and trial["partition_seed"] == 2
        assert trial["diverged"] == (0.5 if is_lost else 0)
        assert trial["constant"] == (0.5 if trial["strength"] == 0.5 else 0)
        assert trial["seeds"] == 2
        for part, prefix in (("test", ""), ("validation", "validation_")):
            for name in FIGURES:
                wanted = np.mean([row[name] for row in own if row["split"] == part])
                wanted = np.nan if is_lost else wanted
                assert trial[f"{prefix}{name}"] == pytest.approx(wanted, nan_ok=True)

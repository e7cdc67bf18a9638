"""A small simulated loan book, so that an audit can be seen without a file."""

import numpy as np
import pandas as pd

ROWS = 6_000


def loan_book(seed: int = 0, rows: int = ROWS) -> pd.DataFrame:
    """Applicants, whether they paid back, and a score that underrates some who did.

    Women's scores are lower by what their incomes are; people under 30 of region "south" are
    underrated beyond that. Region alone makes no difference, and some regions are small.
    """
    rng = np.random.default_rng(seed)
    sex = rng.choice(["female", "male"], rows)
    region = rng.choice(["north", "south", "east", "islands"], rows, p=[0.5, 0.35, 0.147, 0.003])
    age = np.clip(np.rint(18 + rng.gamma(3.5, 7.5, rows)), 18, 90).astype(int)
    income = np.round(np.exp(rng.normal(np.where(sex == "male", 10.35, 10.2), 0.45)), -2)
    ability = 2.2 * (np.log(income) - 10.25) + rng.normal(0, 0.6, rows)
    paid_back = rng.random(rows) < 1 / (1 + np.exp(-0.7 - ability))
    bias = np.where((region == "south") & (age < 30), -0.45, 0.0)
    seen = ability + rng.normal(0, 0.7, rows) + bias + 0.3
    score = np.round(1 / (1 + np.exp(-seen)), 4)
    return pd.DataFrame(
        {"sex": sex, "region": region, "age": age, "income": income,
         "paid_back": paid_back.astype(int), "score": score}
    )  # fmt: skip

"""Write made-up loan applications, 2,000 of them or as many as asked for, as CSV to the terminal.

    python -m examples.make_loans > loans.csv

Approval depends on income and years of employment, and unfairly on gender, region and age.
"""

import sys

import numpy as np

SEED = 0


def lines(rows: int) -> list[str]:
    rng = np.random.default_rng(SEED)
    age = rng.integers(18, 81, rows)
    income = np.round(np.minimum(rng.lognormal(10.3, 0.5, rows), 1_000_000), 2)
    employed = np.minimum(rng.integers(0, 31, rows), age - 18)
    purpose = rng.choice(["car", "home", "business", "study"], rows)
    gender = rng.choice(["female", "male"], rows, p=[0.45, 0.55])
    region = rng.choice(["north", "east", "south", "west"], rows, p=[0.5, 0.3, 0.15, 0.05])
    score = (
        np.log(income) - 10.3 + 0.05 * employed + 0.5 * (gender == "male")
        - 0.6 * (region == "south") - 0.5 * (age < 25)
    )  # fmt: skip
    approved = np.where(score + rng.normal(0, 0.4, rows) > 0.9, "yes", "no")
    columns = (range(1, rows + 1), age, income, employed, purpose, gender, region, approved)
    header = "customer,age,income,years_employed,purpose,gender,region,approved"
    return [header, *(",".join(map(str, row)) for row in zip(*columns, strict=True))]


if __name__ == "__main__":
    print("\n".join(lines(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)))

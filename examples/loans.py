"""Loans: is an applicant approved? Made-up rows, the worked example of docs/your-own-data.md."""

from infofair.data.tabular import Numbers, csv_dataset, ranges

DATASET = csv_dataset(
    "loans.csv",  # in data/own/loans/
    columns={  # what each column may hold: whole numbers, any numbers, or one of these values
        "age": Numbers(18, 80),
        "income": Numbers(0, 1_000_000, whole=False),
        "years_employed": Numbers(0, 60),
        "purpose": ["car", "home", "business", "study"],
        "gender": ["female", "male"],
        "region": ["north", "east", "south", "west"],
    },
    label="approved",
    classes=("no", "yes"),  # the label's values for 0 and 1
    sensitive={  # any number of them: each is a setting, and so are all together
        "gender": "gender",
        "region": "region",
        "age_group": ranges("age", 25, 60),
    },
    left_out=["customer"],  # not looked at, not shown, no feature
)

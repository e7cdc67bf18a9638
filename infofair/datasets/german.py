"""German credit: is a client a good customer? (a bank's, 1973 to 1975), and a graph of the clients

Hofmann's data, UCI Machine Learning Repository 144, in the form of Agarwal, Lakkaraju and Zitnik
(2021), "Towards a Unified Framework for Fair and Stable Graph Representation Learning" (NIFTY), who
join clients whose rows are alike. Terms: CC BY 4.0 (UCI); NIFTY's repository is under the MIT
licence. A thousand clients are few: what is measured on them is a demonstration.

The gender is read off a column on sex and marital status, which knows no single women; Grömping
(2019), "South German Credit Data", holds that it does not tell the sexes apart.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa
from scipy.spatial.distance import cdist

from infofair.data.dataset import Attribute, Dataset, RawFile
from infofair.data.tabular import (
    binary,
    draw,
    label_with,
    number,
    one_of,
    read_csv,
    read_lines,
    whole_number,
)
from infofair.errors import Problem

ROWS, EDGES = "german.csv", "german_edges.txt"
NIFTY = (
    "https://raw.githubusercontent.com/chirag126/nifty/"
    "6c270c5ec736c5138d455609112cf6dfcc63dcca/dataset/german"
)
MOST = 1_000_000  # rows; more are no row numbers but nonsense
NEIGHBOURS = 25  # of a simulated client; 25 × 1,000 pairs are about as many as in the real file

# Each with its rough share of ones for the simulator.
FLAGS = {
    "ForeignWorker": 0.04, "Single": 0.55, "HasTelephone": 0.4,
    "CheckingAccountBalance_geq_0": 0.33, "CheckingAccountBalance_geq_200": 0.06,
    "SavingsAccountBalance_geq_100": 0.21, "SavingsAccountBalance_geq_500": 0.11,
    "MissedPayments": 0.91, "NoCurrentLoan": 0.05, "CriticalAccountOrLoansElsewhere": 0.29,
    "OtherLoansAtBank": 0.14, "OtherLoansAtStore": 0.0, "HasCoapplicant": 0.04,
    "HasGuarantor": 0.05, "OwnsHouse": 0.71, "RentsHouse": 0.18, "Unemployed": 0.06,
    "YearsAtCurrentJob_lt_1": 0.17, "YearsAtCurrentJob_geq_4": 0.43, "JobClassIsSkilled": 0.78,
}  # fmt: skip
NUMBERS = {
    "Age": (18, 100), "LoanDuration": (1, 120), "LoanAmount": (1, 50_000),
    "LoanRateAsPercentOfIncome": (1, 4), "YearsAtCurrentHome": (1, 4),
    "NumberOfOtherLoansAtBank": (1, 4), "NumberOfLiableIndividuals": (1, 2),
}  # fmt: skip
PURPOSE = {
    "Electronics": 0.28, "NewCar": 0.23, "Furniture": 0.18, "UsedCar": 0.1, "Business": 0.1,
    "Education": 0.05, "Repairs": 0.02, "HomeAppliances": 0.01, "Other": 0.01, "Retraining": 0.01,
}  # fmt: skip
COLUMNS = (
    "GoodCustomer", "Gender", "ForeignWorker", "Single", "Age", "LoanDuration", "PurposeOfLoan",
    "LoanAmount", "LoanRateAsPercentOfIncome", "YearsAtCurrentHome", "NumberOfOtherLoansAtBank",
    "NumberOfLiableIndividuals", "HasTelephone", "CheckingAccountBalance_geq_0",
    "CheckingAccountBalance_geq_200", "SavingsAccountBalance_geq_100",
    "SavingsAccountBalance_geq_500", "MissedPayments", "NoCurrentLoan",
    "CriticalAccountOrLoansElsewhere", "OtherLoansAtBank", "OtherLoansAtStore", "HasCoapplicant",
    "HasGuarantor", "OwnsHouse", "RentsHouse", "Unemployed", "YearsAtCurrentJob_lt_1",
    "YearsAtCurrentJob_geq_4", "JobClassIsSkilled",
)  # fmt: skip
GENDERS = ("Male", "Female")
LEFT_OUT = {
    "PurposeOfLoan": "NIFTY, whose graph is of the other columns, leaves it out",
    "OtherLoansAtStore": "0 for everyone",
}
EXCLUSIVE = (  # nobody has both
    ("OwnsHouse", "RentsHouse"),
    ("YearsAtCurrentJob_lt_1", "YearsAtCurrentJob_geq_4"),
    ("HasCoapplicant", "HasGuarantor"),
)
STEPS = (  # who has the second has the first
    ("CheckingAccountBalance_geq_0", "CheckingAccountBalance_geq_200"),
    ("SavingsAccountBalance_geq_100", "SavingsAccountBalance_geq_500"),
)


def not_both(one: str, other: str) -> pa.Check:
    return pa.Check(lambda df: df[one] + df[other] < 2, name=f"not both {one} and {other}")


def implies(first: str, second: str) -> pa.Check:
    return pa.Check(lambda df: df[second] <= df[first], name=f"{second} implies {first}")


SCHEMA = pa.DataFrameSchema(
    {
        "GoodCustomer": one_of([-1, 1]),
        "Gender": one_of(GENDERS),
        "PurposeOfLoan": one_of(PURPOSE),
        **{column: whole_number(0, 1) for column in FLAGS},
        **{column: whole_number(low, high) for column, (low, high) in NUMBERS.items()},
    },
    checks=[
        *(not_both(one, other) for one, other in EXCLUSIVE),
        *(implies(first, second) for first, second in STEPS),
    ],
    strict=True,
)


def edges(folder: Path) -> np.ndarray:
    """Every edge of the graph once, as two row numbers i < j: shape (edges, 2).

    The file has most pairs in one order and some in both: 24,970 lines are 21,742 edges.
    """
    path = folder / EDGES
    found = []
    for i, line in enumerate(read_lines(path), 1):
        try:
            one, other = (float(field) for field in line.split())
        except ValueError:
            one = other = -1.0
        if one == other or not all(0 <= x < MOST and x.is_integer() for x in (one, other)):
            raise Problem(f"{path}: line {i} is {line[:80]!r}; expected two different row numbers")
        found.append((one, other))
    pairs = np.sort(np.array(found).astype(np.int64), axis=1)
    return np.unique(pairs, axis=0)


def read(folder: Path) -> pd.DataFrame:
    """The rows; the edges are only checked to be of these."""
    frame = read_csv(folder / ROWS)
    if (last := int(edges(folder).max())) >= len(frame):
        raise Problem(f"{folder / EDGES}: row {last} has an edge; {ROWS} has {len(frame)} rows")
    return frame


def clean(frame: pd.DataFrame) -> pd.DataFrame:
    kept = [column for column in COLUMNS if column not in LEFT_OUT]
    types = dict.fromkeys(NUMBERS, "int32") | dict.fromkeys(FLAGS, "int8")
    typed = frame[kept].astype({column: types[column] for column in kept if column in types})
    return typed.assign(
        GoodCustomer=(frame["GoodCustomer"] == "1").astype("int8"),
        Gender=frame["Gender"].astype(pd.CategoricalDtype([*GENDERS])),
    )


def encode(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    columns = binary(frame, "Gender", "Female")
    for name in COLUMNS[2:]:
        if name not in LEFT_OUT:
            columns |= number(frame, name)
    return columns


def simulate(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {name: (rng.random(rows) < share).astype(int) for name, share in FLAGS.items()}
    for one, other in EXCLUSIVE:
        columns[other] *= 1 - columns[one]
    for first, second in STEPS:
        columns[second] *= columns[first]
    male = rng.random(rows) < 0.69
    columns["Single"] *= male
    duration = np.clip(rng.gamma(3, 7, rows), 4, 72).astype(int)
    columns |= {
        "Gender": np.where(male, "Male", "Female"),
        "Age": np.clip(19 + rng.gamma(2.1, 7.9, rows), 19, 75).astype(int),
        "LoanDuration": duration,
        "PurposeOfLoan": draw(rng, PURPOSE, rows),
        "LoanAmount": np.clip(130 * duration * rng.gamma(3, 0.4, rows), 250, 18_424).astype(int),
        "LoanRateAsPercentOfIncome": rng.choice(4, rows, p=[0.14, 0.23, 0.16, 0.47]) + 1,
        "YearsAtCurrentHome": rng.choice(4, rows, p=[0.13, 0.31, 0.15, 0.41]) + 1,
        "NumberOfOtherLoansAtBank": rng.choice(4, rows, p=[0.63, 0.33, 0.03, 0.01]) + 1,
        "NumberOfLiableIndividuals": rng.choice(2, rows, p=[0.84, 0.16]) + 1,
    }
    score = (
        -0.05 * duration + 0.02 * columns["Age"] - 1.2 * columns["CheckingAccountBalance_geq_0"]
        + 0.6 * columns["SavingsAccountBalance_geq_100"] + 0.5 * male + 0.4 * columns["OwnsHouse"]
        + 0.6 * columns["CriticalAccountOrLoansElsewhere"]
    )  # fmt: skip
    columns["GoodCustomer"] = np.where(label_with(rng, score, 0.7) == 1, 1, -1)
    return pd.DataFrame({name: columns[name] for name in COLUMNS}).astype(str)


def write(frame: pd.DataFrame, folder: Path) -> None:
    """With edges from every client to the nearest others."""
    frame.to_csv(folder / ROWS, index=False, lineterminator="\r\n")
    x = frame[["Age", "LoanDuration", "LoanAmount"]].astype(float).to_numpy()
    far = cdist(x / x.std(axis=0), x / x.std(axis=0))  # rows × rows
    np.fill_diagonal(far, np.inf)
    near = np.argsort(far, axis=1, kind="stable")[:, : min(NEIGHBOURS, len(x) - 1)]
    pairs = [(i, j) for i, others in enumerate(near.tolist()) for j in others]
    np.savetxt(folder / EDGES, np.array(pairs))


DATASET = Dataset(
    files=(
        RawFile(
            ROWS,
            "49cc549b1ca3f1650e3bdcd8cfce62313c763abfbcbf785d32b07fb76ae078ca",
            f"{NIFTY}/{ROWS}",
        ),
        RawFile(
            EDGES,
            "404d107384e05a14ce9befe04a710d7df0a7492095569dc35ffb5d47742ee300",
            f"{NIFTY}/{EDGES}",
        ),
    ),
    rows=(1_000, 1_000),
    sensitive={
        "gender": Attribute("Gender", {value: value for value in GENDERS}),
        "age": Attribute("Age", {0: "25 and under", 1: "over 25"}, cuts=(26,)),
    },
    label="GoodCustomer",
    terms="CC BY 4.0 (UCI 144); MIT licence of the repository of this form (chirag126/nifty)",
    read=read,
    schema=SCHEMA,
    clean=clean,
    encode=encode,
    simulate=simulate,
    write=write,
)

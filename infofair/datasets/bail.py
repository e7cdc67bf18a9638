"""Bail: does a released prisoner return to prison? (North Carolina, 1978 and 1980)

The file that Agarwal, Lakkaraju and Zitnik (2021), "Towards a Unified Framework for Fair and Stable
Graph Representation Learning" (NIFTY), call bail. Its columns and counts are those of Schmidt and
Witte (1988), "Predicting Recidivism Using Survival Models": people whom North Carolina released
from prison in the years before July of 1978 and of 1980; it is about nobody's bail. Terms: NIFTY's
repository is under the MIT licence, and states none for the data; no row is in git.

The label leaks: TIME, the months until the return to prison, is 0 for who did not return; TIME > 0
equals RECID in 99.4 % of the rows, so `validate` finds it by itself. The edges that NIFTY publishes
join people whose rows are alike, TIME included: they carry the leak and are not taken. Two more
columns are of the study and not of the person, and are left out.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa

from infofair.data.dataset import Attribute, Dataset, RawFile
from infofair.data.tabular import label_with, number, read_csv, whole_number

FILE = "bail.csv"
NIFTY = (
    "https://raw.githubusercontent.com/chirag126/nifty/"
    "6c270c5ec736c5138d455609112cf6dfcc63dcca/dataset/bail"
)

# Each with its rough share of ones for the simulator.
FLAGS = {
    "WHITE": 0.51, "ALCHY": 0.17, "JUNKY": 0.14, "SUPER": 0.73, "MARRIED": 0.26, "FELON": 0.33,
    "WORKREL": 0.41, "PROPTY": 0.32, "PERSON": 0.08, "MALE": 0.94, "RECID": 0.376,
}  # fmt: skip
NUMBERS = {
    "PRIORS": (-9, 99),  # times in prison before; -9: not known
    "SCHOOL": (0, 25),  # years; 0: not known
    "RULE": (0, 99),  # violations of the prison's rules
    "AGE": (120, 1_200),  # months
    "TSERVD": (0, 600),  # months
    "FOLLOW": (1, 120),  # months
    "TIME": (0, 120),  # months
    "FILE": (1, 3),
}
COLUMNS = (
    "WHITE", "ALCHY", "JUNKY", "SUPER", "MARRIED", "FELON", "WORKREL", "PROPTY", "PERSON", "MALE",
    "PRIORS", "SCHOOL", "RULE", "AGE", "TSERVD", "FOLLOW", "RECID", "TIME", "FILE",
)  # fmt: skip
LEFT_OUT = {
    "FOLLOW": "how long the study followed the person: the day of the search less that of release",
    # of the last, ALCHY and JUNKY are not known either and mostly 0; they are kept as they are
    "FILE": "the study's own sample: to fit, to validate, or with values missing",
}

SCHEMA = pa.DataFrameSchema(
    {
        **{column: whole_number(0, 1) for column in FLAGS},
        **{column: whole_number(low, high) for column, (low, high) in NUMBERS.items()},
    },
    checks=[
        pa.Check(
            lambda df: (df["PROPTY"] == 0) | (df["PERSON"] == 0),
            name="a crime is not both against property and against a person",
        ),
        pa.Check(
            lambda df: (df["PRIORS"] >= 0) | (df["PRIORS"] == -9) & (df["FILE"] == 3),
            name="PRIORS is known, but in the sample with values missing",
        ),
    ],
    strict=True,
)


def read(folder: Path) -> pd.DataFrame:
    return read_csv(folder / FILE)


def clean(frame: pd.DataFrame) -> pd.DataFrame:
    kept = [column for column in COLUMNS if column not in LEFT_OUT]
    return frame[kept].astype(dict.fromkeys(kept, "int32") | dict.fromkeys(FLAGS, "int8"))


def encode(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    columns: dict[str, np.ndarray] = {}
    for name in COLUMNS:
        if name != "RECID" and name not in LEFT_OUT:
            columns |= number(frame, name)
    return columns


def simulate(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {name: (rng.random(rows) < share).astype(int) for name, share in FLAGS.items()}
    columns["PERSON"] *= 1 - columns["PROPTY"]
    missing = rng.random(rows) < 0.45
    priors = rng.geometric(0.42, rows) - 1
    age = np.clip(177 + rng.gamma(2, 87, rows), 177, 945).astype(int)
    follow = rng.integers(46, 82, rows)
    columns |= {
        "PRIORS": np.where(missing & (rng.random(rows) < 0.16), -9, priors),
        "SCHOOL": np.clip(rng.normal(9.5, 2.6, rows), 0, 19).astype(int),
        "RULE": rng.geometric(0.42, rows) - 1,
        "AGE": age,
        "TSERVD": np.clip(rng.gamma(0.8, 24, rows), 0, 354).astype(int),
        "FOLLOW": follow,
        "FILE": np.where(missing, 3, rng.choice([1, 2], rows, p=[0.29, 0.71])),
    }
    score = (
        0.25 * np.minimum(priors, 8) - 0.004 * age + 0.15 * np.minimum(columns["RULE"], 8)
        + 0.8 * columns["MALE"] - 0.4 * columns["WHITE"] + 0.4 * columns["ALCHY"]
        + 0.5 * columns["JUNKY"] - 0.4 * columns["MARRIED"] + 0.5 * columns["PROPTY"]
    )  # fmt: skip
    columns["RECID"] = label_with(rng, score, FLAGS["RECID"])
    back = rng.integers(1, follow + 1)
    seen = rng.random(rows) < np.where(columns["RECID"] == 1, 0.997, 0.008)
    columns["TIME"] = np.where(seen, back, 0)
    return pd.DataFrame({name: columns[name] for name in COLUMNS}).astype(str)


def write(frame: pd.DataFrame, folder: Path) -> None:
    frame.to_csv(folder / FILE, index=False, lineterminator="\r\n")


DATASET = Dataset(
    files=(
        RawFile(
            FILE,
            "11a7c62be2b7aed7cb069624789755d5f57acc8b69580564e2401b084e2d5faf",
            f"{NIFTY}/{FILE}",
        ),
    ),
    rows=(18_876, 18_876),
    leaking=frozenset({"TIME"}),
    sensitive={
        # So the study's own description: few of the others are neither black nor white.
        "race": Attribute("WHITE", {0: "Black", 1: "White or other"}),
        "gender": Attribute("MALE", {0: "Female", 1: "Male"}),
    },
    label="RECID",
    terms="MIT licence of the repository (chirag126/nifty); none stated for the data themselves",
    read=read,
    schema=SCHEMA,
    clean=clean,
    encode=encode,
    simulate=simulate,
    write=write,
)

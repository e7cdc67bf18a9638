"""Dutch Census 2001: does a person hold a prestigious occupation?

Statistics Netherlands; the extract of Le Quy et al. (2022), "A survey on datasets for
fairness-aware machine learning". The microdata may not be republished: no row is in git.

It is no census of everybody: Schulte Nordholt (2005), "The Dutch Virtual Census 2001", tells how
registers and surveys were put together; what is released is a sample of about one in a hundred. And
the task is cut to be easy: Kamiran and Calders (2012), "Data preprocessing techniques for
classification without discrimination", left out minors, occupations in between and unknown ones. So
the label sets occupations of the codes 2 and 1 against 5, 4 and 9, and nobody has any other; rates
here are not those of all who work. Age, household and education are codes of broad classes.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa

from infofair.data.dataset import Attribute, Dataset, RawFile, authors_split
from infofair.data.tabular import binary, draw, label_with, one_hot, one_of, parse, read_lines
from infofair.errors import Problem

FILE = "dutch_census_2001.arff"

# The values in the order the ARFF header declares them, which is the order of the one-hot columns,
# with their rough share for the simulator; several declared values never occur.
VALUES: dict[str, dict[str, float]] = {
    "sex": {"2": 0.5, "1": 0.5},
    "age": {
        "17": 0, "15": 0.001, "16": 0, "13": 0.017, "14": 0.003, "11": 0.116, "12": 0.064, "3": 0,
        "2": 0, "1": 0, "10": 0.13, "7": 0.137, "6": 0.104, "5": 0.079, "4": 0.063, "9": 0.14,
        "8": 0.145,
    },
    "household_position": {
        "1110": 0.12, "1132": 0.04, "1210": 0.11, "1131": 0.1, "1121": 0.165, "1140": 0.03,
        "1122": 0.43, "1220": 0.009,
    },
    "household_size": {
        "125": 0.1, "126": 0.03, "114": 0.27, "112": 0.29, "113": 0.2, "111": 0.11,
    },
    "prev_residence_place": {"2": 0.025, "1": 0.975, "9": 0},
    "citizenship": {"3": 0.006, "2": 0.014, "1": 0.98},
    "country_birth": {"3": 0.047, "2": 0.025, "1": 0.928},
    "edu_level": {"3": 0.375, "2": 0.2, "1": 0.075, "0": 0.004, "5": 0.3, "4": 0.04, "9": 0},
    "economic_status": {
        "221": 0, "222": 0, "210": 0, "223": 0, "112": 0.07, "224": 0, "111": 0.85, "120": 0.08,
    },
    "cur_eco_activity": {
        "134": 0.03, "135": 0.17, "132": 0.04, "133": 0.05, "138": 0.135, "122": 0.11, "139": 0.045,
        "200": 0, "136": 0.07, "137": 0.1, "124": 0.03, "111": 0.03, "131": 0.19,
    },
    "Marital_status": {"3": 0.01, "2": 0.6, "1": 0.33, "4": 0.06},
    "occupation": {"5_4_9": 0.52, "2_1": 0.48},
}  # fmt: skip
COUPLE = ["1121", "1122"]  # household positions: married, without and with children
ALONE = "1210"  # household position: living alone

SCHEMA = pa.DataFrameSchema(
    {column: one_of(values) for column, values in VALUES.items()},
    checks=[
        pa.Check(
            lambda df: (df["household_position"] == ALONE) == (df["household_size"] == "111"),
            name="who lives alone is a household of one",
        ),
        pa.Check(
            lambda df: ~df["household_position"].isin(COUPLE) | (df["Marital_status"] == "2"),
            name="a partner in a married couple is married",
        ),
    ],
    strict=True,
)


def read(folder: Path) -> pd.DataFrame:
    """An ARFF file whose header must declare exactly the attributes and values above."""
    path = folder / FILE
    lines = read_lines(path)
    start = next((i for i, line in enumerate(lines) if line.strip().lower() == "@data"), None)
    if start is None:
        raise Problem(f"{path}: no line @data; expected an ARFF file")
    declared = [line.split(maxsplit=2) for line in lines[:start] if line.startswith("@attribute")]
    expected = [["@attribute", name, f"{{{','.join(VALUES[name])}}}"] for name in VALUES]
    for found, wanted in zip(declared, expected, strict=False):
        if found != wanted:
            raise Problem(f"{path}: found {' '.join(found)!r}; expected {' '.join(wanted)!r}")
    if len(declared) != len(expected):
        raise Problem(f"{path}: {len(declared)} attributes declared; expected {len(expected)}")
    return parse(path, lines[start + 1 :], list(VALUES), first=start + 2)


def clean(frame: pd.DataFrame) -> pd.DataFrame:
    label = (frame["occupation"] == "2_1").astype("int8")
    types = {name: pd.CategoricalDtype(list(VALUES[name])) for name in VALUES}
    return frame.astype(types).assign(occupation=label)


def encode(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    columns = binary(frame, "sex", "2")
    for name in list(VALUES)[1:-1]:  # all but sex and occupation
        columns |= one_hot(frame[name], name, VALUES[name])
    return columns


def simulate(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {name: draw(rng, shares, rows) for name, shares in VALUES.items()}
    position = columns["household_position"]
    several = draw(rng, {k: v for k, v in VALUES["household_size"].items() if k != "111"}, rows)
    columns["household_size"] = np.where(position == ALONE, "111", several)
    columns["Marital_status"] = np.where(
        np.isin(position, COUPLE), "2", draw(rng, {"3": 2, "2": 6, "1": 80, "4": 12}, rows)
    )
    education = columns["edu_level"].astype(int)
    score = (
        1.2 * education + 0.08 * columns["age"].astype(int) + 0.8 * (columns["sex"] == "1")
        + 0.4 * (columns["Marital_status"] == "2")
        + 0.5 * np.isin(columns["cur_eco_activity"], ["135", "136", "137"])
    )  # fmt: skip
    columns["occupation"] = np.array(["5_4_9", "2_1"])[label_with(rng, score, 0.476)]
    return pd.DataFrame(columns)


def write(frame: pd.DataFrame, folder: Path) -> None:
    header = [f"@attribute {name} {{{','.join(values)}}}" for name, values in VALUES.items()]
    rows = [",".join(row) for row in frame.to_numpy().tolist()]
    text = "\n".join(["@relation simulated", "", *header, "", "@data", "", *rows, ""])
    (folder / FILE).write_text(text)


DATASET = Dataset(
    files=(
        RawFile(
            FILE,
            "0e7e3f32668919c239db820f625815e1ea834c71402cdea595e03ef08c8616ef",
            "https://raw.githubusercontent.com/tailequy/fairness_dataset/"
            f"abb5a18b822ba56a221c5311082e192e85000b95/Dutch_census/{FILE}",
            {},
        ),
    ),
    split=authors_split(
        "dutch",
        train="0c058f1b039d83a7b047709e0e6b2ee7f3c862832767595039a689e1a0037142",
        test="3bc32fe477e6753941bf54f93bc72e7cb11816c81a131d53b50d664341ed43ab",
    ),
    rows=(60_420, 60_420),
    identifying=frozenset(),
    leaking=frozenset(),
    sensitive={
        "gender": Attribute("sex", {"1": "Male", "2": "Female"}),
        # The source does not name the codes; 3 and 4 are told apart by their sizes and ages.
        "marital": Attribute(
            "Marital_status", {"3": "Widowed", "2": "Married", "1": "Single", "4": "Divorced"}
        ),
    },
    label="occupation",
    terms="microdata of Statistics Netherlands, not to be republished",
    read=read,
    schema=SCHEMA,
    filters=(),
    clean=clean,
    encode=encode,
    simulate=simulate,
    write=write,
)

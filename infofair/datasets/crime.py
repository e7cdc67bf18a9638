"""Communities and Crime: how many violent crimes are there per inhabitant? (US, 1990 and 1995)

Redmond, UCI Machine Learning Repository 183, DOI 10.24432/C53W3X: the census of 1990, a survey of
the police of the same year, and the FBI's counts of 1995. Every number is scaled to 0 … 1 and
rounded to hundredths there. Terms: CC BY 4.0, as of the repository's other data. The same bytes are
in zhimengj0326/GDP on GitHub, at c2c04a1, as comp/communities.data.

A row is a community, not a person: that its score depends on racepctblack says nothing of how any
one of its people is treated. The two sensitive attributes are shares of the population, scaled like
all the others: they are numbers, and no groups are made of them.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa

from infofair.data.dataset import Attribute, Dataset, RawFile
from infofair.data.tabular import decimal, matching, parse, read_lines, whole_number, written

FILE = "communities.data"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/communities"
LABEL = "ViolentCrimesPerPop"
COLUMNS = (
    "state", "county", "community", "communityname", "fold", "population", "householdsize",
    "racepctblack", "racePctWhite", "racePctAsian", "racePctHisp", "agePct12t21", "agePct12t29",
    "agePct16t24", "agePct65up", "numbUrban", "pctUrban", "medIncome", "pctWWage", "pctWFarmSelf",
    "pctWInvInc", "pctWSocSec", "pctWPubAsst", "pctWRetire", "medFamInc", "perCapInc",
    "whitePerCap", "blackPerCap", "indianPerCap", "AsianPerCap", "OtherPerCap", "HispPerCap",
    "NumUnderPov", "PctPopUnderPov", "PctLess9thGrade", "PctNotHSGrad", "PctBSorMore",
    "PctUnemployed", "PctEmploy", "PctEmplManu", "PctEmplProfServ", "PctOccupManu",
    "PctOccupMgmtProf", "MalePctDivorce", "MalePctNevMarr", "FemalePctDiv", "TotalPctDiv",
    "PersPerFam", "PctFam2Par", "PctKids2Par", "PctYoungKids2Par", "PctTeen2Par",
    "PctWorkMomYoungKids", "PctWorkMom", "NumIlleg", "PctIlleg", "NumImmig", "PctImmigRecent",
    "PctImmigRec5", "PctImmigRec8", "PctImmigRec10", "PctRecentImmig", "PctRecImmig5",
    "PctRecImmig8", "PctRecImmig10", "PctSpeakEnglOnly", "PctNotSpeakEnglWell", "PctLargHouseFam",
    "PctLargHouseOccup", "PersPerOccupHous", "PersPerOwnOccHous", "PersPerRentOccHous",
    "PctPersOwnOccup", "PctPersDenseHous", "PctHousLess3BR", "MedNumBR", "HousVacant",
    "PctHousOccup", "PctHousOwnOcc", "PctVacantBoarded", "PctVacMore6Mos", "MedYrHousBuilt",
    "PctHousNoPhone", "PctWOFullPlumb", "OwnOccLowQuart", "OwnOccMedVal", "OwnOccHiQuart",
    "RentLowQ", "RentMedian", "RentHighQ", "MedRent", "MedRentPctHousInc", "MedOwnCostPctInc",
    "MedOwnCostPctIncNoMtg", "NumInShelters", "NumStreet", "PctForeignBorn", "PctBornSameState",
    "PctSameHouse85", "PctSameCity85", "PctSameState85", "LemasSwornFT", "LemasSwFTPerPop",
    "LemasSwFTFieldOps", "LemasSwFTFieldPerPop", "LemasTotalReq", "LemasTotReqPerPop",
    "PolicReqPerOffic", "PolicPerPop", "RacialMatchCommPol", "PctPolicWhite", "PctPolicBlack",
    "PctPolicHisp", "PctPolicAsian", "PctPolicMinor", "OfficAssgnDrugUnits", "NumKindsDrugsSeiz",
    "PolicAveOTWorked", "LandArea", "PopDens", "PctUsePubTrans", "PolicCars", "PolicOperBudg",
    "LemasPctPolicOnPatr", "LemasGangUnitDeploy", "LemasPctOfficDrugUn", "PolicBudgPerPop",
    "ViolentCrimesPerPop",
)  # fmt: skip
PLACES = ("state", "county", "community", "communityname", "fold")  # where it is; UCI's own folds
INCOMPLETE = (  # not known for some communities: most of the police, of whom few were asked
    "OtherPerCap", "LemasSwornFT", "LemasSwFTPerPop", "LemasSwFTFieldOps", "LemasSwFTFieldPerPop",
    "LemasTotalReq", "LemasTotReqPerPop", "PolicReqPerOffic", "PolicPerPop", "RacialMatchCommPol",
    "PctPolicWhite", "PctPolicBlack", "PctPolicHisp", "PctPolicAsian", "PctPolicMinor",
    "OfficAssgnDrugUnits", "NumKindsDrugsSeiz", "PolicAveOTWorked", "PolicCars", "PolicOperBudg",
    "LemasPctPolicOnPatr", "LemasGangUnitDeploy", "PolicBudgPerPop",
)  # fmt: skip
NUMBERS = tuple(name for name in COLUMNS if name not in (*PLACES, *INCOMPLETE, LABEL))
# For the simulator: columns that go with poverty, and with the opposite.
POOR = ("PctPopUnderPov", "PctIlleg", "PctUnemployed", "pctWPubAsst", "TotalPctDiv", "PctNotHSGrad")
RICH = ("medIncome", "medFamInc", "perCapInc", "PctKids2Par", "PctFam2Par", "racePctWhite")

SCHEMA = pa.DataFrameSchema(
    {
        "state": whole_number(1, 56),
        "county": matching(r"^([0-9]{1,3}|\?)$"),
        "community": matching(r"^([0-9]{1,5}|\?)$"),
        "communityname": matching(r"^[A-Za-z-]{1,60}$"),
        "fold": whole_number(1, 10),
        **{column: decimal(0, 1) for column in (*NUMBERS, LABEL)},
        **{column: matching(r"^(0(\.[0-9]{1,2})?|1(\.00?)?|\?)$") for column in INCOMPLETE},
    },
    checks=[
        pa.Check(
            lambda df: (df["county"] == "?") <= (df["community"] == "?"),
            name="a community without a county has no number",
        ),
    ],
    strict=True,
)


def read(folder: Path) -> pd.DataFrame:
    path = folder / FILE
    return parse(path, read_lines(path), COLUMNS, first=1)


def clean(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[[*NUMBERS, LABEL]]


def encode(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    return {name: frame[name].to_numpy() for name in NUMBERS}


def simulate(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    poverty, size = rng.normal(size=(2, rows))

    def share(score: np.ndarray, noise: float) -> np.ndarray:
        """A score and some noise, squeezed into 0 … 1."""
        return 1 / (1 + np.exp(0.8 - score - noise * rng.normal(size=rows)))

    black, hispanic = share(0.8 * poverty - 1, 1.2), share(0.4 * poverty - 1, 1.5)
    columns = {name: share(0.3 * size, 1) for name in COLUMNS}
    columns |= {name: share(poverty, 0.5) for name in POOR}
    columns |= {name: share(-poverty, 0.5) for name in RICH}
    columns |= {"racepctblack": black, "racePctHisp": hispanic}
    columns[LABEL] = share(0.9 * poverty + 1.5 * black + 0.3 * size - 1, 0.6)
    columns = {name: written(x, 2) for name, x in columns.items()}
    asked = rng.random(rows) < 0.16
    for name in INCOMPLETE:
        known = rng.random(rows) < 0.99 if name == "OtherPerCap" else asked
        columns[name] = np.where(known, columns[name], "?")
    placed = rng.random(rows) < 0.41
    columns |= {
        "state": rng.integers(1, 57, rows),
        "county": np.where(placed, rng.integers(1, 841, rows).astype(str), "?"),
        "community": np.where(placed, rng.integers(70, 95_000, rows).astype(str), "?"),
        "communityname": np.array([f"Simulated{'abcdefghij'[i % 10]}ville" for i in range(rows)]),
        "fold": np.arange(rows) % 10 + 1,
    }
    return pd.DataFrame({name: columns[name] for name in COLUMNS}).astype(str)


def write(frame: pd.DataFrame, folder: Path) -> None:
    lines = [",".join(row) for row in frame.to_numpy().tolist()]
    (folder / FILE).write_bytes("\r\n".join([*lines, ""]).encode())


DATASET = Dataset(
    files=(
        RawFile(
            FILE,
            "09e0b5c07eae24c1efab19b2edee05e160e7f5743b6f31e31eec3d73624da2ea",
            f"{UCI}/{FILE}",
            folder="communities_crime",
        ),
    ),
    rows=(1_994, 1_994),
    sensitive={"black": Attribute("racepctblack"), "hispanic": Attribute("racePctHisp")},
    label=LABEL,
    number=True,
    terms="CC BY 4.0 (UCI 183)",
    read=read,
    schema=SCHEMA,
    clean=clean,
    encode=encode,
    simulate=simulate,
    write=write,
)

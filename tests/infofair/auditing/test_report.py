"""The result: its schema, its bytes, and that nobody can be found in it."""

import html
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

import infofair
from infofair.auditing import report
from infofair.auditing.run import Audit
from tests.infofair.auditing.people import loans, people

pytestmark = pytest.mark.usefixtures("few_draws")
SCHEMA = json.loads(files("infofair.auditing").joinpath("schema.json").read_text("utf-8"))
NAMES = {"index.html", "audit.json", "model_card.md"}


def audited(
    frame: pd.DataFrame, sensitive: tuple[str, ...] = ("sex", "race"), **given: Any
) -> Audit:
    return infofair.audit(
        frame["y"], score=frame["p"], sensitive_features=frame[list(sensitive)], **given
    )


@pytest.fixture(scope="module")
def full(few_draws: None) -> Audit:
    frame = loans()
    rng = np.random.default_rng(0)
    return audited(
        frame, ("sex", "race", "age"), weights=rng.random(len(frame)) + 0.5,
        splits=rng.choice(["train", "test"], len(frame)), features=frame[["p", "race"]],
        notion="odds", names={"file": "loans.csv", "label": "y", "score": "p"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def regression(few_draws: None) -> Audit:
    frame = loans()
    return audited(frame.assign(y=frame["p"] * 3 + frame["y"]), task="regression")


@pytest.fixture(scope="module")
def decisions(few_draws: None) -> Audit:
    frame = people(600, 3)
    return infofair.audit(frame["y"], decision=frame["p"] > 0.5, sensitive_features=frame["g"])


def test_it_opens_its_page(
    decisions: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    page = decisions.show()
    assert opened == [page.as_uri()] and page.is_relative_to(tmp_path)
    assert {path.name for path in page.parent.iterdir()} == NAMES
    assert page.read_bytes() == decisions.write(tmp_path / "own").read_bytes()


def test_a_notebook_shows_the_page_in_a_frame(decisions: Audit, tmp_path: Path) -> None:
    shown = decisions._repr_html_()
    (page,) = re.fullmatch(r'<iframe srcdoc="([^"]*)" [^<>]*></iframe>', shown).groups()  # type: ignore[union-attr]
    assert html.unescape(page) == decisions.write(tmp_path).read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["full", "regression", "decisions"])
def test_it_keeps_its_schema(kind: str, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(kind).to_dict()
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert [error.message for error in validator.iter_errors(found)] == []
    again = json.loads(report.to_json(found))
    assert again == found


def test_the_schema_is_checked_itself() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == report.SCHEMA
    broken = {"schema": report.SCHEMA, "settings": []}
    assert list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(broken))


def test_the_same_rows_give_the_same_bytes(tmp_path: Path, full: Audit) -> None:
    frame = loans()
    rng = np.random.default_rng(0)
    again = audited(
        frame, ("sex", "race", "age"), weights=rng.random(len(frame)) + 0.5,
        splits=rng.choice(["train", "test"], len(frame)), features=frame[["p", "race"]],
        notion="odds", names={"file": "loans.csv", "label": "y", "score": "p"},
    )  # fmt: skip
    full.write(tmp_path / "one")
    again.write(tmp_path / "deeper/two")
    for name in NAMES:
        assert (tmp_path / "one" / name).read_bytes() == (
            tmp_path / "deeper/two" / name
        ).read_bytes()


def test_another_seed_draws_otherwise_but_changes_no_figure() -> None:
    frame = people(600, 3)
    one, other = (
        infofair.audit(frame["y"], score=frame["p"], sensitive_features=frame["g"], seed=seed)
        for seed in (0, 1)
    )
    [first], [second] = one.to_dict()["settings"], other.to_dict()["settings"]
    assert first["groups"] == second["groups"]
    assert first["measures"] != second["measures"]
    assert [m["value"] for m in first["measures"]] == [m["value"] for m in second["measures"]]


# -- nothing half-written -------------------------------------------------------------------------


def test_a_failure_leaves_what_was_there(
    tmp_path: Path, decisions: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        (tmp_path / name).write_text("of an earlier audit")
    written = Path.write_text

    def full_disk(path: Path, text: str, **given: Any) -> int:
        if "model_card" in path.name:
            raise OSError(28, "No space left on device", str(path))
        return written(path, text, **given)

    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(OSError, match="No space left on device") as raised:
        decisions.write(tmp_path)
    assert raised.value.filename == str(tmp_path / "model_card.md")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
        NAMES, "of an earlier audit"
    )


# -- small cells ----------------------------------------------------------------------------------


def with_three(seed: int = 0) -> pd.DataFrame:
    """300 people, three of whom are of a group that nobody else is of."""
    frame = people(303, 2, seed=seed, equal=True).rename(columns={"g": "race"})
    frame.loc[:2, "race"] = "secret"
    frame["sex"] = np.random.default_rng(seed).choice(["f", "m"], len(frame))
    return frame


def numbers_of(content: Any) -> list[float]:
    if isinstance(content, dict):
        return [n for key, of in content.items() if key != "rules" for n in numbers_of(of)]
    if isinstance(content, list):
        return [n for of in content for n in numbers_of(of)]
    return [content] if isinstance(content, int | float) and not isinstance(content, bool) else []


@pytest.mark.promise("An audit shows no cell of fewer than five people, unless asked.")
def test_a_group_of_three_is_neither_named_nor_counted_nor_computed(tmp_path: Path) -> None:
    frame = with_three()
    found = audited(frame, ("race", "sex"))
    assert found.to_dict()["protected"] is True
    found.write(tmp_path)
    for name in NAMES:
        assert "secret" not in (tmp_path / name).read_text()
    race = found.to_dict()["settings"][0]
    assert race["pooled"][-1] == {"name": "1 of fewer than 5 people", "rows": None}
    assert race["unpooled"] is None
    # every count is a multiple of five: no difference of two of them is three
    counts = [found.to_dict()["rows"]]
    for setting in found.to_dict()["settings"]:
        counts += [own["rows"] for own in setting["groups"]]
        counts += [own["rows"] for own in setting["pooled"] if own["rows"] is not None]
    assert {n % 5 for n in counts} == {0}
    # and no rate is fine enough to tell of one person among three hundred
    rates = [own[key] for setting in found.to_dict()["settings"] for group in setting["groups"]
             for own in [group["selection_rate"]] for key in ("value", "low", "high")]  # fmt: skip
    assert all(round(rate, 2) == rate for rate in [*rates, *found.to_dict()["overall"].values()])


@pytest.mark.promise("An audit shows no cell of fewer than five people, unless asked.")
def test_what_is_suppressed_is_not_determined_by_what_is_shown() -> None:
    """Two tables that differ in the small cell alone are told alike."""
    frame = with_three()
    other = frame.copy()
    other.loc[3, "race"] = "secret"  # four of them
    counts = []
    for own in (frame, other):
        found = audited(own, ("race", "sex")).to_dict()
        counts.append([found["rows"], *(g["rows"] for s in found["settings"] for g in s["groups"])])
    assert counts[0] == counts[1]


def test_very_many_groups_are_counted_not_listed() -> None:
    frame = people(3000, 2, equal=True)
    towns = [f"town {i}" if i < 1000 else "city" for i in range(3000)]
    found = infofair.audit(
        frame["y"], score=frame["p"], sensitive_features={"town": towns}, show_small=True
    ).to_dict()
    [setting] = found["settings"]
    assert [own["name"] for own in setting["groups"]] == ["city", "1000 groups pooled"]
    assert setting["pooled"][-1] == {"name": "950 more", "rows": 950}
    assert setting["unpooled"] is None


@pytest.mark.promise("An audit shows no cell of fewer than five people, unless asked.")
def test_show_small_shows_everything() -> None:
    found = audited(with_three(), ("race", "sex"), show_small=True).to_dict()
    assert found["protected"] is False
    assert found["rows"] == 303
    race = found["settings"][0]
    assert {"name": "secret", "rows": 3} in race["pooled"]
    assert race["unpooled"]["groups"] == 3


def test_without_small_cells_counts_are_exact() -> None:
    frame = people(603, 3)
    found = infofair.audit(frame["y"], score=frame["p"], sensitive_features=frame["g"]).to_dict()
    assert found["protected"] is False
    assert found["rows"] == 603
    expected = frame.groupby("g").size()
    assert {g["name"]: g["rows"] for g in found["settings"][0]["groups"]} == expected.to_dict()


@pytest.mark.promise("An audit shows no cell of fewer than five people, unless asked.")
def test_every_figure_that_is_shown_is_of_five_people() -> None:
    frame = loans(700, 3)
    found = audited(frame, ("sex", "race", "age"), show_small=True).to_dict()
    for setting in found["settings"]:
        assert all(own["rows"] >= 20 for own in setting["groups"])
    assert sum(own["rows"] for own in found["settings"][-1]["groups"]) == 700


def test_no_row_and_no_score_of_anybody_is_in_the_output(tmp_path: Path) -> None:
    frame = loans(400).assign(income=np.arange(400) + 123_456)
    audited(frame, ("sex",), features=frame[["income"]]).write(tmp_path)
    text = "".join((tmp_path / name).read_text() for name in sorted(NAMES))
    assert not re.search(r"123[4-9]\d\d", text)


@pytest.mark.promise("An audit shows no cell of fewer than five people, unless asked.")
def test_protected_numbers_have_few_digits(full: Audit) -> None:
    content = full.to_dict()
    assert content["protected"] is True
    texts = [f"{n:.10g}" for n in numbers_of({"settings": content["settings"]})]
    longest = max(len(text.partition(".")[2].lstrip("0")) for text in texts if "e" not in text)
    assert longest <= 2

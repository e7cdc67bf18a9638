"""params.yaml: whatever it holds, it passes or one line says what is wrong."""

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from infofair.errors import Problem
from study import params
from tests.conftest import ROOT, compared
from tests.raw import GENERAL

COMMITTED = YAML(typ="safe").load((ROOT / "params.yaml").read_text(encoding="utf-8"))
REMOVED = object()
# of vanilla alone
LITTLE = {"beyond": {"trained": [], "solved": []}, "comparison": compared()}


def changed(changes: dict[str, Any]) -> dict[str, Any]:
    """The committed parameters with other values at some dotted keys."""
    content = copy.deepcopy(COMMITTED)
    for dotted, value in changes.items():
        *sections, key = dotted.split(".")
        section = content
        for name in sections:
            section = section[name]
        if value is REMOVED:
            del section[key]
        else:
            section[key] = value
    return content


def message(content: object) -> str:
    with pytest.raises(Problem) as caught:
        params.check(content)
    return str(caught.value)


def only(*methods: str, place: str = "trained") -> dict[str, Any]:
    """Changes that leave these methods, all in one of the lists."""
    empty: dict[str, list[str]] = {name: [] for name in COMMITTED["methods"]}
    return {"methods": empty | {place: list(methods)}}


def test_the_committed_file_passes_and_alpha_is_its_first_key() -> None:
    assert params.check(COMMITTED).alpha == COMMITTED["alpha"]
    assert next(iter(COMMITTED)) == "alpha"


@pytest.mark.parametrize(
    ("key", "value", "named", "allowed"),
    [
        # Unknown keys: the message lists the known ones.
        ("foo", 1, "foo = 1", "unknown key; allowed: alpha, datasets, methods, beyond"),
        ("training.foo", 1, "training.foo = 1", "allowed: epochs, patience, batch_size"),
        ("infofair.foo", 1, "infofair.foo = 1", "unknown key; allowed: "),
        ("compas.foo", 1, "compas.foo = 1", "allowed: hidden, drop_leaking_columns"),
        ("methods.foo", [], "methods.foo = []", "allowed: trained, ablations, solved"),
        # Types: nothing is converted.
        ("alpha", "0.1", "alpha = '0.1'", "valid number"),
        ("alpha", True, "alpha = True", "valid number"),
        ("alpha", None, "alpha = None", "valid number"),
        ("training.epochs", 1.5, "training.epochs = 1.5", "valid integer"),
        ("training.epochs", True, "training.epochs = True", "valid integer"),
        ("seeds", 3, "seeds = 3", "valid list"),
        ("datasets", "adult", "datasets = 'adult'", "valid list"),
        ("sensitive_as_input", 1, "sensitive_as_input = 1", "valid boolean"),
        ("sensitive_as_input", "yes", "sensitive_as_input = 'yes'", "valid boolean"),
        ("training", None, "training = None", "valid dictionary"),
        ("infofair", [1], "infofair = [1]", "valid dictionary"),
        # Ranges.
        ("alpha", -0.1, "alpha = -0.1", "greater than or equal to 0"),
        ("alpha", float("nan"), "alpha = nan", "finite"),
        ("alpha", float("inf"), "alpha = inf", "finite"),
        ("seeds", [], "seeds = []", "at least 1"),
        ("seeds", [1, 2, 1], "seeds = [1, 2, 1]", "only once"),
        ("seeds", [0, -1], "seeds[1] = -1", "greater than or equal to 0"),
        ("seeds", [0.5], "seeds[0] = 0.5", "valid integer"),
        ("seeds", [True], "seeds[0] = True", "valid integer"),
        ("training.epochs", 0, "training.epochs = 0", "greater than or equal to 1"),
        ("training.patience", 0, "training.patience = 0", "greater than or equal to 1"),
        ("training.batch_size", 0, "training.batch_size = 0", "greater than or equal to 1"),
        ("training.weight_decay", -1, "training.weight_decay = -1", "greater than or equal to 0"),
        ("infofair.learning_rate", 0, "infofair.learning_rate = 0", "greater than 0"),
        ("vanilla.learning_rate", 0.0, "vanilla.learning_rate = 0.0", "greater than 0"),
        ("infofair.temperature", 0, "infofair.temperature = 0", "greater than 0"),
        (
            "infofair.halve_temperature_every",
            0,
            "infofair.halve_temperature_every = 0",
            "equal to 1",
        ),
        ("compas", None, "compas = None", "valid dictionary"),
        ("compas.hidden", [], "compas.hidden = []", "at least 1"),
        ("compas.hidden", [32, 0], "compas.hidden[1] = 0", "greater than or equal to 1"),
        ("random_split.train", 0, "random_split.train = 0", "greater than 0"),
        ("random_split.validation", 1, "random_split.validation = 1", "less than 1"),
        ("random_split.train", 0.9, "random_split = {", "train + validation should be less than 1"),
        ("random_split.seed", -1, "random_split.seed = -1", "greater than or equal to 0"),
        # Names and words.
        ("datasets", ["mnist"], "datasets[0] = 'mnist'", "one of ['adult', 'bail', 'compas', "),
        ("datasets", ["__init__"], "datasets[0] = '__init__'", "one of ['adult', 'bail'"),
        ("datasets", ["dutch", "dutch"], "datasets = ['dutch', 'dutch']", "only once"),
        ("datasets", [], "datasets = []", "at least 1"),
        ("methods.trained", ["magic"], "methods.trained[0] = 'magic'", "one of ['adversarial', "),
        ("methods.trained", ["gdp"] * 2, "methods.trained = ['gdp', 'gdp']", "only once"),
        ("methods.ablations", ["infofair"], "methods: 'infofair'", "only once"),
        ("beyond.trained", ["infofair"], "methods: 'infofair'", "only once"),
        ("methods", only("infofair_ts")["methods"], "methods.trained = ['infofair_ts']", "ablati"),
        ("methods", only("lfr")["methods"], "methods.trained = ['lfr']", "belongs under solved"),
        ("methods", only("gdp", place="solved")["methods"], "methods.solved = ['gdp']", "trained"),
        ("methods", only("gdp", place="ablations")["methods"], "methods.ablations", "trained"),
        (
            "beyond",
            {"trained": [], "solved": ["dp_gap"]},
            "beyond.solved = ['dp_gap']",
            "belongs under trained",
        ),
        ("lfr.parity", [1.0, -1.0], "lfr.parity[1] = -1.0", "greater than or equal to 0"),
        ("gerryfair.rounds", 0, "gerryfair.rounds = 0", "greater than or equal to 1"),
        ("di.smallest_group", 0, "di.smallest_group = 0", "greater than or equal to 1"),
        ("methods", only()["methods"], "methods: all lists are empty", "at least one"),
        ("split", "paper", "split = 'paper'", "'authors' or 'random'"),
        ("scale", "rows", "scale = 'rows'", "'all_rows' or 'train_rows'"),
        ("fallback", "stop", "fallback = 'stop'", "'simulate' or 'none'"),
        ("fallback", None, "fallback = None", "'simulate' or 'none'"),
        # The comparison.
        ("backbone.learning_rates", [0.0], "backbone.learning_rates[0] = 0.0", "greater than 0"),
        ("backbone.steps", 0, "backbone.steps = 0", "greater than or equal to 1"),
        ("comparison.strengths", 1, "comparison.strengths = 1", "greater than or equal to 2"),
        ("comparison.look", 2, "comparison.look = 2", "greater than or equal to 3"),
        ("comparison.between", [1.0], "comparison.between = [1.0]", "at least 2"),
        ("comparison.between", [0.0, 1.0], "comparison.between[0] = 0.0", "greater than 0"),
        (
            "comparison.between",
            [1.0, 2.0, 3.0],
            "comparison.between = [1.0, 2.0, 3.0]",
            "at most 2",
        ),
        ("comparison.ends.gdp", [1.0, -1.0], "comparison.ends.gdp[1] = -1.0", "greater than 0"),
        ("comparison.ends.magic", [1.0, 2.0], "comparison.ends.magic.[key] = 'magic'", "one of"),
        ("comparison.budget", 1.5, "comparison.budget = 1.5", "less than or equal to 1"),
        ("comparison.seeds", [], "comparison.seeds = []", "at least 1"),
        ("comparison.seeds", [-1], "comparison.seeds[0] = -1", "equal to 0"),
        ("comparison.splits", [0, 0], "comparison.splits = [0, 0]", "only once"),
        ("comparison.smallest_group", 0, "comparison.smallest_group = 0", "equal to 1"),
        ("comparison.foo", 1, "comparison.foo = 1", "unknown key; allowed: strengths, look"),
        ("comparison.large.foo", 1, "comparison.large.foo = 1", "allowed: datasets, splits"),
        ("comparison.paper", ["lfr"], "comparison.paper: 'lfr'", "has a solver"),
        ("comparison.paper", ["gdp", "gdp"], "comparison.paper = ['gdp', 'gdp']", "only once"),
        ("comparison.paper", ["infofair_ts"], "comparison.paper: 'infofair_ts'", "neither under"),
        ("beyond.trained", [], "comparison.unaware: 'infofair_fitted'", "neither under `methods`"),
        (
            "comparison.large.trained",
            ["vanilla", "lfr"],
            "comparison.large.trained: 'lfr'",
            "has a",
        ),
        ("comparison.large.solved", ["gdp"], "comparison.large.solved: 'gdp'", "does not have a"),
        ("comparison.large.datasets", ["adult"], "comparison.large.datasets: 'adult'", "already"),
        ("comparison.large.datasets", ["x"], "comparison.large.datasets[0] = 'x'", "one of"),
        ("comparison.large.splits", [], "comparison.large.splits = []", "at least 1"),
        ("general.datasets", ["x"], "general.datasets[0] = 'x'", "one of"),
        ("general.datasets", ["law", "law"], "general.datasets = ['law', 'law']", "only once"),
        ("general.datasets", ["adult"], "general.datasets: 'adult'", "among those of the paper"),
        ("general.datasets", ["kdd"], "general.datasets: 'kdd'", "or the comparison"),
        ("general.studies", [], "general.studies = []", "at least 1"),
        ("general.studies", ["graph"], "general.runs.equal_opportunity-compas", "not under gener"),
        ("general.runs", {}, "general.studies: 'equal_opportunity'", "no run"),
        ("general.runs.graph-bail.room", "data", "general.runs.graph-bail: 'bail'", "data/more"),
        ("general.runs.graph-bail.study", "x", "general.runs.graph-bail.study = 'x'", "one of"),
        ("general.runs.graph-bail.dataset", "german", "general.runs.graph-bail", "'graph-german'"),
        ("general.runs.graph-bail.foo", 1, "general.runs.graph-bail.foo = 1", "allowed: study, "),
        ("general.datasets", ["law"], "general.runs.continuous-crime: 'crime'", "not under gener"),
        ("general.foo", 1, "general.foo = 1", "unknown key; allowed: datasets"),
        ("comparison.fixed.magic", {}, "comparison.fixed.magic.[key] = 'magic'", "one of"),
        (
            "comparison.fixed.gdp",
            {"rate": 1},
            "comparison.fixed.gdp.rate = 1",
            "unknown key; allowed: learning_rate",
        ),
        (
            "comparison.fixed.gerryfair",
            {"rounds": 0},
            "comparison.fixed.gerryfair.rounds = 0",
            "greater than or equal to 1",
        ),
        (
            "methods.trained",
            ["infofair", "mindiff"],
            "methods.trained: vanilla is missing",
            "measured against it",
        ),
        ("luck.methods", ["lfr"], "luck.methods: 'lfr'", "no network with a file of its own"),
        ("luck.methods", ["infofair_ts"], "luck.methods: 'infofair_ts'", "no network"),
        ("luck.methods", [], "luck.methods = []", "at least 1 item"),
        # What cannot be meant.
        ("training.epochs", 10**9, "training.epochs = 1000000000", "equal to 100000"),
        ("training.patience", 10**9, "training.patience = 1000000000", "equal to 100000"),
        ("training.batch_size", 10**9, "training.batch_size = 1000000000", "equal to 1000000"),
        ("backbone.steps", 10**9, "backbone.steps = 1000000000", "equal to 1000000"),
        ("compas.hidden", [10**9], "compas.hidden[0] = 1000000000", "equal to 65536"),
        ("compas.hidden", [1] * 17, "compas.hidden = [1, 1", "at most 16 items"),
        ("comparison.look", 10**9, "comparison.look = 1000000000", "equal to 100"),
        ("general.strengths", 10**9, "general.strengths = 1000000000", "equal to 100"),
        ("luck.seeds", 10**9, "luck.seeds = 1000000000", "equal to 100000"),
        ("gerryfair.rounds", 10**9, "gerryfair.rounds = 1000000000", "equal to 100000"),
        ("lfr.prototypes", 10**9, "lfr.prototypes = 1000000000", "equal to 1000"),
        ("fermi.critic_steps", 10**9, "fermi.critic_steps = 1000000000", "equal to 100000"),
        # What is not there.
        ("alpha", REMOVED, "alpha", "is missing"),
        ("training.epochs", REMOVED, "training.epochs", "is missing"),
        ("methods.ablations", REMOVED, "methods.ablations", "is missing"),
        ("beyond", REMOVED, "beyond", "is missing"),
        ("comparison", REMOVED, "comparison", "is missing"),
        ("comparison.large", REMOVED, "comparison.large", "is missing"),
        ("general", REMOVED, "general", "is missing"),
    ],
)
def test_a_bad_value_gives_one_line_with_the_key_the_value_and_what_is_allowed(
    key: str, value: object, named: str, allowed: str
) -> None:
    text = message(changed({key: value}))
    assert text.startswith(f"params.yaml: {named}")
    assert allowed in text
    assert "\n" not in text


def numbers(content: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The dotted keys of every number that params.yaml holds, and of every list of them."""
    for key, value in content.items():
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(value, dict):
            yield from numbers(value, f"{prefix}{key}.")
        elif isinstance(first, int | float) and not isinstance(first, bool):
            yield prefix + key, value


NUMBERS = dict(numbers(COMMITTED))
SEEDS = {key for key in NUMBERS if re.search(r"(^|\.)(seed|seeds|splits)$", key)} - {"luck.seeds"}


@pytest.mark.promise("Every whole number of params.yaml but a seed has an upper bound.")
@pytest.mark.parametrize(
    "key", sorted(key for key, value in NUMBERS.items() if isinstance(value, int)), ids=str
)
def test_no_whole_number_is_without_an_upper_bound(key: str) -> None:
    said = message(changed({key: 2**63 if key in SEEDS else 10**12}))
    assert re.match(rf"params\.yaml: {re.escape(key)} = \d+: should be less than", said)


@pytest.mark.promise("Every whole number of params.yaml but a seed has an upper bound.")
@pytest.mark.parametrize(
    "key",
    sorted(key for key, of in NUMBERS.items() if isinstance(of, list) and isinstance(of[0], int)),
)
def test_nor_is_one_in_a_list(key: str) -> None:
    said = message(changed({key: [1, 2**63 if key in SEEDS else 10**12]}))
    assert re.match(rf"params\.yaml: {re.escape(key)}\[1\] = \d+: should be less than", said)


@pytest.mark.promise("Every list of numbers in params.yaml has a greatest length.")
@pytest.mark.parametrize("key", sorted(key for key, of in NUMBERS.items() if isinstance(of, list)))
def test_no_list_of_numbers_may_be_of_any_length(key: str) -> None:
    kind = type(NUMBERS[key][0])
    said = message(changed({key: [kind(n + 1) for n in range(params.COUNT + 1)]}))
    assert re.match(rf"params\.yaml: {re.escape(key)} = .*should have at most \d+ items", said)


def test_prototypes_are_within_reason() -> None:
    """Of each row LFR has a number for every one of them."""
    assert "lfr.prototypes = 1001: should be less than or equal to 1000" in message(
        changed({"lfr.prototypes": 1_001})
    )


@pytest.mark.promise("A list of methods without vanilla is refused in one line.")
@pytest.mark.parametrize("names", [["infofair"], ["gdp", "di"], []])
def test_methods_without_vanilla_are_refused(names: list[str]) -> None:
    assert message(changed({"methods.trained": names})) == (
        "params.yaml: methods.trained: vanilla is missing; the others are measured against it"
    )


def test_keys_that_are_no_text_are_refused() -> None:
    assert "keys should be strings" in message(changed({}) | {1: 2})


def test_every_wrong_key_is_listed_on_a_line_of_its_own() -> None:
    wrong = {"alpha": -1, "seeds": [], "training.epochs": 0, "scale": REMOVED, "adult.foo": 3}
    lines = message(changed(wrong)).splitlines()
    assert len(lines) == len(wrong)
    assert all(line.startswith("params.yaml: ") for line in lines)
    assert all(sum(key in line for line in lines) == 1 for key in wrong)


@pytest.mark.parametrize(
    "changes",
    [
        {"datasets": ["adult"], "compas": REMOVED, "dutch": REMOVED},
        only("vanilla") | LITTLE | {"infofair": REMOVED},
        {"methods.solved": []} | LITTLE | {"lfr": REMOVED, "expgrad": REMOVED},
    ],
)
def test_a_section_of_what_is_not_run_is_optional(changes: dict[str, Any]) -> None:
    params.check(changed(changes))


@pytest.mark.parametrize("removed", ["compas", "compas.hidden"])
def test_a_dataset_without_knobs_of_its_own_has_the_defaults(removed: str) -> None:
    knobs = params.check(changed({removed: REMOVED})).knobs("compas")
    assert (knobs.hidden, knobs.drop_leaking_columns) == ([32], False)


@pytest.mark.parametrize("name", ["training", "gdp"])
def test_a_dataset_may_not_be_called_like_another_key(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{name}.py").write_text("")
    monkeypatch.setattr(params.datasets, "__path__", [*params.datasets.__path__, str(tmp_path)])
    said = f"infofair/datasets/{name}.py: '{name}' is already a key of params.yaml"
    assert said in message(COMMITTED)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"datasets": ["adult"], "compas.foo": 1}, "compas.foo = 1: unknown key; allowed: hidden"),
        (only("vanilla") | {"infofair.foo": 1}, "infofair.foo = 1: unknown key; allowed: "),
        (only("vanilla") | {"infofair.temperature": 0}, "infofair.temperature = 0"),
    ],
)
def test_a_section_of_what_is_not_run_is_still_checked(changes: dict[str, Any], named: str) -> None:
    assert named in message(changed(changes))


def test_an_ablation_outside_the_list_of_ablations_is_refused() -> None:
    changes = {"methods.trained": ["infofair", "infofair_ts"], "methods.ablations": []}
    assert "infofair_ts" in message(changed(changes))


def test_in_the_comparison_methods_have_what_is_fixed() -> None:
    given = {"comparison.fixed": {"di": {"smallest_group": 7}, "gerryfair": {"C": 3.0}}}
    found = params.check(changed(given | {"fcfc.covariance": 0.3}))
    assert found.well_trained("di").smallest_group == 7
    assert found.knobs("di").smallest_group == COMMITTED["di"]["smallest_group"]
    assert found.well_trained("gerryfair").C == 3.0
    assert found.well_trained("gerryfair").gamma == found.knobs("gerryfair").gamma
    assert found.well_trained("fcfc") == found.knobs("fcfc")


def test_a_larger_dataset_needs_vanilla_and_a_folder_of_its_own() -> None:
    large = COMMITTED["comparison"]["large"] | {"datasets": ["kdd"]}
    params.check(changed({"comparison.large": large}))
    wrong = {"comparison.large": large | {"trained": ["gdp"]}}
    with pytest.raises(Problem, match=r"comparison\.large\.trained: vanilla is missing"):
        params.check(changed(wrong))
    other = {"comparison.large": large | {"datasets": ["dutch"]}, "datasets": ["compas"]}
    with pytest.raises(Problem, match=r"LARGE in study/paths\.py"):
        params.check(changed(other))


def test_a_dataset_of_the_generalisations_needs_a_folder_of_its_own_too() -> None:
    assert params.check(COMMITTED).general.datasets == list(GENERAL)
    other = {"general.datasets": ["dutch"], "datasets": ["compas"]}
    with pytest.raises(Problem, match=r"general\.datasets: 'dutch' is not one of GENERAL in stud"):
        params.check(changed(other))


def test_without_a_larger_dataset_its_lists_may_be_empty() -> None:
    none = COMMITTED["comparison"]["large"] | {"datasets": [], "trained": [], "solved": []}
    found = params.check(changed({"comparison.large": none}))
    assert list(found.compared_datasets) == found.datasets


def test_what_is_compared_is_every_method_but_the_papers_ablations() -> None:
    found = params.check(COMMITTED)
    lists = [COMMITTED["methods"]["trained"], COMMITTED["methods"]["solved"]]
    lists += COMMITTED["beyond"].values()
    assert set(found.compared) == {name for names in lists for name in names}
    large = COMMITTED["comparison"]["large"]
    expected = dict.fromkeys(COMMITTED["datasets"], found.compared)
    expected |= {name: [*large["trained"], *large["solved"]] for name in large["datasets"]}
    assert found.compared_datasets == expected


def test_one_empty_list_of_methods_is_fine() -> None:
    assert "infofair_ts" not in params.check(changed({"methods.ablations": []})).method_names


@pytest.mark.parametrize("content", [None, 3, "alpha", ["alpha"], []])
def test_a_file_that_holds_no_keys_says_what_was_found(content: object) -> None:
    assert message(content).startswith(f"params.yaml: found {content!r}; expected keys")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "found None; expected keys"),
        ("0.1", "found 0.1; expected keys"),
        ("alpha: [", "not readable as YAML"),
        ("alpha: 0.1: 0.2", "not readable as YAML"),
        ("alpha: 0.1\n---\nalpha: 0.2", "not readable as YAML"),
        ("alpha: 0.1\nseeds: [0]\nalpha: 0.2", 'duplicate key "alpha"'),
        ("training:\n  epochs: 1\n  epochs: 2", 'duplicate key "epochs"'),
        ("alpha: \0", "not readable as YAML"),
        ("alpha: 2020-13-45", "not readable as YAML"),  # looks like a date, is none
    ],
)
def test_a_file_that_is_no_yaml_or_not_ours_says_so_on_one_line(
    workspace: Path, text: str, said: str
) -> None:
    (workspace / "params.yaml").write_text(text)
    with pytest.raises(Problem) as caught:
        params.load()
    assert str(caught.value).startswith("params.yaml: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text_says_so(workspace: Path) -> None:
    (workspace / "params.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(Problem, match="not readable as YAML"):
        params.load()


def test_a_missing_file_says_where_to_run_from(workspace: Path) -> None:
    (workspace / "params.yaml").unlink()
    with pytest.raises(Problem, match=r"params\.yaml: not found here; run from the top"):
        params.load()


def keys_of(content: dict[str, Any], prefix: str = "") -> list[str]:
    nested = [keys_of(v, f"{prefix}{k}.") for k, v in content.items() if isinstance(v, dict)]
    return [prefix + k for k in content] + [key for keys in nested for key in keys]


WORDS = st.sampled_from(["adult", "compas", "infofair", "infofair_ts", "vanilla", "random", "none"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | WORDS | st.dates()
JUNK = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(WORDS | st.text() | LEAVES, inner)
)


@settings(deadline=None)  # the machine may be busy
@given(st.sampled_from(keys_of(COMMITTED)), JUNK)
def test_whatever_stands_at_a_key_it_passes_or_is_a_problem(key: str, junk: object) -> None:
    try:
        params.check(changed({key: junk}))
    except Problem as problem:
        assert str(problem).startswith("params.yaml: ")

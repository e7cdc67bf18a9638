"""Check params.yaml: every key, type, range and name, before any stage works.

The stage `check` reads it first of all, so that `dvc repro` says what is wrong with the file before
it looks for datasets and methods; what it asks for is then written to data/plans (study/plans.py),
and training reads nothing but that.
"""

from collections.abc import Callable
from functools import cache
from pkgutil import iter_modules
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import PydanticCustomError

from infofair import datasets, methods
from infofair.errors import Problem
from infofair.knobs import knobs_of
from infofair.methods.base import Method, Solver
from study import general, paths
from study.paths import GENERAL, LARGE
from study.paths import PARAMS as PATH
from study.plain_yaml import parsed

SHOWN = 50  # wrong keys listed at once
LONGEST = 200  # characters shown of a value
# More than these cannot be meant; whether the machine has the memory, study/memory.py asks.
COUNT = 100_000  # epochs, seeds, and whole numbers of a method: rounds, iterations …
MOST = {"prototypes": 1_000}  # of those of a method that every row has a number for
MANY = 1_000_000  # rows, minibatches
LAYERS, STRENGTHS = 16, 100  # the latter also values of a method to choose from


class Strict(BaseModel):
    """No unknown keys, no silent conversions ("5" is not 5, true is not 1), no NaN."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def _distinct(values: list[Any]) -> list[Any]:
    if len(set(values)) < len(values):
        raise PydanticCustomError("repeated", "each value may appear only once")
    return values


def _known(names: Callable[[], list[str]]) -> AfterValidator:
    """A name with a file of its own, when it is looked for."""

    def check(name: str) -> str:
        if name not in names():
            raise PydanticCustomError("unknown", "should be one of {names}", {"names": names()})
        return name

    return AfterValidator(check)


def dataset_names() -> list[str]:
    return sorted(module.name for module in iter_modules(datasets.__path__))


DatasetName = Annotated[str, _known(dataset_names)]
MethodName = Annotated[str, _known(lambda: sorted([*methods.names(), *methods.ABLATIONS]))]
MethodNames = Annotated[list[MethodName], AfterValidator(_distinct)]
Share = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
Units = Annotated[int, Field(ge=1, le=65_536)]


class Methods(Strict):
    trained: MethodNames
    ablations: MethodNames
    solved: MethodNames


class More(Strict):
    trained: MethodNames
    solved: MethodNames


class RandomSplit(Strict):
    seed: int = Field(ge=0, lt=2**63)
    train: Share
    validation: Share

    def model_post_init(self, context: object) -> None:
        if self.train + self.validation >= 1:
            raise PydanticCustomError(
                "shares", "train + validation should be less than 1, to leave test rows"
            )


class Training(Strict):
    epochs: int = Field(ge=1, le=COUNT)
    patience: int = Field(ge=1, le=COUNT)
    batch_size: int = Field(ge=1, le=MANY)
    weight_decay: float = Field(ge=0)
    streams: Literal["authors", "own", "shared"] = "own"


class Backbone(Training):
    learning_rates: Annotated[list[Positive], Field(min_length=1, max_length=STRENGTHS)]
    steps: int = Field(ge=1, le=MANY)


Seed = Annotated[int, Field(ge=0, lt=2**63)]
Seeds = Annotated[list[Seed], Field(min_length=1, max_length=COUNT), AfterValidator(_distinct)]
Ends = Annotated[list[Positive], Field(min_length=2, max_length=2)]


class Large(Strict):
    datasets: Annotated[list[DatasetName], AfterValidator(_distinct)]
    splits: Seeds
    trained: MethodNames
    solved: MethodNames


class Comparison(Strict):
    strengths: int = Field(ge=2, le=STRENGTHS)
    look: int = Field(ge=3, le=STRENGTHS)
    between: Ends
    ends: dict[MethodName, Ends]
    budget: float = Field(ge=0, le=1)
    fixed: dict[MethodName, dict[str, Any]]
    seeds: Seeds
    splits: Seeds
    smallest_group: int = Field(ge=1, le=MANY)
    paper: MethodNames
    unaware: MethodNames
    large: Large


class Run(Strict):
    """Of a generalisation, on one dataset."""

    study: Annotated[str, _known(lambda: list(general.NAMES))]
    dataset: DatasetName  # `datasets` may lack it: only beyond/dvc.yaml needs it
    room: str  # of the data, study/paths.py


class General(Strict):
    datasets: Annotated[list[DatasetName], AfterValidator(_distinct)]
    studies: Annotated[list[str], Field(min_length=1), AfterValidator(_distinct)]
    runs: dict[str, Run]
    splits: Seeds
    strengths: int = Field(ge=2, le=STRENGTHS)
    look: int = Field(ge=3, le=STRENGTHS)
    between: Ends
    budget: float = Field(ge=0, le=1)
    steps: int = Field(ge=1, le=MANY)

    def datasets_of(self, study: str) -> list[str]:
        return [run.dataset for run in self.runs.values() if run.study == study]


class Luck(Strict):
    methods: Annotated[MethodNames, Field(min_length=1)]
    alpha: float = Field(ge=0)
    seeds: int = Field(ge=5, le=COUNT)  # of which five at a time are a table's


class DatasetKnobs(Strict):
    hidden: Annotated[list[Units], Field(min_length=1, max_length=LAYERS)] = [32]
    drop_leaking_columns: bool = False


class Params(Strict):
    alpha: float = Field(ge=0)
    datasets: Annotated[list[DatasetName], Field(min_length=1), AfterValidator(_distinct)]
    methods: Methods
    beyond: More
    seeds: Seeds
    fallback: Literal["simulate", "none"]
    split: Literal["authors", "random"]
    random_split: RandomSplit
    scale: Literal["all_rows", "train_rows"]
    sensitive_as_input: bool
    training: Training
    backbone: Backbone
    comparison: Comparison
    general: General
    luck: Luck

    @property
    def method_names(self) -> list[str]:
        """Every method that is run, in the order of params.yaml."""
        return [name for _, names in self.methods for name in names]

    @property
    def compared(self) -> list[str]:
        """Every method of the comparison on the datasets of the paper's pipeline."""
        m, more = self.methods, self.beyond
        return [*m.trained, *m.solved, *more.trained, *more.solved]

    @property
    def compared_datasets(self) -> dict[str, list[str]]:
        """The datasets of the comparison, each with its methods."""
        large = self.comparison.large
        larger = [*large.trained, *large.solved]
        named = dict.fromkeys(self.datasets, self.compared)
        return named | dict.fromkeys(large.datasets, larger)

    def stage(self, dataset: str, method: str) -> str:
        """The DVC stage that trains or solves a method on a dataset."""
        names = {"trained": "train", "ablations": "ablate", "solved": "solve"}
        place = next(place for place, listed in self.methods if method in listed)
        return f"{names[place]}@{dataset}-{method}"

    def knobs(self, name: str) -> Any:
        """The section of one dataset or method, checked."""
        return getattr(self, name)

    def well_trained(self, method: str) -> Any:
        """A method's section in the comparison, but for a network's learning rate; checked."""
        section, changes = self.knobs(method), self.comparison.fixed.get(method, {})
        return type(section).model_validate(section.model_dump() | changes)


@cache
def section(name: str, method: type[Method]) -> type[Strict]:
    """The model of a method's section: its knobs, none of which has to be there."""
    found: dict[str, Any] = {}
    hints = get_type_hints(method)
    for own in knobs_of(method):
        bounds = own.metadata["bounds"]
        if isinstance(own.default, tuple):
            each = Annotated[float, Field(**bounds)]
            several = Annotated[list[each], Field(min_length=1, max_length=STRENGTHS)]
            found[own.name] = (several, list(own.default))
        else:
            whole = isinstance(own.default, int) and "lt" not in bounds
            most = {"le": MOST.get(own.name, COUNT)} if whole else {}
            found[own.name] = (hints[own.name], Field(own.default, **(most | bounds)))
    return create_model(name, __base__=Strict, **found)


@cache
def _with_sections(
    of_methods: tuple[tuple[str, type[Method]], ...], of_datasets: tuple[str, ...]
) -> type[Params]:
    """Params plus one section per dataset and per method; all their knobs have defaults."""
    fields: dict[str, Any] = {}
    for name, method in of_methods:
        knobs = section(name, method)
        fields[name] = (knobs, knobs())
    for name in of_datasets:
        if name in fields or name in Params.model_fields:
            raise Problem(
                f"infofair/datasets/{name}.py: {name!r} is already a key of {PATH}; "
                "expected another name"
            )
        fields[name] = (DatasetKnobs, DatasetKnobs())
    return create_model("Params", __base__=Params, **fields)


def check(content: object) -> Params:
    """The parameters, or a Problem with one line per wrong key."""
    if not isinstance(content, dict):
        raise Problem(f"{PATH}: found {_shown(content)}; expected keys such as `alpha: 0.1`")
    known = tuple((name, methods.load(name)) for name in methods.names())
    model = _with_sections(known, tuple(dataset_names()))
    try:
        params = model.model_validate(content)
    except ValidationError as error:
        lines = [_line(model, problem) for problem in error.errors()[:SHOWN]]
        if error.error_count() > SHOWN:
            lines.append(f"and {error.error_count() - SHOWN} more")
        raise Problem("\n".join(f"{PATH}: {line}" for line in lines)) from None
    if problem := _misplaced(params):
        raise Problem(f"{PATH}: {problem}")
    if problem := _not_to_compare(params):
        raise Problem(f"{PATH}: {problem}")
    if problem := _not_general(params):
        raise Problem(f"{PATH}: {problem}")
    return params


def _misplaced(params: Params) -> str | None:
    """What is wrong with the lists of methods, if anything."""
    names = params.method_names
    everywhere = [*names, *params.beyond.trained, *params.beyond.solved]
    repeated = [name for name in everywhere if everywhere.count(name) > 1]
    if not names:
        return "methods: all lists are empty; name at least one method"
    if repeated:
        return f"methods: {repeated[0]!r} is listed twice; each may appear only once"
    lists = [(f"methods.{place}", listed) for place, listed in params.methods]
    lists += [(f"beyond.{place}", listed) for place, listed in params.beyond]
    for key, listed in lists:
        for name in listed:
            # dvc.yaml decides by these lists which stage runs a method, and what it depends on
            right = "solved" if issubclass(methods.load(name), Solver) else "trained"
            if name in methods.ABLATIONS:
                right = "ablations"
            if not key.endswith(right):
                return f"{key} = {listed}: {name!r} belongs under {right}"
    return None


def _not_to_compare(params: Params) -> str | None:
    """What is wrong with the section `comparison`, if anything."""
    asked, large = params.comparison, params.comparison.large
    if "vanilla" not in params.methods.trained:
        return "methods.trained: vanilla is missing; the others are measured against it"
    if large.datasets and "vanilla" not in large.trained:
        return "comparison.large.trained: vanilla is missing; the others are measured against it"
    if twice := [name for name in large.datasets if name in params.datasets]:
        return f"comparison.large.datasets: {twice[0]!r} is under `datasets` already"
    if other := [name for name in large.datasets if name not in LARGE]:
        return f"comparison.large.datasets: {other[0]!r} is not one of LARGE in study/paths.py"
    lists = {"paper": asked.paper, "unaware": asked.unaware}
    lists |= {"large.trained": large.trained, "large.solved": large.solved}
    for key, listed in lists.items():
        for name in listed:
            if name not in params.compared:
                return f"comparison.{key}: {name!r} is neither under `methods` nor under `beyond`"
            solver = issubclass(methods.load(name), Solver)
            if key != "unaware" and solver is (key != "large.solved"):
                return f"comparison.{key}: {name!r} {'has' if solver else 'does not have'} a solver"
    for name in params.luck.methods:
        if name in methods.ABLATIONS or issubclass(methods.load(name), Solver):
            return f"luck.methods: {name!r} is no network with a file of its own"
    for name in asked.fixed:
        try:
            params.well_trained(name)
        except ValidationError as error:
            where = f"comparison.fixed.{name}"
            return f"{where}.{_line(type(params.knobs(name)), error.errors()[0])}"
    return None


def _not_general(params: Params) -> str | None:
    """What is wrong with the section `general`, if anything: dvc.yaml has stages by its lists."""
    asked = params.general
    for name in asked.datasets:
        if name in params.compared_datasets:
            return f"general.datasets: {name!r} is among those of the paper or the comparison"
        if name not in GENERAL:
            return f"general.datasets: {name!r} is not one of GENERAL in study/paths.py"
    for name, run in asked.runs.items():
        if name != (expected := f"{run.study}-{run.dataset}"):
            return f"general.runs.{name}: should be called {expected!r}"
        if run.study not in asked.studies:
            return f"general.runs.{name}: {run.study!r} is not under general.studies"
        if run.room != (room := paths.room(run.dataset).as_posix()):
            return f"general.runs.{name}: {run.dataset!r} is in the room {room}"
        if run.dataset in GENERAL and run.dataset not in asked.datasets:
            return f"general.runs.{name}: {run.dataset!r} is not under general.datasets"
    idle = (study for study in asked.studies if not asked.datasets_of(study))
    return next((f"general.studies: {name!r} has no run under general.runs" for name in idle), None)


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python does not print a number of thousands of digits
        return "a huge number"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _line(model: type[BaseModel], problem: Any) -> str:
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem["loc"])
    key = key.removeprefix(".").replace("\n", "\\n")
    message = problem["msg"][0].lower() + problem["msg"][1:]
    if problem["type"] == "missing":
        return f"{key} is missing"
    if problem["type"] == "extra_forbidden":
        for part in problem["loc"][:-1]:
            model = _inner(model, part)
        allowed = ", ".join(model.model_fields)
        return f"{key} = {_shown(problem['input'])}: unknown key; allowed: {allowed}"
    return f"{key} = {_shown(problem['input'])}: {message.removeprefix('input ')}"


def _inner(kind: Any, part: Any) -> Any:
    """What stands at a key of a section, or of a mapping of sections."""
    if get_origin(kind) is dict:
        return get_args(kind)[1]
    found = kind.model_fields[part].annotation
    if get_origin(found) is dict:
        return found
    return next(k for k in get_args(found) or (found,) if k is not type(None))


def load() -> Params:
    """Read and check params.yaml."""
    try:
        raw = PATH.read_bytes()
    except FileNotFoundError:
        raise Problem(f"{PATH}: not found here; run from the top of the repository") from None
    try:
        content = parsed(raw.decode("utf-8"))
    except Exception as error:  # ruamel lets errors of its constructors through as they are
        raise Problem(f"{PATH}: not readable as YAML: {' '.join(str(error).split())}") from None
    return check(content)


def one_of(option: str, asked: str, named: list[str]) -> str:
    """What a command was asked for, if params.yaml names it."""
    if asked not in named:
        raise Problem(f"--{option} {asked}: {PATH} names {', '.join(named)}")
    return asked

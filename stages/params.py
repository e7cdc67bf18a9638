"""Check params.yaml: every key, type, range and name, before any stage works.

Each stage loads the file through `load`, the stage `check` first of all, so that `dvc repro` says
what is wrong with the file before it looks for datasets and methods.
"""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import PydanticCustomError
from ruamel.yaml import YAML
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    NodeEvent,
    ScalarEvent,
)

from stages import datasets, methods
from stages.files import Problem

PATH = Path("params.yaml")
DEEPEST = 20  # levels of lists and sections in each other; ours has three
SHOWN = 50  # wrong keys listed at once
LONGEST = 200  # characters shown of a value


class Strict(BaseModel):
    """No unknown keys, no silent conversions ("5" is not 5, true is not 1), no NaN."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def _distinct(values: list[Any]) -> list[Any]:
    if len(set(values)) < len(values):
        raise PydanticCustomError("repeated", "each value may appear only once")
    return values


def _known(package: Any) -> AfterValidator:
    """A name with a file of its own in the package."""

    def check(name: str) -> str:
        names = sorted(module.name for module in iter_modules(package.__path__))
        if name not in names:
            raise PydanticCustomError("unknown", "should be one of {names}", {"names": names})
        return name

    return AfterValidator(check)


DatasetName = Annotated[str, _known(datasets)]
MethodName = Annotated[str, _known(methods)]
MethodNames = Annotated[list[MethodName], AfterValidator(_distinct)]
Share = Annotated[float, Field(gt=0, lt=1)]


class Methods(Strict):
    regularized: MethodNames
    ablations: MethodNames
    fixed: MethodNames
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
    epochs: int = Field(ge=1)
    patience: int = Field(ge=1)
    batch_size: int = Field(ge=1)
    weight_decay: float = Field(ge=0)


class Backbone(Training):
    learning_rate: float = Field(gt=0)


Strengths = Annotated[
    list[Annotated[float, Field(ge=0)]], Field(min_length=1), AfterValidator(_distinct)
]
Seeds = Annotated[
    list[Annotated[int, Field(ge=0, lt=2**63)]], Field(min_length=1), AfterValidator(_distinct)
]


class Frontier(Strict):
    seeds: Seeds
    strengths: dict[MethodName, Strengths]
    # method: keys of its section or of `backbone` that have another value in the fronts
    exceptions: dict[MethodName, dict[str, Any]]  # required, as DVC asks for it


class Honest(Strict):
    splits: Seeds
    seeds: Seeds
    smallest_group: int = Field(ge=1)
    strengths: dict[MethodName, Annotated[float, Field(ge=0)]]


class DatasetKnobs(Strict):
    hidden: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)] = [32]
    drop_leaking_columns: bool = False


class Params(Strict):
    alpha: float = Field(ge=0)
    datasets: Annotated[list[DatasetName], Field(min_length=1), AfterValidator(_distinct)]
    methods: Methods
    seeds: Seeds
    fallback: Literal["simulate", "none"]
    split: Literal["authors", "random"]
    random_split: RandomSplit
    scale: Literal["all_rows", "train_rows"]
    sensitive_as_input: bool
    training: Training
    backbone: Backbone
    frontier: Frontier
    honest: Honest

    @property
    def method_names(self) -> list[str]:
        """Every method that is run, in the order of params.yaml."""
        return [name for _, names in self.methods for name in names]

    def stage(self, dataset: str, method: str) -> str:
        """The DVC stage that trains or solves a method on a dataset."""
        names = {"regularized": "train", "ablations": "train_ablation", "fixed": "train_fixed"}
        place = next(place for place, listed in self.methods if method in listed)
        return f"{names.get(place, 'solve')}@{dataset}-{method}"

    def knobs(self, name: str) -> Any:
        """The section of one dataset or method, checked."""
        return getattr(self, name)

    def well_trained(self, method: str) -> tuple[Any, Backbone]:
        """A method's section, and its training, in the fronts and the honest table; checked."""
        section, changes = self.knobs(method), dict(self.frontier.exceptions.get(method, {}))
        others = {key: changes.pop(key) for key in Backbone.model_fields if key in changes}
        training = Backbone.model_validate(self.backbone.model_dump() | others)
        if "learning_rate" in type(section).model_fields:
            changes["learning_rate"] = training.learning_rate
        return type(section).model_validate(section.model_dump() | changes), training


def _with_sections(asked: set[str]) -> type[Params]:
    """Params plus one section per dataset and per method that has knobs (`Knobs` in its file).

    The section of a method in `asked` is required; that of one that is not run is optional, and so
    are those of datasets, whose knobs have defaults.
    """
    sections: dict[str, Any] = {}
    for module in iter_modules(methods.__path__):
        knobs = getattr(import_module(f"stages.methods.{module.name}"), "Knobs", None)
        if knobs is not None:
            sections[module.name] = knobs
    fields: dict[str, Any] = {
        name: (knobs, ...) if name in asked else (knobs | None, None)
        for name, knobs in sections.items()
    }
    for module in iter_modules(datasets.__path__):
        if module.name in fields or module.name in Params.model_fields:
            raise Problem(
                f"stages/datasets/{module.name}.py: {module.name!r} is already a key of {PATH}; "
                "expected another name"
            )
        fields[module.name] = (DatasetKnobs, DatasetKnobs())
    return create_model("Params", __base__=Params, **fields)


def _names(value: object) -> set[str]:
    """Every string anywhere in a value, whatever its shape: the file is not yet checked."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        value = list(value.values())
    return set().union(*map(_names, value)) if isinstance(value, list) else set()


def check(content: object) -> Params:
    """The parameters, or a Problem with one line per wrong key."""
    if not isinstance(content, dict):
        raise Problem(f"{PATH}: found {_shown(content)}; expected keys such as `alpha: 0.1`")
    named = content.get("methods")
    asked = _names(named) | _swept(content.get("frontier")) | _swept(content.get("honest"))
    if isinstance(named, dict) and _names(named.get("ablations")):
        asked.add("infofair")  # whose knobs the ablations use
    model = _with_sections(asked)
    try:
        params = model.model_validate(content)
    except ValidationError as error:
        lines = [_line(model, problem) for problem in error.errors()[:SHOWN]]
        if error.error_count() > SHOWN:
            lines.append(f"and {error.error_count() - SHOWN} more")
        raise Problem("\n".join(f"{PATH}: {line}" for line in lines)) from None
    if problem := _misplaced(params):
        raise Problem(f"{PATH}: methods{problem}")
    if problem := _not_to_sweep(params):
        raise Problem(f"{PATH}: {problem}")
    return params


def _swept(section: object) -> set[str]:
    """The methods with strengths, whatever the section's shape: the file is not yet checked."""
    strengths = section.get("strengths") if isinstance(section, dict) else None
    return _names(list(strengths)) if isinstance(strengths, dict) else set()


def _misplaced(params: Params) -> str | None:
    """What is wrong with the lists of methods, if anything."""
    names = params.method_names
    repeated = [name for name in names if names.count(name) > 1]
    if not names:
        return ": all lists are empty; name at least one method"
    if repeated:
        return f": {repeated[0]!r} is listed twice; each may appear only once"
    for place, listed in params.methods:
        for name in listed:
            # dvc.yaml decides by these lists which stage runs a method, and what it depends on
            method = methods.load(name)
            if isinstance(method, methods.Solver):
                right = "solved"
            elif name not in type(params).model_fields:
                right = "ablations"
            else:
                right = "regularized" if method.uses_alpha else "fixed"
            if place != right:
                return f".{place} = {listed}: {name!r} belongs under {right}"
    return None


def _not_to_sweep(params: Params) -> str | None:
    """What is wrong with the sections `frontier` and `honest`, if anything."""
    of_honest = {name: [value] for name, value in params.honest.strengths.items()}
    for section, strengths in (("frontier", params.frontier.strengths), ("honest", of_honest)):
        if "vanilla" not in strengths:
            return f"{section}.strengths: vanilla is missing; the others are measured against it"
        for name, values in strengths.items():
            key = f"{section}.strengths.{name}"
            if name not in type(params).model_fields:
                return f"{key}: a method without a section of its own has no strength"
            method = methods.load(name)
            solver = isinstance(method, methods.Solver)
            if not (method.strength if solver else method.uses_alpha) and values != [0]:
                return f"{key} = {values}: the method has no strength; expected 0.0"
    for name in params.frontier.exceptions:
        key = f"frontier.exceptions.{name}"
        if name not in params.frontier.strengths:
            return f"{key}: the method is not among the strengths"
        try:
            params.well_trained(name)
        except ValidationError as error:
            return f"{key}.{_line(type(params.knobs(name)), error.errors()[0])}"
    return None


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
            kinds = model.model_fields[part].annotation
            model = next(k for k in get_args(kinds) or (kinds,) if k is not type(None))
        return (
            f"{key} = {_shown(problem['input'])}: unknown key; "
            f"allowed: {', '.join(model.model_fields)}"
        )
    return f"{key} = {_shown(problem['input'])}: {message.removeprefix('input ')}"


def _parsed(text: str) -> object:
    """What the YAML holds, unless a few bytes of it stand for something vast."""
    depth = 0
    single: dict[str | None, bool] = {}  # whether each anchor stands for one value
    for event in YAML(typ="safe").parse(text):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError(f"more than {DEEPEST} levels of nesting")
        if isinstance(event, AliasEvent):
            if not single.get(event.anchor):
                raise ValueError(f"*{event.anchor} does not stand for a single value")
        elif isinstance(event, NodeEvent):
            single[event.anchor] = isinstance(event, ScalarEvent)
    # The parser DVC uses, so that both read the same values; it refuses repeated keys.
    return YAML(typ="safe").load(text)


def load(
    dataset: str | None = None, method: str | None = None, kind: type = methods.Method
) -> Params:
    """Read and check params.yaml; `dataset` and `method`, of this kind, must be among its names."""
    try:
        raw = PATH.read_bytes()
    except FileNotFoundError:
        raise Problem(f"{PATH}: not found here; run from the top of the repository") from None
    try:
        content = _parsed(raw.decode("utf-8"))
    except Exception as error:  # ruamel lets errors of its constructors through as they are
        raise Problem(f"{PATH}: not readable as YAML: {' '.join(str(error).split())}") from None
    params = check(content)
    if dataset is not None and dataset not in params.datasets:
        raise Problem(f"--dataset {dataset}: {PATH} names {', '.join(params.datasets)}")
    if method is not None and method not in params.method_names:
        raise Problem(f"--method {method}: {PATH} names {', '.join(params.method_names)}")
    if dataset and method and not isinstance(methods.load(method), kind):
        raise Problem(f"--method {method}: it is run by dvc repro {params.stage(dataset, method)}")
    return params

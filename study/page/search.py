"""What the search box of every page finds: methods, datasets and cells, each with its address.

Made from params.yaml alone, so that all pages have the same and none waits for another's results.
"""

from collections.abc import Iterator, Mapping

from infofair.data import dataset as datasets
from infofair.data.prepared import INTERSECTION
from study import labels
from study.params import Params

Entry = tuple[str, str]  # what is shown and searched in, and where it leads


def entries(params: Params, pages: Mapping[str, str]) -> list[Entry]:
    """pages: the file of each page, by its name."""
    return [*_cells(params, pages), *_methods(params, pages), *_datasets(params, pages)]


def settings_of(dataset: str) -> list[str]:
    """The settings of a dataset in which groups are compared."""
    own = [name for name, of in datasets.load(dataset).sensitive.items() if not of.number]
    return [*own, INTERSECTION] if len(own) > 1 else own


def _cells(params: Params, pages: Mapping[str, str]) -> Iterator[Entry]:
    for dataset in params.compared_datasets:
        settings = settings_of(dataset)
        for setting in settings:
            name = f"{labels.dataset_name(dataset)}, {labels.setting_name(setting, settings)}"
            where = f"#explore?place={dataset}/{setting}"
            yield f"{name}: which method to take", pages["beyond"] + where
            if dataset in params.datasets:
                where = f"#cells-{dataset}-{setting}"
                yield f"{name}: the paper’s cells", pages["index"] + where


def _methods(params: Params, pages: Mapping[str, str]) -> Iterator[Entry]:
    """To a method's card, if there are cards, and to its front."""
    for method in labels.in_order([*params.method_names, *params.compared]):
        name = labels.full_method_name(method)
        if "methods" in pages:
            yield f"{name}: what it is", f"{pages['methods']}#method-{method}"
        if method in params.method_names:
            yield f"{name}: the paper’s cells", f"{pages['index']}#cells-{method}"
        if method in params.compared:
            yield f"{name}: its front", f"{pages['beyond']}#explore?method={method}"


def _datasets(params: Params, pages: Mapping[str, str]) -> Iterator[Entry]:
    if "data" in pages:
        for dataset in dict.fromkeys([*params.compared_datasets, *params.general.datasets]):
            yield f"{labels.dataset_name(dataset)}: data", f"{pages['data']}#data-{dataset}"

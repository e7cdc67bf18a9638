from collections.abc import Iterator

import pytest

from tests.infofair.auditing.people import quick
from tests.study.page.conftest import chromium

__all__ = ["chromium"]  # the browser, for pages of either kind


@pytest.fixture(scope="module")
def few_draws() -> Iterator[None]:
    with quick():
        yield

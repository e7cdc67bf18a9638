import os
import shutil
from collections.abc import Iterator
from contextlib import chdir
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest

from stages import document, page
from study import paths
from study.page import places
from tests.study.page import inputs

BROWSER = ("chromium", "chromedriver")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything the pages and documents are made from, and with these; to read."""
    folder = tmp_path_factory.mktemp("site")
    inputs.write_index(folder)
    inputs.write_beyond(folder)
    inputs.write_luck(folder)
    inputs.draw(folder)
    make(folder)
    return folder


def make(folder: Path) -> None:
    with chdir(folder):
        for name in page.WRITTEN:
            page.main(name)
        for name in document.DOCUMENTS:
            document.main(name)


@pytest.fixture(scope="session")
def index(site: Path) -> str:
    return (site / paths.INDEX).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def beyond(site: Path) -> str:
    return (site / paths.BEYOND).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def luck(site: Path) -> str:
    return (site / paths.LUCK).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def methods_page(site: Path) -> str:
    return (site / places.METHODS).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def data_page(site: Path) -> str:
    return (site / places.DATA).read_text(encoding="utf-8")


def absent(why: str) -> NoReturn:
    """Skip; or fail, if a browser is asked for, as in CI, that none is skipped without a word."""
    if os.environ.get("INFOFAIR_BROWSER") == "required":
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Debian's, headless, one for all tests; they need it and selenium."""
    if find_spec("selenium") is None:
        absent("selenium is not installed")
    if not all(Path(f"/usr/bin/{name}").exists() for name in BROWSER):
        absent("no Chromium: apt-get install chromium chromium-driver")
    webdriver = import_module("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    user = f"user-data-dir={tmp_path_factory.mktemp('user')}"
    for flag in (
        "headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking",
        "disable-component-update", "disable-sync", user,
    ):  # fmt: skip
        options.add_argument(f"--{flag}")
    service = webdriver.ChromeService("/usr/bin/chromedriver")  # no search for one on the network
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


@pytest.fixture
def copy(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the site, to change, as the current directory."""
    folder = tmp_path / "copy"
    shutil.copytree(site, folder)
    monkeypatch.chdir(folder)
    return folder

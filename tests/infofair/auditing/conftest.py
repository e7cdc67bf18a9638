from tests.study.page.conftest import chromium

__all__ = ["chromium"]  # the browser, for pages of either kind

"""Put results on a page that needs no network and no other file.

    index    the paper's part, reports/index.html; also results/provenance.json: the commit,
             parameters, packages and data that the results come from
    beyond   the comparison on equal terms, reports/beyond.html
    luck     how much of the printed table is luck, and what was tried, reports/luck.html
    methods  a card for each method, reports/methods.html
    data     a card for each dataset, reports/data.html

The same inputs give the same bytes. study/page says what is on them.
"""

from infofair.errors import Problem
from infofair.storage import write_json, write_text
from study import cli, params, paths
from study.page import render, sources

WRITTEN = {name: path for name, (_, path) in render.PAGES.items()}


def main(page: str) -> None:
    if page not in WRITTEN:
        raise Problem(f"--page {page}: there are {', '.join(WRITTEN)}")
    write_text(WRITTEN[page], render.page(page, params.load()))
    if page == "index":
        write_json(paths.PROVENANCE, sources.provenance())


if __name__ == "__main__":
    cli.run(main, __doc__, page=f"one of {', '.join(WRITTEN)}")

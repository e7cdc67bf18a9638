"""Write the results down as Markdown: all tables, and every sentence that counts something.

    results          the paper's part, docs/results.md
    results-beyond   the comparison on equal terms, docs/results-beyond.md
    results-luck     how much is luck, and what was tried, docs/results-luck.md

The same inputs give the same bytes. study/document says what is in them.
"""

from infofair.errors import Problem
from infofair.storage import write_text
from study import cli, params
from study.document.render import DOCUMENTS
from study.document.render import document as rendered


def main(document: str) -> None:
    if document not in DOCUMENTS:
        raise Problem(f"--document {document}: there are {', '.join(DOCUMENTS)}")
    write_text(DOCUMENTS[document], rendered(document, params.load()))


if __name__ == "__main__":
    cli.run(main, __doc__, document=f"one of {', '.join(DOCUMENTS)}")

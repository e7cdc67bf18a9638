"""Audit a model's predictions, or see an audit of simulated ones.

    infofair audit predictions.csv --label y --score p --sensitive sex,race,age --out audit/
    infofair demo

The folder gets index.html, audit.json and model_card.md. Status 0: done; 1: there is evidence, and
--fail-on evidence was given; 2: something is wrong with the input.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from infofair.errors import Problem

if TYPE_CHECKING:
    from infofair.auditing.run import Audit

LONGEST = 1_000  # characters of a message
EVIDENCE, WRONG = 1, 2  # status


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        found = _demo(given) if given.command == "demo" else _audit(given)
    except Problem as problem:
        return _refuse(str(problem))
    except OSError as error:
        return _refuse(f"{error.filename2 or error.filename or 'output'}: {error.strerror}")
    except MemoryError:
        return _refuse("the table does not fit into memory")
    return EVIDENCE if given.fail_on == "evidence" and found.evidence else 0


def _refuse(message: str) -> int:
    """One line that a terminal can show, whatever the input put into it."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in message)
    shown = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]} …"
    print(f"error: {shown}", file=sys.stderr)
    return WRONG


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="infofair", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="audit | demo")
    audit = commands.add_parser("audit", help="audit a CSV or Parquet file")
    audit.add_argument("file", type=Path, metavar="FILE", help="CSV or Parquet, one row per person")
    audit.add_argument("--label", required=True, help="the column of what was true: 0 or 1")
    audit.add_argument("--score", help="the column of the probability of label 1, or prediction")
    audit.add_argument("--decision", help="the column of what was decided: 0 or 1")
    audit.add_argument("--sensitive", required=True, help="columns, with commas between them")
    audit.add_argument("--weights", help="a column of sampling weights")
    audit.add_argument("--splits", help="a column of parts to cross-validate remedies on")
    audit.add_argument("--features", help="columns to search for those that give the label away")
    audit.add_argument("--task", default="classification", choices=["classification", "regression"])
    audit.add_argument("--positive", help="the value of the label and decision that counts as 1")
    audit.add_argument("--threshold", type=float, default=0.5, help="who scores above is selected")
    demo = commands.add_parser("demo", help="audit a small simulated loan book")
    for command, folder in ((audit, "audit"), (demo, "demo-audit")):
        command.add_argument(
            "--notion", default="parity", choices=["parity", "opportunity", "odds"],
            help="what remedies make equal",
        )  # fmt: skip
        command.add_argument("--out", type=Path, default=Path(folder), help="the folder to write")
        command.add_argument("--seed", type=int, default=0, help="of all that is drawn")
        command.add_argument("--show-small", action="store_true", help="do not protect small cells")
        command.add_argument("--fail-on", choices=["evidence"], help="status 1 if there is any")
    return parser


def _audit(given: argparse.Namespace) -> "Audit":
    from infofair.auditing import table
    from infofair.auditing.run import audit

    _seed(given.seed)
    sensitive = _listed("--sensitive", given.sensitive)
    features = _listed("--features", given.features) if given.features else None
    single = {
        role: getattr(given, role) for role in ("label", "score", "decision", "weights", "splits")
    }
    wanted = [name for name in single.values() if name is not None]
    frame = table.read(given.file, [*wanted, *sensitive, *(features or [])])

    def of(role: str) -> object:
        return None if single[role] is None else frame[single[role]]

    found = audit(
        of("label"),
        **{role: of(role) for role in ("score", "decision", "weights", "splits")},
        sensitive_features=frame[sensitive],
        features=None if features is None else frame[features],
        task=given.task,
        notion=given.notion,
        positive=given.positive,
        threshold=given.threshold,
        show_small=given.show_small,
        seed=given.seed,
        names={**single, "file": given.file.name},
    )
    return _written(found, given.out)


def _demo(given: argparse.Namespace) -> "Audit":
    from infofair.auditing.demo import loan_book
    from infofair.auditing.run import audit

    _seed(given.seed)
    book = loan_book(given.seed)
    found = audit(
        book["paid_back"],
        score=book["score"],
        sensitive_features=book[["sex", "region", "age"]],
        features=book[["income"]],
        notion=given.notion,
        show_small=given.show_small,
        seed=given.seed,
        names={"file": "a simulated loan book", "label": "paid_back", "score": "score"},
    )
    return _written(found, given.out)


def _seed(seed: int) -> None:
    if seed < 0:
        raise Problem(f"--seed {seed}: expected 0 or more")


def _listed(option: str, names: str) -> list[str]:
    found = [name.strip() for name in names.split(",")]
    if "" in found or len(set(found)) < len(found):
        raise Problem(f"{option} {names}: expected different names of columns, with commas between")
    return found


def _written(found: "Audit", folder: Path) -> "Audit":
    from infofair.auditing import words

    page = found.write(folder)
    print("\n".join([*words.summary(found.to_dict()), f"page: {page}"]))
    return found


if __name__ == "__main__":
    sys.exit(main())

"""Write the parts of the manual that follow from the source; ``make docs`` does, and a test compares them.

They are the tables of options, made from their declarations, and the signatures of the library.  Each stands
between ``<!-- NAME: generated -->`` and ``<!-- NAME: end -->``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from trodden.api.estimates import estimate
from trodden.api.profiles import merge
from trodden.api.runs import run
from trodden.native.options.declarations import OPTIONS
from trodden.native.options.option import PYTHON, Option

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "command-line.md")
_PART = re.compile(r"(<!-- ([\w-]+): generated -->\n).*?(<!-- \2: end -->)", re.DOTALL)


def readme_table() -> str:
    """The options that the README lists."""
    rows = ((f"`{option.name}`", option.summary) for option in OPTIONS.values() if option.summary)
    return _table(("option", "values"), rows)


def reference_table() -> str:
    """All values of the options that every kind of build takes."""
    return _reference(option for option in OPTIONS.values() if PYTHON in option.takers)


def compiler_table() -> str:
    """All values of the options that only the compilers take."""
    return _reference(option for option in OPTIONS.values() if PYTHON not in option.takers)


def _reference(options: Iterable[Option[Any]]) -> str:
    rows = (
        (f"`{option.name}`" if number == 0 else "", values, meaning)
        for option in options
        for number, (values, meaning) in enumerate(option.reference)
    )
    return _table(("option", "values", "meaning"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    lines += (f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in rows)
    return "".join(f"{line}\n" for line in lines)


def signatures() -> str:
    """The functions of the library, with the types of their parameters."""
    functions: tuple[Callable[..., object], ...] = (run, estimate, merge)
    shown = "\n".join(_signature(each) for each in functions)
    return f"```python\n{shown}```\n"


def _signature(function: Callable[..., object]) -> str:
    signature = inspect.signature(function)
    parameters = "".join(f"    {each},\n" for each in signature.parameters.values())
    text = f"trodden.{function.__name__}(\n{parameters}) -> {signature.return_annotation}\n"
    # Annotations are kept as text, and text is shown in quotes.
    return re.sub(r"(: |-> )'([^'\n]*)'", r"\1\2", text)


PARTS: dict[str, Callable[[], str]] = {
    "choices": readme_table,
    "options": reference_table,
    "compiler-options": compiler_table,
    "signatures": signatures,
}


def rewritten(page: str) -> str:
    """A page with its generated parts as they should be."""
    return _PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n{part[3]}", page)


def main() -> None:
    """Rewrite the pages."""
    for page in PAGES:
        page.write_text(rewritten(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()

"""Which macros may branch."""

from __future__ import annotations

import pytest

from trodden.report.narrate.macros import Macros

SOURCE = r"""
#define LIMIT 10
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define twice(x) \
    ((x) * 2)
  #  define DEEP(x) (MAX(x, LIMIT) + 1)
#define DEEPER(x) DEEP(x)
#define LOOP(i) for (i = 0; i < LIMIT; i++)
#define SAYS(x) puts("a && b"), x  /* ? */
#define USES(x) UNKNOWN(x)
#define both 1
#undef both
#define both (a && b)
""".splitlines()


@pytest.mark.parametrize(
    ("name", "called", "branches"),
    [
        ("LIMIT", False, False),
        ("MAX", True, True),
        ("twice", True, False),
        ("DEEP", True, True),
        ("DEEPER", True, True),
        ("LOOP", True, True),
        ("SAYS", True, False),
        ("USES", True, True),
        ("both", False, True),
        # Those of other files are judged by their names.
        ("ELSEWHERE", True, True),
        ("ELSEWHERE", False, False),
        ("assert", True, True),
        ("function", True, False),
        ("", True, False),
        ("(", True, False),
    ],
)
def test_macros_that_may_branch(name: str, called: bool, branches: bool) -> None:
    assert Macros(SOURCE).may_branch(name, called) is branches

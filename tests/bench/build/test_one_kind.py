"""Longer paths of one kind alone, planned for a loop that calls."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.build import one_kind
from trodden.native.instrument import instrument
from trodden.native.options.declarations import Options

CODE = """
define i32 @f(i32 %n) {
entry:
  br label %head

head:
  %i = phi i32 [ 0, %entry ], [ %next, %back ]
  %odd = and i32 %i, 1
  %is = icmp eq i32 %odd, 0
  br i1 %is, label %calls, label %back

calls:
  call void @g()
  br label %back

back:
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %head, label %out

out:
  ret i32 %i
}

define void @g() noinline {
  ret void
}
"""

_SCRIPT = """
import sys
from bench.build import one_kind
from trodden.native.instrument import instrument
from trodden.native.options.declarations import Options
one_kind.leave_out_other(sys.argv[1])
code = sys.stdin.read()
for asked in ({"overlap": "max"}, {"pairs": 2}):
    options = Options(profile="paths", **asked)
    plan = instrument(code, "x.c", options, keep_debug=False).facts.functions[0].plan
    loops = plan.tuples or (plan.overlaps and plan.overlaps.degrees)
    print(bool(loops), plan.calls is not None)
"""


@pytest.mark.parametrize(("kind", "loops", "calls"), [("loops", True, False), ("procedures", False, True)])
def test_the_other_kind_is_left_out(kind: str, loops: bool, calls: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, kind],
        input=CODE,
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(one_kind.__file__).parents[2],
    )
    assert done.stdout.split() == [str(loops), str(calls)] * 2


def test_otherwise_both_are_planned() -> None:
    options = Options(profile="paths", overlap="max")
    plan = instrument(CODE, "x.c", options, keep_debug=False).facts.functions[0].plan
    assert plan.overlaps is not None
    assert plan.overlaps.degrees
    assert plan.calls is not None


def test_there_are_two_kinds() -> None:
    with pytest.raises(SystemExit, match="both: there are loops and procedures"):
        one_kind.leave_out_other("both")

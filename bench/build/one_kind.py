"""``trodden cc`` and ``trodden c++`` with longer paths of one kind: over back edges, or over procedures.

    python one_kind.py loops|procedures cc|c++ [arguments of the compiler]

trodden counts both kinds or none.  What each of them costs by itself can be measured all the same, as Figures
7 and 8 of TZG04 have it: the planner is told of the other kind that it is not asked for.  This file is run by
its path, without the rest of the benchmark.
"""

from __future__ import annotations

import sys
from typing import Any

from trodden.api.builds import builder
from trodden.native.options.declarations import Options
from trodden.native.planning import plan_paths
from trodden.plan.probes import Plan

LOOPS, PROCEDURES = "loops", "procedures"


def leave_out_other(kind: str) -> None:
    """Make the planner plan longer paths of one kind only."""
    if kind == LOOPS:
        setattr(Options, "over_calls", property(lambda options: False))  # noqa: B010
    elif kind == PROCEDURES:
        setattr(plan_paths, "_degrees", _no_degree)  # noqa: B010
        setattr(plan_paths, "_with_tuples", _without_tuples)  # noqa: B010
    else:
        raise SystemExit(f"{kind}: there are {LOOPS} and {PROCEDURES}")


def _no_degree(*asked: Any) -> int:
    """The degree of loops of which no path is extended."""
    return 0


def _without_tuples(read: object, plan: Plan, *asked: Any) -> Plan:
    """The plan of a function whose paths are not counted in pairs."""
    return plan


def main(kind: str, driver: str, *arguments: str) -> int:
    """Compile or link; return the exit status."""
    leave_out_other(kind)
    return builder(arguments, driver == "c++").run()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

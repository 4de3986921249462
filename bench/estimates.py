"""How good are estimates?  WL94's six scores, program by program, for profiles of programs that have not run.

    python -m bench.estimates [NAME ...] [--jobs N] [--as-built] [--level O2] [--json OUT]

Four estimates of every program are scored against its measured profile: with the paper's own rates, with
rates fitted to other programs, with the rates that come with trodden, and with what LLVM expects inside each
function.  Fitted rates are cross-validated: no program has a say in the rates that it is estimated with, for
they are fitted to the programs of all other packages (those of one package share code).  The rates that
come with trodden were fitted to some of the programs (``FITTED_TO``), which are left out of the means.
LLVM has no estimate across functions, so the calls on top of its frequencies are ours.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from bench.builds import need
from bench.current import measured_of, units_of
from bench.errors import BenchError
from bench.estimate_programs import Subject, asked, subjects
from bench.llvm_estimate import OPT, llvm_local
from bench.machine import description
from bench.packages import PACKAGES
from bench.programs import RESULTS
from bench.tables import geometric_mean, table
from bench.wl94 import KINDS, SCORES, SHORT, SPEC, UNIX
from trodden.errors import TroddenError
from trodden.profile.calibrating import counted_functions
from trodden.profile.estimating import Local, estimate
from trodden.profile.matching import score
from trodden.weigh.fitting import fit_together
from trodden.weigh.observed import Observation, observe
from trodden.weigh.rates import WL94, Rates, default_rates

_PERCENT = 20
_PAPER = "rates of WL94"
_FITTED = "rates fitted to other packages"
_SHIPPED = "rates that come with trodden"
_LLVM = "LLVM inside functions, calls ours"
_ESTIMATES = (_PAPER, _FITTED, _SHIPPED, _LLVM)
FITTED_AT = ("O0", "O2")
"""How far the programs are optimised that rates are fitted to: those of both levels together."""
FITTED_TO = frozenset({"cut", "sort", "expr", "od", "diff", "gzip", "sed", "m4", "gawk", "gperf"})
"""The programs whose profiles made the rates that come with trodden.

None of them is scored in the means, but some share a package, and so code of a library, with some that are.
"""

Row = Sequence[float | None]
"""The six scores of a program; none where nothing was there to be scored."""


@dataclass(frozen=True)
class Scored:
    """A program and its scores by estimate."""

    subject: Subject
    rows: Mapping[str, Row]

    @property
    def unix(self) -> bool:
        """Whether it is one of the commands of Unix."""
        return any(package.name == self.subject.package for package in PACKAGES)


def fitted_elsewhere(seen: Mapping[str, Sequence[Sequence[Observation]]], package: str) -> Rates:
    """Rates fitted to what was observed in all packages but one."""
    others = [program for name, programs in seen.items() if name != package for program in programs]
    return Rates(f"fitted without {package}", fit_together(others))


def observations(chosen: Sequence[Subject]) -> dict[str, list[list[Observation]]]:
    """What the branches of all programs did, program by program, by package."""
    found: dict[str, list[list[Observation]]] = {}
    for subject in chosen:
        functions = counted_functions(measured_of(subject), str(subject.measured))
        found.setdefault(subject.package, []).append(observe(functions))
    return found


def scored(subject: Subject, fitted: Rates) -> Scored:
    """Estimate a program in all ways and hold that against what was measured."""
    units, measured = units_of(subject), measured_of(subject)
    ways: dict[str, tuple[Rates, Local | None]] = {
        _PAPER: (WL94, None),
        _FITTED: (fitted, None),
        _SHIPPED: (default_rates(), None),
        _LLVM: (fitted, llvm_local(subject.ir)),
    }
    rows: dict[str, Row] = {}
    for name, (rates, local) in ways.items():
        found = score(estimate(subject.name, units, rates, local), measured, (_PERCENT,)).kinds
        at = [found[kind][_PERCENT] for kind in KINDS]
        rows[name] = [each.weighted if each is not None else None for each in at]
    return Scored(subject, rows)


def program_table(found: Sequence[Scored], name: str) -> str:
    """One estimate, program by program, with the paper's scores beside where it has the same program."""
    rows = [
        [each.subject.name, *_cells(each.rows[name]), *_cells(SCORES.get(each.subject.name, [None] * 6))]
        for each in found
    ]
    return table((name, *SHORT, *(f"WL94 {short}" for short in SHORT)), rows)


def mean_table(found: Sequence[Scored]) -> str:
    """The means of all estimates beside the paper's, over programs that shipped rates have not seen."""
    held_out = [each for each in found if each.subject.name not in FITTED_TO]
    groups = {
        "all": held_out,
        "Unix": [each for each in held_out if each.unix],
        "others": [each for each in held_out if not each.unix],
    }
    rows: list[list[str]] = []
    for group, members in groups.items():
        if members:
            for name in _ESTIMATES:
                columns = list(zip(*(each.rows[name] for each in members), strict=True))
                rows.append([name, f"{group}, geometric", *_cells([geometric(column) for column in columns])])
                rows.append([name, f"{group}, average", *_cells([average(column) for column in columns])])
    rows.append(["WL94", "SPECint92, geometric", *_cells(SPEC)])
    rows.append(["WL94", "Unix, average", *_cells(UNIX)])
    return table(("means", "of", *SHORT), rows)


def geometric(column: Sequence[float | None]) -> float | None:
    """The geometric mean of the scores that there are; one that is 0 makes it 0."""
    known = [each for each in column if each is not None]
    if not known or 0 in known:
        return 0.0 if known else None
    return geometric_mean(known)


def average(column: Sequence[float | None]) -> float | None:
    """The arithmetic mean of the scores that there are, which one that is 0 does not spoil."""
    known = [each for each in column if each is not None]
    return mean(known) if known else None


def _cells(row: Row) -> list[str]:
    return ["-" if each is None else f"{each:.2f}" for each in row]


def as_json(found: Sequence[Scored], fitted: Mapping[str, Rates]) -> dict[str, Any]:
    """For the file of results."""
    return {
        "machine": description(),
        "percent": _PERCENT,
        "kinds": KINDS,
        "programs": {each.subject.name: dict(each.rows) for each in found},
        "rates": {package: dict(rates.taken) for package, rates in fitted.items()},
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Estimate, score and print."""
    arguments = asked(__doc__, RESULTS / "estimates.json", argv)
    try:
        need([OPT])
        levels = dict.fromkeys((*FITTED_AT, arguments.level))
        every = [each for level in levels for each in subjects((), arguments.jobs, arguments.as_built, level)]
        chosen = [
            each
            for each in every
            if each.level == arguments.level and (not arguments.names or each.name in arguments.names)
        ]
        seen = observations(every)
        fitted = {package: fitted_elsewhere(seen, package) for package in {each.package for each in chosen}}
        found: list[Scored] = []
        for subject in chosen:
            found.append(scored(subject, fitted[subject.package]))
            print(f"{subject.name} scored", file=sys.stderr)
    except (BenchError, TroddenError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    for name in _ESTIMATES:
        print(f"{program_table(found, name)}\n")
    print(mean_table(found))
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(as_json(found, fitted), indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

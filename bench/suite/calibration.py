"""The programs whose profiles the rates that come with trodden were fitted to."""

from __future__ import annotations

from bench.suite.model import Program
from bench.suite.packages import command
from bench.suite.workloads import unix_workload

_ALONE = ("cut", "sort", "expr", "od", "diff", "sed", "m4", "gawk")

CALIBRATION = tuple(Program(name=name, source=command(name), workload=unix_workload(name)) for name in _ALONE)
"""Those that nothing else is measured on."""

FITTED_TO = frozenset({*_ALONE, "gzip", "gperf"})
"""All of them; estimates with these rates are scored on none.

Some share a package, and therefore the code of a library, with programs that estimates are scored on.
"""

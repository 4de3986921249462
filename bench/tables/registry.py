"""All tables: every module of this package that has a ``TABLE``."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from functools import cache
from importlib import import_module

import bench.tables
from bench.support.errors import BenchError
from bench.tables.layout.model import Table

# The order of the page; tables that are not named here come last.
_ORDER = (
    *("rivals", "functions", "bl94", "bl96-cost", "bl96-paths", "path-options", "stages", "weights"),
    *("tzg04-cost", "tzg04-bounds"),
    *(
        "tracing",
        "trace-reading",
        "witness-costs",
        "wl94",
        "threads",
        "agreement",
        "instructions",
        "server",
        "merge",
        "rust",
    ),
)


@cache
def tables() -> tuple[Table, ...]:
    """All tables in the order of the page."""
    names = [module.name for module in pkgutil.iter_modules(bench.tables.__path__)]
    modules = [import_module(f"bench.tables.{name}") for name in sorted(names)]
    found: list[Table] = [module.TABLE for module in modules if hasattr(module, "TABLE")]
    order = {name: position for position, name in enumerate(_ORDER)}
    return tuple(sorted(found, key=lambda table: (order.get(table.name, len(order)), table.name)))


def select(names: Sequence[str]) -> list[Table]:
    """The tables of these names, each once."""
    known = {table.name: table for table in tables()}
    for name in names:
        if name not in known:
            raise BenchError(f"no table {name}; there are {', '.join(known)}")
    return [table for table in tables() if table.name in names]

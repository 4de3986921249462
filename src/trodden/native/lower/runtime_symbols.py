"""The IR symbols that instrumented code shares with the runtime, or that a unit defines for it."""

from __future__ import annotations

UNIT = "@__trodden_unit"
"""The unit's entry in the runtime's table of units."""

COUNTERS = "@__trodden_counts"
"""The counters of the calling thread, in a unit that is part of a program."""

TABLE = "@__trodden_table"
"""The calling thread's table of counters, for units that may be part of a shared library."""

COUNT_SPARSE = "@__trodden_note"
"""Adds to a count in a sparse path table."""

CALLER = "@__trodden_caller"
"""The calling thread's position in its call-path tree."""

RING = "@__trodden_ring"
"""The calling thread's ring of last paths."""

CURSOR = "@__trodden_trace"
"""Where the calling thread's trace continues, and where there is no more room."""

TOKENS = "@__trodden_tokens"
"""A record for each function of the unit, which says that it was entered."""

TRACE_FULL = "@__trodden_trace_full"
"""Makes room for more records."""

CHANNEL = "@__trodden_channel"
"""What the calling thread's callers and callees tell each other."""

UNWIND_RESUME = "@_Unwind_Resume"
"""What continues an exception after a landing pad, in the unwinding library."""

OWN_FILE = "<trodden>"
"""The file that locations of probes name where the program has no debug information of its own."""

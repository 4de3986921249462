"""The names of the artificial debug variables by which an interrupted frame is located.

A front end emits them (``native/lower/debug_locations.py``); with them the debug information of the finished
program says for any instruction in which block it is and what the path register holds there.
"""

from __future__ import annotations

AT = "__trodden_at"

VALUE = "__trodden_value"

KEPT = "__trodden_cell"

TRIPS = "__trodden_trips"

BY_LINE = "l"

BY_DISCRIMINATOR = "d"

PLAIN = "p"

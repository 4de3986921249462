"""The C library of the reader, as ctypes sees it: the structures of ``c/tables.h`` and its functions."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_int, c_int32, c_uint8, c_uint32, c_uint64, c_void_p
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parent / "c"


class ArcTable(ctypes.Structure):
    """``struct arc``."""

    _fields_ = (("key", c_uint32), ("target", c_uint32), ("flags", c_uint32))


class PickTable(ctypes.Structure):
    """``struct pick``."""

    _fields_ = (("witness", c_uint32), ("arc", c_uint32))


class PathArcTable(ctypes.Structure):
    """``struct path_arc``."""

    _fields_ = (("add", c_uint64), ("restart", c_uint64), ("flags", c_uint64))


class VertexTable(ctypes.Structure):
    """``struct vertex``."""

    _fields_ = (
        *(("first_arc", c_uint32), ("arcs", c_uint32), ("first_pick", c_uint32), ("picks", c_uint32)),
        *(("callee", c_int32), ("behind", c_uint32), ("landing", c_uint32), ("landings", c_uint32)),
        ("flags", c_uint32),
    )


class ProcedureTable(ctypes.Structure):
    """``struct procedure``."""

    _fields_ = (
        *(("exit", c_uint32), ("root", c_uint32), ("encoding", c_uint32), ("base", c_uint32)),
        *(("vertices", POINTER(VertexTable)), ("arcs", POINTER(ArcTable)), ("picks", POINTER(PickTable))),
        *(("paths", POINTER(PathArcTable)), ("path_to", POINTER(c_uint64)), ("wanted", POINTER(c_uint8))),
        ("sites", POINTER(c_uint8)),
        *(("taken", POINTER(c_uint64)), ("trips", POINTER(c_uint64)), ("path_start", c_uint64)),
        ("entered", c_uint64),
    )


class EventRow(ctypes.Structure):
    """``struct event``."""

    _fields_ = (
        *(("kind", c_uint32), ("depth", c_uint32), ("function", c_uint32), ("block", c_uint32)),
        *(("value", c_uint64), ("position", c_uint64)),
    )


class SiteRow(ctypes.Structure):
    """``struct site``."""

    _fields_ = (("function", c_uint32), ("block", c_uint32))


class PathRow(ctypes.Structure):
    """``struct path_count``."""

    _fields_ = (("path", c_uint64), ("times", c_uint64), ("function", c_uint32), ("used", c_uint32))


class PairRow(ctypes.Structure):
    """``struct pair_count``."""

    _fields_ = (
        *(("first", c_uint64), ("second", c_uint64), ("times", c_uint64)),
        *(("kind", c_uint32), ("function", c_uint32), ("callee", c_uint32)),
        *(("site", c_uint32), ("end", c_uint32), ("used", c_uint32)),
    )


MOST_SITES = 8
SILENT, COUNTED, RESUMES, TAIL = 1, 2, 4, 8
ENDS, MANY = 1, 2
PATH_ENDS, PATH_JOINS, PATH_LEAVES = 1, 2, 4
PAIR_UNKNOWN, PAIR_BEYOND = 4, 8

PROCEDURE_OF = ctypes.CFUNCTYPE(c_void_p, c_uint32)
SITES_AT = ctypes.CFUNCTYPE(c_uint32, c_uint32, c_uint64, POINTER(SiteRow))

_FUNCTIONS = {
    "program": (c_void_p, (PROCEDURE_OF, SITES_AT, c_uint64)),
    "free_program": (None, (c_void_p,)),
    "counts": (None, (c_void_p,)),
    "paths": (POINTER(PathRow), (c_void_p, POINTER(c_uint64))),
    "longer": (None, (c_void_p, c_uint64)),
    "pairs": (POINTER(PairRow), (c_void_p, POINTER(c_uint64))),
    "end": (c_int, (c_void_p,)),
    "reader": (c_void_p, (c_void_p,)),
    "free_reader": (None, (c_void_p,)),
    "events": (None, (c_void_p, POINTER(EventRow), c_uint32, c_uint32)),
    "used": (c_uint32, (c_void_p,)),
    "needed": (c_uint32, (c_void_p,)),
    "position": (c_uint64, (c_void_p, POINTER(c_uint64))),
    "lost": (c_uint32, (c_void_p,)),
    "depth": (c_uint32, (c_void_p,)),
    "frame": (None, (c_void_p, c_uint32, POINTER(c_uint64))),
    "feed": (c_int, (c_void_p, c_void_p, POINTER(c_uint64), c_uint64)),
    "start": (c_int, (c_void_p, POINTER(c_uint64), c_uint32, c_uint32, c_uint32)),
    "enter_handler": (c_int, (c_void_p, c_uint32)),
    "base": (c_uint32, (c_void_p,)),
    "go_on": (c_int, (c_void_p,)),
    "extend": (None, (c_void_p, POINTER(c_uint32), POINTER(c_uint32), c_uint32)),
    "leave_handler": (None, (c_void_p,)),
    "grammar_new": (c_void_p, (c_uint32,)),
    "grammar_free": (None, (c_void_p,)),
    "grammar_append": (c_int, (c_void_p, c_uint64, c_uint64)),
    "grammar_events": (c_uint32, (c_void_p, c_void_p, c_uint32, c_uint64, c_uint64)),
    "grammar_size": (c_uint32, (c_void_p,)),
    "grammar_parts": (None, (c_void_p, POINTER(c_uint64))),
}


@cache
def load_library(path: Path) -> ctypes.CDLL:
    """The library in a file that was made of :data:`SOURCES`; :class:`OSError` if it cannot be loaded."""
    library = ctypes.CDLL(str(path))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, f"trodden_trace_{name}")
        function.restype = result
        function.argtypes = arguments
    return library

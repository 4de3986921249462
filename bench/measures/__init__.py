"""Measures: one file a kind.  Tables name those that they need; the schedule takes them."""

from __future__ import annotations

from bench.measures.build import BuildFigures
from bench.measures.instructions import Instructions
from bench.measures.memory import Memory
from bench.measures.model import Figures, Json, Measure, hashed
from bench.measures.profile_size import ProfileSize
from bench.measures.profiled import Profiled, ProfiledPair
from bench.measures.times import Times

__all__ = [
    "BuildFigures",
    "Figures",
    "Instructions",
    "Json",
    "Measure",
    "Memory",
    "ProfileSize",
    "Profiled",
    "ProfiledPair",
    "Times",
    "hashed",
]

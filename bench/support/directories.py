"""Where the benchmark's own files are, and where it puts what it fetches, builds, runs and measures."""

from __future__ import annotations

from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
"""This package."""

PROJECT = BENCH.parent
"""The checkout that is measured."""

DATA = BENCH / "suite" / "data"
"""Sources and scripts of our own that programs of the suite are made of or run on."""

RESULTS = BENCH / "results"
"""The results of all tables, one file each, under version control."""

WORK = BENCH / "work"
"""Everything that can be made again: archives, builds, inputs, runs, raw figures."""

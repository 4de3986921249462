"""The head of the page: what was measured, where, with what, and when."""

from __future__ import annotations

from collections.abc import Sequence

from bench.build.configurations import GUIDED, WAYS, peer
from bench.measures.times import FEWEST
from bench.page.markdown import table
from bench.support.directories import BENCH
from bench.tables.layout.ratios import rounds_together
from bench.tables.results import Results

_HOW = BENCH / "page" / "how.md"


def opening(all_results: Sequence[Results]) -> str:
    """The title, and where all of it comes from."""
    parts = ["# Benchmarks", "This page is made by `trodden-bench page` from `bench/results/*.json` alone."]
    if not all_results:
        parts.append("Nothing has been measured yet: `make bench`.")
    return "\n\n".join(parts)


def how_measured(all_results: Sequence[Results]) -> str:
    """How, the machine and the programs."""
    if not all_results:
        return ""
    parts = ["## How it was measured", _HOW.read_text().strip(), _rounds(all_results)]
    parts += [_ways(), _machines(all_results), "## Programs", _programs(all_results)]
    return "\n\n".join(part for part in parts if part)


def _rounds(all_results: Sequence[Results]) -> str:
    """How many rounds there are behind a ratio of times, from the least to the most of all that are shown."""
    every = [
        len(rounds_together(figures, way))
        for results in all_results
        for figures in results.figures.values()
        for way in WAYS
        if peer(way) != way
    ]
    enough = [number for number in every if number >= FEWEST]
    if not enough:
        return ""
    rounds = _from_to(str(min(enough)), str(max(enough)))
    return f"Ratios of times are of {rounds} rounds; of fewer than {FEWEST} none is shown."


def _ways() -> str:
    """All ways to build, with the flags that they add to those of the program."""
    rows = []
    for name, known in WAYS.items():
        compiler = "trodden cc" if known.way.trodden else known.way.cc[0]
        weights = " --trodden-weights=TRAIN" if name == GUIDED else ""
        rows.append([known.shown, f"`{' '.join([compiler, *known.way.flags])}{weights}`"])
    return table(["way to build", "flags"], rows)


def _machines(all_results: Sequence[Results]) -> str:
    """One table of what all results have in common; where they differ, all there is."""
    entries = [entry["measured"] for results in all_results for entry in results.programs.values()]
    known = dict.fromkeys(name for entry in entries for name in entry if name != "date")
    rows = []
    for name in known:
        values = dict.fromkeys(str(entry[name]) for entry in entries if name in entry)
        rows.append([name, "; ".join(values)])
    days = sorted(entry["date"][:10] for entry in entries)
    if days:
        rows.append(["measured", _from_to(days[0], days[-1])])
    return table(["where and with what", ""], rows)


def _from_to(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def _programs(all_results: Sequence[Results]) -> str:
    known: dict[str, list[str]] = {}
    for results in all_results:
        for name, entry in results.programs.items():
            known.setdefault(name, [name, entry["version"], entry["about"]])
    return table(["program", "version", "what it does"], list(known.values()))

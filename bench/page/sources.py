"""Which sources of trodden were measured: rows of different versions have to be distinguishable."""

from __future__ import annotations

from collections.abc import Sequence

from bench.tables.results import Results


def newest_sources(all_results: Sequence[Results]) -> str:
    """The version and sources of trodden that were measured last; none if nothing was measured."""
    entries = [entry["measured"] for results in all_results for entry in results.programs.values()]
    last = max(entries, key=lambda entry: str(entry["date"]), default={"trodden": ""})
    return str(last["trodden"])


def older_sources(results: Results, newest: str) -> str:
    """Which programs of a table were measured with other sources than the newest, if some were."""
    found: dict[str, list[str]] = {}
    for name, entry in results.programs.items():
        if (used := str(entry["measured"]["trodden"])) != newest:
            found.setdefault(_short(used, newest), []).append(name)
    if len(found) == 1 and len(next(iter(found.values()))) == len(results.programs) > 1:
        return f"All of it was measured with older sources ({next(iter(found))})."
    each = [f"{', '.join(names)} ({used})" for used, names in found.items()]
    return f"Measured with older sources: {'; '.join(each)}." if each else ""


def _short(used: str, newest: str) -> str:
    """Without the version if that is the same."""
    version, _, sources = used.partition(", ")
    return sources if sources and newest.startswith(f"{version}, ") else used

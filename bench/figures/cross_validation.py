"""Estimates with rates that are fitted to the programs of all other packages: cross-validation by package.

This needs profiles of all programs that have a workload, at both levels of optimisation, so it is computed
only when all of them are requested.  The result is kept until something that it depends on changes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Sequence

from bench.figures.estimate_evaluation import LEVELS, scores_with, scripted_programs
from bench.figures.estimate_scores import fitted_elsewhere, observations
from bench.measures.code import code_of
from bench.measures.model import Json
from bench.run.scripted import ScriptedProgram
from bench.support.atomic_files import write_atomically
from bench.support.directories import WORK
from bench.support.errors import BenchError
from bench.support.hashing import hashed
from trodden.errors import TroddenError
from trodden.profile.store.trod import load

_KEPT = WORK / "estimates" / "cross-validated.json"


def cross_validated(scored: Collection[str], complete: bool) -> Json:
    """Scores by program and level, and the rates by the package that they were fitted without.

    ``scored`` are the programs to score.  Unless ``complete``, only a kept result is returned.
    """
    if not complete and not _KEPT.is_file():
        return None
    programs = [each for level in LEVELS for each in scripted_programs(level)]
    state = hashed(*sorted(scored), code_of(__name__), *(each.fingerprint() for each in programs))
    before = json.loads(_KEPT.read_text()) if _KEPT.is_file() else {}
    if before.get("state") == state:
        return before["found"]
    if not complete:
        return None
    found = _validate(programs, [each for each in programs if each.name in scored])
    write_atomically(_KEPT, json.dumps({"state": state, "found": found}))
    return found


def _validate(programs: Sequence[ScriptedProgram], scored: Sequence[ScriptedProgram]) -> Json:
    for number, each in enumerate(programs, 1):
        print(f"rates: {each.name} -{each.level} ({number} of {len(programs)})", file=sys.stderr, flush=True)
        each.profile()
    try:
        seen = observations((each.package, each.name, load(each.profile())) for each in programs)
        rates = {package: fitted_elsewhere(seen, package) for package in {each.package for each in scored}}
        found: dict[str, dict[str, Json]] = {}
        for each in scored:
            found.setdefault(each.name, {})[each.level] = scores_with(each, rates[each.package])
    except TroddenError as error:
        raise BenchError(f"rates cannot be fitted to the programs: {error}") from error
    return {"scores": found, "rates": {package: dict(each.taken) for package, each in sorted(rates.items())}}

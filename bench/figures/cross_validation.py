"""Estimates with rates that the programs of all other packages have made: cross-validated by package.

That takes profiles of all programs that estimates know, at both levels of optimisation, so it is done only
when all of them are wanted; its answer is kept until anything it follows from changes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Sequence

from bench.figures.estimated import LEVELS, scores_with
from bench.figures.estimates import fitted_elsewhere, observations
from bench.measures.code import code_of
from bench.measures.model import Json, hashed
from bench.run.scripted import Subject, every_subject, follows_from, prepare
from bench.support.atomic_files import write_whole
from bench.support.directories import WORK
from bench.support.errors import BenchError
from trodden.errors import TroddenError
from trodden.profile.store.trod import load

_KEPT = WORK / "estimates" / "cross-validated.json"


def cross_validated(scored: Collection[str], complete: bool) -> Json:
    """Scores by program and level, and the rates by the package that they were fitted without.

    ``scored`` are the programs that are wanted.  Unless the answer is to be complete, there is one only if it
    is known from before.
    """
    if not complete and not _KEPT.is_file():
        return None
    every = [subject for level in LEVELS for subject in every_subject(level)]
    code = code_of(__name__, scores_with.__module__, observations.__module__)
    state = hashed(*sorted(scored), code, *(follows_from(subject) for subject in every))
    before = json.loads(_KEPT.read_text()) if _KEPT.is_file() else {}
    if before.get("state") == state:
        return before["found"]
    if not complete:
        return None
    found = _validated(every, [subject for subject in every if subject.name in scored])
    write_whole(_KEPT, json.dumps({"state": state, "found": found}))
    return found


def _validated(every: Sequence[Subject], scored: Sequence[Subject]) -> Json:
    for number, each in enumerate(every, 1):
        print(f"rates: {each.name} -{each.level} ({number} of {len(every)})", file=sys.stderr, flush=True)
        prepare([each], os.cpu_count() or 1)
    try:
        seen = observations((each.package, each.name, load(each.measured)) for each in every)
        rates = {package: fitted_elsewhere(seen, package) for package in {each.package for each in scored}}
        found: dict[str, dict[str, Json]] = {}
        for each in scored:
            found.setdefault(each.name, {})[each.level] = scores_with(each, rates[each.package])
    except TroddenError as error:
        raise BenchError(f"rates cannot be fitted to the programs: {error}") from error
    return {"scores": found, "rates": {package: dict(each.taken) for package, each in sorted(rates.items())}}

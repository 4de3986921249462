"""Agreement of traces with counters of the same run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.figures.trace_agreement import trace_agreement
from bench.support.errors import BenchError
from tests.native.building import execute, must
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile
from trodden.program.facts import Skipped

SOURCE = """\
#include <pthread.h>
#include <stdlib.h>
static void *work(void *times) {
    long found = 0;
    for (long i = 0; i < (long)times; i++)
        found += rand() % 2 ? i : -i;
    return (void *)found;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, (void *)70L);
    work((void *)30L);
    pthread_join(thread, 0);
    exit(3);
}
"""


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    folder = tmp_path_factory.mktemp("traced")
    (folder / "p.c").write_text(SOURCE)
    flags = ("-O1", "--trodden-profile=trace", "--trodden-counters=checked", "-pthread")
    must("cc", *flags, "p.c", "-o", "p", cwd=folder)
    assert execute(["./p"], folder, {"TRODDEN_FILE": "p.raw"}).returncode == 3
    return collect([folder / "p.raw"])


def test_every_edge_is_compared(profile: Profile) -> None:
    found = trace_agreement(profile, "p")
    assert (found["functions"], found["threads"]) == (2, 2)
    assert (found["differences"], found["path differences"], found["damaged"]) == (0, 0, 0)
    assert found["edges"] >= found["taken"] >= 6


def test_counters_that_say_something_else_are_found(profile: Profile) -> None:
    (counts,) = profile.unit_counts
    (unit,) = profile.units
    work = next(each for each in unit.functions if each.name == "work")
    wrong = list(counts.counters)
    wrong[work.first_slot] += 1
    found = trace_agreement(replace(profile, unit_counts=(replace(counts, counters=wrong),)), "p")
    assert found["differences"] == 1
    assert found["path differences"] == 1
    assert found["first differences"][0].startswith("work: the edge ")


def test_a_trace_that_ends_early_is_an_error(profile: Profile) -> None:
    assert profile.traces is not None
    (process,) = profile.traces.processes
    early = replace(process, messages=("p: it ends early",))
    with pytest.raises(BenchError, match="p: p: it ends early"):
        trace_agreement(replace(profile, traces=replace(profile.traces, processes=(early,))), "p")


def test_a_function_without_a_trace_has_to_have_a_reason(profile: Profile) -> None:
    with pytest.raises(BenchError, match="p: g has no trace, and no reason is given"):
        trace_agreement(replace(profile, skipped=(Skipped("g", ""),)), "p")

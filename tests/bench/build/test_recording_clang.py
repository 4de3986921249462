"""The rival of traces records every edge that is executed, of all threads, in the order of each."""

from __future__ import annotations

from array import array
from collections import Counter
from pathlib import Path

from bench.build import recording_clang
from bench.build.toolchain import CLANG
from tests.native.building import execute

_SOURCE = """
#include <pthread.h>
int volatile odd, even;
static void *count(void *turns) {
    for (long i = 0; i < (long)turns; i++)
        if (i % 2)
            odd++;
        else
            even++;
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, count, (void *)100001);
    pthread_join(thread, 0);
    count((void *)7);
    return 5;
}
"""


def test_every_edge_is_recorded(tmp_path: Path) -> None:
    source, made = tmp_path / "x.c", tmp_path / "x"
    source.write_text(_SOURCE)
    assert recording_clang.main(CLANG, "-O0", "-c", str(source), "-o", str(tmp_path / "x.o")) == 0
    assert recording_clang.main(CLANG, "-O0", str(tmp_path / "x.o"), "-o", str(made)) == 0
    assert execute([str(made)], tmp_path).returncode == 5
    (found,) = tmp_path.glob("edges.*")
    counts = Counter(array("I", found.read_bytes()))
    # Iterations with odd numbers and with even ones, and all iterations, of both calls together.
    assert {50003, 50005, 100008} <= set(counts.values())

"""``trodden run --trace-limit`` and ``--trace-ring``: how much of a trace is kept."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import trodden as library
from tests.native.building import must, trodden
from trodden.errors import UsageError
from trodden.native.execute.trace_size import TraceSize, trace_size
from trodden.profile.trace.threads import ThreadTrace

SOURCE = """\
#include <stdlib.h>
volatile int sink;
int main(int argc, char **argv) {
    for (long i = 0; i < atol(argv[1]); i++)
        if (sink += i & 3)
            sink ^= 1;
    if (argc > 2)
        abort();
    return 0;
}
"""
SEGMENT = 64 << 10


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sizes")
    (folder / "p.c").write_text(SOURCE)
    must("cc", "--trodden-profile=trace", "-O0", "p.c", "-o", "p", cwd=folder)
    return folder / "p"


def _run(program: Path, *words: str, **variables: str) -> tuple[ThreadTrace, tuple[str, ...]]:
    output = program.parent / "p.trod"
    own = {**os.environ, **variables}
    done = trodden("run", "-q", "-o", output, *words, cwd=program.parent, env=own)
    assert done.returncode in (0, -6), done.stderr
    profile = library.load(output)
    (thread,) = profile.trace.threads
    return thread, profile.messages


def _kept(thread: ThreadTrace) -> int:
    return sum(chunk.piece.size for chunk in thread.main)


@pytest.mark.parametrize(
    ("words", "variables", "size"),
    [
        (("--trace-ring", "512K"), {}, 512 << 10),
        ((), {"TRODDEN_TRACE_RING": "1"}, 256 << 10),
        (("--trace-ring=256K"), {}, 256 << 10),
        (("--trace-ring", "300k"), {}, 256 << 10),
        ((), {"TRODDEN_TRACE_RING": "512k"}, 512 << 10),
        (("--trace-ring", "512K"), {"TRODDEN_TRACE_LIMIT": "1000"}, 512 << 10),
    ],
)
@pytest.mark.parametrize("ending", [(), ("x",)])
def test_a_ring_keeps_the_last_part(
    program: Path, words: tuple[str, ...] | str, variables: dict[str, str], size: int, ending: tuple[str, ...]
) -> None:
    """All but the oldest of its segments are full."""
    own = (words,) if isinstance(words, str) else words
    thread, messages = _run(program, *own, "./p", "3000000", *ending, **variables)
    assert len(thread.main) == size // SEGMENT
    assert size - 3 * SEGMENT < _kept(thread) <= size
    assert thread.chunks[0].sequence > 0
    (message,) = [each for each in messages if "trace begins in the middle" in each]
    assert "(--trace-ring)" in message
    done = trodden("replay", "p.trod", "--last", "1", cwd=program.parent)
    assert done.stderr == f"trodden: {message}\n"
    assert ("p.c:8" if ending else "p.c:9") in done.stdout


@pytest.mark.parametrize(
    ("words", "variables"),
    [(("--trace-limit", "100K"), {}), ((), {"TRODDEN_TRACE_LIMIT": "100K"})],
)
def test_a_limit_ends_the_trace(program: Path, words: tuple[str, ...], variables: dict[str, str]) -> None:
    thread, messages = _run(program, *words, "./p", "3000000", **variables)
    assert 90_000 < _kept(thread) < 103_000
    assert thread.chunks[0].sequence == 0
    (message,) = [each for each in messages if "ends before it does" in each]
    assert "(--trace-limit)" in message
    done = trodden("replay", "p.trod", "--last", "1", cwd=program.parent)
    assert message in done.stderr
    assert message not in done.stdout


def test_a_small_trace_is_whole_in_a_ring(program: Path) -> None:
    thread, messages = _run(program, "--trace-ring", "1M", "./p", "10")
    assert thread.chunks[0].sequence == 0
    assert messages == ()


def test_what_records_no_trace_is_said(program: Path) -> None:
    folder = program.parent
    done = trodden("run", "-q", "--trace-ring", "1M", "p.c", "--", "1", cwd=folder)
    assert (done.returncode, done.stdout) == (UsageError.status, "")
    assert "--trace-ring: goes with --profile trace" in done.stderr
    must("cc", "p.c", "-o", "counted", cwd=folder)
    done = trodden("run", "-q", "--trace-limit", "1M", "./counted", "1", cwd=folder)
    assert "--trace-limit: nothing that was run records a trace" in done.stderr
    run = library.run(str(folder / "counted"), args=["1"], trace_ring="1M")
    assert [each for each in run.profile.messages if each.startswith("--trace-ring")]


def test_sizes() -> None:
    assert trace_size("3", None) == TraceSize(limit=3)
    assert trace_size(None, "256k") == TraceSize(ring=256 << 10)
    assert trace_size(None, "2g") == TraceSize(ring=2 << 30)
    assert trace_size(1 << 20, None) == trace_size("1M", None)
    assert not trace_size(None, None)


@pytest.mark.parametrize("size", ["", "0", "-1", "1.5M", "1MB", "M", "x", "9" * 30])
def test_what_is_no_size_is_refused(size: str) -> None:
    with pytest.raises(UsageError, match="as in 16M"):
        trace_size(None, size)


@pytest.mark.parametrize("size", [1, "255K", (256 << 10) - 1])
def test_a_ring_that_is_too_small_is_refused(size: str | int) -> None:
    with pytest.raises(UsageError, match=f"--trace-ring {size}: is too small; a ring has at least 256K"):
        trace_size(None, size)


@pytest.mark.parametrize("name", ["TRODDEN_TRACE_RING", "TRODDEN_TRACE_LIMIT"])
@pytest.mark.parametrize(
    "value", ["foo", "-1", " 1M", "1MB", "1.5M", "M", "0x10", "9" * 30, "99999999999G", "\x1b[1m"]
)
def test_a_program_says_what_is_no_size(program: Path, name: str, value: str) -> None:
    own = {**os.environ, name: value, "TRODDEN_FILE": str(program.parent / "said.raw")}
    done = subprocess.run([program, "10"], env=own, check=False, capture_output=True, text=True)
    shown = value.replace("\x1b", "?")
    assert done.stderr == (
        f"trodden: {name}={shown} is no size, such as 16M; the trace is kept as without it\n"
    )
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("", ""),
        ("0", ""),
        ("256K", ""),
        ("262144", ""),
        ("1m", ""),
        ("255K", "trodden: TRODDEN_TRACE_RING is too small; each thread keeps 256K\n"),
    ],
)
def test_a_program_says_that_its_ring_is_too_small(program: Path, value: str, said: str) -> None:
    own = {**os.environ, "TRODDEN_TRACE_RING": value, "TRODDEN_FILE": str(program.parent / "said.raw")}
    done = subprocess.run([program, "10"], env=own, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, said)


def test_the_library_refuses_sizes_without_a_trace(program: Path) -> None:
    source = program.with_suffix(".c")
    with pytest.raises(UsageError, match="--trace-ring: goes with --profile trace"):
        library.run(source, args=["1"], profile="edges", trace_ring="1M")
    with pytest.raises(UsageError, match="--trace-limit: goes with --profile trace"):
        library.run(source, args=["1"], profile="edges", trace_limit="1M")


def test_a_ring_and_a_limit_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="choose one"):
        trace_size("1M", "1M")


def test_the_library_takes_sizes(program: Path) -> None:
    run = library.run(str(program), args=["3000000"], trace_ring="256K")
    (thread,) = run.profile.trace.threads
    assert len(thread.main) == 4
    assert subprocess.run([program, "1"], cwd=program.parent, check=False).returncode == 0


TWO_THREADS = """\
#include <pthread.h>
#include <stdlib.h>
static void *often(void *count) {
    volatile int odd = 0;
    for (int i = 0; i < *(int *)count; i++)
        if (rand() & 1)
            odd++;
    return NULL;
}
int main(void) {
    pthread_t thread;
    int count = 3000000, few = 3;
    pthread_create(&thread, NULL, often, &count);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, often, &few);
    return pthread_join(thread, NULL);
}
"""


def test_of_several_threads_the_trace_of_one_may_begin_in_the_middle(tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text(TWO_THREADS)
    options = "--profile", "trace", "--trace-ring", "512K", "-pthread", "-o", "t.trod"
    must("run", "-q", *options, "t.c", cwd=tmp_path)
    (message,) = library.load(tmp_path / "t.trod").trace.threads[0].process.messages
    assert ": the trace of 1 of 3 threads begins in the middle, since" in message

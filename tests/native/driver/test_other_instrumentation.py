"""Sanitizers, coverage and profile-guided optimisation beside trodden."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.building import must, run, trodden
from trodden.errors import UsageError
from trodden.native.driver.other_instrumentation import check_instrumentation, runtimes, sanitizers
from trodden.profile.store.trod import load

PROGRAM = """#include <pthread.h>
#include <stdio.h>
static int twice(int x) { return x > 3 ? x * 2 : x; }
static void *work(void *sum) {
    for (int i = 0; i < 10; i++)
        *(int *)sum += twice(i);
    return sum;
}
int main(int argc, char **argv) {
    pthread_t thread;
    int sum = argc > 1 ? 2147483647 : 0;
    pthread_create(&thread, NULL, work, &sum);
    pthread_join(thread, NULL);
    printf("%d %d\\n", sum, argv[0] != NULL);
    return 0;
}
"""


@pytest.mark.parametrize("flags", [["-fsanitize=undefined"], ["-fsanitize=signed-integer-overflow", "-O2"]])
def test_a_sanitizer_of_the_embedded_toolchain(tmp_path: Path, flags: list[str]) -> None:
    (tmp_path / "main.c").write_text(PROGRAM)
    must("cc", *flags, "main.c", "-o", "main", cwd=tmp_path)
    assert must("run", "-q", "./main", cwd=tmp_path) == "84 1\n"
    profile = load(tmp_path / "trodden.trod")
    assert profile.functions["work"].entries == 1
    assert not any(function.violations for function in profile.functions.values())
    assert "overflow" in run(tmp_path / "main", "much", cwd=tmp_path).stderr


@pytest.mark.parametrize(
    "flag",
    ["-fsanitize=address", "--coverage", "-fprofile-generate", "-fprofile-instr-generate", "-fsanitize=vptr"],
)
def test_what_the_embedded_toolchain_has_no_runtime_for_is_refused_by_name(tmp_path: Path, flag: str) -> None:
    (tmp_path / "main.c").write_text(PROGRAM)
    done = trodden("cc", flag, "-c", "main.c", cwd=tmp_path)
    assert done.returncode == UsageError.status
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"trodden: {flag}: ")
    assert "--trodden-toolchain=clang" in line


def test_counting_by_the_compiler_does_not_go_with_the_early_stage() -> None:
    check_instrumentation(["--coverage"], embedded=False, early=False)
    with pytest.raises(UsageError, match=r"--coverage: .*late stage"):
        check_instrumentation(["--coverage"], embedded=False, early=True)


@pytest.mark.parametrize(
    ("flags", "found", "linked"),
    [
        ("-fsanitize=undefined,thread", {"undefined", "thread"}, "-fsanitize=thread -fsanitize=undefined"),
        ("-fsanitize=bounds -fno-sanitize=bounds", set(), ""),
        ("-fsanitize=bounds,null -fno-sanitize=all", set(), ""),
        ("-fsanitize=null -fsanitize-trap=null", {"null"}, ""),
        ("-fsanitize=kcfi", {"kcfi"}, ""),
        ("-fsanitize=null -fsanitize-recover=all", {"null"}, "-fsanitize=undefined"),
    ],
)
def test_runtimes(flags: str, found: set[str], linked: str) -> None:
    assert sanitizers(flags.split()) == found
    assert runtimes(flags.split()) == linked.split()


def test_traps_need_no_runtime(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(PROGRAM)
    must("cc", "-fsanitize=undefined", "-fsanitize-trap=undefined", "main.c", "-o", "main", cwd=tmp_path)
    assert run(tmp_path / "main", cwd=tmp_path).stdout == "84 1\n"
    assert run(tmp_path / "main", "much", cwd=tmp_path).returncode < 0

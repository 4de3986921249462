"""Programs that define functions of the C library themselves: the runtime's interposers give way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.native.building import must, run, trodden
from trodden import load, native

INTERPOSERS = Path(native.__file__).parent / "runtime" / "interpose"
WRAPPER = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int created, hits;
__attribute__((noinline))
int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    create *next = (create *)dlsym(RTLD_NEXT, "pthread_create");
    created++;
    return next(id, attributes, start, argument);
}
int daemon(int a, int b) { return a + b; }
void (*signal(int number, void (*handler)(int)))(int) {
    struct sigaction action = {.sa_handler = handler}, before;
    sigaction(number, &action, &before);
    return before.sa_handler;
}
static void handle(int number) { hits += number == SIGUSR1; }
static void *work(void *n) {
    for (long i = 0; i < (long)n; i++)
        __asm__ volatile("");
    return NULL;
}
int main(void) {
    pthread_t threads[4];
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, (void *)100L);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d %d\\n", created, hits, daemon(1, 2));
    return 0;
}
"""


def interposed() -> list[str]:
    """The names of all interposed functions, as the sources of the runtime have them."""
    texts = [path.read_text() for path in INTERPOSERS.glob("*.c") if path.name != "dlsym.c"]
    plain = [re.sub(r"__attribute__\(\(.*?\)\)", "", text) for text in texts]
    return sorted(
        {name for text in plain for name in re.findall(r"EXPORTED[^;{=]*?\b(\w+)\(", text)} | {"vfork"}
    )


def define_all(directory: Path) -> int:
    """Write a program that defines and calls all interposed functions; return how many there are."""
    names = interposed()
    assert {"pthread_create", "sigaction", "_exit", "execvp", "swapcontext", "vfork"} <= set(names)
    definition = 'int f{0}(void) __asm__("{1}");\nint f{0}(void) {{ return {0}; }}\n'
    text = "".join(definition.format(i, name) for i, name in enumerate(names))
    calls = " + ".join(f"f{i}()" for i in range(len(names)))
    wanted = sum(range(len(names)))
    text += f"int all(void) {{ return {calls}; }}\nint main(void) {{ return all() != {wanted}; }}\n"
    (directory / "all.c").write_text(text)
    return len(names)


def test_every_interposer_gives_way(tmp_path: Path) -> None:
    count = define_all(tmp_path)
    must("cc", "-O0", "all.c", "-o", "all", cwd=tmp_path)
    must("run", "-q", "-o", "out.trod", "./all", cwd=tmp_path)
    profile = load(tmp_path / "out.trod")
    assert profile.messages == ()
    assert [profile.functions[name].entries for name in interposed()] == [1] * count


@pytest.mark.parametrize("flags", ["-static", "-static-pie", "-shared -fPIC", "-target x86_64-linux-musl"])
def test_every_interposer_gives_way_in_other_links(tmp_path: Path, flags: str) -> None:
    define_all(tmp_path)
    must("cc", "-O0", *flags.split(), "all.c", "-o", "all", cwd=tmp_path)


@pytest.mark.parametrize("flags", ["-O0", "-O2 -fPIE -pie"])
def test_threads_behind_a_wrapper_are_counted(tmp_path: Path, flags: str) -> None:
    (tmp_path / "wrapper.c").write_text(WRAPPER)
    must("cc", *flags.split(), "-pthread", "wrapper.c", "-o", "wrapper", cwd=tmp_path)
    assert must("run", "-q", "-o", "out.trod", "./wrapper", cwd=tmp_path) == "4 1 3\n"
    profile = load(tmp_path / "out.trod")
    work = profile.functions["work"]
    assert (work.entries, max(work.block_counts)) == (4, 400 if "-O2" in flags else 404)
    assert profile.functions["handle"].entries == 1
    assert profile.functions["pthread_create"].entries == 4


def test_a_sanitizer_keeps_its_interceptors(tmp_path: Path) -> None:
    text = WRAPPER.replace("int pthread_create(", "int unused_create(")
    (tmp_path / "wrapper.c").write_text(text)
    must("cc", "-O0", "-fsanitize=thread", "-pthread", "wrapper.c", "-o", "wrapper", cwd=tmp_path)
    assert must("run", "-q", "-o", "out.trod", "./wrapper", cwd=tmp_path) == "0 1 3\n"
    work = load(tmp_path / "out.trod").functions["work"]
    assert (work.entries, max(work.block_counts)) == (4, 404)


def test_a_link_without_a_c_library_says_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "bare.c").write_text("void _start(void) { for (;;); }\n")
    done = trodden("cc", "-O0", "-nostdlib", "bare.c", "-o", "bare", cwd=tmp_path)
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("trodden: -nostdlib: the runtime that counts needs a C library; add -lc")


def test_a_static_program_that_is_relocated(tmp_path: Path) -> None:
    (tmp_path / "loop.c").write_text(
        "#include <stdio.h>\nint main(void) { for (int i = 0; i < 7; i++) putchar('x'); return 0; }\n"
    )
    must("cc", "-O0", "-static-pie", "loop.c", "-o", "loop", cwd=tmp_path)
    assert must("run", "-q", "-o", "out.trod", "./loop", cwd=tmp_path) == "xxxxxxx"
    assert max(load(tmp_path / "out.trod").functions["main"].block_counts) == 8
    assert run(tmp_path / "loop", cwd=tmp_path).returncode == 0

"""Small projects with the build systems that people have: make, and a script that probes the compiler."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from tests.native.building import TRODDEN, execute, run, trodden
from trodden.collect.binary.program import read_program
from trodden.profile.store.trod import load

CC = f"{shlex.join(TRODDEN)} cc"
AR = f"{shlex.quote(TRODDEN[0])} -m ziglang ar"
FILES = {
    "Makefile": """CFLAGS = -O2 -Wall -Wextra -Werror -MMD -MP -Iinclude
LDFLAGS = -L. -Wl,-rpath,'$$ORIGIN'
OBJECTS = obj/main.o obj/words.o

all: app
app: $(OBJECTS) libstack.a libhash.so
\t$(CC) $(LDFLAGS) $(OBJECTS) libstack.a -lhash -lm -pthread -o $@
libstack.a: obj/stack.o
\t$(AR) rcs $@ $^
libhash.so: src/hash.c
\t$(CC) $(CFLAGS) -fPIC -shared -MF obj/hash.d $< -o $@
obj/%.o: src/%.c | obj
\t$(CC) $(CFLAGS) -c $< -o $@
libhash.so: | obj
obj:
\tmkdir -p obj
-include $(wildcard obj/*.d)
""",
    "include/parts.h": """#define DEPTH 16
int push(int value);
int pop(void);
unsigned hash(const char *text);
int words(const char *text);
""",
    "src/stack.c": """#include "parts.h"
static int kept[DEPTH], used;
int push(int value) {
    if (used == DEPTH)
        return 0;
    kept[used++] = value;
    return 1;
}
int pop(void) { return used ? kept[--used] : -1; }
""",
    "src/hash.c": """#include "parts.h"
unsigned hash(const char *text) {
    unsigned value = 5381;
    while (*text)
        value = value * 33 + (unsigned char)*text++;
    return value;
}
""",
    "src/words.c": """#include "parts.h"
int words(const char *text) {
    int found = 0, inside = 0;
    for (; *text; text++) {
        if (*text == ' ')
            inside = 0;
        else if (!inside) {
            inside = 1;
            found++;
        }
    }
    return found;
}
""",
    "src/main.c": """#include "parts.h"
#include <math.h>
#include <stdio.h>
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        push(words(argv[i]));
    for (int value = pop(); value >= 0; value = pop())
        printf("%d ", value);
    printf("%u %.1f\\n", hash("abc"), sqrt(argc * 4.0));
    return 0;
}
""",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a program, a static and a shared library, built once."""
    directory = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    done = _make(directory)
    assert (done[0], done[1]) == (0, "")
    return directory


def _make(directory: Path) -> tuple[int, str, str]:
    done = execute(["make", f"CC={CC}", f"AR={AR}"], directory)
    return done.returncode, done.stderr, done.stdout


def test_the_program_of_a_project(project: Path) -> None:
    done = run(project / "app", "a b c", "", "d", cwd=project)
    assert (done.returncode, done.stdout) == (0, "1 0 3 193485963 4.0\n")
    units = read_program(project / "app").units.values()
    assert {Path(unit.source).name for unit in units} == {"main.c", "words.c", "stack.c"}
    assert all(Path(unit.source).is_absolute() for unit in units)


def test_one_profile_of_program_and_libraries(project: Path, tmp_path: Path) -> None:
    done = trodden("run", project / "app", "a b c", "", "d", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 0 3 193485963 4.0\n", "")
    profile = load(tmp_path / "trodden.trod")
    entries = {name: function.entries for name, function in profile.functions.items()}
    assert entries == {"main": 1, "words": 3, "push": 3, "pop": 4, "hash": 1}
    assert not any(function.violations for function in profile.functions.values())


def test_only_what_changed_is_built_again(project: Path) -> None:
    assert _make(project)[2].count(" cc ") == 0
    _age(project)
    (project / "src/stack.c").touch()
    status, errors, log = _make(project)
    assert (status, errors) == (0, "")
    assert log.count(" -c src/") == 1
    assert log.count("-shared") == 0
    _age(project)
    (project / "include/parts.h").touch()
    status, errors, log = _make(project)
    assert (status, errors) == (0, "")
    assert log.count(" -c src/") == 3
    assert log.count("-shared") == 1


def _age(directory: Path) -> None:
    """Make everything old, in the order in which it was made."""
    for path in directory.rglob("*"):
        if path.is_file():
            status = path.stat()
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns - 10**12))


CONFIGURE = r"""#!/bin/sh
# What configure scripts ask of a compiler, in small.
set -u
log() { echo "$1"; }
fail() { echo "configure: error: $1" >&2; exit 1; }
cat > conftest.c <<'END'
int main(void) { return 0; }
END
$CC --version > /dev/null 2>&1 || fail "no compiler"
$CC $CFLAGS -o conftest conftest.c 2> conftest.err || fail "cannot create executables"
[ -s conftest.err ] && fail "the compiler is noisy"
./conftest || fail "cannot run programs"
rm -f conftest conftest.o
$CC $CFLAGS -c conftest.c || fail "cannot compile"
[ -f conftest.o ] || fail "no object file"
$CC -E conftest.c > conftest.i || fail "no preprocessor"
grep -q 'int main' conftest.i || fail "the preprocessor loses text"
echo '#include "no/such/header.h"' > conftest.c
$CC -E conftest.c > /dev/null 2>&1 && fail "the preprocessor finds what is not there"
has() {
    printf '%s\n' "$2" > conftest.c
    if $CC $CFLAGS $3 -o conftest conftest.c $4 > /dev/null 2>&1; then log "$1 yes"; else log "$1 no"; fi
    rm -f conftest
}
has printf 'char printf(void); int main(void) { return printf(); }' '-fno-builtin' ''
has nothing 'char no_such_function(void); int main(void) { return no_such_function(); }' '' ''
has cos '#include <math.h>
int main(int c, char **v) { return cos(c) > 2; }' '' '-lm'
has nolib 'int main(void) { return 0; }' '' '-lno_such_library'
has threads '#include <pthread.h>
int main(void) { return pthread_create == 0; }' '-pthread' ''
has badflag 'int main(void) { return 0; }' '-Werror -fno-such-flag' ''
has goodflag 'int main(void) { return 0; }' '-Werror -fno-strict-aliasing' ''
has pic '#ifndef __PIC__
#error
#endif
int f(void) { return 0; }' '-fPIC -shared' ''
has inline 'static inline int f(void) { return 0; } int main(void) { return f(); }' '-Wall -Werror' ''
has sizes 'int check[sizeof(long) == 8 ? 1 : -1]; int main(void) { return check[0]; }' '' ''
log "machine $($CC -dumpmachine)"
rm -f conftest*
"""


def test_a_script_that_probes_the_compiler(tmp_path: Path) -> None:
    script = tmp_path / "configure"
    script.write_text(CONFIGURE)
    done = execute(["sh", str(script)], tmp_path, {"CC": CC, "CFLAGS": "-g -O2"})
    assert (done.returncode, done.stderr) == (0, "")
    answers = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    machine = answers.pop("machine")
    assert machine.count("-") == 3
    assert not any(char.isdigit() for char in machine.split("-", 1)[1])
    assert {name for name, answer in answers.items() if answer == "no"} == {"nothing", "nolib", "badflag"}
    assert set(answers) >= {"printf", "cos", "threads", "goodflag", "pic", "inline", "sizes"}
    assert [name for name in os.listdir(tmp_path) if not name.endswith(".raw")] == ["configure"]

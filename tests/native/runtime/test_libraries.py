"""Libraries that are loaded and unloaded repeatedly, while other threads count, jump and throw."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.native.building import must
from tests.native.mapped_counts import VARIANTS, ProgramBuilder, run_counted
from trodden import load


def build_libraries(programs: ProgramBuilder, source: str, variant: str) -> list[Path]:
    """Two, with counts of their own."""
    more = ("-fPIC", "-shared")
    return [
        programs.build(
            source, variant, *more, f"-DFILE_NUMBER={number}", name=f"{Path(source).stem}{number}.so"
        )
        for number in (1, 2)
    ]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("host", "library"),
    [("reloading.c", "reloaded_library.c"), ("throwing_while_loading.cpp", "unwound_library.c")],
)
def test_two_libraries_a_thousand_times(
    programs: ProgramBuilder, tmp_path: Path, host: str, library: str, variant: str
) -> None:
    """Two threads load, use and unload them; a third one leaves functions by longjmp, or by exceptions."""
    libraries = build_libraries(programs, library, variant)
    program = programs.build(host, variant)
    done = run_counted(program, "1000", *libraries, cwd=tmp_path, sources=(host, library, library))
    assert (done.status, done.errors) == (5, "")
    (raw,) = done.raws
    assert sorted(Path(module.path).name for module in raw.modules) == sorted(
        path.name for path in (program, *libraries)
    )
    done.check()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_library_used_by_many_threads_at_once(
    programs: ProgramBuilder, tmp_path: Path, variant: str
) -> None:
    """Four threads load and unload it; it is unmapped only when none of them has it."""
    library = build_libraries(programs, "reloaded_library.c", variant)[0]
    program = programs.build("reloading.c", variant)
    sources = ("reloading.c", "reloaded_library.c")
    done = run_counted(program, "150", *[library] * 4, cwd=tmp_path, sources=sources)
    assert (done.status, done.errors) == (5, "")
    done.check()


def test_more_plugins_than_static_tls_has_room_for(tmp_path: Path) -> None:
    """With ``--preload`` they share one variable; each would take 8 of some 1,700 bytes."""
    (tmp_path / "plugin.c").write_text("int f(int n) { return n > 2 ? n : 0; }\n")
    (tmp_path / "host.c").write_text(
        """#include <dlfcn.h>
        #include <stdio.h>
        int main(void) {
            for (int i = 0; i < 250; i++) {
                char name[32];
                snprintf(name, sizeof name, "./plugin%d.so", i);
                void *plugin = dlopen(name, RTLD_NOW | RTLD_LOCAL);
                if (!plugin || ((int (*)(int))dlsym(plugin, "f"))(i) < 0)
                    return puts(dlerror());
            }
            return 0;
        }
        """
    )
    must("cc", "-O0", "-shared", "-fPIC", "plugin.c", "-o", "plugin.so", cwd=tmp_path)
    for i in range(250):
        (tmp_path / f"plugin{i}.so").write_bytes((tmp_path / "plugin.so").read_bytes())
    subprocess.run(["gcc", "host.c", "-o", "host", "-ldl"], cwd=tmp_path, check=True)
    must("run", "-q", "--preload", "-o", "out.trod", "./host", cwd=tmp_path)
    assert load(tmp_path / "out.trod").functions["f"].entries == 250

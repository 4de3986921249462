"""Libraries that are loaded and unloaded repeatedly, while other threads count, jump and throw."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.mapped_counts import VARIANTS, ProgramBuilder, run_counted


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

"""Line counts of random programs, after the counts that they keep themselves.

Functions are left by longjmp, exceptions, exit, abort and faults, in the middle of blocks, and by forked
children in which nobody entered them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, trodden
from tests.native.line_programs import line_program
from tests.native.mapped_counts import empty_counts, hits_of_all
from trodden.profile.model import Profile
from trodden.profile.store.trod import load
from trodden.source.lines import LineCount, line_counts

BUILDS = {
    "edges": ("--profile", "edges"),
    "paths": ("--profile", "paths"),
    "early": ("--stage", "early"),
}
Lines = dict[int, LineCount | None]


def _run(folder: Path, text: str, language: str, build: str, level: str) -> tuple[Profile, Lines, Lines]:
    """The profile of a program, the counts of its marked lines in it, and those that it kept itself."""
    source = folder / f"lines.{language}"
    source.write_text(text)
    counts = empty_counts(folder / "counts")
    options = ("--quiet", "-o", "lines.trod", *BUILDS[build])
    trodden(
        *("run", *options, source, level, "-w", f"-I{PROGRAMS}", "-pthread"),
        cwd=folder,
        env={"MAPPED_COUNTS": str(counts)},
    )
    expected = hits_of_all(counts)
    marked = [n for n, line in enumerate(text.splitlines(), 1) if "HIT()" in line]
    profile = load(folder / "lines.trod")
    assert any(function.stops for function in profile.functions.values())
    found = line_counts(profile)[str(source)]
    return (
        profile,
        {line: found.get(line) for line in marked},
        {line: LineCount(expected.get(line, 0)) for line in marked},
    )


@pytest.mark.parametrize(
    ("seed", "language", "build", "level"),
    [
        (6, "c", "edges", "-O0"),
        (3, "cpp", "edges", "-O0"),
        (13, "c", "paths", "-O0"),
        (4, "cpp", "paths", "-O0"),
        (17, "c", "early", "-O0"),
        (7, "cpp", "early", "-O2"),
    ],
)
def test_line_counts_are_those_of_the_program(
    tmp_path: Path, seed: int, language: str, build: str, level: str
) -> None:
    text = line_program(seed, language == "cpp", faults=build != "early")
    _, found, expected = _run(tmp_path, text, language, build, level)
    assert found == expected


@pytest.mark.parametrize(
    ("seed", "level", "where"), [(18, "-O0", "main"), (4, "-O0", "f3"), (5, "-O2", "f3")]
)
def test_line_counts_that_a_fault_at_the_early_stage_leaves_in_doubt_are_marked(
    tmp_path: Path, seed: int, level: str, where: str
) -> None:
    profile, found, expected = _run(tmp_path, line_program(seed), "c", "early", level)
    assert any("ended by SIGSEGV" in message for message in profile.messages)
    doubtful = {line for line, count in found.items() if count is not None and not count.exact}
    certain = expected.keys() - doubtful
    assert {line: found[line] for line in certain} == {line: expected[line] for line in certain}
    # What may be inlined into the function is in doubt as well, and only with optimisation.
    inlined = {"roll", "leave", "forked"} if level == "-O2" else set()
    interrupted = {function.name for function in profile.functions.values() if function.unlocated}
    assert where in interrupted <= {where} | inlined
    in_function = {ref.line for block in profile.functions[where].facts.blocks for ref in block.lines}
    assert doubtful == in_function & expected.keys()


def test_a_fault_in_a_library_at_the_early_stage_leaves_the_caller_in_doubt(tmp_path: Path) -> None:
    """A call of ``strlen`` is certain to return, and the counters of a loop may be in registers during it."""
    source = tmp_path / "library.c"
    source.write_text(
        "#include <string.h>\n"
        "char *texts[100];\n"
        "int main(void) {\n"
        "    unsigned long n = 0;\n"
        '    for (int i = 0; i < 50; i++) texts[i] = "abc";\n'
        "    for (int i = 0; i < 100; i++)\n"
        "        n += strlen(texts[i]);\n"
        "    return n;\n"
        "}\n"
    )
    trodden("run", "--quiet", "-o", "x.trod", *BUILDS["early"], source, "-O2", cwd=tmp_path)
    lines = line_counts(load(tmp_path / "x.trod"))[str(source)]
    assert lines
    assert not any(line.exact for line in lines.values())


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_lines_that_a_path_was_counted_with_before_a_fault_are_in_doubt(tmp_path: Path, level: str) -> None:
    """The path is counted behind its last branch, and its last lines are not reached any more."""
    source = tmp_path / "ahead.c"
    source.write_text(
        "volatile int after, chosen;\n"
        "__attribute__((noinline)) int f(volatile int *p, int k) {\n"
        "    chosen = k > 2 ? after + 5 : after * 7;\n"
        "    if (k > 7) after = 1;\n"
        "    chosen += *p;\n"
        "    after++;\n"
        "    return chosen;\n"
        "}\n"
        "int main(void) {\n"
        "    int x = 1;\n"
        "    for (int i = 0; i < 9; i++) f(&x, i);\n"
        "    return f(0, 1);\n"
        "}\n"
    )
    trodden("run", "--quiet", "-o", "x.trod", *BUILDS["paths"], source, level, cwd=tmp_path)
    lines = line_counts(load(tmp_path / "x.trod"))[str(source)]
    assert lines[11].exact
    assert lines[5].count == 10
    assert lines[6] == LineCount(9) or not lines[6].exact

"""What reading a profile costs grows with the size of a function, not with its square.

Generated code has functions of tens of thousands of blocks.  Time is no measure on a busy machine, so the
lines of Python that are executed are counted, for the same functions in two sizes.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from trodden.api.runs import run
from trodden.commands.main import main

_SIZES = 30, 240
_COMMANDS = (
    ("report",),
    ("report", "--top", "3"),
    ("report", "--json"),
    ("coverage",),
    ("annotate",),
    ("export", "--format", "lcov"),
    ("diff",),
)


def _source(size: int) -> str:
    """Functions of many branches: in sequence, nested in a loop, of a switch, with loops, with returns."""
    numbers = range(size)
    ifs = "".join(f"if ((x >> {n % 31}) & 1 && *s)\n t += {n};\n" for n in numbers)
    cases = "".join(f"case {n}:\n t += {n} * *s;\n break;\n" for n in numbers)
    loops = "".join(f"for (int i = 0; i < (x & 3); i++)\n if (i == *s)\n t += {n};\n" for n in numbers)
    returns = "".join(f"if (*s == {n + 5})\n return {n};\n" for n in numbers)
    return (
        f"int f(int x, volatile int *s) {{ int t = 0; for (int i = 0; i < 3; i++) {{\n{ifs}}}\nreturn t; }}\n"
        f"int g(int x, volatile int *s) {{ int t = 0; for (int i = 0; i < 99; i++)\nswitch ((x + i) % {size})"
        f" {{\n{cases}}}\nreturn t; }}\n"
        f"int h(int x, volatile int *s) {{ int t = 0;\n{loops}return t; }}\n"
        f"int e(int x, volatile int *s) {{\n{returns}return x; }}\n"
        "int main(int argc, char **argv) { volatile int s = argc; int r = 0; for (int a = 1; a < 6; a++)\n"
        " r += f(a * 12345, &s) + g(a, &s) + h(a, &s) + e(a, &s); return r == 12345; }\n"
    )


@pytest.fixture(scope="module", params=["paths", "edges"])
def profiles(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The profiles of both sizes."""
    directory = tmp_path_factory.mktemp("large")
    found = []
    for size in _SIZES:
        source, profile = directory / f"large{size}.c", directory / f"{size}.{request.param}.trod"
        source.write_text(_source(size))
        run(str(source), "-O0", profile=request.param, output=profile)
        found.append(str(profile))
    return found


def _lines_executed(arguments: list[str]) -> int:
    """The lines of Python that a command executes, those in comprehensions once per element."""
    lines = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert main(arguments) == 0
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("command", _COMMANDS, ids=" ".join)
def test_work_grows_with_the_size(
    profiles: list[str], command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    small, large = ([*command, *[profile] * (2 if command[0] == "diff" else 1)] for profile in profiles)
    assert main(small) == 0
    done = [_lines_executed(each) for each in (small, large)]
    capsys.readouterr()
    assert done[1] < 1.4 * _SIZES[1] / _SIZES[0] * done[0]

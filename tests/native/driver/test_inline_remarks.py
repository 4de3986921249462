"""Remarks about inlining are asked for in addition: no compilation fails because of them."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

from tests.native.building import run, trodden
from trodden.native.driver.build import Builder
from trodden.native.driver.command_line import parse
from trodden.native.driver.inline_remarks import call_with_remarks, inlined_calls
from trodden.native.driver.toolchain import find_toolchain
from trodden.native.options.declarations import Options

CRASHES = """\
static int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }
int main(int argc, char **argv) {
    static const void *const targets[] = {&&first, &&second};
    goto *targets[argc - 1];
first:
    return gcd(argc + 20, 9);
second:
    return 4;
}
"""


def _reproducers() -> set[str]:
    return {name for name in os.listdir(tempfile.gettempdir()) if name.startswith("crashes-")}


@pytest.mark.parametrize("level", ["-O2", "-O3", "-Os"])
def test_a_compiler_that_crashes_of_remarks_is_run_without_them(tmp_path: Path, level: str) -> None:
    (tmp_path / "crashes.c").write_text(CRASHES)
    before = _reproducers()
    done = trodden("cc", level, "crashes.c", "-o", "program", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert _reproducers() == before
    assert run(tmp_path / "program", cwd=tmp_path).returncode == 3


def test_the_same_from_standard_input(tmp_path: Path) -> None:
    done = trodden("cc", "-O2", "-x", "c", "-", "-o", "program", cwd=tmp_path, stdin=CRASHES.encode())
    assert (done.returncode, done.stderr) == (0, "")
    assert run(tmp_path / "program", cwd=tmp_path).returncode == 3


def test_warnings_are_shown_once_and_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "crashes.c").write_text(CRASHES.replace("    goto", "    int unused;\n    goto"))
    done = trodden("cc", "-O2", "-Wall", "-c", "crashes.c", cwd=tmp_path)
    assert done.stderr.count("warning: unused variable") == 1


GONE = """\
static int constant(int x) { return x * 0; }
int choose(int number) {
    static const void *const targets[] = {&&first, &&second};
    goto *targets[number];
first:
    return gcd(21, 9);
second:
    return constant(number);
}
"""


def test_the_remarks_are_known_all_the_same(tmp_path: Path) -> None:
    """A function that is inlined and leaves nothing is not shown as never executed."""
    (tmp_path / "crashes.c").write_text(CRASHES.replace("int main", f"{GONE}int main", 1))
    line = parse(["-O2", "-c", str(tmp_path / "crashes.c")], False)
    Builder(find_toolchain(None), Options(), line, False).ir(line.sources[0], tmp_path)
    calls = inlined_calls(next(tmp_path.glob("*.remarks.yaml")))
    assert calls["choose"]["constant"] == 1
    assert calls["main"]["gcd"] == 1


COMPILER = """\
import os, signal, sys
with open("calls", "a") as stream:
    stream.write(" ".join(sys.argv[1:]) + "\\n")
print("said", file=sys.stderr)
if "remarks" in sys.argv:
    {}
sys.exit(3)
"""


@pytest.mark.parametrize(
    ("end", "calls"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", 2),
        ("sys.exit('clang: error: clang frontend command failed with exit code 139')", 2),
        ("sys.exit('clang: error: clang frontend command failed due to signal (use -v)')", 2),
        ("sys.exit('x.c:1: error: no such thing')", 1),
        ("os.kill(os.getpid(), signal.SIGTERM)", 1),
    ],
)
def test_an_error_is_no_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], end: str, calls: int
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "compiler.py").write_text(COMPILER.format(end))
    target = tmp_path / "made.yaml"
    target.write_text("half of it")
    command = [sys.executable, "compiler.py", "-c"]
    status = call_with_remarks(command, ["remarks"], target, dict(os.environ))
    assert len((tmp_path / "calls").read_text().splitlines()) == calls
    assert target.exists() == (calls == 1)
    assert (status == 3) == (calls == 2)
    if calls == 1:
        assert "said" in capsys.readouterr().err

"""The main task on a real example: which paths has a program executed, and which not?

Run by ``make demo``.  Every command shown is one that you can type yourself.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
PAGE = {"PAGER": "cat", "COLUMNS": "120"}


def trodden(*words: str) -> None:
    """Show a command as typed, and run it."""
    print(f"\n$ trodden {shlex.join(words)}", flush=True)
    subprocess.run([sys.executable, "-m", "trodden", *words], check=True)


def say(text: str) -> None:
    """A line between commands."""
    print(f"\n{text}", flush=True)


def main() -> None:
    """Find the hot paths of a word counter, look at one, ask what was never tried, and try it."""
    os.environ |= PAGE if not sys.stdout.isatty() else {"PAGER": "cat"}
    source = str((HERE / "wordfreq.c").relative_to(ROOT))
    readme = (ROOT / "README.md").read_text("utf-8")
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as directory:
        usual, odd, text = (str(Path(directory) / name) for name in ("usual.trod", "odd.trod", "odd.txt"))
        say("A word counter in C is compiled and run over this project's README. Its paths are counted.")
        say("(The first build takes half a minute: the compiler builds what programs start with, once.)")
        trodden("run", "--quiet", "--profile", "paths", "-o", usual, source, "-O0", "--", "README.md")
        say("Where did it spend its instructions? Not only in which lines: on which paths through them.")
        trodden("report", "--top", "3", "--function", "read_words", usual)
        say("The hottest of them, marked in the source:")
        trodden("annotate", usual, "read_words", "--path", "1")
        say("What has this input never tried? The paths not executed that are nearest to those that were:")
        trodden("coverage", "--top", "1", "--function", "read_words", usual)
        say("So let one word have a hundred letters, and ask where the two runs diverge:")
        Path(text).write_text(f"{readme} {'a' * 100}\n", "utf-8")
        trodden("run", "--quiet", "--profile", "paths", "-o", odd, source, "-O0", "--", text)
        trodden("diff", "--top", "1", usual, odd)
    say(f"Now a program of your own. {_how_to_call()}")
    print("  trodden run --profile paths prog.c -- its arguments\n  trodden report trodden.trod")


def _how_to_call() -> str:
    """How a shell finds the command, which may be in an environment that is not active."""
    directory = Path(sys.executable).parent
    if shutil.which("trodden") == str(directory / "trodden"):
        return "Type:"
    activate = os.path.relpath(directory / "activate", ROOT)
    return f"First make the command known to this shell with `. {activate}`, then type:"


if __name__ == "__main__":
    main()

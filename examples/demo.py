"""The main job on a real example: what did a program really do?

Run by ``make demo``.  Every command shown is one that you can type yourself.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent


def trodden(*words: str) -> None:
    """Show a command as typed, and run it."""
    print(f"\n$ trodden {shlex.join(words)}", flush=True)
    subprocess.run([sys.executable, "-m", "trodden", *words], check=True, cwd=ROOT)


def main() -> None:
    """Build and run an example, then look at its profile in three ways."""
    with tempfile.TemporaryDirectory() as directory:
        profile = str(Path(directory) / "wordfreq.trod")
        print("A word counter in C is compiled, instrumented and run over this project's README.")
        trodden("run", "--quiet", "-o", profile, "examples/wordfreq.c", "-O0", "--", "README.md")
        print("\nWhich functions, blocks and edges ran how often, recovered from a fraction of the counters:")
        trodden("report", "--top", "5", profile)
        print("\nThe source, with exact counts beside every line and branch:")
        trodden("annotate", profile, "add")
        print("\nOne function as a graph: frequencies, the spanning tree, and the few counters it needs:")
        trodden("show", profile, "-f", "add")


if __name__ == "__main__":
    main()

"""``trodden cargo``: cargo with probes in the crates of the workspace.

``trodden cargo [options] build|run|test|bench|... [cargo's arguments]``.  The programs that cargo runs (the
package's own, tests, benchmarks) leave counts behind, and these become a profile.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from trodden.api import runs
from trodden.api.rust import package_environment
from trodden.config_file import configured
from trodden.errors import ToolchainMissing, UsageError
from trodden.native.driver.atomic_output import scratch
from trodden.native.execute.launch import Ended, launch
from trodden.native.options.given import Given, VerbFlags, choose, value_of
from trodden.native.rust.link import KEEP

_OTHER_FLAGS = ("deps", "report", "quiet", "help")
_CARGO_VALUED = ("--color", "--config", "-C", "-Z", "--explain")


@dataclass
class Request:
    """What the command line asks for: options, and the words for cargo."""

    output: str = "trodden.trod"
    dependencies: bool = False
    report: bool | None = None
    flags: list[Given] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


def main(argv: Sequence[str]) -> int:
    """Run cargo; return its exit status."""
    if not argv or argv[0] in ("-h", "--help"):
        from trodden.commands.usage import cargo_usage

        sys.stdout.write(cargo_usage())
        return 0 if argv else UsageError.status
    request = parse(argv)
    options = choose(request.flags, os.environ, configured())
    cargo = shutil.which(os.environ.get("CARGO") or "cargo")
    if cargo is None:
        raise ToolchainMissing(
            "cargo: no such program; install Rust (by rustup, or your system's package of cargo)"
        )
    os.environ.update(package_environment(cargo, request.words, options, request.dependencies))
    return _run(request, cargo).leave()


def parse(argv: Sequence[str]) -> Request:
    """Separate our options, which precede cargo's verb, from the words for cargo."""
    request = Request()
    flags = VerbFlags("cargo", _OTHER_FLAGS)
    following = iter(argv)
    for word in following:
        if word == "-o":
            request.output = value_of(word, following, "cargo")
        elif word in _CARGO_VALUED:
            request.words += [word, value_of(word, following, "cargo")]
        elif word == "--deps":
            request.dependencies = True
        elif word in ("--report", "--quiet"):
            request.report = word == "--report"
        elif (option := flags.take(word, following)) is not None:
            request.flags.append(option)
        else:
            request.words.append(word)
            if not word.startswith(("-", "+")):
                request.words += following
    return request


def _run(request: Request, cargo: str) -> Ended:
    """Run cargo to its end, and make a profile if a program that it ran has left counts."""
    from trodden.profile.store.files import check_writable

    check_writable(request.output)
    with scratch() as directory:
        os.environ[KEEP] = str(directory)
        ended = launch(cargo, request.words)
        if not ended.raws:
            ended.clear()
            return ended
        name = shlex.join(["cargo", *request.words])
        profile = runs.profile_of(ended, [cargo, *request.words], request.output, name).profile
    if request.report or (request.report is None and sys.stderr.isatty()):
        from trodden.report.render.brief import print_summary

        print_summary(profile, request.output)
    return ended

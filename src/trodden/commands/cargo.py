"""``trodden cargo``: cargo with probes in the crates of the workspace.

``trodden cargo [options] build|run|test|bench|... [cargo's arguments]``.  What cargo runs on the way (the
program, tests, benchmarks) leaves counts behind, and these become a profile.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from trodden.commands.cc import builder_for
from trodden.commands.run import gather, kept_on_failure, own_option
from trodden.commands.rustc import linker_script
from trodden.errors import ToolchainMissing, UsageError
from trodden.native.driver.atomic_output import scratch
from trodden.native.driver.command_line import parse as parse_own
from trodden.native.execute.launch import Ended, launch
from trodden.native.rust.compiler import ask_rustc, rustc_command
from trodden.native.rust.link import KEEP
from trodden.native.rust.package import names_target, rustdoc_flags, settings, target_directory, without_lto
from trodden.native.rust.units import RustJob

USAGE = """usage: trodden cargo [options] build|run|test|bench|... [cargo's arguments]

Programs, tests and benchmarks that cargo runs leave a profile behind; what it only builds can be run with
trodden run. Everything is built in a directory trodden below cargo's own.

options:
  -o FILE                 the profile to write (default trodden.trod)
  --deps                  probes in dependencies too, not only in the crates of the workspace
  --profile KIND          edges (default), blocks, paths or off
  --report / --quiet      print the report always / never (default: when standard error is a terminal)
and --counters, --stage, --max-paths, --context, --metric, --cut-by, --last, --call-paths, --durable,
--weights, --only, --leave and --toolchain as for trodden run.
"""
_FILES = ("weights", "toolchain")
_CARGO_VALUED = ("--color", "--config", "-C", "-Z", "--explain")


@dataclass
class Request:
    """What the command line asks for."""

    output: str = "trodden.trod"
    dependencies: bool = False
    report: bool | None = None
    own: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


def main(argv: Sequence[str]) -> int:
    """Run cargo; answer its exit status."""
    if not argv or argv[0] in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0 if argv else UsageError.status
    request = parse(argv)
    try:
        builder_for(parse_own(request.own, False), False)
    except UsageError as error:
        # The user has called these options by the names that they have here.
        raise UsageError(str(error).replace("--trodden-", "--")) from error
    cargo = shutil.which(os.environ.get("CARGO") or "cargo")
    if cargo is None:
        raise ToolchainMissing(
            "cargo: no such program; install Rust (by rustup, or your system's package of cargo)"
        )
    os.environ.update(_environment(request, cargo))
    return _run(request, cargo).leave()


def parse(argv: Sequence[str]) -> Request:
    """Tell our options, which stand before cargo's verb, from what is for cargo."""
    request = Request()
    position = 0
    while position < len(argv):
        word = argv[position]
        position += 1
        own = own_option(word)
        if word == "-o" or (own is not None and own[1] is None) or word in _CARGO_VALUED:
            if position >= len(argv):
                raise UsageError(f"{word} needs a value; see trodden cargo --help")
            value = argv[position]
            position += 1
            if word == "-o":
                request.output = value
            elif own is not None:
                request.own.append(_own_word(own[0], value))
            else:
                request.words += [word, value]
        elif own is not None:
            request.own.append(_own_word(own[0], own[1] or ""))
        elif word == "--deps":
            request.dependencies = True
        elif word in ("--report", "--quiet"):
            request.report = word == "--report"
        elif word in ("--context", "--call-paths", "--durable"):
            request.own.append(f"--trodden-{word[2:]}=on")
        else:
            request.words.append(word)
            if not word.startswith(("-", "+")):
                request.words += argv[position:]
                break
    return request


def _own_word(name: str, value: str) -> str:
    """An option for the compiler, which cargo starts in a directory of its choice."""
    if name in _FILES and os.path.exists(value):
        value = os.path.abspath(value)
    return f"--trodden-{name}={value}"


def _environment(request: Request, cargo: str) -> dict[str, str]:
    """What has to be set for cargo to build with probes."""
    words = request.words
    own_place = any(word.split("=")[0] == "--target-dir" for word in words)
    if request.dependencies and own_place:
        raise UsageError("--target-dir: not with --deps; set CARGO_TARGET_DIR, below which trodden builds")
    chosen = words[:1] if words and words[0].startswith("+") else []
    compiler = ask_rustc(rustc_command(None, chosen))
    host = None if names_target(words) else compiler.host
    target = target_directory([cargo, *chosen], words)
    if target is None:
        # There is nothing to build here, and cargo knows best how to say so.
        return {}
    variables, scripts = settings(target, request.own, request.dependencies, host)
    # Tests in comments are compiled by rustdoc, and have to be linked with the runtime as well.
    job = RustJob(tuple(request.own), "", ("-O0",), None, None, False, of_comments=True)
    script = linker_script(scripts, job, "cc")
    variables |= without_lto(words)
    return variables | rustdoc_flags(os.environ, ["-C", f"linker={script}"])


def _run(request: Request, cargo: str) -> Ended:
    """Run cargo to its end, and make a profile if something that it ran has left counts."""
    from trodden.profile.store.files import check_place
    from trodden.profile.store.trod import save

    check_place(request.output)
    with scratch() as directory:
        os.environ[KEEP] = str(directory)
        ended = launch(cargo, request.words)
        if not ended.raws:
            ended.clear()
            return ended
        with kept_on_failure(ended):
            profile = replace(gather(ended, cargo), program=shlex.join(["cargo", *request.words]))
            save(profile, request.output)
        ended.clear()
    if request.report or (request.report is None and sys.stderr.isatty()):
        from trodden.report.render.terminal import print_summary

        print_summary(profile, request.output)
    return ended

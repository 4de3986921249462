"""Parse rustc's command line.

Enough of its options is known to tell the outputs, the inputs and the optimisation level.  Everything else is
passed on unchanged.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from trodden.errors import InputMissing, UsageError

_SHORT_VALUED = frozenset("LlCZoAWDF")
_VALUED = frozenset(
    """allow cap-lints cfg check-cfg codegen color crate-name crate-type deny diagnostic-width edition emit
    env-set error-format explain extern force-warn forbid json out-dir print remap-path-prefix
    remap-path-scope sysroot target warn""".split()  # noqa: SIM905 - many words read better than many literals
)
_QUERIES = frozenset({"-V", "-vV", "-Vv", "--version", "-h", "--help"})
_HELP = frozenset({"help", "list"})
_PRINTED_BESIDE = frozenset({"link-args", "native-static-libs"})
_LATE = "probes are inserted before the link, where link-time optimisation would take place"
_INTERMEDIATE = "intermediate files are not those of a plain compilation"
_IGNORED = {
    "lto": _LATE,
    "linker-plugin-lto": _LATE,
    "save-temps": _INTERMEDIATE,
    "split-debuginfo": "debug information stays in the object file",
    "incremental": "",
    "embed-bitcode": "",
}
"""Codegen options that are left out, and why; no reason where that changes nothing that can be observed."""
_INCOMPATIBLE = {
    "instrument-coverage": "inserts counters of its own",
    "profile-generate": "inserts counters of its own",
    "profile-use": "needs rustc's optimiser, which this build does not use",
    "passes": "needs rustc's optimiser, which this build does not use",
}
_OFF = frozenset({"n", "no", "off", "false", "0"})
NATIVE = frozenset({"link", "obj"})
BESIDE = frozenset({"dep-info", "metadata"})


@dataclass
class RustLine:
    """What a command line of rustc asks for.

    ``words`` are all words that are not left out.  ``emits`` are the kinds of output, each with its file if
    one is named.  ``codegen`` has the last value of each ``-C`` option.
    """

    words: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    crate_types: set[str] = field(default_factory=set)
    crate_name: str | None = None
    emits: dict[str, str | None] = field(default_factory=dict)
    output: str | None = None
    out_dir: str | None = None
    target: str | None = None
    codegen: dict[str, str] = field(default_factory=dict)
    unstable: list[str] = field(default_factory=list)
    test: bool = False
    optimised: bool = False
    debug: bool = False
    query: bool = False
    ignored: list[tuple[str, str]] = field(default_factory=list)

    @property
    def native(self) -> bool:
        """Whether it generates native code."""
        if self.query or len(self.sources) != 1:
            return False
        return not self.emits or not NATIVE.isdisjoint(self.emits)

    @property
    def source(self) -> str:
        """The root of the crate."""
        return self.sources[0]

    @property
    def links_only(self) -> bool:
        """Whether all outputs are known to pass through a linker; the source may name another crate type."""
        archives = {"lib", "rlib", "staticlib"}
        return self.test or (bool(self.crate_types) and self.crate_types.isdisjoint(archives))

    def level(self, release: tuple[int, int]) -> str:
        """The optimisation level, as clang has it."""
        if "opt-level" in self.codegen:
            return self.codegen["opt-level"]
        if self.optimised:
            # The meaning of -O has changed.
            return "3" if release >= (1, 86) else "2"
        return "0"

    @property
    def keeps_debug(self) -> bool:
        """Whether debug information was asked for."""
        return self.debug or self.codegen.get("debuginfo", "0") not in ("0", "none")

    def check(self) -> None:
        """Refuse what does not work with probes."""
        for name, reason in _INCOMPATIBLE.items():
            if self.codegen.get(name, "off") not in _OFF:
                raise UsageError(f"-C {name}: {reason}; leave it out, or build with rustc itself")
        for option in self.unstable:
            if option.startswith("sanitizer="):
                raise UsageError(f"-Z {option}: not with probes; leave it out, or build with rustc itself")


def parse_rust(words: Sequence[str]) -> RustLine:
    """Parse a command line."""
    line = RustLine()
    for given, name, value in _options(_expanded(words)):
        if name == "codegen" and _ignored(line, value or ""):
            continue
        line.words += given
        if name is None:
            line.sources.append(given[0])
        else:
            _record(line, name, value, given[0])
    return line


def _expanded(words: Sequence[str]) -> Iterator[str]:
    """The words, with those of argument files, which have one per line."""
    for word in words:
        if not word.startswith("@") or len(word) == 1:
            yield word
            continue
        try:
            with open(word[1:], encoding="utf-8") as stream:
                yield from stream.read().splitlines()
        except (OSError, ValueError) as error:
            raise InputMissing(f"{word[1:]}: cannot read these arguments ({error})") from error


def _options(words: Iterator[str]) -> Iterator[tuple[list[str], str | None, str | None]]:
    """Each option as written, its name and its value; an input has no name."""
    for word in words:
        if word.startswith("--") and len(word) > 2:
            name, equals, value = word[2:].partition("=")
            if equals or name not in _VALUED:
                yield [word], name, value if equals else None
                continue
            following = next(words, None)
            yield ([word] if following is None else [word, following]), name, following
        elif word.startswith("-") and len(word) > 1 and word[1] in _SHORT_VALUED:
            name = "codegen" if word[1] == "C" else word[1]
            if len(word) > 2:
                yield [word], name, word[2:]
                continue
            following = next(words, None)
            yield ([word] if following is None else [word, following]), name, following
        elif word.startswith("-") and len(word) > 1:
            yield [word], word, None
        else:
            yield [word], None, None


def _ignored(line: RustLine, option: str) -> bool:
    name, _, value = option.partition("=")
    name = name.replace("_", "-")
    if name not in _IGNORED:
        return False
    if _IGNORED[name] and value not in _OFF:
        line.ignored.append((f"-C {option}", _IGNORED[name]))
    return True


def _record(line: RustLine, name: str, value: str | None, word: str) -> None:
    text = value or ""
    if word in _QUERIES or name == "explain" or (name in ("W", "codegen", "Z") and text in _HELP):
        line.query = True
    elif name == "codegen":
        option, _, setting = text.partition("=")
        line.codegen[option.replace("_", "-")] = setting
    elif name == "Z":
        line.unstable.append(text)
        line.query = line.query or text.startswith(("unpretty", "no-codegen", "parse-only"))
    elif name == "print":
        line.query = line.query or text.partition("=")[0] not in _PRINTED_BESIDE
    elif name == "crate-type":
        line.crate_types.update(text.split(","))
    elif name == "emit":
        for kind in text.split(","):
            what, equals, path = kind.partition("=")
            line.emits[what] = path if equals else None
    elif name in ("crate-name", "out-dir", "target"):
        setattr(line, name.replace("-", "_"), text)
    elif name == "o":
        line.output = text
    elif word == "-O":
        line.optimised = True
    elif word == "-g":
        line.debug = True
    elif word == "--test":
        line.test = True


def without_emit(words: Sequence[str]) -> list[str]:
    """The words without ``--emit``."""
    return [word for given, name, _ in _options(iter(words)) if name != "emit" for word in given]


def directory_of(line: RustLine) -> str:
    """The directory of the outputs."""
    if line.out_dir is not None:
        return line.out_dir
    return os.path.dirname(line.output or "") or "."

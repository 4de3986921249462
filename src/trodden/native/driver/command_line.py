"""Parse a compiler's command line.

Enough of cc's options is known to tell inputs from flags, flags of the compiler from those of the linker, and
which step comes last.  Everything else is passed on unchanged.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from trodden.errors import InputMissing, UsageError
from trodden.native.options.option import FLAG_PREFIX

_C = {".c": "c", ".i": "cpp-output"}
_CXX = dict.fromkeys((".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C", ".CC"), "c++") | {
    ".ii": "c++-cpp-output"
}
_IR = {".ll": "ir", ".bc": "ir"}
_ASSEMBLY = {".s": "assembler", ".S": "assembler-with-cpp", ".sx": "assembler-with-cpp"}
_OBJECTIVE = {".m": "objective-c", ".mm": "objective-c++", ".M": "objective-c++"}
_HEADERS = dict.fromkeys((".hh", ".H", ".hp", ".hxx", ".hpp", ".h++"), "c++-header") | {".h": "c-header"}
_LANGUAGES = _C | _CXX | _IR | _ASSEMBLY | _OBJECTIVE | _HEADERS

_WITH_VALUE = frozenset(
    """-o -x -I -L -l -D -U -include -include-pch -imacros -isystem -idirafter -iquote -isysroot -iprefix
    -iwithprefix -iwithprefixbefore -cxx-isystem -MF -MT -MQ -MJ -Xlinker -Xclang -Xpreprocessor -Xassembler
    -Xopenmp-target -T -u -z -e -arch -target --target --param -b -B -A -G -mllvm -rpath -soname -h
    --sysroot -working-directory -dumpbase -dumpdir -aux-info""".split()  # noqa: SIM905 - many words read better than many literals
)
_LINK_ONLY = frozenset(
    """-shared -static -rdynamic -pie -no-pie -static-pie -nostdlib -nodefaultlibs -nostartfiles -nolibc -s -r
    -static-libgcc -static-libstdc++ -shared-libgcc -nostdlib++""".split()  # noqa: SIM905 - many words read better than many literals
)
_LINK_ONLY_VALUED = frozenset({"-L", "-l", "-Xlinker", "-T", "-u", "-z", "-e", "-rpath", "-soname", "-h"})
_LINK_PREFIXES = ("-l", "-L", "-Wl,", "-fuse-ld=", "-rtlib=", "-unwindlib=", "-T", "-z")
_QUERIES = frozenset(
    """--version -v -dumpmachine -dumpversion -dumpfullversion --help -### -fsyntax-only -M -MM
    --print-supported-cpus -print-supported-cpus -qversion -V""".split()  # noqa: SIM905 - many words read better than many literals
)
_LATE = "probes are put into each file after its own optimisation"
_INTERMEDIATE = "use -E, -S or -S -emit-llvm to see intermediate files"
_IGNORED = {
    "-flto": _LATE,
    "-fno-lto": "",
    "-ffat-lto-objects": _LATE,
    "-fno-fat-lto-objects": "",
    "-fsplit-lto-unit": _LATE,
    "-fno-split-lto-unit": "",
    "-fthinlto-index": _LATE,
    "-fwhole-program-vtables": _LATE,
    "-save-temps": _INTERMEDIATE,
    "--save-temps": _INTERMEDIATE,
    "-gsplit-dwarf": "debug information stays in the object file",
}
"""Flags that do not work with probes, and why; no reason where ignoring one changes nothing."""
_LINKED = (".o", ".obj", ".lo", ".a", ".so", ".ld", ".lds", ".exp", ".sym")
_LINKED_MAGIC = (b"\x7fELF", b"!<arch>\n", b"!<thin>\n", b"BC\xc0\xde")
_PREPROCESSOR_PREFIXES = ("-D", "-U", "-I", "-M", "-std=", "-include", "-isystem", "-iquote", "-pedantic")


def is_source(word: str, cxx: bool = False) -> bool:
    """Whether a word is the name of a source file (with ``cxx``: of C++)."""
    known = _CXX if cxx else _C | _CXX | _IR
    return not word.startswith("-") and word.endswith(tuple(known))


def names_sources(words: Sequence[str]) -> bool:
    """Whether a compiler's words name a source, by its suffix or by a language."""
    return any(is_source(word) or word.startswith("-x") for word in words)


def is_linkable(path: str) -> bool:
    """Whether a file is one for a linker: by its suffix, or by its first bytes."""
    name = os.path.basename(path)
    if name.endswith(_LINKED) or ".so." in name:
        return True
    try:
        with open(path, "rb") as stream:
            return stream.read(8).startswith(_LINKED_MAGIC)
    except OSError:
        return False


def last_step(words: Sequence[str]) -> Step:
    """The last step that a compiler's words ask for."""
    return parse(words, False).step


class Step(Enum):
    """The last step of a command line."""

    PREPROCESS = "preprocess"
    ASSEMBLY = "assembly"
    OBJECT = "object"
    LINK = "link"
    QUERY = "query"


_STEPS = {"-c": Step.OBJECT, "-S": Step.ASSEMBLY, "-E": Step.PREPROCESS}


@dataclass(frozen=True, slots=True)
class Source:
    """An input that has to be compiled, and its position among the words for the linker."""

    path: str
    language: str
    position: int

    @property
    def cxx(self) -> bool:
        """Whether it is C++."""
        return "c++" in self.language

    @property
    def instrumentable(self) -> bool:
        """Whether it is compiled by way of LLVM IR."""
        return not self.language.startswith("assembler")

    @property
    def header(self) -> bool:
        """Whether it is a header to be precompiled."""
        return self.language.endswith("-header")


@dataclass
class CommandLine:
    """What a command line asks for.

    ``compile_flags`` are for every compilation.  ``link_words`` is everything for the linker in order, with
    ``None`` in the position of a source's object; ``objects`` are the files among them.  ``ignored`` are
    flags that are left out, each with the reason.  ``own`` are the flags with our prefix.  Standard
    input without a word on its language is an ``unknown_input``.
    """

    step: Step
    sources: list[Source] = field(default_factory=list)
    compile_flags: list[str] = field(default_factory=list)
    link_words: list[str | None] = field(default_factory=list)
    output: str | None = None
    objects: list[str] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    emit_llvm: bool = False
    debug: bool = False
    original: list[str] = field(default_factory=list)
    unknown_input: bool = False


def expand(words: Sequence[str], depth: int = 0) -> list[str]:
    """Replace response files (``@file``) by the words in them."""
    expanded: list[str] = []
    for word in words:
        if word.startswith("@") and len(word) > 1 and os.path.exists(word[1:]):
            if depth > 16:
                raise UsageError(f"{word}: response files nested too deeply; one of them names itself")
            try:
                with open(word[1:], encoding="utf-8", errors="surrogateescape") as stream:
                    expanded += expand(shlex.split(stream.read(), comments=False), depth + 1)
            except (OSError, ValueError) as error:
                raise InputMissing(f"{word[1:]}: cannot read this response file ({error})") from error
        else:
            expanded.append(word)
    return expanded


def parse(words: Sequence[str], cxx: bool) -> CommandLine:
    """Parse a command line."""
    line = CommandLine(Step.LINK, original=list(words))
    forced: str | None = None
    following = iter(words)
    for word in following:
        value = next(following, None) if word in _WITH_VALUE else None
        left_out = next((flag for flag in _IGNORED if word == flag or word.startswith(f"{flag}=")), None)
        if word.startswith(FLAG_PREFIX):
            line.own.append(word)
        elif word == "-o":
            if value is None:
                raise UsageError("-o: needs the name of the file to write")
            line.output = value
        elif word.startswith("-o") and not word.startswith("-object"):
            line.output = word[2:]
        elif word.startswith("--output="):
            line.output = word.partition("=")[2]
        elif word in ("-c", "-S", "-E"):
            line.step = _last_step(line.step, _STEPS[word])
        elif word in _QUERIES or word.startswith(("-print-", "--print-")):
            line.step = Step.QUERY if word != "-v" or len(words) == 1 else line.step
            if word == "-v":
                _flag(line, word, None)
        elif word == "-emit-llvm":
            line.emit_llvm = True
        elif word.startswith("-x"):
            forced = value if word == "-x" else word[2:]
            if forced is None:
                raise UsageError("-x: needs the name of a language")
            forced = None if forced == "none" else forced
        elif left_out is not None:
            line.debug = line.debug or left_out == "-gsplit-dwarf"
            if _IGNORED[left_out]:
                line.ignored.append((word, _IGNORED[left_out]))
            if left_out == "-gsplit-dwarf":
                _flag(line, "-g", None)
        elif word.startswith("-") and word != "-":
            _flag(line, word, value)
        else:
            _input(line, word, forced, cxx)
    if line.unknown_input and line.step not in (Step.PREPROCESS, Step.QUERY):
        raise UsageError("-: say with -x which language standard input is in")
    return line


def _last_step(current: Step, flag: Step) -> Step:
    """-E overrides -S, which overrides -c, as with other compilers; a query overrides all."""
    order = [Step.QUERY, Step.PREPROCESS, Step.ASSEMBLY, Step.OBJECT, Step.LINK]
    return min(current, flag, key=order.index)


def _flag(line: CommandLine, word: str, value: str | None) -> None:
    words = [word] if value is None else [word, value]
    if word.startswith("-g") and word not in ("-g0", "-gno-column-info") and not word.startswith("-gcc"):
        line.debug = not word.startswith(("-gz", "-gsplit", "-gno-")) or line.debug
    elif word == "-g0":
        line.debug = False
    link_only = (
        word in _LINK_ONLY or word in _LINK_ONLY_VALUED or (value is None and word.startswith(_LINK_PREFIXES))
    )
    if not link_only:
        line.compile_flags += words
    if not _compile_only(word):
        line.link_words += words


def _compile_only(word: str) -> bool:
    if word in ("-imacros", "-idirafter", "-Xclang", "-Xpreprocessor", "-Xassembler", "-mllvm"):
        return True
    # Linking does not optimise, and warnings concern sources.
    if word.startswith("-W"):
        return not word.startswith("-Wl,")
    return word.startswith(("-O", *_PREPROCESSOR_PREFIXES))


def _input(line: CommandLine, word: str, forced: str | None, cxx: bool) -> None:
    language = forced
    if language is None and word != "-":
        language = _LANGUAGES.get(os.path.splitext(word)[1])
    if language is None and word == "-":
        # The preprocessor takes it for C; what else is asked is only known at the end of the line.
        line.unknown_input = True
        return
    if language is None:
        line.link_words.append(word)
        line.objects.append(word)
        return
    if cxx and language in ("c", "cpp-output"):
        language = {"c": "c++", "cpp-output": "c++-cpp-output"}[language]
    line.sources.append(Source(word, language, len(line.link_words)))
    line.link_words.append(None)

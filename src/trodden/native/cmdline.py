"""A compiler's command line, taken apart.

Enough of the language of cc's options to tell inputs from flags, what is for the compiler and what for
the linker, and which step comes last.  Everything else is handed on as it was found.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from trodden.errors import InputMissing, UsageError

_C = {".c": "c", ".i": "cpp-output"}
_CXX = {
    ext: "c++" for ext in (".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C", ".CC")
} | {".ii": "c++-cpp-output"}
_IR = {".ll": "ir", ".bc": "ir"}
_ASSEMBLY = {".s": "assembler", ".S": "assembler-with-cpp", ".sx": "assembler-with-cpp"}
_LANGUAGES = _C | _CXX | _IR | _ASSEMBLY

_WITH_VALUE = frozenset(
    """-o -x -I -L -l -D -U -include -include-pch -imacros -isystem -idirafter -iquote -isysroot -iprefix
    -iwithprefix -iwithprefixbefore -cxx-isystem -MF -MT -MQ -MJ -Xlinker -Xclang -Xpreprocessor -Xassembler
    -Xopenmp-target -T -u -z -e -arch -target --target --param -b -B -A -G -mllvm -rpath -soname -h
    --sysroot -working-directory -dumpbase -dumpdir -aux-info -march -mcpu -mtune -stdlib""".split()
) - {"-march", "-mcpu", "-mtune", "-stdlib"}
_LINK_ONLY = frozenset(
    """-shared -static -rdynamic -pie -no-pie -static-pie -nostdlib -nodefaultlibs -nostartfiles -nolibc -s -r
    -static-libgcc -static-libstdc++ -shared-libgcc -nostdlib++""".split()
)
_LINK_ONLY_VALUED = frozenset({"-L", "-l", "-Xlinker", "-T", "-u", "-z", "-e", "-rpath", "-soname", "-h"})
_LINK_PREFIXES = ("-l", "-L", "-Wl,", "-fuse-ld=", "-rtlib=", "-unwindlib=", "-T", "-z")
_QUESTIONS = frozenset(
    """--version -v -dumpmachine -dumpversion -dumpfullversion --help -### -fsyntax-only -M -MM
    --print-supported-cpus -print-supported-cpus -qversion -V""".split()
)
_IGNORED_PREFIXES = ("-flto", "-fwhole-program-vtables", "-fno-lto", "-ffat-lto-objects", "-fno-fat-lto-objects", "-fsplit-lto-unit", "-fthinlto-index")


class Step(Enum):
    """The last thing to be done."""

    PREPROCESS = "preprocess"
    ASSEMBLY = "assembly"
    OBJECT = "object"
    LINK = "link"
    QUESTION = "question"


@dataclass(frozen=True, slots=True)
class Source:
    """An input that has to be compiled, and its place on the command line."""

    path: str
    language: str
    place: int

    @property
    def cxx(self) -> bool:
        """Whether it is C++."""
        return self.language.startswith("c++")

    @property
    def instrumentable(self) -> bool:
        """Whether it becomes LLVM IR on its way."""
        return not self.language.startswith("assembler")


@dataclass
class CommandLine:
    """What a command line asks for.

    ``compile_flags`` are for every compilation, ``link_words`` everything a link needs in its order, with
    ``None`` where a source's object goes.
    """

    step: Step
    sources: list[Source] = field(default_factory=list)
    compile_flags: list[str] = field(default_factory=list)
    link_words: list[str | None] = field(default_factory=list)
    output: str | None = None
    ignored: list[str] = field(default_factory=list)
    own: dict[str, list[str]] = field(default_factory=dict)
    emit_llvm: bool = False
    debug: bool = False
    original: list[str] = field(default_factory=list)


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
    """Take a command line apart."""
    line = CommandLine(Step.LINK, original=list(words))
    forced: str | None = None
    position = 0
    while position < len(words):
        word = words[position]
        value = None
        if word in _WITH_VALUE:
            position += 1
            if position < len(words):
                value = words[position]
        position += 1
        if word.startswith("--trodden-"):
            name, _, setting = word[len("--trodden-") :].partition("=")
            line.own.setdefault(name, []).append(setting)
        elif word == "-o":
            line.output = value
        elif word.startswith("-o") and len(word) > 2 and not word.startswith("-object"):
            line.output = word[2:]
        elif word in ("-c", "-S", "-E"):
            line.step = _later(line.step, {"-c": Step.OBJECT, "-S": Step.ASSEMBLY, "-E": Step.PREPROCESS}[word])
        elif word in _QUESTIONS or word.startswith(("-print-", "--print-")):
            line.step = Step.QUESTION if word != "-v" or len(words) == 1 else line.step
            if word == "-v":
                _flag(line, word, None)
        elif word == "-emit-llvm":
            line.emit_llvm = True
        elif word == "-x" or (word.startswith("-x") and len(word) > 2):
            forced = (value if word == "-x" else word[2:]) or "none"
            forced = None if forced == "none" else forced
        elif word.startswith(_IGNORED_PREFIXES):
            line.ignored.append(word)
        elif word.startswith("-") and word != "-":
            _flag(line, word, value)
        else:
            _input(line, word, forced, cxx)
    return line


def _later(current: Step, asked: Step) -> Step:
    """-E wins over -S wins over -c, as with other compilers; a question stays one."""
    order = [Step.QUESTION, Step.PREPROCESS, Step.ASSEMBLY, Step.OBJECT, Step.LINK]
    return min(current, asked, key=order.index)


def _flag(line: CommandLine, word: str, value: str | None) -> None:
    words = [word] if value is None else [word, value]
    if word.startswith("-g") and word not in ("-g0", "-gno-column-info") and not word.startswith("-gcc"):
        line.debug = not word.startswith(("-gz", "-gsplit", "-gno-")) or line.debug
    elif word == "-g0":
        line.debug = False
    link_only = word in _LINK_ONLY or word in _LINK_ONLY_VALUED or (
        value is None and word.startswith(_LINK_PREFIXES)
    )
    if not link_only:
        line.compile_flags += words
    if not _compile_only(word):
        line.link_words += words


def _compile_only(word: str) -> bool:
    if word in ("-D", "-U", "-I", "-include", "-imacros", "-isystem", "-idirafter", "-iquote", "-MF", "-MT", "-MQ"):
        return True
    if word in ("-Xclang", "-Xpreprocessor", "-Xassembler", "-mllvm"):
        return True
    return word.startswith(("-D", "-U", "-I", "-M", "-std=", "-include"))


def _input(line: CommandLine, word: str, forced: str | None, cxx: bool) -> None:
    language = forced
    if language is None and word != "-":
        language = _LANGUAGES.get(os.path.splitext(word)[1])
    if language is None:
        line.link_words.append(word)
        return
    if cxx and language in ("c", "cpp-output"):
        language = {"c": "c++", "cpp-output": "c++-cpp-output"}[language]
    line.sources.append(Source(word, language, len(line.link_words)))
    line.link_words.append(None)

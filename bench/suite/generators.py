"""Generators of programs: parsers of a grammar, perfect hash functions of keywords."""

from __future__ import annotations

from pathlib import Path
from random import Random

from bench.suite.inputs import grammars
from bench.suite.model import Archive, Case, SuiteProgram
from bench.suite.packages import command
from bench.suite.sources import SourceFiles
from bench.suite.workloads import unix_workload

_BYACC = SourceFiles(
    name="byacc",
    version="20221106",
    archive=Archive(
        "apt",
        "byacc",
        "byacc_2.0.20221106.orig.tar.gz",
        "a899be227bbcac9cf7700f7dbb5a8494688f1f9f0617b510762daeace47b9d12",
    ),
    directory="byacc-20221106",
    sources=(
        *("closure.c", "error.c", "graph.c", "lalr.c", "lr0.c", "main.c", "mkpar.c", "mstring.c"),
        *("output.c", "reader.c", "symtab.c", "verbose.c", "warshall.c", "yaccpar.c"),
    ),
    flags=(
        *("-D_DEFAULT_SOURCE", "-D_XOPEN_SOURCE=500", "-DYYPATCH=20221106"),
        *("-DHAVE_FCNTL_H=1", "-DHAVE_GETOPT=1", "-DHAVE_MKSTEMP=1"),
    ),
)
_YACC_ARGUMENTS = ("-d", "-v", "-o", "parser.c", "@grammar.y")
_YACC_OUTPUTS = ("parser.c", "parser.h", "parser.output")


def _small_grammar(directory: Path) -> None:
    (directory / "grammar.y").write_text(grammars.grammar(Random(231), 18, 10))


def _large_grammar(directory: Path) -> None:
    (directory / "grammar.y").write_text(grammars.grammar(Random(232), 42, 18))


def _huge_grammar(directory: Path) -> None:
    (directory / "grammar.y").write_text(grammars.grammar(Random(232), 160, 40))


def _few_keywords(directory: Path) -> None:
    (directory / "words").write_text(grammars.keyword_table(Random(241), 240))


def _many_keywords(directory: Path) -> None:
    (directory / "words").write_text(grammars.keyword_table(Random(242), 640))


def _thousands_of_keywords(directory: Path) -> None:
    (directory / "words").write_text(grammars.keyword_table(Random(242), 2_000))


GENERATORS = (
    SuiteProgram(
        name="byacc",
        about="generates a parser of a grammar",
        source=_BYACC,
        train=Case(
            _YACC_ARGUMENTS,
            _small_grammar,
            "9862ce239e7788eb5d4f1bd41bfab8513e2770fbba4480441c9cca653992cc8f",
            outputs=_YACC_OUTPUTS,
        ),
        ref=Case(
            _YACC_ARGUMENTS,
            _large_grammar,
            "2832c53d63f65c6ffecbaa0f9fce013f3dcf18fd41833aea5eb4ef330d18f455",
            outputs=_YACC_OUTPUTS,
        ),
        long=Case(
            _YACC_ARGUMENTS,
            _huge_grammar,
            "c0e4b85eb7e209164877794fc582249f444450582ba3f068a6c44a97d72ada90",
            outputs=_YACC_OUTPUTS,
        ),
    ),
    SuiteProgram(
        name="gperf",
        about="generates a perfect hash function of keywords (C++)",
        source=command("gperf"),
        workload=unix_workload("gperf"),
        train=Case(
            ("-t", "@words"),
            _few_keywords,
            "274b6cf330802e139242dee77e0d307d5e5a975ceec0a3aed87c3356d98e2c26",
        ),
        ref=Case(
            ("-t", "@words"),
            _many_keywords,
            "b05a2118bc530f8225bfc3eb96edd45087699d8e8a52b52ccbf995e0caca5089",
        ),
        long=Case(
            ("-t", "@words"),
            _thousands_of_keywords,
            "2ae9d74b59d89033419f14b6338ffb0f67c61c7e6ba071c5c42f6dddd9226075",
        ),
    ),
)

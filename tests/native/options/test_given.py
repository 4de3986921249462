"""Flags, variables and keywords are read once, and a mistake is named with what was probably meant."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from trodden.errors import UsageError
from trodden.native.options.codec import decode_options, encode_options
from trodden.native.options.declarations import OPTIONS, Options
from trodden.native.options.given import Dialect, VerbFlags, choose, compiler_flags, keywords
from trodden.native.options.option import Option

NOTHING: Mapping[str, str] = {}
PATHS, TRACE = "--trodden-profile=paths", "--trodden-profile=trace"


def chosen(*words: str, **variables: str) -> Options:
    environment = {f"TRODDEN_{name}": value for name, value in variables.items()}
    return choose(compiler_flags(words), environment)


def by_verb(verb: str, *words: str) -> tuple[Options, list[str]]:
    flags, rest = VerbFlags(verb, ("report", "target")), []
    given = []
    following = iter(words)
    for word in following:
        option = flags.take(word, following)
        if option is None:
            rest.append(word)
        else:
            given.append(option)
    return choose(given, NOTHING), rest


def test_without_flags_everything_has_its_default() -> None:
    assert chosen() == Options()


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("profile", "blocks", "blocks"),
        ("counters", "every-edge", "every-edge"),
        ("stage", "early", "early"),
        ("weights", "x.trod", "x.trod"),
        ("only", "a*,b", ("a*", "b")),
        ("leave", "x", ("x",)),
        ("toolchain", "/opt/clang", "/opt/clang"),
        ("max-paths", "7", 7),
        ("max-paths", "none", None),
        ("context", "on", True),
        ("metric", "cycles", "cycles"),
        ("cut-by", "node", "node"),
        ("last", "65536", 65536),
        ("call-paths", "on", True),
        ("overlap", "3", 3),
        ("overlap", "max", "max"),
        ("overlap", "auto", "auto"),
        ("pairs", "on", 2),
        ("durable", "on", True),
        ("trip-counts", "off", False),
        ("call-sites", "off", False),
        ("debug-locations", "off", False),
        ("clone-blocks", "off", False),
        ("branch-weights", "off", False),
        ("trips", "off", False),
        ("sites", "off", False),
        ("positions", "off", False),
        ("copies", "off", False),
        ("odds", "off", False),
    ],
)
def test_each_option_by_flag_variable_and_keyword(name: str, text: str, value: Any) -> None:
    option = _named(name)
    more = [PATHS] if option.path_profile else []
    wanted = Options(**{**({"profile": "paths"} if more else {}), option.keyword: value})
    assert chosen(*more, f"--trodden-{name}={text}") == wanted
    assert chosen(*more, **{name.upper().replace("-", "_"): text}) == wanted
    native = text if value is None or isinstance(value, tuple) else value
    keyword = {"profile": "paths" if more else None, option.keyword: native}
    assert choose(keywords(keyword), NOTHING) == wanted
    if "run" in option.takers:
        words = [f"--{name}"] if option.switch else [f"--{name}", text]
        verb_more = ["--profile=paths"] if more else []
        assert by_verb("run", *verb_more, *words, "a.c") == (wanted, ["a.c"])
        assert by_verb("cargo", *verb_more, f"--{name}={text}") == (wanted, [])
    assert decode_options(json.loads(json.dumps(encode_options(wanted)))) == _anchored(wanted)


def _named(name: str) -> Option[Any]:
    (found,) = [option for option in OPTIONS.values() if name in (option.name, option.former)]
    return found


def _anchored(options: Options) -> Options:
    from dataclasses import replace
    from os.path import abspath

    return replace(options, weights=abspath("x.trod")) if options.weights == "x.trod" else options


def test_a_flag_overrides_the_environment_and_an_empty_variable_is_none() -> None:
    assert chosen("--trodden-stage=late", STAGE="early").stage == "late"
    assert chosen("--trodden-stage=late", STAGE="whatever").stage == "late"
    assert chosen("--trodden-only=a", ONLY="b,c").only == ("a",)
    assert chosen(STAGE="", ONLY="b,c") == Options(only=("b", "c"))
    assert chosen("--trodden-only=a", "--trodden-only=b,c").only == ("a", "b", "c")
    assert chosen("--trodden-stage=early", "--trodden-stage=late").stage == "late"


def test_variables_about_paths_wait_for_paths() -> None:
    assert chosen(LAST="64", MAX_PATHS="7") == Options(last=64, max_paths=7)
    assert chosen(PATHS, LAST="64").last == 64


MISTAKES = [
    (["--trodden-profil=paths"], {}, "--trodden-profil: no such option; did you mean --trodden-profile?"),
    (["--trodden-copy=off"], {}, "--trodden-copy: no such option; there are --trodden-profile,"),
    (
        ["--trodden-profile=path"],
        {},
        "--trodden-profile=path: choose one of edges, blocks, paths, trace, off",
    ),
    (["--trodden-stage=x"], {}, "--trodden-stage=x: choose late or early"),
    (["--trodden-trips=x"], {}, "--trodden-trips=x: choose on or off"),
    (["--trodden-stage="], {}, "--trodden-stage: needs a value, as in --trodden-stage=late"),
    (["--trodden-stage"], {}, "--trodden-stage: needs a value"),
    (["--trodden-only"], {}, "--trodden-only: needs a value, as in --trodden-only=GLOB"),
    ([PATHS, "--trodden-max-paths=0"], {}, "--trodden-max-paths=0: a number of paths per function, or none"),
    ([PATHS, "--trodden-max-paths=²"], {}, "--trodden-max-paths=²: a number of paths"),
    ([PATHS, "--trodden-last=65537"], {}, "--trodden-last=65537: a number of paths per thread, 65536 at"),
    ([PATHS, "--trodden-last=-1"], {}, "--trodden-last=-1: a number of paths per thread"),
    (["--trodden-last=3"], {}, "--trodden-last: goes with --trodden-profile=paths"),
    (["--trodden-clone-blocks=off"], {}, "--trodden-clone-blocks: goes with --trodden-profile=paths"),
    (
        ["--trodden-call-paths=on", "--trodden-stage=early"],
        {},
        "--trodden-call-paths=on: call paths are counted at the late stage only",
    ),
    ([PATHS, "--trodden-stage=early"], {}, "--trodden-stage=early: paths are those of the optimised program"),
    ([PATHS, "--trodden-counters=every-edge"], {}, "--trodden-counters=every-edge: not with paths"),
    (["--trodden-trace=bits"], {}, "--trodden-trace: goes with --trodden-profile=trace"),
    ([PATHS, "--trodden-trace=bits"], {}, "--trodden-trace: goes with --trodden-profile=trace"),
    (
        [TRACE, "--trodden-trace=bit"],
        {},
        "--trodden-trace=bit: choose one of paths, witnesses, bits; did",
    ),
    ([TRACE, "--trodden-stage=early"], {}, "--trodden-stage=early: a trace is that of the optimised program"),
    ([TRACE, "--trodden-call-paths=on"], {}, "--trodden-call-paths=on: not with a trace"),
    ([TRACE, "--trodden-counters=edges"], {}, "--trodden-counters=edges: not with a trace; choose checked"),
    ([TRACE, "--trodden-context=on"], {}, "--trodden-context: goes with --trodden-profile=paths"),
    ([TRACE, "--trodden-last=3"], {}, "--trodden-last: goes with --trodden-profile=paths"),
    ([TRACE, "--trodden-metric=cycles"], {}, "--trodden-metric: goes with --trodden-profile=paths"),
    ([TRACE], {"TRODDEN_CALL_PATHS": "on"}, "TRODDEN_CALL_PATHS=on: not with a trace"),
    ([], {"TRODDEN_STAGE": "erly"}, "TRODDEN_STAGE=erly: choose late or early; did you mean early?"),
    ([PATHS], {"TRODDEN_STAGE": "early"}, "TRODDEN_STAGE=early: paths are those of the optimised program"),
    ([], {"TRODDEN_PROFIL": "paths"}, "TRODDEN_PROFIL: no such variable; did you mean TRODDEN_PROFILE?"),
    ([], {"TRODDEN_MAXPATHS": "7"}, "TRODDEN_MAXPATHS: no such variable; did you mean TRODDEN_MAX_PATHS?"),
    ([], {"TRODDEN_FILES": "x"}, "TRODDEN_FILES: no such variable; did you mean TRODDEN_FILE?"),
]


@pytest.mark.parametrize(("words", "environment", "message"), MISTAKES, ids=[each[2] for each in MISTAKES])
def test_mistakes(words: Sequence[str], environment: Mapping[str, str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        choose(compiler_flags(words), environment)
    assert str(error.value).startswith(message)


def test_variables_of_others_are_left_alone() -> None:
    others = ("FILE", "CACHE", "KEEP", "BENCH", "HOME", "OUTPUT", "DEBUG", "VERSION", "ROOT", "PREFIX")
    assert chosen(**dict.fromkeys(others, "x")) == Options()
    assert chosen(TRACE_LIMIT="1000", TRACE_RING="1000") == Options()


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("--profle", "--profle: no such option; did you mean --profile?"),
        ("--max-path=3", "--max-path: no such option; did you mean --max-paths?"),
        ("--lats", "--lats: no such option; did you mean --last?"),
        ("--reprot", "--reprot: no such option; did you mean --report?"),
        ("--stage=erly", "--stage=erly: choose late or early; did you mean early?"),
        ("--last", "--last needs a value; see trodden run --help"),
        ("--max-paths=3", "--max-paths: goes with --profile=paths"),
    ],
)
def test_mistakes_in_the_flags_of_a_verb(word: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        by_verb("run", word)
    assert str(error.value) == message


def test_flags_of_a_compiler_are_no_mistakes() -> None:
    words = [
        *("--gcc-toolchain=/usr", "--gcc-install-dir=/usr", "--config=x", "--coverage", "--sysroot=/"),
        *("--param", "--prefix=/", "--static", "--target=x", "--version", "--verbose", "--std=c11"),
        *("--print-search-dirs", "--offload=x", "--stdlib=libc++", "--rtlib=x", "--precompile"),
        *("--trodden-stage=early", "-O2"),
    ]
    assert by_verb("run", *words) == (Options(), words)


@pytest.mark.parametrize(
    ("chosen_values", "message"),
    [
        ({"max_paths": 7}, "max_paths: goes with profile='paths'"),
        ({"profile": "paths", "max_paths": 0}, "max_paths=0: a number of paths per function, or none to cut"),
        ({"profile": "paths", "max_paths": True}, "max_paths=True: a number of paths per function"),
        ({"profile": "paths", "last": 2.5}, "last=2.5: a number of paths per thread"),
        ({"context": "yes"}, "context='yes': choose on or off"),
        (
            {"profile": "path"},
            "profile='path': choose one of edges, blocks, paths, trace, off; did you",
        ),
        ({"only": 3}, "only=3: a pattern, or several of them"),
        ({"only": ""}, "only: needs a value, as in only='GLOB'"),
        ({"weights": 3}, "weights=3: name FILE.trod, or choose estimate or nesting"),
    ],
)
def test_mistakes_in_keywords(chosen_values: Mapping[str, object], message: str) -> None:
    with pytest.raises(UsageError) as error:
        choose(keywords(chosen_values), NOTHING)
    assert str(error.value).startswith(message)


def test_a_name_in_every_dialect() -> None:
    spelled = [dialect.setting("max-paths", 7) for dialect in Dialect]
    flags = ["--trodden-max-paths=7", "--max-paths=7"]
    assert spelled == [*flags, "TRODDEN_MAX_PATHS=7", "max_paths=7", "max-paths = 7"]


@pytest.mark.parametrize("broken", [{}, encode_options(Options()) | {"profile": "x"}, None, []])
def test_what_is_no_encoded_object(broken: Any) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        decode_options(broken)


def test_encoded_files_are_found_from_anywhere() -> None:
    encoded = encode_options(Options(weights="w.trod", toolchain="./clang"))
    assert str(encoded["weights"]).startswith("/")
    assert str(encoded["toolchain"]).startswith("/")
    kept = encode_options(Options(weights="estimate", toolchain="clang-18"))
    assert (kept["weights"], kept["toolchain"]) == ("estimate", "clang-18")

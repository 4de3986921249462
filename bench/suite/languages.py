"""Interpreters: Lua, SQLite, and an evaluator of expressions of our own."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

from bench.suite.inputs import expressions, people_sql, shop_sql
from bench.suite.model import Archive, Case, SuiteProgram
from bench.suite.sources import SourceFiles
from bench.suite.workloads import scripted
from bench.support.directories import DATA

_LUA = DATA / "lua"


def _lua_workload(directory: Path) -> None:
    """Calls, sorting, strings, tables, methods, errors, coroutines and arithmetic."""
    shutil.copyfile(_LUA / "workload.lua", directory / "input")


def _lua_train(directory: Path) -> None:
    shutil.copyfile(_LUA / "train.lua", directory / "script.lua")


def _lua_ref(directory: Path) -> None:
    shutil.copyfile(_LUA / "ref.lua", directory / "script.lua")


def _lua_long(directory: Path) -> None:
    """The whole script in a loop, each time with other random numbers."""
    start = "local state = 20231\n"
    before, after = (_LUA / "ref.lua").read_text().split(start)
    again = f"{before}{start}state = state + 977 * round\n{after}"
    (directory / "script.lua").write_text(f"for round = 1, 20 do\n{again}end\n")


def _sql_workload(directory: Path) -> None:
    people_sql.script(directory / "input")


def _sql_train(directory: Path) -> None:
    shop_sql.script(directory / "script.sql")


def _sql_ref(directory: Path) -> None:
    people_sql.script(directory / "script.sql")


def _sql_long(directory: Path) -> None:
    people_sql.script(directory / "script.sql", 64_000)


def _expressions_workload(directory: Path) -> None:
    expressions.write(directory / "input", Random(17), 3_000, 5, 0.03)


def _expressions_train(directory: Path) -> None:
    expressions.write(directory / "lines", Random(121), 600, 3, 0.1)


def _expressions_ref(directory: Path) -> None:
    expressions.write(directory / "lines", Random(122), 2_000, 5, 0.03)


def _expressions_long(directory: Path) -> None:
    expressions.write(directory / "lines", Random(122), 40_000, 5, 0.03)


_LUA_SOURCE = SourceFiles(
    name="lua",
    version="5.4.4",
    archive=Archive(
        "apt",
        "lua5.4",
        "lua5.4_5.4.4.orig.tar.gz",
        "164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61",
    ),
    directory="lua-5.4.4/src",
    sources=("*.c",),
    excluded=frozenset({"luac.c"}),
    flags=(
        *("-std=gnu99", "-DLUA_COMPAT_5_3", "-DLUA_USE_LINUX"),
        # Seeds and cache slots that would otherwise depend on the time and on addresses.
        *("-Dluai_makeseed(L)=1", "-DSTRCACHE_N=1", "-DSTRCACHE_M=2"),
    ),
    libraries=("-lm", "-ldl"),
)
_SQLITE = SourceFiles(
    name="sqlite",
    version="in better-sqlite3 12.11.1",
    archive=Archive(
        "npm",
        "better-sqlite3@12.11.1",
        "better-sqlite3-12.11.1.tgz",
        "ebf0ed75a7a59dbcb3b24bbd014ef49d9f15bc328e4adcbf516f2a8fadfa2835",
    ),
    directory="package/deps/sqlite3",
    sources=("sqlite3.c",),
    own=("sqlite_script.c",),
    flags=(
        *("-I@sources", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"),
        *("-DSQLITE_TEMP_STORE=3", "-DSQLITE_DEFAULT_MEMSTATUS=0"),
    ),
    libraries=("-lm",),
)
_EVALUATOR = SourceFiles(
    name="evaluator",
    version="ours",
    own=("evaluator.cpp",),
    flags=("-std=c++17",),
    language="C++",
)

LANGUAGES = (
    SuiteProgram(
        name="lua",
        about="interprets a script",
        source=_LUA_SOURCE,
        workload=scripted("lua", _lua_workload),
        train=Case(
            ("@script.lua",), _lua_train, "7aa7450182e70866997621d0fd22f6d4ef836545ac854bc8d9e081e62b0d3d7b"
        ),
        ref=Case(
            ("@script.lua",), _lua_ref, "c46b15e4a0b8f7662c77b6029eaa308111f248b0f457e7911da768748a7b2a31"
        ),
        long=Case(
            ("@script.lua",), _lua_long, "9525d6c11a1e43ec261d6507122d81baae12e1f7af3ab357c62fa6aadbd3e62b"
        ),
    ),
    SuiteProgram(
        name="sqlite",
        about="executes thousands of SQL statements",
        source=_SQLITE,
        workload=scripted("sqlite", _sql_workload),
        train=Case(
            ("@script.sql",), _sql_train, "7f578d735a247a4a30cedd61de3a41e7fa843fa51f58e0f78019653fb7a4ce96"
        ),
        ref=Case(
            ("@script.sql",), _sql_ref, "86eeba47cf499e43ac86e1e236918289a8c5085a7d22b7e1a32eb9485d23a9dd"
        ),
        long=Case(
            ("@script.sql",), _sql_long, "60cf67d172e9b67702b7cc65a57fdd1c3cb005ddce2a9f1506d9518a96da98c2"
        ),
    ),
    SuiteProgram(
        name="evaluator",
        about="evaluates expressions, many of them wrong, with exceptions (C++)",
        source=_EVALUATOR,
        workload=scripted("evaluator", _expressions_workload),
        train=Case(
            ("@lines",),
            _expressions_train,
            "6ac0bfbe1fda82078829cda47855a88c6e831457ac9f5d1c5113e1f3c124db84",
        ),
        ref=Case(
            ("@lines",), _expressions_ref, "785f721abe52268939d44ede83f4d58548acfb295206149ad9082d1029b1ae24"
        ),
        long=Case(
            ("@lines",), _expressions_long, "987d6f706d35baa63ecaf4a3cbca339a77cd0035900988c5b1b23810405f9158"
        ),
    ),
)

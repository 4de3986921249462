"""Programs that carry out what others have written: Lua, SQLite, and an evaluator of expressions of ours."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

from bench.suite.inputs import shop_sql as queries
from bench.suite.inputs import small as inputs
from bench.suite.model import Case, SuiteProgram
from bench.suite.recipes import compiled
from bench.support.directories import DATA

_LUA = DATA / "lua"


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


def _sql_train(directory: Path) -> None:
    queries.shop(directory / "script.sql")


def _sql_ref(directory: Path) -> None:
    inputs.sql(directory / "script.sql")


def _sql_long(directory: Path) -> None:
    inputs.sql(directory / "script.sql", 64_000)


def _expressions_train(directory: Path) -> None:
    inputs.random_expressions(directory / "lines", Random(121), 600, 3, 0.1)


def _expressions_ref(directory: Path) -> None:
    inputs.random_expressions(directory / "lines", Random(122), 2_000, 5, 0.03)


def _expressions_long(directory: Path) -> None:
    inputs.random_expressions(directory / "lines", Random(122), 40_000, 5, 0.03)


_LUA_RECIPE, _SQLITE, _EVALUATOR = compiled("lua"), compiled("sqlite"), compiled("evaluator")

LANGUAGES = (
    SuiteProgram(
        name="lua",
        version=_LUA_RECIPE.version,
        about="interprets a script",
        recipe=_LUA_RECIPE,
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
        version=_SQLITE.version,
        about="carries out thousands of statements of SQL",
        recipe=_SQLITE,
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
        version=_EVALUATOR.version,
        about="evaluates expressions, many of them wrong, with exceptions (C++)",
        recipe=_EVALUATOR,
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

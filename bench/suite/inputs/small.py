"""Inputs for the programs, made by seeded generators: the same bytes on every machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from string import ascii_lowercase

_TEXT_BYTES = 1_500_000
_PLA_TERMS = 700
_SQL_ROWS = 1_500
_STATEMENTS = 4_000
LONG_SCRIPT = 10_000
"""How many statements the long script has, all told."""


def text(path: Path) -> None:
    """Lines of words out of a vocabulary: compresses about as well as prose."""
    random = Random(7)
    words = ["".join(random.choices(ascii_lowercase, k=random.randint(2, 9))) for _ in range(3_000)]
    size = 0
    with path.open("w") as stream:
        while size < _TEXT_BYTES:
            line = " ".join(random.choices(words, k=12)) + "\n"
            stream.write(line)
            size += len(line)


def pla(path: Path) -> None:
    """A random two-level function of ten inputs and four outputs, for espresso to minimise."""
    random_pla(path, Random(11), _PLA_TERMS)


def random_pla(path: Path, random: Random, terms: int, inputs: int = 10, outputs: int = 4) -> None:
    """The same with so many terms, of so many inputs and outputs.

    Few terms leave inputs open and few set outputs, or else the function would soon be true everywhere.
    """
    rows = [
        "".join(random.choices("01-", (4, 4, 1), k=inputs))
        + " "
        + "".join(random.choices("01", (3, 1), k=outputs))
        for _ in range(terms)
    ]
    path.write_text("\n".join([f".i {inputs}", f".o {outputs}", f".p {terms}", *rows, ".e", ""]))


_LUA = """\
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local random = 12345
local function nextrandom() random = (random * 1103515245 + 12345) % 2147483648 return random end
local list = {}
for i = 1, 20000 do list[i] = nextrandom() % 10007 end
table.sort(list)
local sum = 0
for i = 1, #list do sum = sum + list[i] * (i % 7) end
local parts = {}
for i = 1, 5000 do parts[#parts + 1] = string.format("%d:%s", i, tostring(i * i)) end
local joined, digits = table.concat(parts, ","), 0
for word in joined:gmatch("%d+") do digits = digits + #word end
local seen = {}
for i = 1, 30000 do local key = "k" .. (nextrandom() % 500); seen[key] = (seen[key] or 0) + i end
local Account = {}
Account.__index = Account
function Account.new() return setmetatable({balance = 0}, Account) end
function Account:deposit(x) self.balance = self.balance + x end
function Account:withdraw(x)
  if x > self.balance then error("broke", 0) end
  self.balance = self.balance - x
end
local account, failures = Account.new(), 0
for i = 1, 5000 do
  account:deposit(nextrandom() % 100)
  if not pcall(account.withdraw, account, nextrandom() % 150) then failures = failures + 1 end
end
local producer = coroutine.wrap(function() for i = 1, 5000 do coroutine.yield(i * 0.5) end end)
local halves = 0.0
for _ = 1, 5000 do halves = halves + producer() end
local sieve, primes = {}, 0
for i = 2, 30000 do
  if not sieve[i] then primes = primes + 1; for j = i * i, 30000, i do sieve[j] = true end end
end
print(fib(24), sum, digits, seen.k7, account.balance, failures, halves, primes)
"""


def lua(path: Path) -> None:
    """Calls, sorting, strings, tables, methods, errors, coroutines and arithmetic."""
    path.write_text(_LUA)


def sql(path: Path, changes: int = _STATEMENTS) -> None:
    """Tables, indices, thousands of changes, joins, groups and text search, ending in checks of it all."""
    _write_sql(path, _statements(Random(13), changes))


def long_sql(path: Path) -> None:
    """The same with as many changes and questions as make it :data:`LONG_SCRIPT` statements."""
    others = sum(1 for _ in _statements(Random(13), 0))
    sql(path, LONG_SCRIPT - others)


def _write_sql(path: Path, statements: Iterable[str]) -> None:
    path.write_text("".join(f"{statement};\n" for statement in statements))


_SCHEMA = (
    "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, town INTEGER, born INTEGER)",
    "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT UNIQUE)",
    "CREATE TABLE visit (person INTEGER, town INTEGER, day INTEGER, note TEXT)",
    "CREATE INDEX by_town ON person (town, born)",
    "CREATE INDEX by_day ON visit (day)",
    "CREATE TRIGGER moved AFTER UPDATE OF town ON person BEGIN "
    "INSERT INTO visit VALUES (new.id, new.town, new.born % 365, 'moved from ' || old.town); END",
)
_QUESTIONS = (
    "SELECT count(*), sum(born), max(name) FROM person",
    "SELECT count(*), sum(day), min(note) FROM visit",
    "SELECT town.name, count(*), CAST(avg(born) AS INTEGER) FROM person JOIN town ON town.id = person.town "
    "GROUP BY town.id HAVING count(*) > 2 ORDER BY 2 DESC, 1 LIMIT 20",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT sum(i * i) FROM n",
    "SELECT name, born, rank() OVER (PARTITION BY town ORDER BY born, id) FROM person ORDER BY id LIMIT 15",
)


def _statements(random: Random, changes: int) -> Iterator[str]:
    yield from _SCHEMA
    for town in range(40):
        yield f"INSERT INTO town VALUES ({town}, 'town-{town * 7919 % 40}')"
    yield "BEGIN"
    for person in range(_SQL_ROWS):
        name = "".join(random.choices(ascii_lowercase, k=8))
        town, born = random.randrange(40), random.randrange(1900, 2020)
        yield f"INSERT INTO person VALUES ({person}, '{name}', {town}, {born})"
    yield "COMMIT"
    for _ in range(changes):
        yield _statement(random)
    yield from _QUESTIONS


def _statement(random: Random) -> str:
    person, town = random.randrange(_SQL_ROWS), random.randrange(40)
    year, day = random.randrange(1900, 2020), random.randrange(365)
    return random.choice(
        (
            f"UPDATE person SET town = {town} WHERE id = {person}",
            f"INSERT INTO visit VALUES ({person}, {town}, {day}, 'day trip {person % 17}')",
            f"DELETE FROM visit WHERE day = {day} AND person > {person}",
            f"SELECT count(*), min(name) FROM person WHERE town = {town} AND born > {year}",
            f"SELECT name FROM person WHERE id = {person}",
            f"SELECT upper(substr(name, 2, 4)), length(name) FROM person "
            f"WHERE id BETWEEN {person} AND {person + 3}",
            f"SELECT count(*) FROM visit WHERE note LIKE '%trip {person % 17}' AND day < {day % 40}",
            f"INSERT INTO town VALUES ({town}, 'again') "
            f"ON CONFLICT (id) DO UPDATE SET name = name || '{town % 3}'",
        )
    )


_OPERATORS = "+" * 40 + "-" * 40 + "*" * 40 + "/" * 8 + "<="


def expressions(path: Path) -> None:
    """Assignments and expressions for the C++ evaluator, one in ten of them wrong in some way."""
    random_expressions(path, Random(17), 3_000, 5, 0.03)


def random_expressions(path: Path, random: Random, lines: int, deepest: int, misspelt: float) -> None:
    """So many lines of expressions, nested at most so deep; the given part of them has a wrong letter."""
    with path.open("w") as stream:
        for number in range(lines):
            body = _expression(random, random.randint(1, deepest))
            if random.random() < misspelt:
                at = random.randrange(len(body))
                body = body[:at] + random.choice('()@?"1x') + body[at:]
            name = f"v{number % 97}"
            stream.write(f"{name} := {body}\n" if random.random() < 0.5 else f"{body}\n")


def _expression(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.15:
        kind = random.randrange(400)
        if kind < 100:
            return f"v{random.randrange(97) if kind else 99}"
        if kind == 100:
            return '"' + "".join(random.choices(ascii_lowercase, k=random.randint(0, 6))) + '"'
        return str(random.randrange(100))
    kind = random.randrange(8)
    if kind == 0:
        return f"-{_expression(random, depth - 1)}"
    if kind == 1:
        name = random.choice(["max", "min", "size", "sum", "try"])
        arguments = ", ".join(_expression(random, depth - 1) for _ in range(random.randint(1, 3)))
        return f"{name}({arguments})"
    left, right = _expression(random, depth - 1), _expression(random, depth - 1)
    return f"({left} {random.choice(_OPERATORS)} {right})"

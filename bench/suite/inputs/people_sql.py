"""A script of SQL about people, towns and visits, which is what SQLite is measured on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from string import ascii_lowercase

_PEOPLE = 1_500
_CHANGES = 4_000

_SCHEMA = (
    "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, town INTEGER, born INTEGER)",
    "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT UNIQUE)",
    "CREATE TABLE visit (person INTEGER, town INTEGER, day INTEGER, note TEXT)",
    "CREATE INDEX by_town ON person (town, born)",
    "CREATE INDEX by_day ON visit (day)",
    "CREATE TRIGGER moved AFTER UPDATE OF town ON person BEGIN "
    "INSERT INTO visit VALUES (new.id, new.town, new.born % 365, 'moved from ' || old.town); END",
)
_QUERIES = (
    "SELECT count(*), sum(born), max(name) FROM person",
    "SELECT count(*), sum(day), min(note) FROM visit",
    "SELECT town.name, count(*), CAST(avg(born) AS INTEGER) FROM person JOIN town ON town.id = person.town "
    "GROUP BY town.id HAVING count(*) > 2 ORDER BY 2 DESC, 1 LIMIT 20",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT sum(i * i) FROM n",
    "SELECT name, born, rank() OVER (PARTITION BY town ORDER BY born, id) FROM person ORDER BY id LIMIT 15",
)


def script(path: Path, changes: int = _CHANGES) -> None:
    """Tables, indices, so many changes and queries, and at the end joins, groups and windows over it all."""
    path.write_text("".join(f"{statement};\n" for statement in _statements(Random(13), changes)))


def _statements(random: Random, changes: int) -> Iterator[str]:
    yield from _SCHEMA
    for town in range(40):
        yield f"INSERT INTO town VALUES ({town}, 'town-{town * 7919 % 40}')"
    yield "BEGIN"
    for person in range(_PEOPLE):
        name = "".join(random.choices(ascii_lowercase, k=8))
        town, born = random.randrange(40), random.randrange(1900, 2020)
        yield f"INSERT INTO person VALUES ({person}, '{name}', {town}, {born})"
    yield "COMMIT"
    for _ in range(changes):
        yield _statement(random)
    yield from _QUERIES


def _statement(random: Random) -> str:
    person, town = random.randrange(_PEOPLE), random.randrange(40)
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

"""A script of SQL about a shop: the input *train* of SQLite, with other tables and queries than *ref*."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from bench.suite.inputs import texts

_GOODS, _CHANGES = 120, 360

_SCHEMA = (
    "CREATE TABLE good (code TEXT PRIMARY KEY, shelf INTEGER NOT NULL, price INTEGER CHECK (price > 0)) "
    "WITHOUT ROWID",
    "CREATE TABLE sale "
    "(id INTEGER PRIMARY KEY AUTOINCREMENT, code TEXT REFERENCES good, number INTEGER, day TEXT)",
    "CREATE TABLE note (sale INTEGER, said TEXT DEFAULT 'nothing')",
    "CREATE UNIQUE INDEX one_note ON note (sale)",
    "CREATE INDEX sold ON sale (code, day DESC)",
    "CREATE VIEW income AS SELECT day, code, sum(number * price) AS total "
    "FROM sale JOIN good USING (code) GROUP BY day, code",
)
_QUERIES = (
    "SELECT count(*), sum(total), min(day), max(day) FROM income",
    "SELECT code, total FROM income ORDER BY total DESC, code LIMIT 8",
    "SELECT good.code, count(said) FROM good LEFT JOIN sale USING (code) "
    "LEFT JOIN note ON sale.id = note.sale GROUP BY good.code "
    "HAVING count(sale.id) > 3 ORDER BY 2 DESC, 1 LIMIT 12",
    "SELECT strftime('%Y-%m', day) AS month, group_concat(DISTINCT shelf) FROM sale JOIN good USING (code) "
    "WHERE shelf < 3 GROUP BY month ORDER BY month LIMIT 5",
    "SELECT code FROM good WHERE NOT EXISTS (SELECT 1 FROM sale WHERE sale.code = good.code) "
    "UNION SELECT code FROM sale WHERE number > 8 EXCEPT SELECT code FROM good WHERE shelf = 4 ORDER BY 1",
    "ALTER TABLE note ADD COLUMN length INTEGER",
    "UPDATE note SET length = length(said) * 2 WHERE said LIKE '%a_i%'",
    "SELECT total(length), count(*) - count(length), hex(max(said)) FROM note",
    "DROP INDEX sold",
    "SELECT printf('%05d/%-6s/%.3f', id, code, number / 7.0) FROM sale WHERE day IN "
    "(SELECT day FROM sale GROUP BY day HAVING count(*) > 4) ORDER BY id DESC LIMIT 10",
)


def script(path: Path) -> None:
    """Goods, sales, notes and queries, with changes that are rolled back and some that are rejected."""
    path.write_text("".join(f"{statement};\n" for statement in _statements(Random(131))))


def _statements(random: Random) -> Iterator[str]:
    words = texts.vocabulary(random, 300)
    codes = [f"{word}-{number}" for number, word in enumerate(words[:_GOODS])]
    yield from _SCHEMA
    for code in codes:
        yield f"INSERT INTO good VALUES ('{code}', {random.randrange(9)}, {random.randrange(1, 90_000)})"
    for _ in range(_CHANGES):
        yield from _step(random, codes, words)
    yield from _QUERIES


def _step(random: Random, codes: list[str], words: list[str]) -> Iterator[str]:
    code, number = random.choice(codes), random.randrange(1, 10)
    day = f"date('2021-03-01', '+{random.randrange(90)} days')"
    kind = random.randrange(7)
    if kind < 2:
        yield f"INSERT INTO sale (code, number, day) VALUES ('{code}', {number}, {day})"
        text = " ".join(random.sample(words, 3))
        yield f"INSERT OR REPLACE INTO note VALUES (last_insert_rowid() / 2 * 2, '{text}')"
    elif kind == 2:
        yield f"UPDATE good SET price = price * 10{number} / 100 WHERE shelf = {number} OR code < 'c'"
    elif kind == 3:
        yield "SAVEPOINT before"
        yield f"DELETE FROM sale WHERE code = '{code}'"
        yield f"SELECT count(*) FROM sale WHERE number >= {number}"
        yield random.choice(("ROLLBACK TO before", "RELEASE before"))
        yield "RELEASE before"
    elif kind == 4:
        yield f"SELECT day, number, price FROM sale s, good g WHERE g.code = s.code AND s.code = '{code}'"
    elif kind == 5:
        yield (
            "SELECT CASE WHEN shelf > 4 THEN 'up' ELSE 'low' END AS side, sum(price) / count(*), max(price) "
            "FROM good GROUP BY side ORDER BY side"
        )
    else:
        yield f"INSERT INTO good VALUES ('{code}', {number}, {number - 5})"

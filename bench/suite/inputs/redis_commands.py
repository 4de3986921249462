"""Commands for Redis, in its protocol.

No reply may depend on the clock, on random numbers or on the iteration order of a hash table: keys expire in
the far future or at once, no command draws at random, and large sets are read in sorted order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from bench.suite.inputs.texts import vocabulary

Command = tuple[str, ...]

_FAR = 4_000_000_000
_MOVE = (
    "local taken = tonumber(redis.call('HGET', KEYS[1], 'stock') or '0') "
    "if taken < tonumber(ARGV[1]) then return redis.error_reply('only ' .. taken) end "
    "redis.call('HINCRBY', KEYS[1], 'stock', -ARGV[1]) "
    "return redis.call('HINCRBY', KEYS[2], 'stock', ARGV[1])"
)
_WORDS = (
    "local seen = {} "
    "for word in string.gmatch(redis.call('GET', KEYS[1]) or '', '%a+') do "
    "seen[word] = (seen[word] or 0) + 1 end "
    "local most, name = 0, '' "
    "for word, times in pairs(seen) do "
    "if times > most or (times == most and word < name) then most, name = times, word end end "
    "return {name, most, cjson.encode({name, most})}"
)


def encoded(commands: Iterator[Command]) -> bytes:
    """Commands in the protocol of Redis; the last one closes the connection."""
    parts: list[str] = []
    for command in (*commands, ("QUIT",)):
        parts.append(f"*{len(command)}\r\n")
        parts += (f"${len(word.encode())}\r\n{word}\r\n" for word in command)
    return "".join(parts).encode()


def shop(random: Random, number: int) -> Iterator[Command]:
    """A shop: counters, sessions, stocks by script, best sellers, queues, some texts."""
    words = vocabulary(random, 500)
    yield from (("HSET", f"thing:{key}", "name", words[key], "stock", str(key % 40)) for key in range(200))
    for _ in range(number):
        yield from random.choice(_SHOP)(random, words)
    yield ("ZREVRANGE", "sellers", "0", "19", "WITHSCORES")
    yield ("SORT", "tags", "ALPHA", "LIMIT", "0", "50")
    yield ("DBSIZE",)


def laboratory(random: Random, number: int) -> Iterator[Command]:
    """A laboratory: streams, bit fields, estimates of cardinality, geographic positions, sets."""
    words = vocabulary(random, 200)
    for count in range(number):
        yield from random.choice(_LABORATORY)(random, words, count)
    yield ("XLEN", "readings")
    yield ("BITCOUNT", "days")
    yield ("DBSIZE",)


def _count(random: Random, words: list[str]) -> Iterator[Command]:
    yield ("INCRBY", f"visits:{random.randrange(300)}", str(random.randrange(9)))
    yield ("ZINCRBY", "sellers", str(random.randrange(1, 6)), random.choice(words))
    yield ("SADD", "tags", random.choice(words), random.choice(words))


def _session(random: Random, words: list[str]) -> Iterator[Command]:
    key = f"session:{random.randrange(400)}"
    yield ("SET", key, " ".join(random.choices(words, k=12)), "EXAT", str(_FAR + random.randrange(1_000)))
    yield ("EXPIRETIME", key)
    yield ("GETRANGE", key, "3", "30")
    yield random.choice((("PERSIST", key), ("EXPIRE", key, "-1"), ("APPEND", key, random.choice(words))))
    yield ("GET", key)


def _stock(random: Random, words: list[str]) -> Iterator[Command]:
    keys = [f"thing:{key}" for key in random.sample(range(200), 2)]
    yield ("EVAL", _MOVE, "2", *keys, str(random.randrange(1, 30)))
    yield ("HMGET", keys[0], "name", "stock", "colour")
    yield ("HGETALL", keys[1])


def _queue(random: Random, words: list[str]) -> Iterator[Command]:
    key = f"queue:{random.randrange(5)}"
    yield (random.choice(("LPUSH", "RPUSH")), key, *random.choices(words, k=4))
    yield ("LRANGE", key, "0", "9")
    yield random.choice(
        (("LPOP", key, "2"), ("RPOPLPUSH", key, "done"), ("LPOS", key, words[3]), ("LLEN", key))
    )
    yield ("LTRIM", "done", "0", "199")


def _ranks(random: Random, words: list[str]) -> Iterator[Command]:
    low = random.randrange(60)
    yield ("ZRANGEBYSCORE", "sellers", str(low), str(low + 10), "LIMIT", "0", "10")
    yield ("ZREVRANK", "sellers", random.choice(words))
    yield ("ZCOUNT", "sellers", "(5", "+inf")
    if random.random() < 0.1:
        yield ("ZREMRANGEBYRANK", "sellers", "0", "9")


def _text(random: Random, words: list[str]) -> Iterator[Command]:
    key = f"text:{random.randrange(20)}"
    yield ("MULTI",)
    yield ("SET", key, " ".join(random.choices(words[:30], k=60)))
    yield ("STRLEN", key)
    yield ("EXEC",)
    yield ("EVAL", _WORDS, "1", key)
    yield ("LPUSH", key, "of another kind")


def _reading(random: Random, words: list[str], count: int) -> Iterator[Command]:
    yield (
        "XADD",
        "readings",
        f"{count + 1}-1",
        "place",
        random.choice(words),
        "value",
        str(random.randrange(999)),
    )
    yield ("XRANGE", "readings", str(max(0, count - 40)), "+", "COUNT", "6")
    if count % 100 == 99:
        yield ("XTRIM", "readings", "MAXLEN", "300")


def _bits(random: Random, words: list[str], count: int) -> Iterator[Command]:
    yield ("SETBIT", "days", str(random.randrange(20_000)), "1")
    yield ("SETBIT", "others", str(random.randrange(20_000)), "1")
    yield ("BITFIELD", "fields", "INCRBY", "u12", f"#{random.randrange(300)}", "77", "OVERFLOW", "SAT")
    if count % 25 == 0:
        yield ("BITOP", random.choice(("AND", "OR", "XOR")), "both", "days", "others")
        yield ("BITCOUNT", "both", "100", "1200")


def _estimate(random: Random, words: list[str], count: int) -> Iterator[Command]:
    yield ("PFADD", f"people:{count % 3}", *(str(random.randrange(5_000)) for _ in range(8)))
    if count % 50 == 0:
        yield ("PFCOUNT", "people:0")
        yield ("PFMERGE", "people", "people:0", "people:1", "people:2")


def _place(random: Random, words: list[str], count: int) -> Iterator[Command]:
    longitude, latitude = random.randrange(-170, 170), random.randrange(-80, 80)
    yield ("GEOADD", "places", str(longitude), str(latitude), random.choice(words))
    if count % 10 == 0:
        circle = ("FROMLONLAT", str(longitude), "0", "BYRADIUS", "900", "km", "ASC", "COUNT", "5")
        yield ("GEOSEARCH", "places", *circle)


def _sets(random: Random, words: list[str], count: int) -> Iterator[Command]:
    first, second = (f"set:{number}" for number in random.sample(range(8), 2))
    yield ("SADD", first, *(str(random.randrange(700)) for _ in range(6)))
    yield ("SREM", second, *(str(random.randrange(700)) for _ in range(3)))
    if count % 6 == 0:
        yield (random.choice(("SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE")), "result", first, second)
        yield ("SORT", "result", "LIMIT", "0", "12", "DESC")
    if count % 40 == 0:
        yield ("ZUNIONSTORE", "all", "2", first, second, "AGGREGATE", "SUM")
        yield ("ZRANGE", "all", "0", "15", "WITHSCORES")


_SHOP: tuple[Callable[[Random, list[str]], Iterator[Command]], ...] = (
    *(_count, _session, _stock, _queue, _ranks, _text),
)
_LABORATORY: tuple[Callable[[Random, list[str], int], Iterator[Command]], ...] = (
    *(_reading, _bits, _estimate, _place, _sets),
)

"""Small programs with path profiles: their functions, and a run of each on given data.

Each represents a kind of bug that is searched for by comparing a good run with a bad one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random

from tests.profile.walking import facts_of, path_profile
from trodden.profile.model import Profile
from trodden.program.facts import FunctionFacts

Tally = dict[str, Counter[str]]


class Program:
    """Functions, and the paths that a run of them executes."""

    def __init__(
        self, functions: Sequence[FunctionFacts], run: Callable[[Tally, Sequence[str], Random], None]
    ) -> None:
        self._functions, self._run = functions, run

    def __call__(self, items: Sequence[str], seed: int = 1) -> Profile:
        tally: Tally = {each.name: Counter() for each in self._functions}
        self._run(tally, items, Random(seed))
        return path_profile(self._functions, tally)


def several(item: str, times: int) -> list[str]:
    return [item] * times


def mixed(counts: Mapping[str, int], seed: int = 1) -> list[str]:
    items = [item for item, times in counts.items() for _ in range(times)]
    Random(seed).shuffle(items)
    return items


# Reads items, one call of parse each, which looks at every character; main counts what parse rejects and
# reports an error at the end.  hash has two paths that depend on data alone.  A bad item is rejected.
READER = [
    facts_of("hash", "in>odd in>even odd>out even>out out>exit", {"in": [3]}),
    facts_of(
        "parse",
        "in>next next>char next>good char>plain char>wrong plain>next wrong>exit good>exit",
        {"char": [12], "wrong": [13]},
        line=10,
    ),
    facts_of("complain", "in>loop loop>put loop>out put>loop out>exit", line=20),
    facts_of(
        "main",
        "in>head head>item head>done item>refused item>taken refused>head taken>head done>sad done>fine"
        " sad>exit fine>exit",
        {"item": [33], "done": [40]},
        calls={"item": 2, "sad": 1},
        line=30,
    ),
]


def _read(tally: Tally, items: Sequence[str], random: Random) -> None:
    rounds, refused = ["in"], False
    for item in items:
        for _ in range(random.randint(5, 15)):
            tally["hash"][random.choice(["in odd out", "in even out"])] += 1
        length = random.randint(3, 9)
        bad = item == "bad"
        good_part = "in next" + " char plain next" * length
        tally["parse"][f"{good_part} char wrong" if bad else f"{good_part} good"] += 1
        refused = refused or bad
        rounds.append("head item refused" if bad else "head item taken")
    tally["main"][" ".join([*rounds, "head done", "sad" if refused else "fine"])] += 1
    if refused:
        tally["complain"]["in loop" + " put loop" * 40 + " out"] += 1


reader = Program(READER, _read)

# The wrong branch sets a flag, which a function that is called for every byte of output tests later.
WRITER = [
    facts_of("decide", "in>usual in>flagged usual>exit flagged>exit", {"in": [2]}),
    facts_of(
        "write",
        "in>head head>byte head>out byte>plain byte>escaped plain>head escaped>head out>exit",
        {"byte": [12]},
        line=10,
    ),
    facts_of("main", "in>head head>item head>out item>head out>exit", calls={"item": 2}, line=20),
]


def _write(tally: Tally, items: Sequence[str], random: Random) -> None:
    for item in items:
        bad = item == "bad"
        tally["decide"]["in flagged" if bad else "in usual"] += 1
        way = " byte escaped head" if bad else " byte plain head"
        tally["write"]["in head" + way * random.randint(80, 120) + " out"] += 1
    tally["main"]["in" + " head item" * len(items) + " head out"] += 1


writer = Program(WRITER, _write)

# Two checks, each of which some items pass, but no item passes both: until one does.
GATES = [
    facts_of(
        "gates",
        "in>a in>b a>mid b>mid mid>c mid>d c>out d>out out>exit",
        {"in": [3], "mid": [6]},
    ),
    facts_of("noise", "in>p in>q p>out q>out out>exit", line=20),
]


def _pass(tally: Tally, items: Sequence[str], random: Random) -> None:
    ways = {
        "plain": "in b mid d out",
        "left": "in a mid d out",
        "right": "in b mid c out",
        "both": "in a mid c out",
    }
    for item in items:
        tally["gates"][ways[item]] += 1
        for _ in range(20):
            tally["noise"]["in p out" if random.random() < 0.3 else "in q out"] += 1


gates = Program(GATES, _pass)

# All in one function, as an optimiser leaves it: a loop over items in main.  Beside it a table that is
# very seldom grown, whatever the items are.
ONE_LOOP = [
    facts_of("insert", "in>fits in>grow fits>out grow>out out>exit", {"in": [2]}),
    facts_of(
        "main",
        "in>head head>item head>done item>wrong item>right wrong>head right>head done>exit",
        {"item": [12]},
        calls={"item": 1},
        line=10,
    ),
]


def _loop(tally: Tally, items: Sequence[str], random: Random) -> None:
    ways = {"bad": "head item wrong", "good": "head item right", "grow": "head item right"}
    tally["main"][" ".join(["in", *(ways[item] for item in items), "head done"])] += 1
    for item in items:
        tally["insert"]["in grow out" if item == "grow" else "in fits out"] += 1


one_loop = Program(ONE_LOOP, _loop)

# An option that main reads once decides how every item is processed.
OPTION = [
    facts_of("process", "in>fast in>slow fast>exit slow>exit", {"in": [2]}),
    facts_of(
        "main", "in>set in>go set>go go>head head>item head>out item>head out>exit", calls={"item": 1}, line=9
    ),
]


def _process(tally: Tally, items: Sequence[str], random: Random) -> None:
    slow = "option" in items
    for _ in items:
        tally["process"]["in slow" if slow else "in fast"] += 1
    tally["main"]["in" + (" set" if slow else "") + " go" + " head item" * len(items) + " head out"] += 1


option = Program(OPTION, _process)

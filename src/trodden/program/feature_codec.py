"""The features of a function as columns of numbers, and back.

Most blocks have few features or none.  Therefore each kind of feature has columns of its own, the first of
which holds the block that it belongs to.  Symbols and types are written once, and referred to by their index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trodden.graph.cfg import EdgeKind, Graph
from trodden.program.checked import ColumnError, columns, differences, ints, same_length, sums, text, whole
from trodden.weigh.features.block_features import (
    BlockEnding,
    BlockFeatures,
    CallFeatures,
    Comparison,
    FunctionFeatures,
    OperandType,
    Origin,
    Relation,
    ReturnedConstant,
    RightOperand,
)

_WORD = 6
"""How many letters a test takes: its relation two, the other four parts of it one each."""

_MOST_TRIPS = 1 << 62
_RELATIONS = {each.value: each for each in Relation}
_SORTS = {each.value: each for each in OperandType}
_AGAINST = {each.value: each for each in RightOperand}
_ORIGINS = {each.value: each for each in Origin}
_ENDINGS = {each.value: each for each in BlockEnding}
_RETURNED = {each.value: each for each in ReturnedConstant}
_SIGNS = {"s": False, "u": True}


def features_to_columns(features: FunctionFeatures) -> dict[str, Any]:
    """The JSON form of a function's features."""
    names: dict[str, int] = {"": 0}
    blocks = features.blocks
    calls = [(block, call) for block, each in enumerate(blocks) for call in each.calls]
    passes = [(number, *each) for number, (_, call) in enumerate(calls) for each in call.passes]
    tests = [(block, each.test, each.guarded) for block, each in enumerate(blocks) if each.test is not None]
    document: dict[str, Any] = {
        "signature": features.signature,
        "local": int(features.local),
        "cold": int(features.cold),
        "ends": "".join(each.ending.value for each in blocks),
        "gives": "".join(each.returned.value for each in blocks),
        "throws": [block for block, each in enumerate(blocks) if each.may_throw],
        "stores": _sparse((block, each.stores) for block, each in enumerate(blocks)),
        "trips": _sparse((block, each.trip_count) for block, each in enumerate(blocks)),
        "tests": [
            differences([block for block, _, _ in tests]),
            "".join(_test_to_word(test) for _, test, _ in tests),
            [sum(1 << position for position in guarded) for _, _, guarded in tests],
            [_index(names, test.callee) for _, test, _ in tests],
        ],
        "calls": [
            differences([block for block, _ in calls]),
            [_index(names, call.callee) for _, call in calls],
            [_index(names, call.signature) for _, call in calls],
            [call.cold + 2 * call.reports_error + 4 * call.ends for _, call in calls],
        ],
        "passes": [
            differences([call for call, _, _ in passes]),
            [argument for _, argument, _ in passes],
            [_index(names, symbol) for _, _, symbol in passes],
        ],
        "said": _lists((block, each.source_weights) for block, each in enumerate(blocks)),
        "guessed": _lists((block, each.compiler_weights) for block, each in enumerate(blocks)),
        "cases": _lists((block, each.cases) for block, each in enumerate(blocks)),
    }
    document["names"] = list(names)[1:]
    return document


def features_from_columns(data: Any, graph: Graph) -> FunctionFeatures:
    """The features of a function with this graph; empty if there are none of its blocks."""
    names = ["", *map(text, _list(data["names"]))]
    ends = [_ENDINGS[letter] for letter in text(data["ends"])]
    gives = [_RETURNED[letter] for letter in text(data["gives"])]
    same_length(ends, gives)
    if len(ends) not in (0, graph.exit):
        raise ColumnError("features and blocks differ in number")
    throws = frozenset(ints(data["throws"], 0, len(ends)))
    width = [
        sum(graph.edges[edge].kind is EdgeKind.FLOW for edge in graph.out_edges[block])
        for block in range(len(ends))
    ]
    tests = _tests(data["tests"], width, names)
    calls = _calls(data["calls"], data["passes"], len(ends), names)
    stores, trips = _dense(data["stores"], len(ends)), _dense(data["trips"], len(ends))
    said, guessed = _weights(data["said"], width), _weights(data["guessed"], width)
    cases = _cases(data["cases"], width)
    return FunctionFeatures(
        blocks=tuple(
            BlockFeatures(
                ending=ending,
                test=tests[block][0] if block in tests else None,
                guarded=tests[block][1] if block in tests else (),
                stores=stores.get(block, 0),
                calls=tuple(calls.get(block, ())),
                source_weights=said.get(block, ()),
                compiler_weights=guessed.get(block, ()),
                trip_count=trips.get(block, 0),
                cases=cases.get(block, ()),
                returned=gives[block],
                may_throw=block in throws,
            )
            for block, ending in enumerate(ends)
        ),
        signature=text(data["signature"]),
        local=bool(whole(data["local"], 0, 2)),
        cold=bool(whole(data["cold"], 0, 2)),
    )


def _index(names: dict[str, int], name: str) -> int:
    return names.setdefault(name, len(names))


def _sparse(values: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Two columns, blocks and numbers, of the nonzero numbers."""
    kept = [(block, value) for block, value in values if value]
    return [differences([block for block, _ in kept]), [value for _, value in kept]]


def _dense(data: Any, blocks: int) -> Mapping[int, int]:
    where, values = columns(data, 2, "numbers")
    where = ints(sums(ints(where)), 0, blocks)
    same_length(where, ints(values, 0, _MOST_TRIPS))
    return dict(zip(where, values, strict=True))


def _lists(values: Iterable[tuple[int, Sequence[int | None]]]) -> list[list[Any]]:
    """Two columns, blocks and lists, of the lists that are not empty."""
    kept = [(block, value) for block, value in values if value]
    return [differences([block for block, _ in kept]), [list(value) for _, value in kept]]


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise ColumnError("a list was expected")
    return value


def _each_list(data: Any, width: Sequence[int]) -> Iterable[tuple[int, list[Any]]]:
    """Lists that have one entry for each edge that control can take out of their block."""
    where, found = columns(data, 2, "lists")
    where = ints(sums(ints(where)), 0, len(width))
    same_length(where, _list(found))
    for block, each in zip(where, found, strict=True):
        if len(_list(each)) != width[block]:
            raise ColumnError("a feature does not fit the edges of its block")
        yield block, each


def _weights(data: Any, width: Sequence[int]) -> Mapping[int, tuple[int, ...]]:
    return {block: tuple(ints(each, 0)) for block, each in _each_list(data, width)}


def _cases(data: Any, width: Sequence[int]) -> Mapping[int, tuple[int | None, ...]]:
    found = {block: tuple(each) for block, each in _each_list(data, width)}
    if any(each is not None and type(each) is not int for cases in found.values() for each in cases):
        raise ColumnError("a case is not a number")
    return found


def _test_to_word(test: Comparison) -> str:
    sign = "u" if test.unsigned else "s"
    return f"{test.relation.value}{test.operand_type.value}{test.right.value}{test.origin.value}{sign}"


def _test_from_word(word: str, callee: str) -> Comparison:
    return Comparison(
        _RELATIONS[word[:2]],
        _SORTS[word[2]],
        _AGAINST[word[3]],
        _ORIGINS[word[4]],
        _SIGNS[word[5]],
        callee,
    )


def _tests(
    data: Any, width: Sequence[int], names: Sequence[str]
) -> Mapping[int, tuple[Comparison, tuple[int, ...]]]:
    where, words, guards, callees = columns(data, 4, "tests")
    where = ints(sums(ints(where)), 0, len(width))
    words = [words[start : start + _WORD] for start in range(0, len(text(words)), _WORD)]
    same_length(where, words, ints(guards, 0), ints(callees, 0, len(names)))
    found: dict[int, tuple[Comparison, tuple[int, ...]]] = {}
    for block, word, guard, callee in zip(where, words, guards, callees, strict=True):
        if len(word) != _WORD or guard >> width[block]:
            raise ColumnError("a test is not valid")
        guarded = tuple(position for position in range(width[block]) if guard >> position & 1)
        found[block] = _test_from_word(word, names[callee]), guarded
    return found


def _calls(data: Any, passed: Any, blocks: int, names: Sequence[str]) -> Mapping[int, list[CallFeatures]]:
    where, callees, signatures, marks = columns(data, 4, "calls")
    where = ints(sums(ints(where)), 0, blocks)
    same_length(where, ints(callees, 0, len(names)), ints(signatures, 0, len(names)), ints(marks, 0, 8))
    passes: dict[int, list[tuple[int, str]]] = {}
    passing, arguments, symbols = columns(passed, 3, "functions passed")
    passing = ints(sums(ints(passing)), 0, len(where))
    same_length(passing, ints(arguments, 0), ints(symbols, 0, len(names)))
    for call, argument, symbol in zip(passing, arguments, symbols, strict=True):
        passes.setdefault(call, []).append((argument, names[symbol]))
    found: dict[int, list[CallFeatures]] = {}
    calls = zip(where, callees, signatures, marks, strict=True)
    for number, (block, callee, kind, mark) in enumerate(calls):
        passed_on = tuple(passes.get(number, ()))
        feature = CallFeatures(
            names[callee], names[kind], passed_on, bool(mark & 1), bool(mark & 2), bool(mark & 4)
        )
        found.setdefault(block, []).append(feature)
    return found

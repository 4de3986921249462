"""Algorithm 3 of WL94: its example, and whole call graphs compared with direct solutions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigvals
from scipy.sparse import csc_array, identity
from scipy.sparse.linalg import spsolve

from tests.graphs import seeds
from tests.weigh.interprocedural.wl94_permutation import CALLS, FUNCTIONS, MAIN, TABLE_11, Row
from trodden.weigh.features.block_features import CallFeatures
from trodden.weigh.frequency.local import local_frequencies
from trodden.weigh.interprocedural.callbacks import CALLBACKS, called_back
from trodden.weigh.interprocedural.callgraph import Procedure
from trodden.weigh.interprocedural.invocations import (
    MAX_CYCLE_ITERATIONS,
    UNKNOWN_CYCLE_ITERATIONS,
    CallEstimate,
    call_frequencies,
)
from trodden.weigh.interprocedural.recursion import solve_recursion
from trodden.weigh.interprocedural.roots import ADDRESS_ESCAPES


def procedure(
    symbol: str,
    *calls: tuple[float, CallFeatures],
    unit: int = 0,
    local: bool = False,
    taken: bool = False,
    signature: str = "",
    aliases: tuple[str, ...] = (),
) -> Procedure:
    """A function where each call is in a block of its own, with the frequency of that block."""
    blocks = [1.0, *(frequency for frequency, _ in calls)]
    features: list[list[CallFeatures]] = [[], *([call] for _, call in calls)]
    return Procedure(symbol, unit, blocks, features, local, taken, signature, aliases)


def to(callee: str, frequency: float = 1.0, *passes: tuple[int, str]) -> tuple[float, CallFeatures]:
    return frequency, CallFeatures(callee, passes=passes)


def through(signature: str, frequency: float = 1.0) -> tuple[float, CallFeatures]:
    return frequency, CallFeatures("", signature)


def check_consistent(found: CallEstimate) -> None:
    """Whatever is invoked is entered or called, and the global frequencies follow from the local ones."""
    sums = [a + b for a, b in zip(found.entries, found.through_pointers, strict=True)]
    for call in found.calls:
        assert call.total == pytest.approx(call.local * found.invocations[call.caller])
        if call.callee is not None:
            sums[call.callee] += call.total
    assert found.invocations == pytest.approx(sums, rel=1e-9)
    pointed = sum(call.total for call in found.calls if call.signature)
    assert sum(found.through_pointers) == pytest.approx(pointed)


def invocations(functions: Sequence[Procedure], found: CallEstimate) -> dict[str, float]:
    return {each.symbol: number for each, number in zip(functions, found.invocations, strict=True)}


@pytest.fixture(scope="module")
def permutation() -> tuple[dict[str, dict[tuple[str, str], float]], dict[str, float], CallEstimate]:
    """Local edge frequencies by function, invocations, and all of the estimate, for the appendix' program."""
    edges: dict[str, dict[tuple[str, str], float]] = {}
    functions = []
    for name, blocks in CALLS.items():
        graph = MAIN if name == "main" else FUNCTIONS[name].graph
        probabilities = (1.0, 0.0) if name == "main" else FUNCTIONS[name].text.weights
        assert probabilities is not None
        found = local_frequencies(graph, probabilities)
        edges[name] = {
            (graph.labels[graph.edges[index].src], graph.labels[graph.edges[index].dst]): found[index]
            for index in graph.flow_edges()
        }
        frequencies = [sum(found[index] for index in incoming) for incoming in graph.in_edges]
        features = [[CallFeatures(callee) for callee in blocks.get(label, ())] for label in graph.labels]
        functions.append(Procedure(name, 0, frequencies, features))
    estimate = call_frequencies(functions)
    return edges, invocations(functions, estimate), estimate


def as_printed(printed: str, value: float, slack: float) -> bool:
    """The paper rounds intermediate results, so the last digit may be off by one."""
    allowed = max(10.0 ** -len(printed.partition(".")[2]), slack * float(printed))
    return abs(float(printed) - value) <= allowed


@pytest.mark.parametrize("row", TABLE_11, ids=lambda row: f"{row.function}-{row.source}-{row.target}")
def test_table_11(
    permutation: tuple[dict[str, dict[tuple[str, str], float]], dict[str, float], CallEstimate], row: Row
) -> None:
    edges, invoked, _ = permutation
    local = edges[row.function][row.source, row.target]
    assert as_printed(row.local, local, row.slack)
    assert as_printed(row.invocations, invoked[row.function], 0.0)
    assert as_printed(row.total, local * invoked[row.function], row.slack)


def test_figure_7(
    permutation: tuple[dict[str, dict[tuple[str, str], float]], dict[str, float], CallEstimate],
) -> None:
    """The local frequencies that the text states, and the cyclic probability of permute: 0.76."""
    _, invoked, found = permutation
    check_consistent(found)
    names = list(CALLS)
    local = {(names[call.caller], call.symbol): call.local for call in found.calls}
    assert local["atoi", "printf"] == pytest.approx(0.05, abs=5e-3)
    assert local["permute", "permute_next_pos"] == pytest.approx(0.5)
    assert local["permute_next_pos", "permute"] == pytest.approx(1.52, abs=5e-3)
    assert invoked["permute"] == pytest.approx(1 / (1 - 0.76), rel=0.02)
    assert found.elsewhere["printf"] > 0.05


def test_recursion_that_ends() -> None:
    functions = [procedure("main", to("f", 2.0)), procedure("f", to("f", 0.75))]
    found = call_frequencies(functions)
    assert found.invocations == pytest.approx([1, 8])
    check_consistent(found)


def test_recursion_that_would_not_end() -> None:
    functions = [procedure("main", to("walk", 2.0)), procedure("walk", to("walk", 1.2), to("visit"))]
    found = call_frequencies([*functions, procedure("visit")])
    assert found.invocations == pytest.approx([1, 2 * UNKNOWN_CYCLE_ITERATIONS, 2 * UNKNOWN_CYCLE_ITERATIONS])
    assert found.calls[1].local == pytest.approx(1 - 1 / UNKNOWN_CYCLE_ITERATIONS)
    assert found.calls[2].local == 1
    check_consistent(found)


def test_recursion_that_just_does_not_end_is_bounded_alike() -> None:
    """At one, just below and just above: there is no jump."""
    for rate in (1 - 1e-6, 1.0, 1 + 1e-6):
        found = call_frequencies([procedure("main", to("main", rate))], max_iterations=10.0, instead=10.0)
        assert found.invocations == pytest.approx([10])


@pytest.mark.parametrize(
    ("rounds", "expected"), [(3.0, 3.0), (9.99, 9.99), (10.01, 4.0), (1e6, 4.0)], ids=str
)
def test_recursion_is_used_unchanged_up_to_a_limit(rounds: float, expected: float) -> None:
    """Beyond it nothing is known, and the value that replaces it may be less than the limit."""
    functions = [procedure("main", to("f")), procedure("f", to("g")), procedure("g", to("f", 1 - 1 / rounds))]
    found = call_frequencies(functions, max_iterations=10.0, instead=4.0)
    assert found.invocations == pytest.approx([1, expected, expected])
    check_consistent(found)


def test_mutual_recursion() -> None:
    functions = [
        procedure("main", to("even")),
        procedure("even", to("odd", 0.5)),
        procedure("odd", to("even", 1.5)),
    ]
    found = call_frequencies(functions)
    assert found.invocations == pytest.approx([1, 4, 2])
    check_consistent(found)


def test_calls_through_pointers_are_shared() -> None:
    functions = [
        procedure("main", through("i32 (i32)", 6.0)),
        procedure("one", taken=True, signature="i32 (i32)"),
        procedure("two", taken=True, local=True, unit=1, signature="i32 (i32)"),
        procedure("other type", taken=True, signature="void ()"),
        procedure("never taken", signature="i32 (i32)"),
    ]
    found = call_frequencies(functions)
    assert found.invocations == pytest.approx([1, 3, 3, ADDRESS_ESCAPES, 0])
    assert [(call.symbol, call.callee, call.signature, call.total) for call in found.calls] == [
        ("", None, "i32 (i32)", 6.0)
    ]
    assert not found.elsewhere
    check_consistent(found)


def test_a_pointer_without_possible_callees() -> None:
    found = call_frequencies([procedure("main", through("void ()", 3.0))])
    assert found.elsewhere == {"": 3.0}


def test_recursion_through_pointers_loses_nothing() -> None:
    """The calls that close the cycle are scaled down; calls through a pointer equal those of its callees."""
    functions = [
        procedure("main", to("eval")),
        procedure("eval", through("op", 3.0)),
        procedure("add", to("eval", 2.0), taken=True, signature="op"),
        procedure("sin", to("eval", 1.0), taken=True, signature="op"),
    ]
    found = call_frequencies(functions)
    check_consistent(found)
    rounds = UNKNOWN_CYCLE_ITERATIONS
    assert found.invocations == pytest.approx([1, rounds, 1.5 * rounds, 1.5 * rounds])
    assert [call.local for call in found.calls[:2]] == [1, 3]
    assert found.calls[2].local == pytest.approx(2 * found.calls[3].local)


def test_a_pointer_that_leads_back_to_its_caller() -> None:
    """Half of the calls close the cycle: these are scaled down, the others are not."""
    functions = [
        procedure("main", to("walk")),
        procedure("walk", through("visit", 4.0), taken=True, signature="visit"),
        procedure("print", taken=True, signature="visit"),
    ]
    found = call_frequencies(functions)
    check_consistent(found)
    assert found.invocations == pytest.approx([1, UNKNOWN_CYCLE_ITERATIONS, 2 * UNKNOWN_CYCLE_ITERATIONS])
    assert found.calls[1].local == pytest.approx(2 + (1 - 1 / UNKNOWN_CYCLE_ITERATIONS))


def test_forward_calls_of_a_component_are_not_scaled() -> None:
    """An interpreter: expressions in terms in factors in expressions, entered at the first."""
    functions = [
        procedure("factor", to("expression", 0.9), to("number")),
        procedure("term", to("factor", 2.0)),
        procedure("expression", to("term", 2.0)),
        procedure("main", to("expression")),
        procedure("number"),
    ]
    found = call_frequencies(functions, max_iterations=10.0, instead=10.0)
    check_consistent(found)
    assert found.invocations == pytest.approx([40, 20, 10, 1, 40])


def test_library_functions_call_back() -> None:
    functions = [
        procedure(
            "main",
            to("qsort", 2.0, (3, "compare")),
            to("pthread_create", 3.0, (2, "work")),
            to("unheard_of", 0.5, (1, "passed")),
            to("mine", 1.0, (0, "given")),
            to("bsearch", 1.0, (4, "strcmp")),
            to("qsort", 1.0, (0, "not called there")),
        ),
        procedure("compare", taken=True, signature="a"),
        procedure("work", taken=True, signature="a"),
        procedure("passed", taken=True, signature="a"),
        procedure("mine", through("b", 5.0)),
        procedure("given", taken=True, signature="b"),
        procedure("not called there"),
    ]
    found = call_frequencies(functions)
    assert found.invocations == pytest.approx([1, 2 * 64, 3, 0.5, 1, 5, 0])
    assert found.elsewhere == {
        "qsort": 3.0,
        "pthread_create": 3.0,
        "unheard_of": 0.5,
        "bsearch": 1.0,
        "strcmp": 6.0,
    }
    check_consistent(found)


def test_the_table_of_callbacks_is_sensible() -> None:
    for name, callbacks in CALLBACKS.items():
        positions = [callback.position for callback in callbacks]
        assert len(set(positions)) == len(positions)
        assert all(called_back(name, callback.position) == callback.times > 0 for callback in callbacks)
        assert called_back(name, 99) == 0
    assert called_back("unheard_of", 99) == 1


def test_two_static_functions_of_one_name() -> None:
    functions = [
        procedure("main", to("helper", 2.0), to("shared"), unit=0),
        procedure("helper", unit=0, local=True),
        procedure("helper", unit=1, local=True),
        procedure("enter", to("helper", 5.0), to("shared"), unit=1),
        procedure("shared", unit=1),
        procedure("shared", unit=2),
        procedure("far", to("enter"), to("helper"), to("shared"), unit=2),
    ]
    found = call_frequencies(functions, roots=[0, 6])
    assert found.invocations == pytest.approx([1, 2, 5, 1, 2, 1, 1])
    assert found.elsewhere == {"helper": 1.0}


def test_constructors_are_entered_too() -> None:
    functions = [procedure("main"), procedure("set up", to("f")), procedure("f")]
    assert call_frequencies(functions).invocations == [1, 0, 0]
    assert call_frequencies(functions, also=[1]).invocations == [1, 1, 1]


def test_a_local_main_is_none() -> None:
    functions = [procedure("main", local=True), procedure("open")]
    assert call_frequencies(functions).invocations == [0, 1]


def test_a_library() -> None:
    """Functions without callers are entered, and one of each unreachable cycle."""
    functions = [
        procedure("open", to("check")),
        procedure("check", local=True),
        procedure("itself", to("itself", 0.5)),
        procedure("unused", to("check"), local=True),
        procedure("hidden", to("ping", 0.25), local=True),
        procedure("ping", to("hidden", 1.0), to("follows")),
        procedure("follows", to("again", 0.5)),
        procedure("again", to("follows", 1.0)),
        procedure("dead", to("live", 0.0)),
        procedure("live", to("dead", 1.0)),
    ]
    found = call_frequencies(functions)
    check_consistent(found)
    by_name = invocations(functions, found)
    assert found.entries == [1, 0, 1, 0, 0, 1, 0, 0, 1, 0]
    assert by_name["itself"] == pytest.approx(2)
    assert by_name["ping"] == pytest.approx(4 / 3)
    assert by_name["follows"] == pytest.approx(2 * 4 / 3)
    assert by_name["unused"] == by_name["live"] == 0


def test_functions_whose_address_escapes_are_entered_a_little() -> None:
    functions = [
        procedure("main"),
        procedure("inner", taken=True),
        procedure("handler", to("inner", 2.0), taken=True, local=True),
    ]
    found = call_frequencies(functions)
    assert found.entries == [1, 0, ADDRESS_ESCAPES]
    assert found.invocations == pytest.approx([1, 2 * ADDRESS_ESCAPES, ADDRESS_ESCAPES])


def test_an_empty_program() -> None:
    assert call_frequencies([]).invocations == []


def test_numbers_stay_finite() -> None:
    functions = [procedure("main", to("f0", 1e250))]
    functions += [procedure(f"f{n}", to(f"f{n + 1}", 1e250), to(f"f{n}", 1e250)) for n in range(5)]
    found = call_frequencies([*functions, procedure("f5")])
    assert all(0 < number < float("inf") for number in found.invocations)


def random_program(seed: int) -> tuple[list[Procedure], dict[tuple[int, int], float]]:
    """Functions that call each other directly, with their local call frequencies."""
    rng = Random(seed)
    size = rng.randint(1, 9)
    local: dict[tuple[int, int], float] = {}
    for _ in range(rng.randint(0, 3 * size)):
        pair = rng.randrange(size), rng.randrange(size)
        local[pair] = local.get(pair, 0.0) + rng.choice([0.0625, 0.125, 0.25, 0.5, 1.0, 2.0])
    names = ["main"] + [f"f{number}" for number in range(1, size)]
    return [
        procedure(name, *(to(names[callee], often) for (by, callee), often in local.items() if by == caller))
        for caller, name in enumerate(names)
    ], local


def solved_exactly(size: int, local: Mapping[tuple[int, int], float]) -> list[Fraction] | None:
    """Gauss in fractions; ``None`` if there is no solution."""
    rows = [[Fraction(i == j) for j in range(size)] + [Fraction(i == 0)] for i in range(size)]
    for (caller, callee), often in local.items():
        rows[callee][caller] -= Fraction(often)
    for i in range(size):
        pivot = next((k for k in range(i, size) if rows[k][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(size):
            if k != i and rows[k][i]:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[size] for row in rows]


@given(seeds())
@settings(max_examples=400, deadline=None)
def test_any_call_graph_against_an_exact_solution(seed: int) -> None:
    functions, local = random_program(seed)
    found = call_frequencies(functions)
    check_consistent(found)
    size = len(functions)
    matrix = [[local.get((i, j), 0.0) for j in range(size)] for i in range(size)]
    if max(abs(eigvals(matrix))) < 1 - 1 / MAX_CYCLE_ITERATIONS - 1e-6:
        assert all(call.local == local[call.caller, call.callee or 0] for call in found.calls)
    bounded = {
        (call.caller, call.callee or 0): call.local for call in found.calls if found.invocations[call.caller]
    }
    exact = solved_exactly(size, bounded)
    assert exact is not None
    assert found.invocations == pytest.approx([float(each) for each in exact], rel=1e-7, abs=1e-12)


@given(seeds(), st.sampled_from([0.3, 1.0, 4.0]))
@settings(max_examples=200, deadline=None)
def test_a_component_is_scaled_to_just_as_many_rounds(seed: int, largest: float) -> None:
    rng = Random(seed)
    size = rng.randint(1, 8)
    calls = {(i, (i + 1) % size): rng.uniform(0.01, largest) for i in range(size)}
    for _ in range(rng.randint(0, 2 * size)):
        calls[rng.randrange(size), rng.randrange(size)] = rng.uniform(0.01, largest)
    settled = solve_recursion([1.0] * size, [(i, j, often) for (i, j), often in calls.items()], 10.0)
    onward, closing = np.eye(size), np.zeros((size, size))
    for (i, j), often in calls.items():
        if i < j:
            onward[j, i] -= often
        else:
            closing[j, i] = often * settled.scale
    growth = max(abs(eigvals(np.linalg.solve(onward, closing))))
    assert growth <= 0.9 * (1 + 1e-8)
    assert settled.scale == 1 or growth == pytest.approx(0.9, rel=1e-8)


@pytest.mark.parametrize(
    ("size", "calls", "largest"), [(1000, 10_000, 0.3), (1000, 10_000, 0.05), (1000, 1100, 2.0)]
)
def test_large_components(size: int, calls: int, largest: float) -> None:
    rng = Random(1)
    local = {(i, (i + 1) % size): rng.uniform(0.01, largest) for i in range(size)}
    while len(local) < calls:
        local[rng.randrange(size), rng.randrange(size)] = rng.uniform(0.01, largest)
    inflow = [float(number % 7 == 0) for number in range(size)]
    started = time.process_time()
    settled = solve_recursion(
        inflow, [(i, j, often) for (i, j), often in local.items()], MAX_CYCLE_ITERATIONS
    )
    assert time.process_time() - started < 5
    rows, columns = [j for _, j in local], [i for i, _ in local]
    numbers = [often if i < j else often * settled.scale for (i, j), often in local.items()]
    matrix = identity(size) - csc_array((numbers, (rows, columns)), shape=(size, size))
    assert settled.invocations == pytest.approx(list(spsolve(matrix.tocsc(), inflow)), rel=1e-8)


def test_a_long_chain_of_calls_and_a_long_cycle() -> None:
    size = 20_000
    functions = [procedure("main", to("f0"))]
    functions += [procedure(f"f{n}", to(f"f{n + 1}")) for n in range(size - 1)]
    functions.append(procedure(f"f{size - 1}", to("f0", 0.5)))
    found = call_frequencies(functions)
    assert found.invocations[1:] == pytest.approx([2.0] * size)


def test_aliases_are_known_to_all_units() -> None:
    functions = [
        procedure("main", to("known", 3.0), to("real", 2.0)),
        procedure("real", unit=1, local=True, aliases=("known",)),
    ]
    told = call_frequencies(functions)
    assert told.invocations == [1, 3]
    assert told.elsewhere == {"real": 2}


def test_a_program_or_a_library_may_be_entered_by_an_alias() -> None:
    hidden = procedure("real", local=True, aliases=("known",))
    assert call_frequencies([hidden, procedure("static", local=True)]).invocations == [1, 0]
    main = procedure("real_main", to("real"), local=True, aliases=("main",))
    assert call_frequencies([main, hidden, procedure("other")]).invocations == [1, 1, 0]
    ring = [procedure("a", to("b", 0.5), local=True), procedure("b", to("a"), local=True, aliases=("c",))]
    assert call_frequencies(ring).entries == [0, 1]

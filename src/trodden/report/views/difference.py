"""Where two runs diverge, as data.

The first run is called A, the second B.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trodden.compare.difference import Basis, Common, Comparison, compare
from trodden.compare.model import Branching, Difference, Kind, Shares
from trodden.compare.pairing import NO_SUCH
from trodden.errors import UsageError
from trodden.plan.routes import PathEnd
from trodden.profile.count_text import amount
from trodden.profile.model import Count, Estimate, FunctionProfile, Profile
from trodden.profile.select import select
from trodden.report.fields import counted, percent
from trodden.report.narrate.copies import BranchCopies
from trodden.report.narrate.paths import Describer
from trodden.report.narrate.successors import BranchDescriber
from trodden.report.views.hidden_functions import hidden_functions
from trodden.report.views.hot_paths import executed_in_all
from trodden.report.views.instruction_kind import InstructionKind, instruction_kind, mixed_instructions
from trodden.source.texts import unread_sources

_MOST_NAMES = 5


@dataclass(frozen=True)
class DifferenceReport:
    """Two runs compared; ``files`` are their profiles, ``shown`` the differences to show, with ranks.

    ``instructions`` says which instructions of B are counted, ``hidden`` what was not compared.
    """

    files: tuple[str, str]
    found: Comparison
    shown: tuple[tuple[int, Difference], ...]
    branches: BranchDescriber
    copies: tuple[BranchCopies, BranchCopies]
    instructions: InstructionKind
    hidden: tuple[str, ...] = ()
    estimates: tuple[Estimate | None, Estimate | None] = (None, None)

    def need_related(self) -> None:
        """Refuse profiles that have no function in common, and so nothing that could be compared."""
        found = self.found
        if found.common or found.expected or found.differences:
            return
        files = ", ".join(self.files)
        changed = sorted({each.name for each in found.unpaired if each.reason != NO_SUCH})
        if not changed:
            raise UsageError(f"{files}: have no function in common; compare runs of one program")
        names = ", ".join(changed[:_MOST_NAMES]) + (" …" if len(changed) > _MOST_NAMES else "")
        raise UsageError(
            f"{files}: no function can be compared, since those of the same name ({names}) have other"
            " control-flow graphs; compare runs of one program, built with the same flags"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader has to know, with the sources that were missing in what was described so far."""
        describers = self.branches.describer, self.copies[0].describer
        return *self.hidden, *unread_sources(*(each.index.sources for each in describers))

    def marks(self) -> Iterator[tuple[str, Estimate]]:
        """Which of the two is an estimate."""
        for run, estimate in zip("AB", self.estimates, strict=True):
            if estimate is not None:
                yield run, estimate


def report_difference(
    profiles: tuple[Profile, Profile],
    files: tuple[str, str],
    pattern: str | None = None,
    top: int | None = None,
) -> DifferenceReport:
    """Compare the functions that ``pattern`` selects.

    ``top`` limits the differences to be shown: those of one run alone, and those that both runs have.
    """
    chosen = _picked(profiles, pattern)
    found = compare(*chosen)
    shown: list[tuple[int, Difference]] = []
    seen = {True: 0, False: 0}
    for rank, each in enumerate(found.differences, 1):
        seen[each.kind is Kind.SHIFTS] += 1
        if top is None or seen[each.kind is Kind.SHIFTS] <= top:
            shown.append((rank, each))
    estimates = profiles[0].estimate, profiles[1].estimate
    branches = BranchDescriber(Describer(profiles[1]))
    copies = BranchCopies(Describer(profiles[0])), branches.copies
    executed = executed_in_all(profiles[1].functions.values())
    return DifferenceReport(
        files,
        found,
        tuple(shown),
        branches,
        copies,
        instruction_kind(chosen[1].values()),
        (
            *mixed_instructions(chosen[1].values()),
            *hidden_functions(profiles[1], chosen[1], pattern, executed, ("compared", "compares")),
        ),
        estimates,
    )


def _picked(
    profiles: tuple[Profile, Profile], pattern: str | None
) -> tuple[Mapping[str, FunctionProfile], Mapping[str, FunctionProfile]]:
    """What a pattern selects in each; it has to select something in one of them."""
    found: list[Mapping[str, FunctionProfile]] = []
    wrong: UsageError | None = None
    for profile in profiles:
        try:
            found.append(select(profile, pattern))
        except UsageError as error:
            wrong = error
            found.append({})
    if wrong is not None and not any(found):
        raise wrong
    return found[0], found[1]


def location(branches: BranchDescriber, each: Difference, short: bool = False) -> str:
    """Where a difference is seen: a branch, or the end of a block."""
    if each.branching is not None:
        return branches.branch(each.function, each.branching.block, short)
    block = each.block
    if block is None and each.path is not None:
        block = each.path.blocks[-1 if each.kind is Kind.COMBINES else each.path.context]
    return "" if block is None else branches.location(each.function, block, short)


def action(branches: BranchDescriber, each: Difference) -> str:
    """What only one run did there, or did more often."""
    if each.branching is not None:
        return branches.successor(each.function, each.branching.edge)
    if each.path is None:
        return "executed this block"
    described = branches.describer.describe(each.function, each.path)
    return described.ends if each.path.ends is PathEnd.UNWOUND else described.starts


def sentence(report: DifferenceReport, each: Difference, short: bool = False) -> str:
    """``at prog.c:12 `if (x)` B branched to line 13 (x: true), 1 of 5,946 times; A never in 5,985``."""
    branches = report.branches
    at, did = location(branches, each, short), action(branches, each)
    where = f"at {at} " if at else ""
    if each.block is not None:
        return f"{where}{_block_rates(each.what)}"
    if each.kind is Kind.FOLLOWS:
        return _follows(each, where, did)
    shares = each.what if each.branching is None else each.branching.shares
    if each.kind is Kind.EXPECTS:
        return f"{where}branches {did}: {_expectation(shares)}"
    if each.kind is Kind.SHIFTS:
        if each.branching is None:
            return f"{where}{_rates(shares)}"
        before = "after the same beginning, " if each.branching.along else ""
        return f"{before}{where}branched {did} {_rates(shares)}"
    one, other, counts = _alone(shares)
    branched = "" if each.branching is None else "branched "
    never = f"{_never(branches, each, each.branching)}{_in_copies(report, each)}"
    before = "after the same beginning, " if each.kind is Kind.COMBINES else ""
    return f"{before}{where}{one} {branched}{did}, {counts}; {other}{never}"


def _alone(shares: Shares) -> tuple[str, str, str]:
    """The run that did it, the other one, and how often it was done."""
    if shares.first:
        return "A", "B", _times(shares.first, shares.first_of)
    return "B", "A", _times(shares.second, shares.second_of)


def _times(count: Count, trials: Count) -> str:
    if count == trials == 1:
        return "the only time it came here"
    return f"{amount(count)} of {amount(trials)} times"


def _never(branches: BranchDescriber, each: Difference, branching: Branching | None) -> str:
    """How often the other run could have done the same, and what it did instead."""
    shares = each.what if branching is None else branching.shares
    trials = shares.second_of if shares.first else shares.first_of
    never = f" never in {amount(trials)}" if trials > 1 else " did not the only time it came here"
    if branching is None:
        return never
    side = 2 if shares.first else 1
    ranked = sorted(branching.others, key=lambda other: -other[side])
    others = [other[0] for other in ranked if other[side]]
    return f"{never}: only {branches.successors(each.function, others)}" if others else never


def _in_copies(report: DifferenceReport, each: Difference) -> str:
    """Whether the other run had the same outcome in another copy of the branch, in words."""
    if each.kind is not Kind.PARTS or each.branching is None:
        return ""
    outcome = report.branches.copies.outcome(each.function, each.branching.edge)
    other = report.copies[1 if each.branching.shares.first else 0]
    return " (but it did in another copy)" if outcome is not None and other.taken(outcome) else ""


def _rates(shares: Shares) -> str:
    first = f"{percent(shares.first_share)} ({amount(shares.first)} of {amount(shares.first_of)})"
    second = f"{percent(shares.second_share)} ({amount(shares.second)} of {amount(shares.second_of)})"
    return f"in A {first}, in B {second}"


def _expectation(shares: Shares) -> str:
    """``A expects 12.0%, in B it was 3.1% (5 of 160)``."""
    first = "A", shares.first_share, shares.first, shares.first_of
    second = "B", shares.second_share, shares.second, shares.second_of
    return ", ".join(
        f"{run} expects {percent(share)}"
        if isinstance(of, float)
        else f"in {run} it was {percent(share)} ({amount(count)} of {amount(of)})"
        for run, share, count, of in (first, second)
    )


def _block_rates(shares: Shares) -> str:
    """A block has no share of anything: it may be executed several times a call."""
    sides = ("A", shares.first, shares.first_of), ("B", shares.second, shares.second_of)
    return ", ".join(
        f"{run} executed this block {counted(a, 'time')} in {counted(n, 'call')}" for run, a, n in sides
    )


def _follows(each: Difference, where: str, did: str) -> str:
    count = max(each.what.first, each.what.second)
    one, other = ("A", "B") if each.what.first else ("B", "A")
    action_text = did if each.branching is None else f"branched {did}"
    more = f" on {len(each.more) + 1:,} paths" if each.more else ""
    times = "once" if count == 1 else f"{amount(count)} times"
    return f"{where}{one} {action_text}{more}, {times}; {other} never reached it"


def kind_name(each: Difference) -> str:
    """The name of a kind of differences."""
    return each.kind.name.lower()


def common_rows(found: Comparison) -> Iterator[tuple[Basis, Common]]:
    """What the runs have in common, paths first."""
    for basis in Basis:
        if basis in found.common:
            yield basis, found.common[basis]

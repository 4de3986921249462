"""What a reader is told of the functions that are left out because they are of the system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trodden.profile.filters import is_of_system, is_system
from trodden.profile.model import FunctionProfile, Profile
from trodden.report.views.hot_paths import Executed, executed_in_all


def hidden_functions(
    profile: Profile,
    chosen: Mapping[str, FunctionProfile],
    pattern: str | None,
    everything: Executed,
    verb: tuple[str, str] = ("shown", "shows"),
) -> Iterator[str]:
    """A line about them, if nobody asked for functions by name and there are some beside the ``chosen``.

    ``verb`` is what a report does with functions.
    """
    if pattern is not None or profile.filter.system:
        return
    hidden = [each for key, each in profile.functions.items() if key not in chosen and is_of_system(each)]
    if hidden:
        executed, total = executed_in_all(hidden).instructions, everything.instructions
        share = f"{executed / total:.1%} of the instructions" if total else "none executed"
        one, (done, does) = len(hidden) == 1, verb
        yield (
            f"{len(hidden):,} function{'' if one else 's'} of {_kinds(hidden)}"
            f" ({share}) {'is' if one else 'are'} not {done}; --system {does} {'it' if one else 'them'}"
        )


def _kinds(hidden: Sequence[FunctionProfile]) -> str:
    files = any(is_system(each.file) for each in hidden)
    compiler = any(not is_system(each.file) for each in hidden)
    kinds = {"system headers and standard libraries": files, "the compiler's own instrumentation": compiler}
    return " and ".join(kind for kind, there in kinds.items() if there)

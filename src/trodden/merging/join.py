"""Several profiles as one: what any of them executed was executed, and counts add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trodden.compare.pairing import pair, same_paths
from trodden.profile.copies import add_counts, free_name
from trodden.profile.model import FunctionProfile


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A function of the profile number ``profile`` that was left out, and why."""

    name: str
    profile: int
    reason: str


def join(
    profiles: Sequence[Mapping[str, FunctionProfile]],
) -> tuple[dict[str, FunctionProfile], list[LeftOut]]:
    """Join the functions of profiles, which may be of different builds.

    A function that only one of them has is unchanged.  One that has another graph in an earlier profile, or
    paths that end on other edges, is left out.
    """
    joined: dict[str, FunctionProfile] = {}
    left_out: list[LeftOut] = []
    for number, functions in enumerate(profiles):
        pairs, alone = pair(functions, joined)
        for each in pairs:
            neither = each.first.paths is None and each.second.paths is None
            if neither or same_paths(each.first, each.second):
                joined[each.name] = add_counts(each.second, each.first)
            else:
                left_out.append(LeftOut(each.name, number, "its paths end on other edges there"))
        known = {each.facts.linkage_name for each in joined.values()}
        for lone in alone:
            if not lone.first:
                continue
            function = functions[lone.name]
            if number and function.facts.linkage_name in known:
                left_out.append(LeftOut(lone.name, number, "its control-flow graph differs there"))
            else:
                joined[free_name(lone.name, joined)] = function
    return joined, left_out

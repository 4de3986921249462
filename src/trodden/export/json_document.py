"""The profile as JSON, for other programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from trodden.collect.call_paths import CalledFunction
from trodden.collect.endings import Process, StoppedThread, signal_name
from trodden.collect.programs import program_names
from trodden.export.longer_document import longer_document
from trodden.plan.routes import PathCount
from trodden.profile.analysis.calling import CallCount, calls_of
from trodden.profile.call_paths import function_names, named_call_paths
from trodden.profile.longer.model import LongerPaths
from trodden.profile.model import FunctionProfile, NamedCallPath, Profile
from trodden.profile.programs import owners_of
from trodden.profile.select import select
from trodden.source.reached import reached_lines
from trodden.version import SCHEMA, __version__


def to_json(profile: Profile, pattern: str | None = None, longer: LongerPaths | None = None) -> str:
    """The functions that ``pattern`` selects, as a JSON text; ``longer`` are their longer paths."""
    document = to_document(profile, pattern)
    if longer is not None:
        document |= longer_document(longer)
    return json.dumps(document, indent=1) + "\n"


def to_document(profile: Profile, pattern: str | None = None) -> dict[str, Any]:
    """The same as dictionaries and lists."""
    picked = select(profile, pattern)
    owners = owners_of(profile) if len(profile.programs) > 1 else {}
    sources = {unit.id: unit.source for unit in profile.units}
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "version": __version__,
        "kind": profile.kind,
        "functions": [_function(each, sources, owners) for each in picked.values()],
        "calls": [_call(each) for each in calls_of(profile, picked)],
        "skipped": [{"name": each.name, "reason": each.reason} for each in profile.skipped],
    }
    if profile.estimate is not None:
        document["estimate"] = {"rates": profile.estimate.rates}
    if profile.call_paths:
        paths = named_call_paths(profile, picked if pattern is not None else None)
        document["call_paths"] = [_call_path(path) for path in paths]
    if profile.merged:
        document["merged"] = profile.merged
    if profile.programs:
        document["programs"] = _programs(profile)
    if profile.processes:
        document["processes"] = [_process(profile, each) for each in profile.processes]
    if profile.threads:
        names = function_names(profile)
        document["threads"] = [_thread(profile, each, names) for each in profile.threads]
    if profile.messages:
        document["notes"] = list(profile.messages)
    return document


def _programs(profile: Profile) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "path": each.path,
            "kind": "library" if each.library else "program",
            "processes": each.processes,
            "executed": each.executed,
        }
        for name, each in zip(program_names(profile.programs), profile.programs, strict=True)
    ]


def _process(profile: Profile, process: Process) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": process.name,
        "pid": process.pid,
        "parent": process.parent,
        "started": process.started,
        "program": process.program,
        "ending": process.ending.value,
    }
    if process.signal:
        document["signal"] = signal_name(process.signal)
    if process.executed is not None:
        document["executed"] = process.executed
    if process.completed:
        names = function_names(profile)
        document["completed"] = list(dict.fromkeys(names[each] for each in process.completed))
    return document


def _thread(profile: Profile, thread: StoppedThread, names: Mapping[CalledFunction, str]) -> dict[str, Any]:
    labels = {unit.id: [facts.graph.labels for facts in unit.functions] for unit in profile.units}
    document: dict[str, Any] = {
        "process": profile.processes[thread.process].name,
        "number": thread.number,
        "frames": [
            {
                "function": names[frame.unit, frame.function],
                "block": None if frame.block is None else labels[frame.unit][frame.function][frame.block],
                "interrupted": frame.interrupted,
            }
            for frame in thread.frames
        ],
    }
    if thread.tid is not None:
        document["tid"] = thread.tid
    if thread.left_out:
        document["left_out"] = thread.left_out
    if thread.last:
        document["last"] = [
            {"function": names[last.unit, last.function], "id": last.path} for last in thread.last
        ]
    return document


def _call(call: CallCount) -> dict[str, Any]:
    return {"caller": call.caller, "callee": call.callee, "count": call.count}


def _call_path(path: NamedCallPath) -> dict[str, Any]:
    return {"functions": list(path.functions), "count": path.count, "recursive": path.recursive}


def _function(
    function: FunctionProfile, sources: Mapping[str, str], owners: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": function.name,
        "linkage_name": function.facts.linkage_name,
        "file": function.file,
        "line": function.line,
        "entries": function.entries,
        "blocks": [_block(function, vertex) for vertex in range(function.facts.graph.exit)],
        "edges": [{"src": edge.src, "dst": edge.dst, "count": edge.count} for edge in function.edges],
    }
    if function.estimated:
        for edge, index in zip(document["edges"], function.facts.graph.flow_edges(), strict=True):
            edge["per_call"] = function.per_call[index]
    document |= _paths(function)
    if function.copies:
        document["copies"] = [
            {"unit": sources[copy.unit], "entries": copy.entries, "blocks": list(copy.block_counts[:-1])}
            for copy in function.copies
        ]
    if owners:
        units = [function.unit, *(copy.unit for copy in function.copies)]
        document["programs"] = list(dict.fromkeys(name for unit in units for name in owners.get(unit, ())))
    if function.violations:
        document["violations"] = list(function.violations)
    return document


def _paths(function: FunctionProfile) -> dict[str, Any]:
    """What a path profile adds: nothing for a function whose paths were not counted."""
    plan, graph = function.facts.plan.paths, function.facts.graph
    if plan is None or function.paths is None:
        return {}
    cuts = [graph.edges[index] for index in plan.cuts]
    return {
        "possible_paths": plan.number,
        "cuts": [{"src": graph.labels[cut.src], "dst": graph.labels[cut.dst]} for cut in cuts],
        "paths": [_path(function, path) for path in function.paths],
    }


def _path(function: FunctionProfile, path: PathCount) -> dict[str, Any]:
    document: dict[str, Any] = {
        "id": path.id,
        "count": path.count,
        "blocks": [function.facts.graph.labels[vertex] for vertex in path.blocks],
        "starts": path.starts.value,
        "ends": path.ends.value,
    }
    if path.cycles is not None:
        document["cycles"] = path.cycles
    if path.context:
        document["context"] = path.context
    return document


def _block(function: FunctionProfile, vertex: int) -> dict[str, Any]:
    refs = [ref for ref in function.facts.blocks[vertex].lines if ref.line > 0]
    locations = list(dict.fromkeys((function.files[ref.file].path, ref.line) for ref in refs))
    block: dict[str, Any] = {
        "id": function.facts.graph.labels[vertex],
        "lines": [line for file, line in locations if file == function.file],
        "count": function.block_counts[vertex],
    }
    inlined = [{"file": file, "line": line} for file, line in locations if file != function.file]
    if inlined:
        block["inlined"] = inlined
    if function.cut_short.get(vertex):
        block["cut_short"] = function.cut_short[vertex]
    reached = reached_lines(function, vertex).counts
    if any(count != block["count"] for count in reached):
        lines = zip(function.facts.blocks[vertex].lines, reached, strict=True)
        block["reached"] = [
            {"file": function.files[ref.file].path, "line": ref.line, "count": count}
            for ref, count in lines
            if ref.line > 0
        ]
    return block

"""Which label of a switch an edge out of it leads to."""

from __future__ import annotations

from trodden.report.narrate.condition_region import ConditionRegion
from trodden.report.narrate.statements import Statement
from trodden.report.narrate.switches import DEFAULT, Label, label_at

NO_CASE = "no case"


class SwitchOutcomes:
    """The edges out of one switch."""

    def __init__(self, region: ConditionRegion) -> None:
        self._region = region
        self._locations = region.locations
        self._graph = region.locations.function.facts.graph
        self._case_values: dict[int, dict[int, int | None]] = {}

    def case(self, edge: int) -> str | None:
        """The label of the case that an edge leads to; None unless it is certain.

        The last line of the statement has its closing brace, to which control also jumps if no case matches.
        """
        statement = self._region.deciding
        source, target, _ = self._graph.edges[edge]
        line = self._region.line(target)
        if isinstance(statement, Statement) and self._matches_none(statement, source, edge):
            return NO_CASE
        if not isinstance(statement, Statement) or line is None or line not in statement.body[:-1]:
            return None
        label = self._label(statement, edge, line)
        if label is None or (self._is_default(source, edge) and DEFAULT not in label.words):
            return None
        words = self._words(statement, label, edge)
        return " or ".join(words) if words else None

    def _label(self, statement: Statement, edge: int, line: int) -> Label | None:
        """The labels that an edge leads to, which begins at a line.

        In code that was not optimised it leads there itself: that the case before falls through is no
        other way.  A block without a line has to be certain by its value, since it may be one label above.
        """
        label = label_at(statement.labels, line)
        if label is not None or not self._locations.unoptimised:
            return label
        label = label_at(statement.labels, line, falling=False)
        target = self._locations.function.facts.blocks[self._graph.edges[edge].dst]
        value = self._values(self._graph.edges[edge].src).get(edge)
        certain = bool(target.statement_lines) or (
            label is not None and value is not None and label.has_value(value)
        )
        return label if certain else None

    def _words(self, statement: Statement, label: Label, edge: int) -> tuple[str, ...]:
        """Those labels of some that follow each other that an edge stands for."""
        source = self._graph.edges[edge].src
        values = self._values(source)
        if edge not in values:
            return label.words
        value = values[edge]
        if value is not None:
            return label.of_value(value)
        lines = (self._region.line(self._graph.edges[each].dst) for each in values if each != edge)
        apart = any(line is not None and self._same(statement, label, line) for line in lines)
        return (DEFAULT,) if apart else label.words

    def _same(self, statement: Statement, label: Label, line: int) -> bool:
        """Whether a line is behind some labels."""
        return label_at(statement.labels, line, falling=False) == label

    def _matches_none(self, statement: Statement, source: int, edge: int) -> bool:
        """Whether an edge is taken only if the value is that of no case, and there is no ``default``.

        Compilers join a case that does nothing with the edge for all other values, so each case of the
        source has to have an edge of its own.
        """
        if not self._is_default(source, edge):
            return False
        labels = [word for label in statement.labels for word in label.words]
        if not labels or any(not word.startswith("case ") or "..." in word for word in labels):
            return False
        cases = self._locations.function.facts.features.blocks[source].cases
        return len(labels) == sum(value is not None for value in cases)

    def _is_default(self, source: int, edge: int) -> bool:
        """Whether an edge is taken if no case matches, as far as the block's features say so."""
        return self._values(source).get(edge, 0) is None

    def _values(self, source: int) -> dict[int, int | None]:
        """The value that each edge out of a switch is for, None for all others; empty if it is not known."""
        if source not in self._case_values:
            features = self._locations.function.facts.features.blocks
            cases = features[source].cases if features else ()
            self._case_values[source] = dict(zip(self._locations.flow_out(source), cases, strict=False))
        return self._case_values[source]

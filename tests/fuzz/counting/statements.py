"""The statements of random functions: those of `tests.native.line_programs`, and further jumps."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.native.line_programs import Writer

MOST_LINES = 420
"""For one file; `mapped_counts.h` has room for a few more."""

OWN, PART = 4, 3
"""Functions of structured code in the first file, and functions of jumps in the second."""

_SIMPLE = (
    "plain",
    "call",
    "call",
    "calls",
    "leave",
    "several",
    "recursion",
    "pointer",
    "part",
    "early",
    "dead",
)
_NESTED = ("if", "if", "for", "while", "do", "switch", "try", "cases", "trips", "endless")
_SEVERAL_ENTRIES = ("region", "duff")


@dataclass(frozen=True)
class Features:
    """What a program does beside calls and jumps."""

    cpp: bool
    faults: bool
    forks: bool
    threads: bool
    signals: bool
    leaves: bool
    gone: bool
    several_entries: bool
    """Loops with several entries, or else statements on several lines."""

    def kinds(self) -> list[str]:
        """The statements for it."""
        return (
            ["fault"] * self.faults
            + ["fork"] * self.forks
            + ["thread"] * self.threads
            + ["signal"] * self.signals
            + ["callback"]
        )


@dataclass
class StatementWriter(Writer):
    """A writer with more kinds of statements; each has a mark in every block, mostly on a line of its own."""

    features: Features = field(kw_only=True)
    labels: int = 0
    trying: int = 0
    share: int = MOST_LINES
    """The number of lines at which the function has to come to its end."""

    def kinds(self, function: int, depth: int, in_loop: bool) -> list[str]:
        """What a statement may be."""
        kinds = [*_SIMPLE, *self.features.kinds()]
        if depth < 4 and len(self.lines) < self.share:
            kinds += _NESTED
            kinds += ["jump"] * in_loop + ["guard"] * self.cpp
            if self.features.several_entries:
                kinds += [*_SEVERAL_ENTRIES, *["computed"] * (not self.cpp)]
            else:
                kinds.append("split")
        return kinds

    def add(self, depth: int, text: str) -> None:
        """A line; what follows a count at the start of a statement gets a line of its own, mostly."""
        for start in ("HIT(), ", "HIT(); "):
            if text.startswith(start) and self.chance.random() < 0.7:
                super().add(depth, "HIT();")
                text = text.removeprefix(start)
        super().add(depth, text)

    def body(self, function: int, depth: int, in_loop: bool = False) -> None:
        """Some statements; a count is the first."""
        self.add(depth, "HIT();")
        super().body(function, depth, in_loop)

    def label(self) -> str:
        """A new label."""
        self.labels += 1
        return f"L{self.labels}"

    def any_function(self) -> int:
        """Any function of this file."""
        return self.chance.randrange(OWN)

    def _try(self, function: int, depth: int, in_loop: bool) -> None:
        self.trying += 1
        super()._try(function, depth, False)
        self.trying -= 1

    def _simple(self, depth: int, text: str) -> None:
        self.add(depth, f"HIT(), {text}")

    def _recursion(self, function: int, depth: int, in_loop: bool) -> None:
        self.add(depth, "if (HIT(), recursions++ < 30) {")
        self.add(depth + 1, f"HIT(), x += f{self.any_function()}(x);")
        self.add(depth, "}")

    def _pointer(self, function: int, depth: int, in_loop: bool) -> None:
        if function + 1 < OWN:
            self._simple(depth, f"x += own[{function + 1} + roll({OWN - function - 1})](x);")
        else:
            self._simple(depth, "x ^= roll(16);")

    def _part(self, function: int, depth: int, in_loop: bool) -> None:
        self._simple(depth, f"x += part->functions[{self.chance.randrange(PART)}](x);")

    def _early(self, function: int, depth: int, in_loop: bool) -> None:
        """A return, where nothing has to be put in order before."""
        if self.trying or function < 0:
            self._simple(depth, "x -= roll(2);")
            return
        self.add(depth, "if (HIT(), roll(9) == 0) {")
        self.add(depth + 1, "MARK();")
        self.add(depth + 1, "return x;")
        self.add(depth, "}")

    def _dead(self, function: int, depth: int, in_loop: bool) -> None:
        """Code that cannot be reached, as far as only the reader can tell or the compiler too."""
        match self.chance.randrange(3):
            case 0:
                self.add(depth, "if (HIT(), one != 1) {")
            case 1:
                self.add(depth, "if (0) {")
            case _:
                self.add(depth, "if (HIT(), roll(400) == 0) {")
                self.add(depth + 1, "HIT();")
                self.add(depth + 1, "gone(8);" if self.features.gone else "x++;")
        self.add(depth + 1, "HIT(), x += 7;")
        self.add(depth, "}")

    def _signal(self, function: int, depth: int, in_loop: bool) -> None:
        self._simple(depth, f"raise({self.chance.choice(('SIGUSR1', 'SIGUSR1', 'SIGUSR2'))});")

    def _thread(self, function: int, depth: int, in_loop: bool) -> None:
        self._simple(depth, f"spawn({self.chance.choice((0, 1, 2))});")

    def _callback(self, function: int, depth: int, in_loop: bool) -> None:
        """A function that the C library calls."""
        self._simple(depth, "sorted();")

    def _region(self, function: int, depth: int, in_loop: bool) -> None:
        """Labels with jumps between any two of them: loops with several entries."""
        names = [self.label() for _ in range(self.chance.randint(2, 4))]
        end = self.label()
        self.add(depth, f"if (HIT(), roll(2)) goto {self.chance.choice(names)};")
        for name in names:
            self.add(depth, f"{name}:")
            self.add(depth, "HIT();")
            self.statement(function, depth + 1, False)
            if self.chance.random() < 0.3:
                self.add(depth, f"if (HIT(), roll(3) == 0) goto {end};")
            self.add(depth, f"if (pick(3) == 0) goto {self.chance.choice(names)};")
        self.add(depth, f"{end}:")
        self.add(depth, "HIT();")

    def _computed(self, function: int, depth: int, in_loop: bool) -> None:
        """A computed goto."""
        names = [self.label() for _ in range(self.chance.randint(2, 5))]
        self.add(depth, "{")
        targets = ", ".join(f"&&{name}" for name in names)
        self.add(depth + 1, f"static void *const to[] = {{{targets}}};")
        self.add(depth + 1, "HIT();")
        self.add(depth + 1, f"goto *to[pick({len(names)})];")
        for name in names:
            self.add(depth, f"{name}:")
            self.add(depth + 1, "HIT();")
            self.statement(function, depth + 1, False)
            if self.chance.random() < 0.4:
                self.add(depth + 1, f"goto *to[pick({len(names)})];")
        self.add(depth, "}")

    def _duff(self, function: int, depth: int, in_loop: bool) -> None:
        """A switch into the middle of a loop."""
        self.add(depth, "switch (HIT(), roll(4)) {")
        self.add(depth, "case 0:")
        self.add(depth + 1, "do {")
        for case in range(1, 4):
            self.add(depth + 2, "HIT();")
            self.statement(function, depth + 2, False)
            self.add(depth + 1, f"case {case}:")
        self.add(depth + 2, "HIT();")
        self.add(depth + 1, "} while (HIT(), pick(3) == 0);")
        self.add(depth, "}")

    def _cases(self, function: int, depth: int, in_loop: bool) -> None:
        """A switch of which several cases are one, and in which some are impossible."""
        self.add(depth, "switch (HIT(), roll(9)) {")
        numbers = list(range(9))
        self.chance.shuffle(numbers)
        while numbers:
            several = [numbers.pop() for _ in range(min(len(numbers), self.chance.randint(1, 4)))]
            self.add(depth, " ".join(f"case {number}:" for number in several))
            self.body(function, depth + 1)
            if not numbers or self.chance.random() < 0.7:
                self.add(depth + 1, "break;")
        self.add(depth, "default:")
        self.add(depth + 1, self.chance.choice(("__builtin_unreachable();", "HIT();")))
        self.add(depth, "}")

    def _trips(self, function: int, depth: int, in_loop: bool) -> None:
        """A loop whose trip count is known when it begins; the body may leave it earlier."""
        name, count = self.name(), self.name()
        self.add(depth, f"for (int {name} = 0, {count} = roll(9); {name} < {count}; {name}++) {{")
        self.add(depth + 1, "HIT();")
        if self.chance.random() < 0.5:
            self.statement(function, depth + 1, True)
        self.add(depth, "}")

    def _endless(self, function: int, depth: int, in_loop: bool) -> None:
        """A loop that only a jump leaves."""
        self.add(depth, "while (1) {")
        self.body(function, depth + 1, True)
        self.add(depth + 1, "if (HIT(), pick(3)) break;")
        self.add(depth, "}")

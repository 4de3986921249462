"""Random programs that count the executions of their lines themselves, and leave functions in every way.

``HIT()`` on a line counts it, in memory that survives any end of the process.  A line of a loop is counted
each time that the condition is evaluated, any other when control reaches it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

_FUNCTIONS = 4
_MOST_LINES = 500
"""What `mapped_counts.h` has room for."""

_C_HEAD = """\
#define _GNU_SOURCE
#include "mapped_counts.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
static jmp_buf stack[8];
static volatile int depth, forks;
static int one = 1, *volatile none;
static unsigned long seed = SEED;
static int roll(int n) {
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (seed >> 33) % n;
}
static int forked(void) {
    if (forks++ < FORKS) { pid_t child = fork(); if (child > 0) waitpid(child, 0, 0); }
    return 1;
}
static void leave(int way) {
    if (way < 6 && depth > 0) siglongjmp(stack[--depth], 1);
    if (way == 7 && seed % 64 == 0) exit(3);
}
"""

GUARD = """\
struct Guard {
    int own;
    Guard(int n) : own(n) {}
    ~Guard() {
        HIT();
        one = own ? 1 : one;
    }
};
"""
"""An object whose destructor counts: frames that an exception leaves."""

_CPP_HEAD = (
    """\
#include "mapped_counts.h"
#include <sys/wait.h>
#include <stdexcept>
static volatile int depth, forks;
static int one = 1, *volatile none;
static unsigned long seed = SEED;
static int roll(int n) {
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (seed >> 33) % n;
}
static int forked() {
    if (forks++ < FORKS) { pid_t child = fork(); if (child > 0) waitpid(child, 0, 0); }
    return 1;
}
static void leave(int way) {
    if (way < 6 && depth > 0) { if (way & 1) throw std::runtime_error("left"); throw 1; }
    if (way == 7 && seed % 64 == 0) exit(3);
}
"""
    + GUARD
)


@dataclass
class Writer:
    """Writes the statements of a program; what a kind of statement looks like is a method of its name."""

    chance: random.Random
    cpp: bool
    lines: list[str] = field(default_factory=list)
    names: int = 0

    def add(self, depth: int, text: str) -> None:
        """A line."""
        self.lines.append("    " * depth + text)

    def name(self) -> str:
        """A new variable."""
        self.names += 1
        return f"v{self.names}"

    def call(self, function: int) -> str:
        """Mostly a call of another function, which may not return."""
        if function + 1 < _FUNCTIONS and self.chance.random() < 0.8:
            return f"f{self.chance.randrange(function + 1, _FUNCTIONS)}(x)"
        return "roll(5)"

    def body(self, function: int, depth: int, in_loop: bool = False) -> None:
        """Some statements."""
        for _ in range(self.chance.randint(1, 3)):
            self.statement(function, depth, in_loop)

    def kinds(self, function: int, depth: int, in_loop: bool) -> list[str]:
        """What a statement may be: only a simple one where the functions so far have many lines."""
        kinds = ["plain", "call", "calls", "leave", "several", "fault", "fork"]
        if depth < 4 and len(self.lines) < _MOST_LINES * (_FUNCTIONS - function) // (_FUNCTIONS + 2):
            kinds += ["if", "if", "for", "while", "do", "switch", "try", "try", "split"]
            kinds += ["jump"] * in_loop + ["guard"] * self.cpp
        return kinds

    def statement(self, function: int, depth: int, in_loop: bool) -> None:
        """Any statement."""
        match self.chance.choice(self.kinds(function, depth, in_loop)):
            case "plain":
                self.add(depth, f"HIT(), x += roll({self.chance.randint(2, 9)});")
            case "call":
                self.add(depth, f"HIT(), x += {self.call(function)};")
            case "calls":
                self.add(depth, f"HIT(), x += {self.call(function)} + {self.call(function)};")
            case "leave":
                self.add(depth, "HIT(), leave(roll(30));")
            case "several":
                self.add(depth, f"HIT(); x += {self.call(function)}; leave(roll(40)); x++;")
            case "fault":
                self.add(depth, "HIT(), x += *(roll(FAULTS) ? &one : none);")
            case "fork":
                self.add(depth, "HIT(), x += roll(3) ? 1 : forked();")
            case "split":
                self.add(depth, "HIT(), x = x +")
                self.add(depth, f"    {self.call(function)} +")
                self.add(depth, f"    (x & 1 ? {self.call(function)} : 2);")
            case kind:
                getattr(self, f"_{kind}")(function, depth, in_loop)

    def _if(self, function: int, depth: int, in_loop: bool) -> None:
        condition = self.chance.choice(["roll(2)", "roll(3) && roll(2)", "roll(4) == 0 || x & 1"])
        self.add(depth, f"if (HIT(), {condition}) {{")
        self.body(function, depth + 1, in_loop)
        if self.chance.random() < 0.3:
            self.add(depth, "} else if (HIT(), roll(2)) {")
            self.body(function, depth + 1, in_loop)
        if self.chance.random() < 0.6:
            self.add(depth, "} else {")
            self.body(function, depth + 1, in_loop)
        self.add(depth, "}")

    def _for(self, function: int, depth: int, in_loop: bool) -> None:
        name = self.name()
        self.add(depth, f"for (int {name} = 0; HIT(), {name} < roll(4); {name}++) {{")
        self.body(function, depth + 1, True)
        self.add(depth, "}")

    def _while(self, function: int, depth: int, in_loop: bool) -> None:
        condition = self.chance.choice(["roll(3)", "roll(3) && (roll(2) || x & 1)"])
        self.add(depth, f"while (HIT(), {condition}) {{")
        self.body(function, depth + 1, True)
        self.add(depth, "}")

    def _do(self, function: int, depth: int, in_loop: bool) -> None:
        self.add(depth, "do {")
        self.body(function, depth + 1, True)
        self.add(depth, "} while (HIT(), roll(3) == 0);")

    def _switch(self, function: int, depth: int, in_loop: bool) -> None:
        self.add(depth, "switch (HIT(), roll(4)) {")
        for case in range(3):
            self.add(depth, f"case {case}:")
            self.body(function, depth + 1)
            if self.chance.random() < 0.7:
                self.add(depth + 1, "HIT(); break;")
        self.add(depth, "default:")
        self.add(depth + 1, "HIT(), x--;")
        self.add(depth, "}")

    def _try(self, function: int, depth: int, in_loop: bool) -> None:
        if self.cpp:
            self.add(depth, "try {")
        else:
            self.add(depth, "if (HIT(), depth < 8 && sigsetjmp(stack[depth], 0) == 0) {")
        self.add(depth + 1, "HIT(), depth++;")
        self.body(function, depth + 1)
        self.add(depth + 1, "HIT(), depth--;")
        if self.cpp:
            self.add(depth, "} catch (const std::exception &) {")
            self.add(depth + 1, "HIT(), depth--;")
            self.add(depth, "} catch (int) {")
            self.add(depth + 1, "HIT(), depth--;")
            self.body(function, depth + 1, in_loop)
        else:
            self.add(depth, "} else {")
            self.body(function, depth + 1, in_loop)
        self.add(depth, "}")

    def _jump(self, function: int, depth: int, in_loop: bool) -> None:
        self.add(depth, "if (HIT(), roll(5) == 0) {")
        self.add(depth + 1, f"HIT(); {self.chance.choice(['break', 'continue'])};")
        self.add(depth, "}")

    def _guard(self, function: int, depth: int, in_loop: bool) -> None:
        self.add(depth, "{")
        self.add(depth + 1, f"Guard {self.name()}((HIT(), roll(2)));")
        self.body(function, depth + 1, in_loop)
        self.add(depth, "}")


_ENDS = ("return HIT(), 0;", "HIT(), exit(4);", "HIT(), abort();", "return HIT(), *none;")


def line_program(seed: int, cpp: bool = False, faults: bool = True) -> str:
    """The text of a program; it ends in any way, by a fault in the middle of a block only with ``faults``."""
    chance = random.Random(seed)
    writer = Writer(chance, cpp)
    for function in reversed(range(_FUNCTIONS)):
        writer.add(0, f"static NOINLINE __attribute__((used)) int f{function}(int start) {{")
        writer.add(1, "volatile int x = start;")
        writer.body(function, 1)
        writer.body(function, 1)
        writer.add(1, "HIT();")
        writer.add(1, "return x;")
        writer.add(0, "}")
    writer.add(0, "int main(void) {")
    writer.add(1, "volatile int x = 0;")
    writer.add(1, "for (volatile int round = 0; HIT(), round < 40; round++) {")
    writer._try(-1, 2, False)
    writer.add(2, "HIT(), x += 1;")
    writer.add(1, "}")
    writer.add(1, "HIT(), x += 2;")
    writer.add(1, "HIT(), leave(7);")
    writer.add(1, chance.choice(_ENDS if faults else _ENDS[:-1]))
    writer.add(0, "}")
    settings = [f"#define SEED {seed}", f"#define FORKS {chance.choice((0, 0, 2))}"]
    settings += [f"#define FAULTS {chance.choice((300, 3000)) if faults else 1 << 30}"]
    return "\n".join([*settings, (_CPP_HEAD if cpp else _C_HEAD) + "\n".join(writer.lines), ""])

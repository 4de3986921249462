"""Random C programs full of conditions, each in two forms: plain, and with reference counters of every part.

The two forms have the same lines.  The plain one is profiled; the other prints, for each part of each
condition, how often it was true and how often it was false: the line of the condition, its text, both counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

_PRELUDE = """\
#include <stdio.h>
volatile int sink;
static int cells[8] = {3, 0, 5, 1, 0, 7, 2, 0};
__attribute__((noinline)) static void put(int x) { sink += x; }
__attribute__((noinline)) static int odd(int x) { return x & 1; }
__attribute__((noinline)) static int third(int x) { return x % 3; }
static int small(int x) { return x < 4; }
static int between(int x, int y) { if (x < 2) return 0; return cells[y & 7] > 1; }
static int either(int x) { return x == 2 || x == 5; }
#define same(x, y) ((x) == (y))
#define inside(x) ((x) > 1 && (x) < 6)
#define ANY(x) ((x) == 1 || odd(x))
#define LIMIT 3
"""
_REFERENCE = """\
#define COUNT 1
static unsigned long held[4000][2];
static int part(int number, int value) { held[number][!!value]++; return value; }
"""
_PLAIN = (
    *(
        "x > 3",
        "y == 2",
        "x != y",
        "z",
        "!z",
        "x < LIMIT",
        "y >= 5",
        "odd(x)",
        "third(y)",
        "!odd(y)",
        "z > 0",
    ),
    *("cells[x & 7]", "cells[y & 7] == 0", "x & 4"),
)
_LEAVES = (
    *_PLAIN,
    *("(x & 2) == 2", "small(x)", "between(x, y)", "either(y)"),
    *("same(x, y)", "inside(x)", "ANY(y)", "LIMIT > 2", "LIMIT == 1", "x + 1 > y", "3 < y", "odd(x) == 1"),
)
_PLAIN_LEAVES = (*_PLAIN, "3 < y", "third(x) != 1")


@dataclass
class Expression:
    """An expression of the source; ``operator`` is ``&&``, ``||``, ``!``, ``?`` or empty for a leaf."""

    operator: str
    operands: list[Expression] = field(default_factory=list)
    leaf: str = ""


@dataclass
class Program:
    """The plain source, the one with counters, and the parts of its conditions by their numbers."""

    plain: str
    reference: str


class _Writer:
    def __init__(self, random: Random, simple: bool) -> None:
        self._random, self._simple = random, simple
        self._plain: list[str] = []
        self._reference: list[str] = []
        self._parts: list[tuple[int, str]] = []
        self._loops = 0

    def program(self, functions: int) -> Program:
        for line in _PRELUDE.splitlines():
            self._line(line)
        for line in _REFERENCE.splitlines():
            self._plain.append("")
            self._reference.append(line)
        for number in range(functions):
            self._function(number)
        self._line("int main(void) {")
        self._line("  for (int i = 0; i < 700; i++) {")
        for number in range(functions):
            self._line(f"    put(f{number}(i % 7, i * 3 % 8, i % 11 % 3));")
        self._line("  }")
        for number, (at, text) in enumerate(self._parts):
            shown = f"{at}\\t{text.replace('%', '%%')}\\t%lu\\t%lu\\n"
            self._plain.append("")
            self._reference.append(f'  printf("{shown}", held[{number}][1], held[{number}][0]);')
        self._line("  return 0;")
        self._line("}")
        return Program("\n".join(self._plain) + "\n", "\n".join(self._reference) + "\n")

    def _line(self, text: str, reference: str | None = None) -> None:
        self._plain.append(text)
        self._reference.append(text if reference is None else reference)

    def _function(self, number: int) -> None:
        self._line(f"__attribute__((noinline)) static int f{number}(int x, int y, int z) {{")
        self._line("  int s = 0;")
        for _ in range(self._random.randint(1, 4)):
            self._statement("  ", 0, loop=False)
        self._line("  return s;")
        self._line("}")

    def _expression(self, depth: int) -> Expression:
        roll = self._random.random()
        if depth == 0 or roll < 0.25:
            leaves = _PLAIN_LEAVES if self._simple else _LEAVES
            return Expression("", leaf=self._random.choice(leaves))
        if roll < 0.6:
            return Expression("&&", [self._expression(depth - 1) for _ in range(self._random.randint(2, 3))])
        if roll < 0.88:
            return Expression("||", [self._expression(depth - 1) for _ in range(self._random.randint(2, 3))])
        if roll < 0.96:
            return Expression("!", [self._expression(depth - 1)])
        return Expression("?", [self._expression(depth - 1) for _ in range(3)])

    def _condition(self) -> Expression:
        return _flat(self._expression(self._random.choice((0, 1, 1, 1, 2, 2, 3))))

    def _counted(self, each: Expression, line: int) -> str:
        """An expression with counters around its parts."""
        if not each.operator:
            return self._part(line, _text(each), f"({each.leaf})")
        if each.operator == "!":
            return self._part(line, _text(each), f"!{self._counted(each.operands[0], line)}")
        inner = [self._counted(operand, line) for operand in each.operands]
        if each.operator == "?":
            return self._part(line, _text(each), f"({inner[0]} ? {inner[1]} : {inner[2]})")
        joined = inner[-1]
        for position in range(len(inner) - 2, -1, -1):
            text = f" {each.operator} ".join(_operand(each, op) for op in each.operands[position:])
            joined = self._part(line, text, f"({inner[position]} {each.operator} {joined})")
        return joined

    def _part(self, line: int, text: str, counted: str) -> str:
        self._parts.append((line, text))
        return f"part({len(self._parts) - 1}, {counted})"

    def _write(self, before: str, after: str, condition: Expression, indent: str) -> None:
        """A line with a condition, sometimes broken at the operators."""
        line = len(self._plain) + 1
        text, counted = _text(condition), self._counted(condition, line)
        pieces = [text]
        if condition.operator in ("&&", "||") and self._random.random() < 0.25:
            pieces = [_operand(condition, operand) for operand in condition.operands]
            ahead = self._random.random() < 0.5
            pieces = [
                f"{condition.operator} {piece}" if ahead and number else piece
                for number, piece in enumerate(pieces)
            ]
            if not ahead:
                pieces = [f"{piece} {condition.operator}" for piece in pieces[:-1]] + pieces[-1:]
        for number, piece in enumerate(pieces):
            start = f"{indent}{before}" if not number else f"{indent}    "
            end = after if number == len(pieces) - 1 else ""
            self._plain.append(f"{start}{piece}{end}")
            self._reference.append("" if number else f"{indent}{before}{counted}{after}")

    def _statement(self, indent: str, depth: int, loop: bool) -> None:
        kinds: list[Callable[[str, int, bool], None]] = [self._if, self._if, self._if, self._choice]
        if depth < 2:
            kinds += [self._while, self._for, self._do]
        self._random.choice(kinds)(indent, depth, loop)

    def _body(self, indent: str, depth: int, loop: bool) -> None:
        for _ in range(self._random.choice((1, 1, 2))):
            number = self._random.randint(1, 9)
            kinds = [f"put({number});", f"s += {number};", f"put(s); s ^= {number};", "x++;"]
            if depth < 3 and self._random.random() < 0.3:
                self._statement(indent, depth + 1, loop)
            else:
                self._line(indent + self._random.choice(kinds))

    def _jump(self, loop: bool) -> str:
        jumps = ["return s;", f"return {self._random.randint(1, 4)};"]
        return self._random.choice(jumps + (["break;", "continue;"] if loop else []))

    def _if(self, indent: str, depth: int, loop: bool) -> None:
        shape = self._random.random()
        condition = self._condition()
        if shape < 0.15:
            action = self._random.choice(("put(1);", "s++;", self._jump(loop)))
            self._write("if (", f") {action}", condition, indent)
            return
        if shape < 0.3:
            self._write("if (", ")", condition, indent)
            self._line(f"{indent}  {self._jump(loop)}")
            return
        self._write("if (", ") {", condition, indent)
        self._body(indent + "  ", depth, loop)
        if shape < 0.5:
            self._line(f"{indent}}} else {{")
            self._body(indent + "  ", depth, loop)
        elif shape < 0.65:
            self._write("} else if (", ") {", self._condition(), indent)
            self._body(indent + "  ", depth, loop)
        self._line(f"{indent}}}")

    def _counter(self) -> str:
        self._loops += 1
        return f"n{self._loops}"

    def _bounded(self, counter: str) -> Expression:
        """A condition that ends after a few iterations whatever else it tests."""
        bound = Expression("", leaf=f"{counter}-- > 0")
        rest = self._condition()
        return _flat(Expression("&&", [bound, rest])) if self._random.random() < 0.8 else bound

    def _while(self, indent: str, depth: int, loop: bool) -> None:
        counter = self._counter()
        self._line(f"{indent}int {counter} = {self._random.randint(1, 5)};")
        condition = self._bounded(counter)
        if self._random.random() < 0.2:
            self._write("while (", ") s += 2;", condition, indent)
            return
        self._write("while (", ") {", condition, indent)
        self._body(indent + "  ", depth, loop=True)
        self._line(f"{indent}}}")

    def _for(self, indent: str, depth: int, loop: bool) -> None:
        counter = self._counter()
        bound = self._random.choice(("4", "z", "x"))
        test = Expression("", leaf=f"{counter} < {bound}")
        if self._random.random() < 0.5:
            test = _flat(Expression("&&", [test, self._condition()]))
        self._write(f"for (int {counter} = 0; ", f"; {counter}++) {{", test, indent)
        self._line(f"{indent}  if ({counter} > 9) break;")
        self._body(indent + "  ", depth, loop=True)
        self._line(f"{indent}}}")

    def _do(self, indent: str, depth: int, loop: bool) -> None:
        counter = self._counter()
        self._line(f"{indent}int {counter} = {self._random.randint(1, 4)};")
        self._line(f"{indent}do {{")
        self._line(f"{indent}  if ({counter} < -3) break;")
        self._body(indent + "  ", depth, loop=True)
        self._write("} while (", ");", self._bounded(counter), indent)

    def _choice(self, indent: str, depth: int, loop: bool) -> None:
        condition = self._condition()
        if condition.operator == "?":
            condition = Expression("!", [condition])
        arms = self._random.choice(
            (("odd(y)", "third(x)"), ("s", "third(x)"), ("put(2), 1", "y"), ("odd(x)", "7"))
        )
        if self._random.random() < 0.3:
            self._write("s += ", "", condition, indent)
            self._line(f"{indent}  ? ({arms[0]})")
            self._line(f"{indent}  : ({arms[1]});")
        else:
            self._write("s += ", f" ? ({arms[0]}) : ({arms[1]});", condition, indent)


def _flat(each: Expression) -> Expression:
    """Operands of the same operator without brackets between them."""
    operands: list[Expression] = []
    for operand in map(_flat, each.operands):
        same = each.operator in ("&&", "||") and operand.operator == each.operator
        operands += operand.operands if same else [operand]
    if each.operator == "!" and not operands[0].operator:
        leaf = operands[0].leaf
        if leaf.startswith("!("):
            return Expression("", leaf=leaf[2:-1])
        return Expression("", leaf=leaf[1:] if leaf.startswith("!") else f"!({leaf})")
    return Expression(each.operator, operands, each.leaf)


def _operand(parent: Expression, operand: Expression) -> str:
    bracketed = operand.operator in ("&&", "||", "?")
    return f"({_text(operand)})" if bracketed else _text(operand)


def _text(each: Expression) -> str:
    if not each.operator:
        return each.leaf
    if each.operator == "!":
        return (
            f"!({_text(each.operands[0])})"
            if each.operands[0].operator != "!"
            else f"!{_text(each.operands[0])}"
        )
    if each.operator == "?":
        return "{} ? {} : {}".format(*(_operand(each, operand) for operand in each.operands))
    return f" {each.operator} ".join(_operand(each, operand) for operand in each.operands)


def programs(seeds: range, functions: int = 12) -> Iterator[Program]:
    """A program for each seed; those of odd seeds hide no tests in macros and inlined functions."""
    for seed in seeds:
        yield _Writer(Random(seed), simple=bool(seed % 2)).program(functions)

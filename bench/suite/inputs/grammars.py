"""Grammars for byacc and lists of keywords for gperf."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.suite.inputs.texts import vocabulary

_SIGNS = ("left", "left", "right", "nonassoc")


def grammar(random: Random, statements: int, levels: int) -> str:
    """The grammar of a language with so many kinds of statements and levels of operators, for yacc.

    Every kind of statement begins with its own keyword, so that most of the grammar is free of conflicts;
    optional clauses and a few operators without precedence cause some.
    """
    names = vocabulary(random, statements * 4)
    keywords = [f"K_{name.upper()}" for name in names]
    operators = [f"OP_{number}" for number in range(levels)]
    lines = ["%{", "#include <stdio.h>", "%}", "%union { int number; char *name; struct node *node; }"]
    lines += ["%token <name> NAME", "%token <number> NUMBER", "%type <node> expression statement block"]
    lines += [f"%token {' '.join(keywords[at : at + 8])}" for at in range(0, len(keywords), 8)]
    lines += [f"%{random.choice(_SIGNS)} {operator}" for operator in operators[: levels // 2]]
    lines += [f"%token {' '.join(operators[levels // 2 :])}"]
    lines += [f"%type <node> level_{level}" for level in range(levels - levels // 2 + 1)]
    lines += ["%start program", "%%"]
    lines += ["program : block { finish($1); } ;"]
    lines += ["block : { $$ = 0; } | block statement ';' { $$ = join($1, $2); } | block error ';' ;"]
    lines += _expressions(random, operators)
    lines += _statements(random, keywords, statements)
    return "\n".join([*lines, "%%", "int main(void) { return yyparse(); }", ""])


def _expressions(random: Random, operators: list[str]) -> Iterator[str]:
    """Half of the operators by declared precedence, the other half by one nonterminal for each level."""
    half = len(operators) // 2
    yield "expression : level_0"
    for operator in operators[:half]:
        yield f"    | expression {operator} expression {{ $$ = binary({operator}, $1, $3); }}"
    yield "    ;"
    for level, operator in enumerate(operators[half:]):
        above, below = f"level_{level}", f"level_{level + 1}"
        alternatives = [
            f"{above} {operator} {below} {{ $$ = binary({operator}, $1, $3); }}",
            f"{below} {operator} {above} {{ $$ = binary({operator}, $3, $1); }}",
            f"{operator} {above} {{ $$ = unary({operator}, $2); }}",
        ]
        yield f"{above} : {below} | {random.choice(alternatives)} ;"
    last = f"level_{len(operators) - half}"
    yield f"{last} : NAME {{ $$ = name($1); }} | NUMBER {{ $$ = number($1); }}"
    yield "    | '(' expression ')' { $$ = $2; } | NAME '(' arguments ')' { $$ = call($1); }"
    yield f"    | {last} '[' expression ']' {{ $$ = item($1, $3); }} ;"
    yield "arguments : | expressions ;"
    yield "expressions : expression | expressions ',' expression ;"


def _statements(random: Random, keywords: list[str], number: int) -> Iterator[str]:
    yield "statement : expression | '{' block '}' { $$ = $2; }"
    for kind in range(number):
        yield f"    | statement_{kind} {{ $$ = 0; }}"
    yield "    ;"
    for kind in range(number):
        first, second, third, fourth = keywords[4 * kind : 4 * kind + 4]
        clauses = [f"clause_{kind}_{clause}" for clause in range(random.randint(1, 3))]
        yield f"statement_{kind} : {first} {_middle(random)} {' '.join(clauses)}"
        yield f"    | {first} {second} {_middle(random)} {{ note({kind}); }} {third} block {fourth} ;"
        for clause in clauses:
            word = random.choice((second, third))
            rest = random.choice(
                (f"{clause} ',' NAME", f"{fourth} expression", "'{' block '}'", "expressions")
            )
            yield f"{clause} : | {word} {rest} {{ clause({kind}); }} ;"


def _middle(random: Random) -> str:
    parts = ("NAME", "expression", "'(' expressions ')'", "NAME '=' expression", "'{' block '}'", "arguments")
    return random.choice(parts)


def keyword_table(random: Random, number: int) -> str:
    """So many keywords with a value each, for gperf."""
    head = "%{\n#include <string.h>\n%}\nstruct keyword { const char *name; int value; };\n%%\n"
    words = vocabulary(random, number)
    random.shuffle(words)
    return head + "".join(f"{word}, {value}\n" for value, word in enumerate(words)) + "%%\n"

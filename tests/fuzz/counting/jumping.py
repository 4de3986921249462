"""Functions that are nothing but marked blocks with jumps between any of them.

Every block has a mark, and between two marks there is one way at most, so that the marks which an activation
has passed are its walk through the graph of the function.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.fuzz.counting.statements import OWN, PART, Features


@dataclass
class JumpWriter:
    """Writes the functions of the second file."""

    chance: random.Random
    features: Features
    lines: list[str] = field(default_factory=list)

    def function(self, number: int) -> None:
        """One function."""
        size = self.chance.randint(3, 16)
        tables: list[str] = []
        blocks = []
        for block in range(size):
            last = block == size - 1
            text = [f"B{block}:", "    MARK();"]
            if self.chance.random() < 0.6:
                text.append(f"    {self._work(number)}")
            text += self._return() if last else self._end(number, block, size, tables)
            blocks.append(text)
        self.lines.append(f"static NOINLINE int g{number}(int start) {{")
        self.lines += ["    ENTER();", "    volatile int x = start;", *tables]
        self.lines.append("    goto B0;")
        self.lines += [line for text in blocks for line in text]
        self.lines.append("}")

    def _work(self, number: int) -> str:
        """Something that one block does, which may call and not come back."""
        kinds = ["x += roll(7);", f"x += callback({self.chance.randrange(OWN)})(x);"]
        if number + 1 < PART:
            kinds += [f"x += g{self.chance.randrange(number + 1, PART)}(x);"] * 2
        kinds += ["leave(roll(40));"] * self.features.leaves
        kinds += ["raise(SIGUSR1);"] * self.features.signals
        return self.chance.choice(kinds)

    def _return(self) -> list[str]:
        return ["    MARK();", "    return x;"]

    def _targets(self, block: int, size: int, number: int) -> list[int]:
        """Different blocks, the last of which lies ahead."""
        forward = self.chance.randrange(block + 1, size)
        others = [target for target in range(size) if target != forward]
        self.chance.shuffle(others)
        return [*others[: number - 1], forward]

    def _end(self, number: int, block: int, size: int, tables: list[str]) -> list[str]:
        """What a block ends with."""
        kind = self.chance.choice(("jump", "if", "if", "if", "switch", "computed", "return", "try", "gone"))
        if kind == "jump":
            return [f"    goto B{self.chance.randrange(block + 1, size)};"]
        if kind == "return" and self.chance.random() < 0.5:
            return self._return()
        if kind == "gone" and self.features.gone:
            target = self.chance.randrange(block + 1, size)
            return [
                f"    if (roll(300) != 0) goto B{target};",
                "    MARK();",
                "    gone(9);",
            ]
        if kind == "switch":
            return self._switch(block, size)
        if kind == "computed":
            targets = self._targets(block, size, self.chance.randint(2, 4))
            tables.append(
                f"    static void *const to{block}[] = {{{', '.join(f'&&B{each}' for each in targets)}}};"
            )
            return [f"    goto *to{block}[pick({len(targets)})];"]
        if kind == "try":
            return self._protected(number, block, size)
        first, second = self._targets(block, size, 2)
        return [f"    if (pick(3) < 2) goto B{first};", f"    goto B{second};"]

    def _switch(self, block: int, size: int) -> list[str]:
        targets = self._targets(block, size, self.chance.randint(2, 4))
        choices = 2 * len(targets)
        lines = [f"    switch (pick({choices})) {{"]
        rest = list(range(choices - 1))
        for target in targets[:-1]:
            mine = [rest.pop(self.chance.randrange(len(rest))) for _ in range(self.chance.randint(1, 2))]
            lines.append(f"    {' '.join(f'case {case}:' for case in mine)} goto B{target};")
        return [*lines, f"    default: goto B{targets[-1]};", "    }"]

    def _protected(self, number: int, block: int, size: int) -> list[str]:
        """A call that may be left by a jump or an exception to this function."""
        first, second = self._targets(block, size, 2)
        work = self._work(number)
        if self.features.cpp:
            return [
                "    try {",
                "        MARK();",
                "        depth++;",
                f"        {work}",
                "        MARK();",
                "        depth--;",
                "    } catch (...) {",
                "        MARK();",
                "        depth--;",
                f"        goto B{second};",
                "    }",
                f"    if (pick(2) == 0) goto B{first};",
                "    MARK();",
                f"    goto B{second};",
            ]
        return [
            f"    if (depth >= DEEPEST) goto B{second};",
            "    MARK();",
            "    if (sigsetjmp(stack[depth], 0) != 0) {",
            "        MARK();",
            f"        goto B{second};",
            "    }",
            "    MARK();",
            "    depth++;",
            f"    {work}",
            "    depth--;",
            "    MARK();",
            f"    if (pick(2) == 0) goto B{first};",
            "    MARK();",
            f"    goto B{second};",
        ]

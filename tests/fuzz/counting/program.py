"""A random program in two files: structured functions, and functions of jumps, which may be a library."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from tests.fuzz.counting.jumping import JumpWriter
from tests.fuzz.counting.statements import MOST_LINES, OWN, PART, Features, StatementWriter
from tests.native.line_programs import GUARD

_ENDS = {
    "return": "return HIT(), 0;",
    "exit": "HIT(), exit(4);",
    "_exit": "HIT(), _exit(5);",
    "quick_exit": "HIT(), quick_exit(6);",
    "abort": "HIT(), abort();",
    "term": "HIT(), raise(SIGTERM);",
    "hup": "HIT(), raise(SIGHUP);",
    "fault": "return HIT(), *none;",
    "throw": "HIT(); throw 5;",
    "thread": "HIT(), pthread_exit(0);",
    "kill": "HIT(), kill(getpid(), SIGKILL);",
}
_BEFORE_COUNT = re.compile(
    r"^(?! *(?:(?:HIT|MARK)\(\);$|\} while \())(.*[;{}:])(?=\n *(?:HIT|MARK)\(\);$)", re.MULTILINE
)
"""A line before a count, unless it ends a loop: what leaves the loop by a jump arrives there, too."""
_GONE = ("exit(3)", "_exit(3)", "abort()", "quick_exit(3)", "raise(SIGTERM)", "raise(SIGINT)")

_LEAVE = {
    False: """\
static __attribute__((unused)) void leave(int way) {
    HIT();
    if (LEAVES && way < 6 && depth > 0) siglongjmp(stack[--depth], 1);
    if (GOING && way == 7 && seed % 64 == 0) gone(7);
}
""",
    True: """\
static __attribute__((unused)) void leave(int way) {
    HIT();
    if (LEAVES && way < 6 && depth > 0) { if (way & 1) throw std::runtime_error("left"); throw 1; }
    if (GOING && way == 7 && seed % 64 == 0) gone(7);
}
""",
}

_FIRST = """\
static struct part *volatile part;
#define depth (part->state()->level)
#define stack (part->state()->buffers)
"""

_HELPERS = """\
static int (*own[OWN_FUNCTIONS])(int) = {f0, f1, f2, f3};
static int leaf(int x) {
    HIT();
    return x + 1;
}
static int forked(void) {
    if (!allowed(&trace->forks, FORKS)) return 1;
    int way = roll(6);
    if (way == 5 && !LATER) {
        if (vfork() == 0) _exit(0);
        HIT();
        return 2;
    }
    pid_t child = fork();
    if (child > 0) {
        while (HIT(), waitpid(child, 0, 0) < 0 && errno == EINTR) continue;
        return 3;
    }
    seed += getpid();
    HIT();
    if (way == 0) _exit(0);
    if (way == 1) exit(1);
    if (way == 2) raise(SIGTERM);
    if (way == 3 && child == 0) {
        HIT();
        execl("/proc/self/exe", "again", "again", (char *)0);
    }
    return 1;
}
static int compare(const void *one_side, const void *other) {
    HIT();
    int low = *(const int *)one_side, high = *(const int *)other;
    if (roll(4) == 0) {
        HIT();
        low += own[2 + roll(2)](high);
    }
    HIT();
    return low < high ? -1 : low > high;
}
static void sorted(void) {
    int values[4] = {roll(9), roll(9), roll(9), roll(9)};
    HIT();
    if (recursions++ < 40) qsort(values, 4, sizeof *values, compare);
    HIT();
}
static __attribute__((noinline)) void handled(int number) {
    HIT();
    for (int i = 0; i < (number & 3); i++) {
        HIT();
    }
    HIT();
}
static void on_signal(int number) {
    int before = errno;
    need_sequence();
    HIT();
    handled(number);
    if (number == SIGUSR2 && JUMPING) {
        HIT();
        leave(roll(9));
    }
    errno = before;
    HIT();
}
static void *thread_main(void *argument) {
    need_sequence();
    seed += (unsigned long)argument;
    HIT();
    volatile int x = own[roll(OWN_FUNCTIONS)](1);
    HIT();
    if (x % 3 == 0 && EXITING) {
        HIT();
        pthread_exit(0);
    }
    HIT();
    return 0;
}
static void spawn(int others) {
    HIT();
    if (allowed(&trace->spawns, SPAWNS)) {
        HIT();
        pthread_t started[2];
        int number = 0, process = getpid();
        for (int i = 0; i < 1 + (others > 0); i++) {
            HIT();
            number += pthread_create(&started[number], 0, thread_main, (void *)(seed >> 7)) == 0;
        }
        if (others == 2) STAYING(own[3](1));
        for (int i = 0; i < number && getpid() == process; i++) {
            HIT();
            JOIN(started[i], 0);
        }
    }
    HIT();
}
static void prepare(int again) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART | (JUMPING ? SA_NODEFER : 0);
    sigaction(SIGUSR1, &action, 0);
    sigaction(SIGUSR2, &action, 0);
    sigaction(SIGALRM, &action, 0);
    part = PART_TABLE;
    static int (*table[OWN_FUNCTIONS + 1])(int) = {f0, f1, f2, f3, leaf};
    part->callbacks = table;
    HIT();
    if (TIMED && !again) {
        HIT();
        struct itimerval often = {{0, 400}, {0, 400}};
        setitimer(ITIMER_REAL, &often, 0);
    }
}
"""

_SECOND = """\
static __thread struct jumps own_jumps;
static struct jumps *state(void) { return &own_jumps; }
#define depth (own_jumps.level)
#define stack (own_jumps.buffers)
static int (*callback(int number))(int) SURE;
static int (*callback(int number))(int) {
    int chosen = recursions++ < 200 && fuelled() ? number : OWN_FUNCTIONS;
    return part_offer.callbacks[chosen];
}
"""


@dataclass(frozen=True)
class Program:
    """The texts of both files.

    It is ``exact`` unless threads or processes are stopped anywhere.  If it is ``guarded``, every count that
    stands alone has a block of its own, also where it follows a call that may not return.
    """

    seed: int
    features: Features
    end: str
    exact: bool
    guarded: bool
    first: str
    second: str

    @property
    def suffix(self) -> str:
        """That of its files."""
        return "cpp" if self.features.cpp else "c"

    def describe(self) -> str:
        """In a few words."""
        has = ("faults", "forks", "threads", "signals", "leaves", "gone")
        own = " ".join(name for name in has if getattr(self.features, name))
        language = "C++" if self.features.cpp else "C"
        return f"seed {self.seed}, {language}, ends by {self.end}, with {own or 'calls'}"


def random_program(seed: int) -> Program:
    """The program of a seed."""
    chance = random.Random(seed)
    cpp = chance.random() < 0.45
    exact = chance.random() < 0.85
    threads = chance.random() < 0.35
    ends = ["return", "return", "exit", "_exit", "quick_exit", "abort", "term", "hup", "fault"]
    ends += ["throw"] * cpp + ["thread"] * (not cpp)
    end = "kill" if not exact and not threads else chance.choice(ends)
    features = Features(
        cpp=cpp,
        faults=exact and not threads and chance.random() < 0.25,
        forks=exact and chance.random() < 0.35,
        threads=threads,
        signals=chance.random() < 0.35,
        leaves=exact and chance.random() < 0.8,
        gone=exact and not threads and chance.random() < 0.5,
        several_entries=chance.random() < 0.8,
    )
    settings = {
        "SEED": seed,
        "FUEL": chance.choice((4000, 20000)),
        "FORKS": chance.choice((1, 3)),
        "SPAWNS": chance.choice((2, 12)),
        "FAULTS": chance.choice((300, 3000)),
        "LEAVES": int(features.leaves),
        "GOING": int(features.gone),
        "JUMPING": int(not cpp and features.signals and chance.random() < 0.5),
        "EXITING": int(not cpp and chance.random() < 0.5),
        "TIMED": int(features.signals and exact and end != "thread" and chance.random() < 0.4),
        "GONE": chance.choice(_GONE),
        "LATER": int(chance.random() < 0.5),
        "JOIN(thread, result)": "pthread_join(thread, result)" if exact else "pthread_detach(thread)",
    }
    if settings["TIMED"]:
        settings["JUMPING"] = 0
    heads = [f"#define {name} {value}" for name, value in settings.items()]
    first = _first(chance, features, end, [*heads, "#define FILE_NUMBER 0"])
    second = _second(chance, features, [*heads, "#define FILE_NUMBER 1"])
    guarded = chance.random() < 0.5
    if guarded:
        first, second = (_BEFORE_COUNT.sub(r"\1 if (one)", text) for text in (first, second))
    return Program(seed, features, end, exact, guarded, first, second)


def _first(chance: random.Random, features: Features, end: str, heads: list[str]) -> str:
    writer = StatementWriter(chance, features.cpp, features=features)
    declared = [*heads, '#include "self_counting.h"', '#include "part.h"', *_FIRST.splitlines()]
    declared += _LEAVE[features.cpp].splitlines() + (GUARD.splitlines() if features.cpp else [])
    noinline = [chance.random() < 0.6 for _ in range(OWN)]
    for number, kept in enumerate(noinline):
        declared.append(f"static {'NOINLINE ' * kept}__attribute__((used)) int f{number}(int start);")
    writer.lines = [*declared, *_HELPERS.splitlines()]
    start = len(writer.lines)
    for function in reversed(range(OWN)):
        writer.share = start + (MOST_LINES - start) * (OWN - function) // (OWN + 2)
        writer.lines.append(f"static int f{function}(int start) {{")
        writer.lines += ["    ENTER();", "    volatile int x = start;", "    MARK();"]
        writer.lines += ["    if (!fuelled()) {", "        MARK();", "        return x;", "    }"]
        writer.body(function, 1)
        writer.body(function, 1)
        writer.lines += ["    MARK();", "    return x;", "}"]
    writer.lines += ["int main(int argc, char **argv) {", "    volatile int x = 0;", "    prepare(argc > 1);"]
    writer.lines.append("    for (volatile int round = 0; HIT(), round < (argc > 1 ? 2 : 30); round++) {")
    writer.lines += ["        HIT();", f"        x += part->functions[round % {PART}](x);"]
    writer.share = MOST_LINES - 40
    writer._try(-1, 2, False)
    writer.lines += ["        HIT();", "    }", "    stop_timer();", f"    {_ENDS[end]}", "}"]
    return "\n".join(writer.lines) + "\n"


def _second(chance: random.Random, features: Features, heads: list[str]) -> str:
    writer = JumpWriter(chance, features)
    writer.lines = [*heads, '#include "self_counting.h"', '#include "part.h"', *_SECOND.splitlines()]
    writer.lines += _LEAVE[features.cpp].splitlines()
    for function in reversed(range(PART)):
        writer.function(function)
    names = ", ".join(f"g{number}" for number in range(PART))
    writer.lines.append(f"struct part part_offer = {{state, {{{names}}}, 0}};")
    return "\n".join(writer.lines) + "\n"

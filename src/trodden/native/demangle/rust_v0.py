"""The newer mangling of Rust's symbols (v0, ``_R...``), read back.

It is a small grammar of paths and types, with generic arguments, constants, and references back to what was
said before.  Generic arguments are shown, the hashes of crates are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_DEEPEST = 120
_LONGEST = 16384
_LENGTH = re.compile(r"[1-9][0-9]*")
_BASIC = (
    {"a": "i8", "s": "i16", "l": "i32", "x": "i64", "n": "i128", "i": "isize"}
    | {"h": "u8", "t": "u16", "m": "u32", "y": "u64", "o": "u128", "j": "usize"}
    | {"f": "f32", "d": "f64", "b": "bool", "c": "char", "e": "str"}
    | {"u": "()", "z": "!", "v": "...", "p": "_"}
)
_SIGNED = frozenset("aslxni")
_UNSIGNED = frozenset("htmyoj")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class NotRust(ValueError):
    """The symbol does not follow the grammar."""


class Reader:
    """Reads a symbol of the v0 mangling from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._written = 0
        self._bound = 0

    def symbol(self) -> str:
        """The whole symbol; the crate that an instance was made in is left out."""
        if self._text[:1].isdigit():
            raise NotRust
        name = self._path(True)
        if self._at < len(self._text):
            self._path(False)
        if self._at < len(self._text):
            raise NotRust
        return name

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self) -> str:
        if self._at >= len(self._text):
            raise NotRust
        self._at += 1
        return self._text[self._at - 1]

    def _eat(self, character: str) -> bool:
        found = self._peek() == character
        self._at += found
        return found

    def _base62(self) -> int:
        if self._eat("_"):
            return 0
        value = 0
        while not self._eat("_"):
            digit = _DIGITS.find(self._take())
            if digit < 0 or value > 1 << 64:
                raise NotRust
            value = value * 62 + digit
        return value + 1

    def _optional(self, character: str) -> int:
        return self._base62() + 1 if self._eat(character) else 0

    def _plain_identifier(self) -> str:
        unicode = self._eat("u")
        length = 0
        if not self._eat("0"):
            match = _LENGTH.match(self._text, self._at)
            if match is None or len(match.group()) > 6:
                raise NotRust
            length = int(match.group())
            self._at = match.end()
        self._eat("_")
        name = self._text[self._at : self._at + length]
        if len(name) < length:
            raise NotRust
        self._at += length
        return self._made(_from_punycode(name) if unicode else name)

    def _made(self, text: str) -> str:
        """Keeps count of what is written: references back can make a short symbol very long."""
        self._written += len(text)
        if self._written > _LONGEST:
            raise NotRust
        return text

    def _enter(self) -> None:
        self._depth += 1
        self._made(" ")
        if self._depth > _DEEPEST:
            raise NotRust

    def _path(self, value: bool) -> str:
        """A path; in one that names a value, ``::`` stands before generic arguments."""
        self._enter()
        kind = self._take()
        if kind == "C":
            self._optional("s")
            name = self._plain_identifier()
        elif kind == "M":
            self._impl()
            name = f"<{self._type()}>"
        elif kind == "X":
            self._impl()
            name = self._qualified()
        elif kind == "Y":
            name = self._qualified()
        elif kind == "N":
            name = self._nested(value)
        elif kind == "I":
            name = self._path(value)
            name += f"{'::' if value else ''}<{', '.join(self._list(self._argument))}>"
        elif kind == "B":
            name = self._back(lambda: self._path(value))
        else:
            raise NotRust
        self._depth -= 1
        return name

    def _impl(self) -> None:
        self._optional("s")
        self._path(False)

    def _qualified(self) -> str:
        type_ = self._type()
        return f"<{type_} as {self._path(False)}>"

    def _nested(self, value: bool) -> str:
        space = self._take()
        if not (space.isascii() and space.isalpha()):
            raise NotRust
        outer = self._path(value)
        number = self._optional("s")
        name = self._plain_identifier()
        if space.islower():
            return f"{outer}::{name}" if name else outer
        what = {"C": "closure", "S": "shim"}.get(space, space)
        return f"{outer}::{{{what}{':' if name else ''}{name}#{number}}}"

    def _list(self, item: Callable[[], str]) -> list[str]:
        items: list[str] = []
        while not self._eat("E"):
            items.append(item())
        return items

    def _back(self, read: Callable[[], str]) -> str:
        """What stands at an earlier place, read again."""
        start = self._at - 1
        place = self._base62()
        if place >= start:
            raise NotRust
        after, self._at = self._at, place
        found = read()
        self._at = after
        return found

    def _argument(self) -> str:
        if self._eat("L"):
            return self._lifetime()
        return self._constant() if self._eat("K") else self._type()

    def _lifetime(self) -> str:
        index = self._base62()
        if index == 0:
            return "'_"
        depth = self._bound - index
        if depth < 0:
            raise NotRust
        return f"'{chr(ord('a') + depth)}" if depth < 26 else f"'_{depth}"

    def _binder(self) -> str:
        """The lifetimes that ``for<...>`` introduces; the caller takes them back."""
        names: list[str] = []
        for _ in range(self._optional("G")):
            self._bound += 1
            names.append(self._made(f"'{chr(ord('a') + (self._bound - 1) % 26)}"))
        return f"for<{', '.join(names)}> " if names else ""

    def _type(self) -> str:
        self._enter()
        kind = self._take()
        if kind in _BASIC:
            name = self._made(_BASIC[kind])
        elif kind in "RQ":
            lifetime = f"{found} " if self._eat("L") and (found := self._lifetime()) != "'_" else ""
            name = f"&{lifetime}{'mut ' if kind == 'Q' else ''}{self._type()}"
        elif kind in "PO":
            name = f"*{'const' if kind == 'P' else 'mut'} {self._type()}"
        elif kind in "AS":
            element = self._type()
            name = f"[{element}; {self._constant()}]" if kind == "A" else f"[{element}]"
        elif kind == "T":
            items = self._list(self._type)
            name = f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
        elif kind == "F":
            name = self._function()
        elif kind == "D":
            name = self._object()
        elif kind == "B":
            name = self._back(self._type)
        else:
            self._at -= 1
            name = self._path(False)
        self._depth -= 1
        return name

    def _function(self) -> str:
        before = self._bound
        text = self._binder()
        text += "unsafe " if self._eat("U") else ""
        if self._eat("K"):
            text += f'extern "{"C" if self._eat("C") else self._plain_identifier().replace("_", "-")}" '
        text += f"fn({', '.join(self._list(self._type))})"
        result = "" if self._eat("u") else f" -> {self._type()}"
        self._bound = before
        return text + result

    def _object(self) -> str:
        before = self._bound
        text = f"dyn {self._binder()}{' + '.join(self._list(self._trait))}"
        self._bound = before
        if not self._eat("L"):
            raise NotRust
        lifetime = self._lifetime()
        return text if lifetime == "'_" else f"{text} + {lifetime}"

    def _trait(self) -> str:
        name = self._path(False)
        bindings: list[str] = []
        while self._eat("p"):
            bound = self._plain_identifier()
            bindings.append(f"{bound} = {self._type()}")
        if not bindings:
            return name
        opened = f"{name[:-1]}, " if name.endswith(">") and not name.startswith("<") else f"{name}<"
        return f"{opened}{', '.join(bindings)}>"

    def _constant(self) -> str:
        self._enter()
        kind = self._take()
        if kind == "p":
            name = "_"
        elif kind == "B":
            name = self._back(self._constant)
        elif kind in _SIGNED or kind in _UNSIGNED:
            sign = "-" if kind in _SIGNED and self._eat("n") else ""
            name = f"{sign}{self._number()}"
        elif kind == "b":
            name = "true" if self._number() else "false"
        elif kind == "c":
            code = self._number()
            name = repr(chr(code)) if code < 0x110000 else "_"
        elif kind == "e":
            name = f'*"{self._string()}"'
        elif kind in "RQ":
            text = kind == "R" and self._eat("e")
            name = f'"{self._string()}"' if text else f"&{'mut ' if kind == 'Q' else ''}{self._constant()}"
        elif kind == "A":
            name = f"[{', '.join(self._list(self._constant))}]"
        elif kind == "T":
            items = self._list(self._constant)
            name = f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
        elif kind == "V":
            name = self._variant()
        else:
            raise NotRust
        self._depth -= 1
        return self._made(name)

    def _variant(self) -> str:
        form = self._take()
        name = self._path(True)
        if form == "U":
            return name
        if form == "T":
            return f"{name}({', '.join(self._list(self._constant))})"
        if form != "S":
            raise NotRust
        return f"{name} {{ {', '.join(self._list(self._field))} }}"

    def _field(self) -> str:
        self._optional("s")
        name = self._plain_identifier()
        return f"{name}: {self._constant()}"

    def _hexadecimal(self) -> str:
        end = self._text.find("_", self._at)
        digits = self._text[self._at : end]
        if end < 0 or len(digits) > _LONGEST or not all(digit in "0123456789abcdef" for digit in digits):
            raise NotRust
        self._at = end + 1
        return digits

    def _number(self) -> int:
        return int(self._hexadecimal() or "0", 16)

    def _string(self) -> str:
        try:
            return bytes.fromhex(self._hexadecimal()).decode("utf-8")
        except ValueError as error:
            raise NotRust from error


def _from_punycode(name: str) -> str:
    """An identifier that is not plain ASCII; ``_`` stands where Punycode has ``-``."""
    plain, found, rest = name.rpartition("_")
    try:
        return (f"{plain}-{rest}" if found else rest).encode("ascii").decode("punycode")
    except UnicodeError as error:
        raise NotRust from error

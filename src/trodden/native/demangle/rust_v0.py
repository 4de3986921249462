"""Rust's v0 mangling (RFC 2603, ``_R...``): paths, types, generic arguments and constants.

The result is what the reference implementation, rustc-demangle, prints without the hashes of crates.  LLVM
has a demangler for this mangling too, but it knows no structural constants and does not limit its result:
back references let a symbol of 300 characters expand to gigabytes.
"""

from __future__ import annotations

from collections.abc import Callable

from trodden.native.demangle.rust_v0_cursor import Cursor, NotRust

_BASIC = (
    {"a": "i8", "s": "i16", "l": "i32", "x": "i64", "n": "i128", "i": "isize"}
    | {"h": "u8", "t": "u16", "m": "u32", "y": "u64", "o": "u128", "j": "usize"}
    | {"f": "f32", "d": "f64", "b": "bool", "c": "char", "e": "str"}
    | {"u": "()", "z": "!", "v": "...", "p": "_"}
)
_SIGNED = frozenset("aslxni")
_UNSIGNED = frozenset("htmyoj")
_NAMESPACES = {"C": "closure", "S": "shim"}
_LETTERS = 26
_ESCAPES = {"\0": "\\0", "\t": "\\t", "\r": "\\r", "\n": "\\n", "\\": "\\\\"}
_LAST_CHARACTER = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def demangle_v0(symbol: str) -> str:
    """The name of a symbol that follows ``_R``; :class:`NotRust` if it follows no grammar of Rust."""
    if symbol[:1].isdigit():
        raise NotRust
    reader = _Reader(Cursor(symbol))
    name = reader.path(in_value=True)
    if not reader.cursor.at_end:
        # The crate that instantiated a generic function is not part of its name.
        reader.path(in_value=False)
    if not reader.cursor.at_end:
        raise NotRust
    return name


class _Reader:
    """Reads productions of the grammar from left to right."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self._bound_lifetimes = 0

    def path(self, in_value: bool) -> str:
        """A ``<path>``; in one that names a value, ``::`` precedes generic arguments."""
        return self.cursor.nested(lambda: self._path(in_value))

    def _path(self, in_value: bool) -> str:
        cursor = self.cursor
        kind = cursor.take()
        if kind == "C":
            cursor.optional_base62("s")
            return cursor.identifier()
        if kind in "MX":
            cursor.optional_base62("s")
            self.path(in_value=False)
        if kind == "M":
            return f"<{self._type()}>"
        if kind in "XY":
            type_ = self._type()
            return f"<{type_} as {self.path(in_value=False)}>"
        if kind == "N":
            return self._nested_path(in_value)
        if kind == "I":
            name = self.path(in_value)
            return f"{name}{'::' if in_value else ''}<{self._arguments()}>"
        if kind == "B":
            return cursor.back_reference(lambda: self.path(in_value))
        raise NotRust

    def _nested_path(self, in_value: bool) -> str:
        namespace = self.cursor.take()
        if not (namespace.isascii() and namespace.isalpha()):
            raise NotRust
        outer = self.path(in_value)
        number = self.cursor.optional_base62("s")
        name = self.cursor.identifier()
        if namespace.islower():
            return f"{outer}::{name}" if name else outer
        kind = _NAMESPACES.get(namespace, namespace)
        return f"{outer}::{{{kind}{':' if name else ''}{name}#{number}}}"

    def _arguments(self) -> str:
        return ", ".join(self.cursor.items(self._argument))

    def _argument(self) -> str:
        if self.cursor.eat("L"):
            return self._lifetime(self.cursor.base62())
        return self._constant(in_value=False) if self.cursor.eat("K") else self._type()

    def _lifetime(self, index: int) -> str:
        if index == 0:
            return "'_"
        depth = self._bound_lifetimes - index
        if depth < 0:
            raise NotRust
        return f"'{chr(ord('a') + depth)}" if depth < _LETTERS else f"'_{depth}"

    def _with_binder(self, read: Callable[[], str]) -> str:
        """What follows an optional ``<binder>``, after the lifetimes that ``for<...>`` introduces."""
        before = self._bound_lifetimes
        names: list[str] = []
        for _ in range(self.cursor.optional_base62("G")):
            self._bound_lifetimes += 1
            names.append(self.cursor.counted(self._lifetime(1)))
        text = f"for<{', '.join(names)}> " if names else ""
        text += read()
        self._bound_lifetimes = before
        return text

    def _type(self) -> str:
        return self.cursor.nested(self._type_inside)

    def _type_inside(self) -> str:
        cursor = self.cursor
        kind = cursor.take()
        if kind in _BASIC:
            return cursor.counted(_BASIC[kind])
        if kind in "RQ":
            lifetime = self._lifetime(cursor.base62()) if cursor.eat("L") else "'_"
            written = "" if lifetime == "'_" else f"{lifetime} "
            return f"&{written}{'mut ' if kind == 'Q' else ''}{self._type()}"
        if kind in "PO":
            return f"*{'const' if kind == 'P' else 'mut'} {self._type()}"
        if kind == "A":
            element = self._type()
            return f"[{element}; {self._constant(in_value=True)}]"
        if kind == "S":
            return f"[{self._type()}]"
        if kind == "T":
            return _tuple(cursor.items(self._type))
        if kind == "F":
            return self._with_binder(self._function)
        if kind == "D":
            return self._object()
        if kind == "W":
            type_ = self._type()
            return f"{type_} is {self._pattern()}"
        if kind == "B":
            return cursor.back_reference(self._type)
        cursor.put_back()
        return self.path(in_value=False)

    def _function(self) -> str:
        text = "unsafe " if self.cursor.eat("U") else ""
        if self.cursor.eat("K"):
            abi = "C" if self.cursor.eat("C") else self.cursor.identifier().replace("_", "-")
            text += f'extern "{abi}" '
        text += f"fn({', '.join(self.cursor.items(self._type))})"
        return text if self.cursor.eat("u") else f"{text} -> {self._type()}"

    def _object(self) -> str:
        """A trait object; its lifetime is written unless it is elided."""
        text = "dyn " + self._with_binder(lambda: " + ".join(self.cursor.items(self._trait)))
        if not self.cursor.eat("L"):
            raise NotRust
        lifetime = self._lifetime(self.cursor.base62())
        return text if lifetime == "'_" else f"{text} + {lifetime}"

    def _trait(self) -> str:
        """A ``<dyn-trait>``: its associated types and constants follow its generic arguments."""
        name, arguments = self._open_path()
        while self.cursor.eat("p"):
            bound = self.cursor.identifier()
            value = self._constant(in_value=False) if self.cursor.eat("K") else self._type()
            arguments.append(f"{bound} = {value}")
        return f"{name}<{', '.join(arguments)}>" if arguments else name

    def _open_path(self) -> tuple[str, list[str]]:
        """A path and its generic arguments."""
        if self.cursor.eat("B"):
            return self.cursor.back_reference(self._open_path)
        if self.cursor.eat("I"):
            name = self.path(in_value=False)
            return name, self.cursor.items(self._argument)
        return self.path(in_value=False), []

    def _pattern(self) -> str:
        kind = self.cursor.take()
        if kind == "R":
            low = self._constant(in_value=False)
            return f"{low}..={self._constant(in_value=False)}"
        if kind == "O":
            return self.cursor.nested(lambda: " | ".join(self.cursor.items(self._pattern)))
        if kind == "N":
            return "!null"
        raise NotRust

    def _constant(self, in_value: bool) -> str:
        """A ``<const>``; as an argument by itself, an expression that is no literal is enclosed in braces."""
        return self.cursor.nested(lambda: self.cursor.counted(self._constant_inside(in_value)))

    def _constant_inside(self, in_value: bool) -> str:
        cursor = self.cursor
        kind = cursor.take()
        if kind == "p":
            return "_"
        if kind == "B":
            return cursor.back_reference(lambda: self._constant(in_value))
        if kind in _SIGNED or kind in _UNSIGNED:
            sign = "-" if kind in _SIGNED and cursor.eat("n") else ""
            return f"{sign}{_integer(cursor.hexadecimal())}"
        if kind == "b":
            return _boolean(cursor.hexadecimal())
        if kind == "c":
            return _quoted(_character(cursor.hexadecimal()), "'")
        if kind == "R" and cursor.eat("e"):
            return _quoted(cursor.string(), '"')
        text = self._expression(kind)
        return text if in_value else f"{{{text}}}"

    def _expression(self, kind: str) -> str:
        cursor = self.cursor
        if kind == "e":
            return "*" + _quoted(cursor.string(), '"')
        if kind in "RQ":
            return f"&{'mut ' if kind == 'Q' else ''}{self._constant(in_value=True)}"
        if kind == "A":
            return f"[{', '.join(self._values())}]"
        if kind == "T":
            return _tuple(self._values())
        if kind != "V":
            raise NotRust
        name = self.path(in_value=True)
        form = cursor.take()
        if form == "U":
            return name
        if form == "T":
            return f"{name}({', '.join(self._values())})"
        if form == "S":
            return f"{name} {{ {', '.join(cursor.items(self._field))} }}"
        raise NotRust

    def _values(self) -> list[str]:
        return self.cursor.items(lambda: self._constant(in_value=True))

    def _field(self) -> str:
        self.cursor.optional_base62("s")
        name = self.cursor.identifier()
        return f"{name}: {self._constant(in_value=True)}"


def _tuple(items: list[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _integer(digits: str) -> str:
    """In decimal as far as 64 bits reach, as it is mangled beyond."""
    return f"0x{digits}" if len(digits) > 16 else str(int(digits or "0", 16))


def _boolean(digits: str) -> str:
    if digits not in ("", "1"):
        raise NotRust
    return "true" if digits else "false"


def _character(digits: str) -> str:
    code = int(digits or "0", 16)
    if code > _LAST_CHARACTER or code in _SURROGATES:
        raise NotRust
    return chr(code)


def _quoted(text: str, quote: str) -> str:
    """A literal with the escapes of Rust."""
    escapes = _ESCAPES | {quote: f"\\{quote}"}
    return quote + "".join(escapes.get(each) or _visible(each) for each in text) + quote


def _visible(character: str) -> str:
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"

"""The text of a module that is compiled a second time: with the record of its unit, and flags for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path


def encoded(text: str) -> bytes:
    """The bytes of a module, names that are no UTF-8 included."""
    return text.encode("utf-8", errors="surrogateescape")


def codegen_flags(flags: Sequence[str]) -> Iterator[str]:
    """The flags that matter once the program is IR, so none of the preprocessor or for dependency files."""
    dropped = {"-D", "-U", "-I", "-include", "-imacros", "-isystem", "-idirafter", "-iquote"}
    dropped |= {"-MF", "-MT", "-MQ", "-MJ"}
    position = 0
    while position < len(flags):
        flag = flags[position]
        if flag in dropped:
            position += 2
            continue
        position += 1
        if not flag.startswith(("-D", "-U", "-I", "-M", "-std=", "-W", "-pedantic")):
            yield flag


def with_record(text: str, record: bytes, directory: Path | None) -> str:
    """Add the unit's facts in section ``.trodden``, from a file if the assembler will be able to read it."""
    lines = ['.section .trodden,"",@progbits']
    if directory is not None:
        path = directory / "facts.bin"
        path.write_bytes(record)
        quoted = str(path).replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'.incbin "{quoted}"')
    else:
        for start in range(0, len(record), 64):
            values = ",".join(str(byte) for byte in record[start : start + 64])
            lines.append(f".byte {values}")
    lines.append(".text")
    return text + "".join(f'module asm "{_escaped(line)}"\n' for line in lines)


def _escaped(text: str) -> str:
    """A string as LLVM's assembly language writes it."""
    special = b'"\\'
    plain = (chr(b) if 32 <= b < 127 and b not in special else f"\\{b:02X}" for b in os.fsencode(text))
    return "".join(plain)

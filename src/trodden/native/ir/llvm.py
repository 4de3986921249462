"""LLVM itself, through llvmlite: bitcode to text, text to verified bitcode."""

from __future__ import annotations

import os
from typing import NoReturn

from trodden.errors import BadIR


def check(text: str, source: str) -> bytes:
    """Parse and verify IR text with LLVM, and return it as bitcode."""
    import llvmlite.binding as llvm

    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        first = _reason(error)
        raise BadIR(f"{source}: the instrumented IR is not valid: {first}") from error
    return bytes(module.as_bitcode())


def disassemble(bitcode: bytes, source: str) -> str:
    """Bitcode (or IR text) as text."""
    import llvmlite.binding as llvm

    try:
        if bitcode[:4] in (b"BC\xc0\xde", b"\xde\xc0\x17\x0b"):
            return str(llvm.parse_bitcode(bitcode))
        return str(llvm.parse_assembly(bitcode.decode()))
    except (RuntimeError, UnicodeDecodeError) as error:
        first = _reason(error)
        raise BadIR(
            f"{source}: cannot read this LLVM IR ({first});"
            f" trodden reads IR of LLVM {llvm.llvm_version_info[0]} and older"
        ) from error


def disassemble_apart(given: bytes, source: str) -> str:
    """The same in a process of its own, for IR of unknown origin: some invalid IR makes LLVM abort."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _disassemble_and_leave(given, source, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        answer = stream.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    text = answer.decode("utf-8", errors="surrogateescape")
    if status == BadIR.status:
        raise BadIR(text)
    if status:
        raise BadIR(f"{source}: this LLVM IR is not valid: LLVM aborted while reading it")
    return text


def _disassemble_and_leave(given: bytes, source: str, writing: int) -> NoReturn:
    """What the child process does: it writes the text into the pipe, or the error message."""
    status = 1
    try:
        # What LLVM prints when it aborts is of no use to the author of the IR.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            answer, status = disassemble(given, source), 0
        except BadIR as error:
            answer, status = str(error), BadIR.status
        with os.fdopen(writing, "wb") as stream:
            stream.write(answer.encode("utf-8", errors="surrogateescape"))
    finally:
        os._exit(status)


def _reason(error: Exception) -> str:
    """The line of LLVM's message that states the error; the first line may be only a heading."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[0] if lines else "unreadable")

"""LLVM itself, through llvmlite: bitcode to text, text to verified bitcode."""

from __future__ import annotations

from trodden.errors import BadIR


def check(text: str, source: str) -> bytes:
    """Parse and verify IR text with LLVM and answer it as bitcode."""
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


def _reason(error: Exception) -> str:
    """The line of LLVM's message that says what is wrong; the first may be only a headline."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[0] if lines else "unreadable")

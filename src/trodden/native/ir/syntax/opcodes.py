"""The opcodes of LLVM IR, in the groups of the LangRef."""

from __future__ import annotations

TERMINATORS = frozenset(
    {
        *("ret", "br", "switch", "indirectbr", "invoke", "callbr", "resume"),
        *("catchswitch", "catchret", "cleanupret", "unreachable"),
    }
)
CALLS = frozenset({"call", "invoke", "callbr"})
BINARY = frozenset(
    {
        *("add", "sub", "mul", "udiv", "sdiv", "urem", "srem"),
        *("fadd", "fsub", "fmul", "fdiv", "frem"),
        *("shl", "lshr", "ashr", "and", "or", "xor"),
    }
)
COMPARISONS = frozenset({"icmp", "fcmp"})
CASTS = frozenset(
    {
        *("trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"),
        *("ptrtoint", "ptrtoaddr", "inttoptr", "bitcast", "addrspacecast"),
    }
)
CONSTANT_EXPRESSIONS = frozenset(
    {
        *(*BINARY, *CASTS),
        *("getelementptr", "extractelement", "insertelement", "shufflevector", "splat"),
        *("ptrauth", "blockaddress", "dso_local_equivalent", "no_cfi"),
    }
)
FLAGS = frozenset(
    {
        *("nuw", "nsw", "nusw", "nneg", "exact", "disjoint", "samesign", "inbounds"),
        *("nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"),
        *("atomic", "volatile", "weak", "inalloca", "swifterror"),
    }
)
"""Words between an opcode and the first type."""
SIMPLE_CONSTANTS = frozenset({"true", "false", "null", "none", "undef", "poison", "zeroinitializer"})

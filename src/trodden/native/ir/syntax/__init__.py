"""The text of LLVM IR: one grammar, and the parts of a line: names, types, operands, calls, headers."""

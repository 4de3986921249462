"""LLVM IR as text: one grammar, and the views that the other packages work on."""

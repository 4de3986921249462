"""A plan's probes as LLVM IR."""

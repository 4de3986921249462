"""Analyses of a function in LLVM IR: its graph, calls, loops and features."""

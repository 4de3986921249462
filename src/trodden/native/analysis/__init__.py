"""What a function in LLVM IR says of itself: its graph, calls, loops and features."""

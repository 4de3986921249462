"""Programs in LLVM IR: read them, lower a plan into them, compile and link them."""

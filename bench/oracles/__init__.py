"""Independent tools that trodden's answers are compared with: gcov, llvm-cov, LLVM's own analyses."""

"""Independent tools and rules whose answers are compared with those of trodden: gcov, llvm-cov, LLVM's opt."""

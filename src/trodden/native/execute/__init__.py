"""Running an instrumented program."""

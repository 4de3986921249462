"""A compiler's command line, carried out with instrumentation between optimisation and code generation."""

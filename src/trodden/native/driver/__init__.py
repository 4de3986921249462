"""A compiler's command line, carried out with instrumentation in the middle."""

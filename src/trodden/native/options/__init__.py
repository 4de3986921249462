"""The options of instrumentation: each is declared once, read once, and passed on as one typed object."""

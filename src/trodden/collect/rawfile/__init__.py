"""The files that an instrumented process leaves behind."""

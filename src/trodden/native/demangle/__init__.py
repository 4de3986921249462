"""The names of functions in the source, from the symbols of object files."""

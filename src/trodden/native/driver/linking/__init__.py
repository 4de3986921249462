"""Linking: the words of a link, the embedded linker called directly, and the runtime beside them."""

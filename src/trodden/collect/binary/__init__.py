"""ELF, DWARF and machine code, as far as locating frames needs them."""

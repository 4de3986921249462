"""ELF files, DWARF debug information and machine code, as far as locating frames needs them."""

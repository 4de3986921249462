"""Numbers of the DWARF standard (versions 4 and 5), as far as they are used here, by the standard's names.

``Tag.SUBPROGRAM`` is ``DW_TAG_subprogram``, and so on.  pyelftools has the same numbers in dictionaries of
strings, but importing them takes longer than reading the debug information of a small program.
"""

from __future__ import annotations

from enum import IntEnum


class UnitType(IntEnum):
    """``DW_UT_*``: what a unit of ``.debug_info`` contains."""

    COMPILE = 0x01


class Tag(IntEnum):
    """``DW_TAG_*``: what an entry describes."""

    COMPILE_UNIT = 0x11
    SUBPROGRAM = 0x2E
    VARIABLE = 0x34


class Attribute(IntEnum):
    """``DW_AT_*``: what an attribute of an entry says."""

    LOCATION = 0x02
    NAME = 0x03
    STMT_LIST = 0x10
    LOW_PC = 0x11
    HIGH_PC = 0x12
    CONST_VALUE = 0x1C
    ABSTRACT_ORIGIN = 0x31
    DECL_LINE = 0x3B
    FRAME_BASE = 0x40
    STR_OFFSETS_BASE = 0x72
    ADDR_BASE = 0x73
    LOCLISTS_BASE = 0x8C


class Form(IntEnum):
    """``DW_FORM_*``: how the value of an attribute is encoded."""

    ADDR = 0x01
    BLOCK2 = 0x03
    BLOCK4 = 0x04
    DATA2 = 0x05
    DATA4 = 0x06
    DATA8 = 0x07
    STRING = 0x08
    BLOCK = 0x09
    BLOCK1 = 0x0A
    DATA1 = 0x0B
    FLAG = 0x0C
    SDATA = 0x0D
    STRP = 0x0E
    UDATA = 0x0F
    REF_ADDR = 0x10
    REF1 = 0x11
    REF2 = 0x12
    REF4 = 0x13
    REF8 = 0x14
    REF_UDATA = 0x15
    SEC_OFFSET = 0x17
    EXPRLOC = 0x18
    FLAG_PRESENT = 0x19
    STRX = 0x1A
    ADDRX = 0x1B
    REF_SUP4 = 0x1C
    STRP_SUP = 0x1D
    DATA16 = 0x1E
    LINE_STRP = 0x1F
    REF_SIG8 = 0x20
    IMPLICIT_CONST = 0x21
    LOCLISTX = 0x22
    RNGLISTX = 0x23
    REF_SUP8 = 0x24
    STRX1 = 0x25
    STRX2 = 0x26
    STRX3 = 0x27
    STRX4 = 0x28
    ADDRX1 = 0x29
    ADDRX2 = 0x2A
    ADDRX3 = 0x2B
    ADDRX4 = 0x2C


class Op(IntEnum):
    """``DW_OP_*``: operations of an expression."""

    DEREF = 0x06
    CONST1U = 0x08
    CONST1S = 0x09
    CONST2U = 0x0A
    CONST2S = 0x0B
    CONST4U = 0x0C
    CONST4S = 0x0D
    CONST8U = 0x0E
    CONST8S = 0x0F
    CONSTU = 0x10
    CONSTS = 0x11
    AND = 0x1A
    MINUS = 0x1C
    MUL = 0x1E
    OR = 0x21
    PLUS = 0x22
    PLUS_UCONST = 0x23
    SHL = 0x24
    SHR = 0x25
    XOR = 0x27
    LIT0 = 0x30
    LIT31 = 0x4F
    REG0 = 0x50
    REG6 = 0x56
    REG31 = 0x6F
    BREG0 = 0x70
    BREG31 = 0x8F
    REGX = 0x90
    FBREG = 0x91
    BREGX = 0x92
    DEREF_SIZE = 0x94
    CALL_FRAME_CFA = 0x9C
    STACK_VALUE = 0x9F


class LocationListEntry(IntEnum):
    """``DW_LLE_*``: entries of a location list of DWARF 5."""

    END_OF_LIST = 0x00
    BASE_ADDRESSX = 0x01
    STARTX_ENDX = 0x02
    STARTX_LENGTH = 0x03
    OFFSET_PAIR = 0x04
    DEFAULT_LOCATION = 0x05
    BASE_ADDRESS = 0x06
    START_END = 0x07
    START_LENGTH = 0x08


class LineOpcode(IntEnum):
    """``DW_LNS_*``: standard opcodes of a line number program; 0 introduces an extended one."""

    EXTENDED = 0x00
    COPY = 0x01
    ADVANCE_PC = 0x02
    ADVANCE_LINE = 0x03
    CONST_ADD_PC = 0x08
    FIXED_ADVANCE_PC = 0x09


class ExtendedLineOpcode(IntEnum):
    """``DW_LNE_*``: extended opcodes of a line number program."""

    END_SEQUENCE = 0x01
    SET_ADDRESS = 0x02
    SET_DISCRIMINATOR = 0x04

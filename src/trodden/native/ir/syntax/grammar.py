"""The grammar of LLVM IR as LLVM prints it: every token and every pattern, once, named after the LangRef.

The printed form is regular.  An instruction is on one line that begins with two spaces; only ``switch``,
``invoke``, ``callbr`` and ``landingpad`` continue on further lines, which begin with four spaces or more, or
with the bracket that closes the list of cases.  Debug records are on lines of their own.  A string ends at
the next quotation mark, since LLVM writes one inside a string as ``\\22``.

Names are captured as they are printed, quotation marks included and without their prefix (``%``, ``@``).
"""

from __future__ import annotations

import re

STRING = r'"[^"]*"'
NAME = rf"(?:{STRING}|[-\w$.]+)"
"""What follows the prefix of an identifier, and precedes the colon of a label."""
LOCAL_IDENTIFIER = rf"%{NAME}"
INTEGER = r"-?\d+"
_KIND = r"[-\w$.\\]+"
"""The name of a kind of metadata."""
_OPENING, _CLOSING = r"[(\[{<]", r"[)\]}>]"

# Lexical structure.
BRACKET = re.compile(rf"{STRING}|{_OPENING}|{_CLOSING}")
BRACKET_OR_COMMA = re.compile(rf"{STRING}|{_OPENING}|{_CLOSING}|,")
BRACKET_OR_TO = re.compile(rf"{STRING}|{_OPENING}|{_CLOSING}| to ")
WORD = re.compile(rf'(?:{STRING}|[^\s()"])+')
ESCAPE = re.compile(rb"\\(?:([0-9A-Fa-f]{2})|\\)")
UNQUOTED_NAME = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*")
"""A name that needs no quotation marks, and is not taken for the number of an unnamed value."""
LOCAL_NAME = re.compile(rf"%({NAME})")
GLOBAL_NAME = re.compile(rf"@({NAME})")
LOCAL_USE = re.compile(rf"{STRING}|%({NAME})")
"""A local identifier outside strings."""

# Types.
SIMPLE_TYPE = re.compile(
    r"(?:ptr(?: addrspace\([^)]*\))?|i\d+|half|bfloat|float|double|x86_fp80|fp128|ppc_fp128|x86_amx"
    rf"|void|label|token|metadata|{LOCAL_IDENTIFIER})(?![-\w$.])"
)
VECTOR_TYPE = re.compile(r"<((?:vscale x )?\d+) x (.*)>", re.DOTALL)
ARRAY_TYPE = re.compile(r"\[\d+ x (.*)\]", re.DOTALL)
TYPE_DEFINITION = re.compile(rf"^%({NAME}) = type ", re.MULTILINE)

# Values.
VALUE = re.compile(rf'[%@]{NAME}|c?{STRING}|[^\s,()\[\]{{}}<>"]+')
"""A value that is one token, or the first word of a constant expression."""

_SIMPLE_VALUE = rf"([%@]{NAME}|{INTEGER}|null|true|false)"
TYPED_VALUE = re.compile(rf"({SIMPLE_TYPE.pattern}) {_SIMPLE_VALUE}(?=$|,)")
"""An operand of the simplest and most frequent form."""

# Instructions.
INSTRUCTION = re.compile(
    rf"^  (?:%({NAME}) = )?(?:(tail|musttail|notail) )?(\w+)[^\n]*(?:\n(?:    (?!#)|  \])[^\n]*)*",
    re.MULTILINE,
)
"""Result, tail marker and opcode; what matches is all lines of the instruction."""
CALL = re.compile(rf"^  (?:%({NAME}) = )?(?:(tail|musttail|notail) )?(call) [^\n]*", re.MULTILINE)
"""The same for calls that do not end their block."""
DEFINITION = re.compile(rf"  %(?<=^  %)({NAME}) = ", re.MULTILINE)
"""It begins with plain text, and the start of the line is checked afterwards, so that it is found quickly."""
LABEL_LINE = re.compile(rf"({NAME}):")
FIRST_OPCODE = re.compile(rf"  (?:%{NAME} = )?(\w+)")
HEAD_INSTRUCTION = re.compile(rf"  (?:%{NAME} = )?(?:phi|landingpad|catchpad|cleanuppad)\b")
"""A phi or an exception pad, before which nothing can be inserted."""
_INFORMING = (
    r"annotation|assume|codeview|dbg|donothing|experimental\.noalias|fake\.use|invariant|lifetime|pseudoprobe"
    r"|ptr\.annotation|sideeffect|var\.annotation"
)
SILENT_LINE = re.compile(
    rf"\n  (?:%{NAME} = (?:phi|landingpad|catchpad|cleanuppad)\b"
    rf"|(?:%{NAME} = )?(?:\w+ )?call [^\n\"@]* @llvm\.(?:{_INFORMING})[.(])"
)
"""Where an instruction begins that no machine executes: a phi, an exception pad, a hint for the compiler."""
SUCCESSOR = re.compile(rf"label %({NAME})")
ATTACHMENT = re.compile(rf", !({_KIND}) !(\d+)")
ATTACHMENTS = re.compile(rf"(?:, !{_KIND} !\d+)+$")
ATTACHMENT_OR_STRING = re.compile(rf"{STRING}|, !({_KIND}) !\d+")
_FLAGS = "(?:(?:nuw|nsw|exact|disjoint|samesign|nnan|ninf|nsz|arcp|contract|afn|reassoc|fast) )*"
PREDICATE = re.compile(rf"{_FLAGS}(\w+)")
"""The predicate of a comparison, after its opcode."""
SIMPLE_PAIR = re.compile(
    rf"{_FLAGS}(?:(?:[ous]?[gl][te]|[ou]?eq|[ou]?ne|ord|uno) )?"
    rf"({SIMPLE_TYPE.pattern}) {_SIMPLE_VALUE}, {_SIMPLE_VALUE}(?=$|,)"
)
"""What follows the opcode of a binary operation or comparison, in its simplest and most frequent form."""
PHI_INCOMING_END = re.compile(rf"{STRING}|, %({NAME}) \]")
SWITCH_CASE = re.compile(rf"^    (i\d+) ({INTEGER}|true|false), label %({NAME})$", re.MULTILINE)
LANDINGPAD_CLAUSE = re.compile(r"^          (catch|filter) ([^\n]*)$", re.MULTILINE)
DIRECT_CALLEE = re.compile(rf'[^"@]* @({NAME})\(')
"""The callee of a direct call, in what follows the opcode: nothing before it contains a global identifier."""
INLINE_ASSEMBLY = re.compile(rf"asm (?:\w+ )*({STRING}), ({STRING})")

NAME_GOES_ON = re.compile(r"[-\w$.]")
"""A character of an unquoted name: a shorter name does not end before it."""
LINE_OR_USE = re.compile(
    rf"^(?P<record>    #dbg_.*)|^(?P<phi>  %{NAME} = phi .*)|{STRING}|%(?P<name>{NAME})", re.MULTILINE
)
"""The line of a debug record or of a phi, or a local identifier in another line."""

# Functions and modules.
FUNCTION_NAME = re.compile(rf"@({NAME})\(")
UNNAMED_PARAMETER = re.compile(r" %\d+$")
FUNCTION_ATTRIBUTES = re.compile(r"(?: local_unnamed_addr| unnamed_addr)?(?: addrspace\(\d+\))? #(\d+)")
COMDAT = re.compile(rf" comdat(?:\(\$({NAME})\))?")
PERSONALITY = re.compile(rf" personality ptr @({NAME})")
EPILOGUE = re.compile(r"^(?:attributes #|!)", re.MULTILINE)
ATTRIBUTE_GROUP_DEFINITION = re.compile(r"^attributes #(\d+) = \{ (.*) \}$", re.MULTILINE)
STRING_ATTRIBUTE = re.compile(rf"{STRING}(?:={STRING})?")
FUNCTION_HEADER = re.compile(rf"^(?:declare|define) [^\n]*?@{NAME}\([^\n]*$", re.MULTILINE)
FUNCTION_SYMBOL = re.compile(rf"^(?:declare|define) [^\n]*?@({NAME})\(", re.MULTILINE)
_POINTER = rf"ptr (?:addrspace\(\d+\) )?@({NAME})"
ALIAS = re.compile(
    rf"^@({NAME}) = ((?:[\w()]+ )*?)alias [^\n]*, {_POINTER}(?:, partition {STRING})?$", re.MULTILINE
)
CONSTRUCTORS = re.compile(r"^@llvm\.global_[cd]tors = ([^\n]*)$", re.MULTILINE)
CONSTRUCTOR_ENTRY = re.compile(rf"\{{ i32 \d+, {_POINTER}, ")
CHARACTER_ARRAY = re.compile(rf"\bc{STRING}")
ADDRESS_TAKEN = re.compile(rf"@(?<!blockaddress\(@)({NAME})(?![\w$.\"(-])")
"""A global identifier that is not the callee of a call.  It too begins with plain text."""
TARGET_TRIPLE = re.compile(r'^target triple = "([^-"]+)', re.MULTILINE)
IFUNC_RESOLVER = re.compile(rf"^@.* ifunc .*, ptr @({NAME})", re.MULTILINE)

BRANCH_WEIGHTS = re.compile(
    rf'^!(\d+) = !\{{!"branch_weights", (!"expected", )?((?:i32 {INTEGER}(?:, )?)+)\}}$', re.MULTILINE
)

# Debug metadata.
DBG_ATTACHMENT = re.compile(r"!dbg !(\d+)")
SUBPROGRAM_ATTACHMENT = re.compile(r" !dbg !\d+")
FUNCTION_ATTACHMENTS = re.compile(rf"(?: !{_KIND} !\d+)* \{{$")
"""The end of the first line of a function: its metadata attachments, of any kind and in any order."""
DECLARED_SUBPROGRAM = re.compile(r"(?<=^declare) !dbg !\d+", re.MULTILINE)
DEBUG_ATTACHMENT = re.compile(rf", !(?:dbg|DIAssignID) !\d+(?=(?:, !{_KIND} !\d+)*$)", re.MULTILINE)
"""An attachment at the end of an instruction or a global that only debug information needs."""
DEBUG_RECORD_LINE = re.compile(r"^    #dbg[^\n]*\n", re.MULTILINE)
LOCATED_CALL = re.compile(r"call [^\n]*(, !dbg !\d+)")
"""The line of a call that has a location.  It begins with plain text, and so is found quickly."""
LOCATED_CALL_OR_INVOKE = re.compile(r"(?:call|to label) [^\n]*(, !dbg !\d+)")
CALL_LINE = re.compile(
    rf"^(?:  (?:%{NAME} = )?(?:(?:must|no)?tail )?call |          to label )[^\n]*", re.MULTILINE
)
"""The line of a call that has its attachments."""
DEBUG_NODE_LINE = re.compile(r"^!(\d+) = (?:distinct )?!DI[^\n]*\n", re.MULTILINE)
COMPILE_UNITS = re.compile(r"^!llvm\.dbg\.cu = [^\n]*\n", re.MULTILINE)
METADATA_REFERENCE = re.compile(r"!(\d+)")
USED_GLOBALS = re.compile(
    r"^@llvm\.used = appending global \[\d+ x ptr\] \[(.*)\], section \"llvm.metadata\"$", re.MULTILINE
)
METADATA_NODE = re.compile(r"!(?<=^!)(\d+) = ", re.MULTILINE)
DEBUG_NODE = re.compile(r"^!(\d+) = (?:distinct )?!DI(\w+)\((.*)\)$", re.MULTILINE)
DEBUG_LOCATION = re.compile(r"line: (\d+),(?: column: (\d+),)? scope: !(\d+)(?:, inlinedAt: !(\d+))?")
FILE_FIELD = re.compile(r"\bfile: !(\d+)")
SCOPE_FIELD = re.compile(r"\bscope: !(\d+)")
DISCRIMINATOR_FIELD = re.compile(r"\bdiscriminator: (\d+)$")
LINE_FIELD = re.compile(r"\bline: (\d+)")
NAME_FIELD = re.compile(rf"\bname: ({STRING})")
LINKAGE_NAME_FIELD = re.compile(rf"\blinkageName: ({STRING})")
FILENAME_FIELDS = re.compile(rf"filename: ({STRING})(?:, directory: ({STRING}))?")
SOURCE_WORD = re.compile(rb"\w+|\S")
"""What a location points at in a source file: this one is not about IR."""

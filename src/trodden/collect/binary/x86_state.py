"""The registers and the stack of a frame while x86-64 instructions are executed, as far as they are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from trodden.collect.binary.dwarf_expressions import Frame

if TYPE_CHECKING:
    import iced_x86

WORD = 8
_NUMBERS = {name: number for number, name in enumerate(("AX", "DX", "CX", "BX", "SI", "DI", "BP", "SP"))}
"""The numbers that DWARF gives to registers; from 8 on they are those of the processor."""


class State:
    """Registers, and the bytes of the stack that were stored; ``None`` for those of unknown value."""

    def __init__(self, frame: Frame) -> None:
        self.registers = dict(frame.registers)
        self._before = frame.memory
        self._stored: dict[int, int | None] = {}

    def read(self, address: int, size: int) -> bytes | None:
        """The content of memory, as a frame reads it."""
        places = range(address, address + size)
        if not any(place in self._stored for place in places):
            return self._before(address, size)
        parts = [self._byte(place) for place in places]
        known = [part for part in parts if part is not None]
        return b"".join(known) if len(known) == size else None

    def _byte(self, place: int) -> bytes | None:
        if place not in self._stored:
            return self._before(place, 1)
        value = self._stored[place]
        return None if value is None else bytes([value])

    def execute(self, each: iced_x86.Instruction) -> None:
        """Execute one instruction, or forget what it changes."""
        names = tables()
        compute = names.computed.get(each.mnemonic)
        if compute is None or each.op_count == 0:
            self.forget(each)
            return
        size = self.size_of(each, 0)
        first = 1 if each.mnemonic in names.moves or each.op_count == 3 else 0
        if each.mnemonic == names.address:
            values = [self.address_of(each, segment=False)]
        elif self._clears(each):
            values = [0, 0]
        else:
            values = [self.operand(each, number) for number in range(first, each.op_count)]
        known = [value for value in values if value is not None]
        if len(known) < len(values) or size is None:
            self.forget(each)
            return
        source = (
            8 * (self.size_of(each, 1) or WORD) if each.mnemonic in names.moves and each.op_count > 1 else 0
        )
        result = compute(known, 8 * size, source)
        if result is None:
            self.forget(each)
        else:
            self._store(each, result % (1 << 8 * size), size)

    def operand(self, each: iced_x86.Instruction, number: int) -> int | None:
        """The value of an operand, without its sign."""
        names, kind, size = tables(), each.op_kind(number), self.size_of(each, number)
        if kind == names.register:
            place = names.registers.get(each.op_register(number))
            value = None if place is None else self.registers.get(place[0])
            return None if value is None or place is None else value % (1 << 8 * place[1])
        if kind == names.memory:
            address = self.address_of(each, segment=True)
            data = self.read(address, size) if address is not None and size is not None else None
            return None if data is None else int.from_bytes(data, "little")
        if kind in names.immediates:
            return int(each.immediate(number)) % (1 << 8 * WORD)
        return None

    def _clears(self, each: iced_x86.Instruction) -> bool:
        names = tables()
        return (
            each.mnemonic in names.clearing
            and each.op_count == 2
            and each.op0_kind == each.op1_kind == names.register
            and each.op0_register == each.op1_register
        )

    def size_of(self, each: iced_x86.Instruction, number: int) -> int | None:
        """The bytes of an operand; None for one that is not an integer."""
        names = tables()
        if each.op_kind(number) == names.register:
            place = names.registers.get(each.op_register(number))
            return None if place is None else place[1]
        if each.op_kind(number) == names.memory:
            return names.sizes.get(each.memory_size)
        return WORD

    def address_of(self, each: iced_x86.Instruction, segment: bool) -> int | None:
        """Where a memory operand lies; that of another thread-local variable is not known."""
        names = tables()
        if segment and each.segment_prefix != names.no_register:
            return None
        found = each.memory_displacement
        for register, scale in ((each.memory_base, 1), (each.memory_index, each.memory_index_scale)):
            if register == names.instruction_pointer:
                continue  # the displacement is the address
            if register != names.no_register:
                place = names.registers.get(register)
                value = None if place is None or place[1] != WORD else self.registers.get(place[0])
                if value is None:
                    return None
                found += value * scale
        return int(found) % (1 << 8 * WORD)

    def _store(self, each: iced_x86.Instruction, value: int, size: int) -> None:
        names = tables()
        if each.op0_kind == names.register:
            number, _ = names.registers[each.op0_register]
            if size < 4:
                before = self.registers.get(number)
                if before is None:
                    return
                value |= before >> 8 * size << 8 * size
            self.registers[number] = value
            return
        address = self.address_of(each, segment=True)
        if address is not None:
            data = value.to_bytes(size, "little")
            self._stored.update({address + offset: byte for offset, byte in enumerate(data)})

    def forget(self, each: iced_x86.Instruction) -> None:
        """Forget the registers and the bytes of the stack that an instruction writes."""
        names = tables()
        info = names.info.info(each)
        for used in info.used_registers():
            if used.access in names.written:
                self.registers.pop(names.full.get(used.register, -1), None)
        if any(used.access in names.written for used in info.used_memory()):
            address, size = self.address_of(each, segment=True), names.sizes.get(each.memory_size, 4 * WORD)
            if address is not None:
                self._stored.update(dict.fromkeys(range(address, address + size)))


_Compute = Callable[[Sequence[int], int, int], "int | None"]
"""A result, from the operands, the bits of the destination and those of the source."""


def _signed(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >> (bits - 1) else value


def _shifted(values: Sequence[int], bits: int) -> int:
    return values[1] % (64 if bits == 64 else 32)


class _Tables:
    """The enumerations of iced-x86 by what matters here."""

    def __init__(self) -> None:
        from iced_x86 import (
            InstructionInfoFactory,
            MemorySize,
            MemorySizeExt,
            Mnemonic,
            OpAccess,
            OpKind,
            Register,
        )

        self.info = InstructionInfoFactory()
        self.written = frozenset(
            {OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}
        )
        self.register, self.memory = OpKind.REGISTER, OpKind.MEMORY
        self.no_register, self.instruction_pointer = Register.NONE, Register.RIP
        self.immediates = frozenset(
            getattr(OpKind, f"IMMEDIATE{name}")
            for name in ("8", "16", "32", "64", "8TO16", "8TO32", "8TO64", "32TO64")
        )
        self.address, self.increment, self.move = Mnemonic.LEA, Mnemonic.INC, Mnemonic.MOV
        self.add, self.subtract = Mnemonic.ADD, Mnemonic.SUB
        self.clearing = frozenset({Mnemonic.XOR, Mnemonic.SUB})
        self.moves = frozenset({Mnemonic.MOV, Mnemonic.MOVZX, Mnemonic.MOVSX, Mnemonic.MOVSXD, Mnemonic.LEA})
        sizes = (getattr(MemorySize, f"{sign}INT{bits}") for sign in ("U", "") for bits in (8, 16, 32, 64))
        self.sizes: dict[int, int] = {size: MemorySizeExt.size(size) for size in sizes}
        self.words = frozenset(size for size, number in self.sizes.items() if number == WORD)
        self.registers: dict[int, tuple[int, int]] = {}
        for name, number in _NUMBERS.items():
            low = f"{name[0]}L" if name.endswith("X") else f"{name}L"
            names = (f"R{name}", 8), (f"E{name}", 4), (name, 2), (low, 1)
            self.registers |= {getattr(Register, each): (number, size) for each, size in names}
        for number in range(8, 16):
            names = ("", 8), ("D", 4), ("W", 2), ("L", 1)
            self.registers |= {getattr(Register, f"R{number}{end}"): (number, size) for end, size in names}
        self.full = {register: number for register, (number, _) in self.registers.items()}
        self.full |= {getattr(Register, f"{name[0]}H"): _NUMBERS[name] for name in ("AX", "BX", "CX", "DX")}
        self.inverses: dict[int, Callable[[int, int], int]] = {
            Mnemonic.ADD: lambda result, amount: result - amount,
            Mnemonic.SUB: lambda result, amount: result + amount,
            Mnemonic.XOR: lambda result, amount: result ^ amount,
            Mnemonic.INC: lambda result, amount: result - 1,
            Mnemonic.DEC: lambda result, amount: result + 1,
            Mnemonic.NEG: lambda result, amount: -result,
            Mnemonic.NOT: lambda result, amount: ~result,
        }
        self.computed: dict[int, _Compute] = {
            Mnemonic.MOV: lambda values, bits, source: values[0],
            Mnemonic.MOVZX: lambda values, bits, source: values[0],
            Mnemonic.MOVSX: lambda values, bits, source: _signed(values[0], source),
            Mnemonic.MOVSXD: lambda values, bits, source: _signed(values[0], source),
            Mnemonic.LEA: lambda values, bits, source: values[0],
            Mnemonic.ADD: lambda values, bits, source: values[0] + values[1],
            Mnemonic.SUB: lambda values, bits, source: values[0] - values[1],
            Mnemonic.AND: lambda values, bits, source: values[0] & values[1],
            Mnemonic.OR: lambda values, bits, source: values[0] | values[1],
            Mnemonic.XOR: lambda values, bits, source: values[0] ^ values[1],
            Mnemonic.INC: lambda values, bits, source: values[0] + 1,
            Mnemonic.DEC: lambda values, bits, source: values[0] - 1,
            Mnemonic.NEG: lambda values, bits, source: -values[0],
            Mnemonic.NOT: lambda values, bits, source: ~values[0],
            Mnemonic.SHL: lambda values, bits, source: values[0] << _shifted(values, bits),
            Mnemonic.SHR: lambda values, bits, source: values[0] >> _shifted(values, bits),
            Mnemonic.SAR: lambda values, bits, source: _signed(values[0], bits) >> _shifted(values, bits),
            Mnemonic.IMUL: lambda values, bits, source: values[0] * values[1] if len(values) == 2 else None,
        }


@cache
def tables() -> _Tables:
    """The tables, which are built when the first instruction is executed."""
    return _Tables()

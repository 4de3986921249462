"""The Unix commands of WL94's Table 8 that still exist, each on one large input."""

from __future__ import annotations

from bench.suite.inputs import edits
from bench.suite.inputs import unix as unix_inputs
from bench.suite.model import Case, SuiteProgram
from bench.suite.packages import command
from bench.suite.workloads import unix_workload


def _command(name: str, about: str, train: Case, ref: Case, long: Case) -> SuiteProgram:
    return SuiteProgram(
        name=name,
        about=about,
        source=command(name),
        workload=unix_workload(name),
        train=train,
        ref=ref,
        long=long,
    )


_GREP_TRAIN = (
    *("-n", "-e", "^static .*(struct", "-e", r"[0-9]\{3\}", "-e", r"\([a-z][a-z]\)\1"),
    *("-f", "@patterns", "@text"),
)
_GREP_REF = (
    *("-E", "-n", "-b", "-e", "^[A-Z][a-z]+ [a-z]{2,4} [^,.]*[,;]", "-e", "(ERROR|WARNING).*(40[0-9]|500)"),
    *("-e", r"\b([a-z]{2,3})[a-z]* \1[a-z]*\b", "-e", "-[0-9]+[.][0-9]0,", "-f", "@patterns", "@text"),
)

_PARTS = tuple(f"part.a{letter}" for letter in "abcdef")

UNIX = (
    _command(
        "cmp",
        "lists all bytes in which two files differ",
        Case(
            ("-l", "@old", "@new"),
            unix_inputs.compared_train,
            "412ddddaeed9b48b799f37e7548a30383491f032b9dc61987bae031b8a566f87",
            status=1,
        ),
        Case(
            ("-l", "@old", "@new"),
            unix_inputs.compared(18, 30_000),
            "f99794cfc5d287836dc0734e76e8135c639b7371c8d9c54b66cdfbed6bc4db75",
            status=1,
        ),
        Case(
            ("-l", "@old", "@new"),
            unix_inputs.compared(40, 66_000),
            "74631b987114f5a9da7bf41e094b6a2bcfb5e50d8fd3902f45e14cc3885539ac",
            status=1,
        ),
    ),
    _command(
        "ed",
        "edits a text by a long script",
        Case(
            ("-s", "@text"),
            edits.train,
            "2865d25158a3c9529df133569aab2c2ecdd03f50f44a6f31ce863a06d76ad5a9",
            stdin="script",
            outputs=("edited",),
        ),
        Case(
            ("-s", "@text"),
            edits.revised(700),
            "061ee2ba4c325d3e1b2787a77bb2a7e1a916fb488b3251ac8e3d042cd6a5a484",
            stdin="script",
            outputs=("edited",),
        ),
        Case(
            ("-s", "@text"),
            edits.revised(6_000),
            "c7dd0f7d066a28097055e5d85dce6ee2d7379cb4394f64c86cf486cbf89d1bf1",
            stdin="script",
            outputs=("edited",),
        ),
    ),
    _command(
        "grep",
        "searches a text for many patterns",
        Case(
            _GREP_TRAIN,
            unix_inputs.searched_train,
            "5c05dfe14de2c39ac580ad8d3b2cae970c309c40cefd53a688728a3871e4d6be",
        ),
        Case(
            _GREP_REF,
            unix_inputs.searched(1),
            "91e6f24cf7c34b59aec559169cc783b69f4fa865afd44b5b2809aedd410d845c",
        ),
        Case(
            _GREP_REF,
            unix_inputs.searched(18),
            "74af270b82eb51f9f47c10dda66f83ae6b8756a917d4c74e8d90baec943d943b",
        ),
    ),
    _command(
        "factor",
        "factors numbers into primes",
        Case(
            (),
            unix_inputs.numbers_train,
            "687eea27b16302ae96097a60091374ef60daaf56a24c80de1d83f5c177c43ce7",
            stdin="numbers",
        ),
        Case(
            (),
            unix_inputs.numbers(1),
            "fa43ae338b195073fdbd17cbf3dc79f6b01480fd22e9a6fdaf61cd2523abc076",
            stdin="numbers",
        ),
        Case(
            (),
            unix_inputs.numbers(11),
            "e0ba7dcb850f27c91ed1756ef94385fcbb6cb21772e096689420cf16e2023185",
            stdin="numbers",
        ),
    ),
    _command(
        "split",
        "splits a file into pieces of equally many lines",
        Case(
            ("-l", "150000", "@lines", "part."),
            unix_inputs.short_lines_train,
            "a59467fe15c7625e8f37e07ac4a32d29af76b04b6a9cbc1cbcc2ae7ead417b1b",
            outputs=_PARTS,
        ),
        Case(
            ("-l", "700000", "@lines", "part."),
            unix_inputs.short_lines(1),
            "6d526d9eb46902568915844f978869efa5dddc1070c89273a058714b3e7b1e58",
            outputs=_PARTS,
        ),
        Case(
            ("-l", "3500000", "@lines", "part."),
            unix_inputs.short_lines(5),
            "795ea8d9bb3010d636363ecc0072ab0066f5be5d001753d0dfd148646a4937c6",
            outputs=_PARTS,
        ),
    ),
    _command(
        "sum",
        "computes checksums of files",
        Case(
            ("@text", "@bytes"),
            unix_inputs.summed_train,
            "9142a8c2d9930ab5b6e4df4bea08cafc6d52525314f3851a13c45551662e20f9",
        ),
        Case(
            ("@text", "@bytes"),
            unix_inputs.summed_ref,
            "ecfbad3373f17bf52540211a2f7f66f404be0c7bcfa3bf1036159d8d42b90cfa",
        ),
        Case(
            ("@text", "@bytes") * 16,
            unix_inputs.summed_ref,
            "0c31c446ad1d83b086f24543c9dd3180bcc66ff80bb1ab5ad4cd122c91dd228f",
        ),
    ),
    _command(
        "tsort",
        "sorts a partial order topologically",
        Case(
            ("@pairs",),
            unix_inputs.order_train,
            "0ae9e29bca68689c59c7eff23bcb23ebc44409b47296532f318d7728d487e9c0",
        ),
        Case(
            ("@pairs",),
            unix_inputs.order(24_000, 4),
            "41e73fcd1c69001ab21978bf0f5f5b4302acd28250bc29d4255e0cd54281c25c",
        ),
        Case(
            ("@pairs",),
            unix_inputs.order(50_000, 16),
            "5b0b1fd31fcb18f2050c92cb904d15f7d8821566a00a4e6ce3211d9c01eed077",
        ),
    ),
    _command(
        "uniq",
        "counts repeated lines",
        Case(
            ("-c", "@lines"),
            unix_inputs.repeated_train,
            "249b0bd2abca119797c2fb400c37eab22ff8ec743e0671ce0eeae333e36613e5",
        ),
        Case(
            ("-c", "@lines"),
            unix_inputs.repeated(600_000, 1),
            "ae0ed7a637bed81adfef9c827191a010a6aae22ff002ed5561f8f8f987d558b1",
        ),
        Case(
            ("-c", "@lines"),
            unix_inputs.repeated(600_000, 18),
            "e925bee4f51d7385e1d271cb964b74909d012483ee083a717a5b9def58b32101",
        ),
    ),
    _command(
        "wc",
        "counts lines, words, characters and the longest line",
        Case(
            ("-l", "-w", "-m", "-L", "@code", "@table"),
            unix_inputs.counted_train,
            "54f2ad6445184a04cd55c520043343e870c884a580b557e111479778bf52e23b",
        ),
        Case(
            ("-l", "-w", "-m", "-L", "@prose", "@log"),
            unix_inputs.counted_ref,
            "443ad993cf0a271c47bf704aed5d3fa86d583f67759a3b415e92a22f91148fa9",
        ),
        Case(
            ("-l", "-w", "-m", "-L", *("@prose", "@log") * 20),
            unix_inputs.counted_ref,
            "e0abb96661fba8c7d9ed3ffb7ec305f1b5cc4b364d89867670625930e7b1ae7a",
        ),
    ),
)

"""Builds: a C or C++ compiler's command line, carried out with the options that a user has chosen."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from trodden.config_file import configured
from trodden.native.driver.build import Builder
from trodden.native.driver.command_line import expand, parse
from trodden.native.driver.toolchain import find_toolchain
from trodden.native.options.declarations import ESTIMATE, NESTING, Options
from trodden.native.options.given import Given, choose, compiler_flags


def builder(words: Sequence[str], cxx: bool, flags: Iterable[Given] = ()) -> Builder:
    """The builder for a compiler's command line.

    ``flags`` are options from elsewhere; those among the words (``--trodden-NAME=VALUE``) override them.
    """
    line = parse(expand(words), cxx)
    options = choose([*flags, *compiler_flags(line.own)], os.environ, configured())
    return Builder(find_toolchain(options.toolchain), with_weights(options), line, cxx)


def with_weights(options: Options) -> Options:
    """The options with the weights that the profile they name has measured, if they name one."""
    if options.weights in (ESTIMATE, NESTING):
        return options
    from trodden.api.weights import measured_by

    return measured_by(options.weights, options)

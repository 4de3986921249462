"""What shells complete for the verbs that click does not parse."""

from __future__ import annotations

import click

VARIABLE = "_TRODDEN_COMPLETE"
"""Set by the shell when it asks for completions."""


def completed_as(verb: str, short_help: str) -> click.Command:
    """A verb that takes another program's arguments, with its own options as click would have them."""
    from trodden.commands.usage import usage_of
    from trodden.native.options.declarations import OPTIONS
    from trodden.native.options.option import FLAG_PREFIX

    params: list[click.Parameter] = [click.Argument(["words"], nargs=-1, type=click.Path())]
    for term, meaning in usage_of(verb).rows:
        for flag in term.split(" / "):
            name, _, value = flag.replace("=", " ").partition(" ")
            option = OPTIONS.get(name.removeprefix(FLAG_PREFIX).removeprefix("--"))
            choices = () if option is None else option.choices(verb)
            kind = click.Choice(choices) if choices else click.Path()
            params.append(click.Option([name], is_flag=not value, type=kind if value else None, help=meaning))
    return click.Command(verb, params=params, short_help=short_help)

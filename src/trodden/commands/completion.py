"""``trodden completion``: what a shell needs to complete command lines, and the options of all verbs."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_TRODDEN_COMPLETE"
"""Set by the shell when it asks for completions."""


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script for SHELL: bash, zsh or fish.

    To complete in every new shell, add one of these lines to its start file:

    \b
    eval "$(trodden completion bash)"            # ~/.bashrc
    eval "$(trodden completion zsh)"             # ~/.zshrc
    trodden completion fish | source             # ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from trodden.commands.verbs import trodden

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(trodden, {}, "trodden", VARIABLE).source())


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

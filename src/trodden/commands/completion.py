"""``trodden completion``: what a shell needs to complete command lines, and the options of all verbs."""

from __future__ import annotations

import click

from trodden.commands.completed_words import VARIABLE

SHELLS = ("bash", "zsh", "fish")


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

"""`completion`: what a shell needs to complete the command line."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from geode_traj.cli.output import say


@click.command()
@click.argument("shell", type=click.Choice(["bash", "fish", "zsh"]))
@click.pass_context
def command(context: click.Context, shell: str) -> int:
    r"""Print a script that completes commands and options in your shell.

    \b
    bash: geode-traj completion bash > ~/.local/share/bash-completion/completions/geode-traj
    zsh:  geode-traj completion zsh > "${fpath[1]}/_geode-traj"
    fish: geode-traj completion fish > ~/.config/fish/completions/geode-traj.fish
    """
    completion = get_completion_class(shell)
    if completion is None:
        raise RuntimeError(f"click knows no {shell}")
    command = context.find_root().command
    for line in completion(command, {}, "geode-traj", "_GEODE_TRAJ_COMPLETE").source().split("\n"):
        say(line)
    return 0

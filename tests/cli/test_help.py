from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from geode_traj.cli import looking
from geode_traj.cli.main import root
from geode_traj.scan import engines
from tests.support.transcripts import call, exits, transcripts

# What any verb may exit with: the page of the root command names these.
GENERAL = {0, 2, 11}


def verbs(group: click.Group, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*above, name)
        if isinstance(command, click.Group):
            yield from verbs(command, (*above, name))


VERBS = list(verbs(root))


def help_of(verb: tuple[str, ...]) -> str:
    stdout, stderr, code = call([*verb, "--help"])
    assert (stderr, code) == (b"", 0)
    return " ".join(stdout.decode().split())


@pytest.mark.parametrize("verb", [(), *VERBS], ids=" ".join)
def test_every_verb_explains_itself(verb: tuple[str, ...]) -> None:
    text = help_of(verb)
    assert text.startswith(" ".join(("Usage: geode-traj", *verb)))
    assert "-h, --help" in text


def test_the_root_page_lists_every_exit_code() -> None:
    named = set(re.findall(r"\b\d+\b", help_of(()).partition("Exit codes:")[2]))
    assert named >= {"0", "1", "2", "3", "4", "5", "6", "10", "11", "12", "70", "130"}


def test_a_verbs_page_names_the_exit_codes_it_has_in_the_transcripts() -> None:
    seen: dict[tuple[str, ...], set[int]] = {}
    for path in transcripts():
        for words, code in exits(path.read_text("utf-8")):
            verb = next((verb for verb in VERBS if tuple(words[: len(verb)]) == verb), None)
            for longer in VERBS:
                if verb and len(longer) > len(verb) and tuple(words[: len(longer)]) == longer:
                    verb = longer
            if verb:
                seen.setdefault(verb, set()).add(code)
    missing = {
        " ".join(verb): sorted(unnamed)
        for verb, codes in seen.items()
        if (
            unnamed := codes
            - GENERAL
            - set(map(int, re.findall(r"\d+", help_of(verb).partition("Exit:")[2])))
        )
    }
    assert len(seen) > 10
    assert missing == {}


def test_every_engine_can_be_asked() -> None:
    assert [name.replace("-", "_") for name in looking._ENGINES] == list(engines.NAMES)

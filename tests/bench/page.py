"""The page that `compare_readings` makes: a table of cases, then every kind of difference with its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tests.bench.compare_readings import Case, Difference

_SHOWN: Final = 3
_HEAD: Final = """# Readings

Two projects that read the same transcript need not say the same of it. The project
[letta-ai/trajectory](https://github.com/letta-ai/trajectory) (Apache-2.0) publishes small transcripts
of a dozen agents, each with its own normalised reading. This page holds ours against it: messages by role
and text, calls by name, arguments and id, results by text, error flag and the call they answer, times,
models, usage, sub-agents, counts. The other reading is a second opinion, not a truth; where the two differ,
the reason for ours stands below.

This page is generated, from that project's files as of 2026-11. To make it again:

    git clone https://github.com/letta-ai/trajectory
    scripts/compare-readings trajectory/fixtures --write

The command fails where a difference has no reason, and where a reason has no difference any more. Cases of
agents whose files this project does not read are listed, not compared.

"""
_TABLE: Final = """## Cases

Numbers are ours; where the other reading has another one, it follows after a slash. *Same* counts messages,
calls and results that agree in everything.

| case | read as | messages | thoughts | calls | results | damaged | same | differs in |
|---|---|---:|---:|---:|---:|---:|---:|---|
"""


def written(found: Sequence[Case], unread: Sequence[str], reasons: Mapping[str, tuple[str, str]]) -> str:
    """Return the page for these cases; `unread` names those that no format of ours knows."""
    said = sum(len(case.ours.said) for case in found)
    same = sum(case.same for case in found)
    differ = sum(bool(case.differences) for case in found)
    told = (
        f"{len(found)} transcripts hold {said} messages, thoughts, calls and results; {same} of them are the"
        f" same in both readings in everything.\n{differ} transcripts differ somewhere.\n\n"
    )
    kinds = {
        kind: [(case.name, one) for case in found for one in case.differences if one.kind == kind]
        for kind in reasons
    }
    parts = [_HEAD, told, _TABLE, *map(_row, found)]
    if unread:
        parts.append(f"\nNot read here: {', '.join(unread)}.\n")
    parts.append("\n## Differences\n")
    for kind, met in kinds.items():
        if met:
            parts.append(_section(kind, *reasons[kind], met))
    return "".join(parts)


def _row(case: Case) -> str:
    counts = [
        _both(*(len(reading.of(*sorts)) for reading in (case.ours, case.theirs)))
        for sorts in (("user", "assistant"), ("reasoning",), ("call",), ("result",))
    ]
    counts.append(_both(case.ours.damaged, case.theirs.damaged))
    kinds = dict.fromkeys(one.kind for one in case.differences)
    links = ", ".join(f"[{kind}](#{kind})" for kind in kinds)
    return f"| {case.name} | `{case.ours.source}` | {' | '.join(counts)} | {case.same} | {links} |\n"


def _both(ours: int, theirs: int) -> str:
    return str(ours) if ours == theirs else f"{ours} / {theirs}"


def _section(kind: str, title: str, reason: str, met: list[tuple[str, Difference]]) -> str:
    lines = [f"\n### {kind}\n\n**{title}.** {reason}\n\n"]
    lines += [f"- {case}: {_told(one)}\n" for case, one in met[:_SHOWN]]
    if len(met) > _SHOWN:
        lines.append(f"- and {len(met) - _SHOWN} more\n")
    return "".join(lines)


def _told(one: Difference) -> str:
    return "; ".join(
        f"{whose} {text}" for whose, text in (("ours", one.ours), ("theirs", one.theirs)) if text
    )

"""The measurements as Markdown tables, as JSON, and as a list of what our scanner misses."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.bench.secrets.measure import Grounds, Own, Row
from tests.bench.secrets.score import MB, Found, Score
from tests.bench.table import machine

_HEAD = (
    *("tool", "in clear %", "credentials %", "personal %", "whole %", "kept apart %", "false/10 MB"),
    *(
        "in clean text",
        "in public code",
        "encoded %",
        "encoded, whole %",
        "MB/s a core",
        "examples: found / false %",
    ),
)
_SLOWEST = 6


def text(given: Grounds, rows: list[Row], own: Own) -> str:
    """Return what was measured for people."""
    plants = Counter(bool(plant.form) for plant in given.planted.plants)
    kinds = len({plant.kind for plant in given.planted.plants})
    forms = len({plant.form for plant in given.planted.plants if plant.form})
    size = len(given.planted.data) / MB
    slow = sorted(own.hostile.items(), key=lambda item: -item[1])[:_SLOWEST]
    lines = [
        f"{machine()}; {size:.1f} MB with {plants[False]} secrets of {kinds} kinds in clear and"
        f" {plants[True]} in {forms} encodings; {len(given.clean.data) / MB:.1f} MB of clean text,"
        f" {len(given.code.data) / MB:.1f} MB of public code",
        "",
        *_markdown([_HEAD, *(_cells(row, given) for row in rows)]),
        "",
        *(f"- {row.tool} {row.version} is absent: {row.absent}" for row in rows if row.absent),
        *(f"- examples of {name} are absent: {reason}" for name, reason in given.missing.items()),
    ]
    if given.sets:
        lines += ["", *_examples(given, rows)]
    hostile = ", ".join(f"{name} {took:.0f} ms" for name, took in slow)
    lines += [
        "",
        f"The filter of the import: {own.filter:.0f} MB/s a core, once it has built its automata"
        f" ({own.building:.0f} ms over the first events).",
        f"The slowest of {len(own.hostile)} hostile lines of 64 KB: {hostile}.",
    ]
    return "\n".join(lines)


def _name(row: Row) -> str:
    return f"{row.tool} {row.version}".strip()


def _cells(row: Row, given: Grounds) -> tuple[str, ...]:
    result = row.result
    if result is None:
        return (_name(row), *("absent",) * (len(_HEAD) - 1))
    alone = bool(row.version)
    found, false = row.pooled(given.sets) if alone else (0.0, 0.0)
    return (
        _name(row),
        f"{result.share():.1f}",
        f"{result.credentials():.1f}",
        f"{result.share('personal'):.1f}",
        f"{result.share(whole=True):.1f}",
        f"{row.held:.1f}" if alone else "",
        f"{result.false_rate:,.0f}",
        f"{row.clean:,.0f}" if alone else "",
        f"{row.code:,.0f}" if alone else "",
        f"{result.share(encoded=True):.1f}",
        f"{result.share(encoded=True, whole=True):.1f}",
        f"{row.speed:.2f}" if alone else "",
        f"{found:.0f} / {false:.0f}" if alone and given.sets else "",
    )


def _examples(given: Grounds, rows: list[Row]) -> list[str]:
    sets = given.sets
    head = (
        "examples: found / false %",
        *(f"{name} ({len(s.secret)} / {len(s.innocent)})" for name, s in sets.items()),
    )
    table = [head]
    for row in rows:
        if row.examples:
            shares = (row.examples[name] for name in sets)
            cells = (
                f"{found:.0f} / {false:.0f}" if one.innocent else f"{found:.0f}"
                for (found, false), one in zip(shares, sets.values(), strict=True)
            )
            table.append((_name(row), *cells))
    return _markdown(table)


def _markdown(table: list[tuple[str, ...]]) -> list[str]:
    head, *body = table
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in body]


def document(given: Grounds, rows: list[Row], own: Own) -> dict[str, Any]:
    """Return the same as one JSON object."""
    return {
        "machine": machine(),
        "planted_bytes": len(given.planted.data),
        "plants": len(given.planted.plants),
        "clean_bytes": len(given.clean.data),
        "code_bytes": len(given.code.data),
        "tools": [_object(row, given) for row in rows],
        "examples_absent": given.missing,
        "import_filter_mb_per_s": own.filter,
        "import_filter_building_ms": own.building,
        "hostile_ms": own.hostile,
    }


def _object(row: Row, given: Grounds) -> dict[str, Any]:
    head = {"tool": row.tool, "version": row.version}
    if row.result is None:
        return {**head, "absent": row.absent}
    return {
        **head,
        "found_percent": row.result.share(),
        "credentials_percent": row.result.credentials(),
        "personal_percent": row.result.share("personal"),
        "whole_percent": row.result.share(whole=True),
        "held_out_percent": row.held,
        "false_per_10_mb": row.result.false_rate,
        "false_per_10_mb_clean": row.clean,
        "credentials_per_10_mb_public_code": row.code,
        "encoded_percent": row.result.share(encoded=True),
        "encoded_whole_percent": row.result.share(encoded=True, whole=True),
        "mb_per_s": row.speed,
        "examples_percent": {
            name: {"found": found, "false": false} for name, (found, false) in row.examples.items()
        },
    }


def misses(result: Score, found: dict[str, list[Found]]) -> str:
    """Say what was missed, by kind and form, and what was falsely found, by rule; never a value."""
    lines = ["missed in clear (found/planted):"]
    for group in ("vendor", "structure", "personal"):
        for name, counts in sorted(result.by("kind", group).items()):
            lines += _missed(f"{group:<10} {name}", *counts)
    lines.append("missed encoded:")
    for name, counts in result.by("form").items():
        lines += _missed(name, *counts)
    for title, some in (
        ("falsely found among the plants:", result.false),
        ("found in clean text:", found["clean"]),
        ("found in public code:", found["code"]),
    ):
        lines.append(title)
        rules = Counter((one.rule, one.band) for one in some)
        for (rule, band), count in rules.most_common():
            at = [one.line for one in some if one.rule == rule][:6]
            lines.append(f"  {count:>4} {band:<6} {rule}; lines {at}")
    return "\n".join(lines)


def _missed(name: str, planted: int, met: int, whole: int) -> list[str]:
    if whole == planted:
        return []
    return [f"  {name:<36} {met}/{planted}" + (f", whole {whole}" if whole < met else "")]

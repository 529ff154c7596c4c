"""What tests of the ways out share: stores to export from, and what a trajectory says, told by kind."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from geode_traj.codec import schema
from geode_traj.export.ways.base import by_name
from geode_traj.jobs.exporting import Projection
from geode_traj.store import events, opening
from tests.migrate import pipeline
from tests.support.cases import render

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
# Between them these hold calls in parallel, late, open and reused, branches, copies, media, usage, reasoning.
CASES = [
    *(f"atif/{name}" for name in ("calls", "media", "numbers", "odd-shapes", "sub-agents", "unlinked")),
    *(
        f"claude-code/{name}"
        for name in (
            "call-ids-reused", "call-without-result", "late-results", "media", "odd-shapes", "parallel-calls",
            "result-without-call", "rewind", "split-response", "detached-summary", "null-usage",
        )
    ),
    *(f"codex/{name}" for name in ("calls", "compaction", "encodings", "images", "injected-text")),
]  # fmt: skip


def store_of(case: str, folder: Path) -> Path:
    """Return a store with the sessions of one fixture case."""
    store = folder / "sessions.db"
    pipeline.migrate(store, render(FIXTURES / case, folder) / "input")
    return store


def sessions(store: Path) -> list[str]:
    with opening.open_reader(store) as connection:
        return [one.session_id for one in events.summaries(connection)]


def projected(store: Path, way: str, *ids: str) -> tuple[bytes, dict[str, Any]]:
    """Return the bytes of sessions written one way, and their loss report, which must add up."""
    with opening.open_reader(store) as connection:
        made = Projection(connection, ids, by_name(way))
        data = b"".join(made.chunks())
    report = made.report("0" * 64, len(data))
    assert schema.problems("geode-traj.export-loss@1", report) == []
    exported = [event for one in dict.fromkeys(ids) for event in pipeline.document(store, one)["events"]]
    check_balance(report, exported)
    return data, report


def check_balance(report: dict[str, Any], exported: list[dict[str, Any]]) -> None:
    counts = report["events"]
    assert counts["total"] == len(exported) == counts["whole"] + counts["part"] + counts["left_out"]
    kinds = Counter(event["kind"] for event in exported)
    assert {kind: count["total"] for kind, count in report["kinds"].items()} == kinds
    for name in ("total", "whole", "part", "left_out"):
        assert sum(count[name] for count in report["kinds"].values()) == counts[name]
    for kind, count in report["kinds"].items():
        assert sum(row["count"] for row in report["left_out"] if row["kind"] == kind) == count["left_out"]
        parts = [(row["word"], row["count"]) for row in report["words"] if row["kind"] == kind]
        assert count["part"] <= sum(number for _, number in parts)
        assert all(number <= count["part"] for word, number in parts if word != "(further words)")


def lines(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines()]


def said(exported: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what a conversation says: its messages in order, its calls in order, results by their call."""
    messages, calls, results = [], [], []
    for event in exported:
        payload, kind = event["payload"], event["kind"]
        if kind in ("message.user", "message.assistant"):
            thought = (payload.get("reasoning") or {}).get("text", "")
            if payload.get("content") or thought:
                messages.append((kind, payload.get("content", ""), thought))
        elif kind == "tool.called":
            calls.append((event["call_id"], payload["tool"], payload["arguments"]))
        elif kind == "tool.completed":
            results.append((event["call_id"], payload.get("result", payload.get("summary"))))
    return {"messages": messages, "calls": calls, "results": sorted(results)}


def again(data: bytes, path: Path) -> list[dict[str, Any]]:
    """Import what was written, and return the events of its one session as another export has them."""
    path.write_bytes(data)
    store = path.parent / f"{path.name}.db"
    (receipt,) = pipeline.migrate(store, path)
    assert receipt.status == "imported", receipt
    (session,) = sessions(store)
    return list(pipeline.document(store, session)["events"])

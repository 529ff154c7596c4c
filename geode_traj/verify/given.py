"""Verifying what a program holds: bytes, or events as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from geode_traj.codec.framed import Document, EventText
from geode_traj.verify.engine import verify_bytes, verify_document
from geode_traj.verify.result import Verdict, Verified

_NO_HEAD: Final = "GT103"


def verify(
    given: bytes | Iterable[dict[str, Any]], head: Mapping[str, Any] | None = None, *, name: str = "-"
) -> Verified:
    """Verify a trajectory: its bytes, or its events in order, one dict each, with all else in `head`.

    `head` is looked at after the last event, so that it may be filled meanwhile. Without one only the events
    are judged, and what they come to: no claims. `name` is what findings call the input. Never raises for bad
    data; what the iterator raises passes through.
    """
    if isinstance(given, bytes):
        return verify_bytes(given, name=name)
    document = Document(False, iter(()))
    document.events = _numbered(given, document, {} if head is None else head)
    result = verify_document(document, name=name)
    return result if head is not None else _without_head(result)


def _numbered(
    events: Iterable[dict[str, Any]], document: Document, head: Mapping[str, Any]
) -> Iterator[EventText]:
    for ordinal, event in enumerate(events, start=1):
        yield EventText(ordinal, event)
    document.head = dict(head)


def _without_head(result: Verified) -> Verified:
    findings = tuple(found for found in result.findings if found.code != _NO_HEAD)
    verdict: Verdict = "valid" if result.scope_complete else "incomplete"
    if any(found.severity == "error" for found in findings):
        verdict = "invalid"
    return replace(result, findings=findings, verdict=verdict)

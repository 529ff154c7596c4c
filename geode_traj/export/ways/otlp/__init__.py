"""OpenTelemetry traces: OTLP as JSON Lines, with the semantic conventions for generative AI, version 1.41.0.

A session is a trace: one `invoke_agent` span for it, in it a `chat` span for each response of a model, in
that an `execute_tool` span for each call that was answered. Each line is a message of the protocol
(`TracesData`) with a batch of spans. Trace and span ids are digests of the ids that sessions and events have.
A span begins and ends with the first and the last record of what it stands for: when a request was sent is
not recorded. `gen_ai.input.messages` holds what is new since the response before, not all over again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from geode_traj.codec.framed import Document
from geode_traj.contract.encoding import encode
from geode_traj.export.ways.base import Way
from geode_traj.export.ways.ledger import Ledger
from geode_traj.export.ways.otlp.spans import Trace

CONVENTIONS: Final = "1.41.0"
SCHEMA_URL: Final = f"https://opentelemetry.io/schemas/{CONVENTIONS}"
_SPANS: Final = 100
_BYTES: Final = 1 << 20


class Otlp(Way):
    """Batches of spans, each a line, a trace a session."""

    name = "otlp"
    format = f"OTLP JSON, semantic conventions {CONVENTIONS}"
    writes = f"OpenTelemetry traces, OTLP JSONL with GenAI semantic conventions {CONVENTIONS}"
    suffix = ".otlp.jsonl"
    several = True
    reasons: ClassVar = {
        "occurred_at": "a message inside a span has no time",
        "turn_id": "a message inside a span has no turn",
        "attachments": "messages hold text only",
        "reasoning": "reasoning is text",
        "_legacy": "what the source's record held beside this has no place",
        "_redactions": "the placeholders stay in the text; the list of them has no place",
        "_derived": "a span cannot say how its time was read",
    }

    def session(self, document: Document, ledger: Ledger) -> Iterator[bytes]:
        """Yield the lines of one session."""
        trace = Trace(document, ledger)
        batch: list[bytes] = []
        for span in trace.spans():
            batch.append(encode(span))
            if len(batch) >= _SPANS or sum(map(len, batch)) >= _BYTES:
                yield _line(trace.service, batch)
                batch = []
        if batch:
            yield _line(trace.service, batch)


def _line(service: str, spans: list[bytes]) -> bytes:
    resource: dict[str, Any] = {
        "attributes": [{"key": "service.name", "value": {"stringValue": service}}],
    }
    scope = encode({"name": "geode-traj"})
    return (
        b'{"resourceSpans":[{"resource":' + encode(resource)
        + b',"scopeSpans":[{"scope":' + scope + b',"spans":[' + b",".join(spans)
        + b'],"schemaUrl":' + encode(SCHEMA_URL) + b'}],"schemaUrl":' + encode(SCHEMA_URL) + b"}]}\n"
    )  # fmt: skip


WAYS = (Otlp(),)

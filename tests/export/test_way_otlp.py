"""OTLP: every line parsed by the protocol's own classes, every name held to the conventions'."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status, TracesData
from opentelemetry.semconv import schemas
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.attributes import error_attributes, exception_attributes, service_attributes

from geode_traj.errors import DataError
from geode_traj.export.ways.otlp import SCHEMA_URL
from tests.export import ways
from tests.migrate import pipeline

KNOWN = {
    value
    for module in (gen_ai_attributes, error_attributes, exception_attributes, service_attributes)
    for name, value in vars(module).items()
    if name.isupper() and isinstance(value, str)
}


def parsed(line: bytes) -> TracesData:
    """Parse a line; the protocol's JSON writes ids in hex, protobuf's own in base64."""
    value = json.loads(line)
    for resource in value["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for key in {"traceId", "spanId", "parentSpanId"} & span.keys():
                    span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    return json_format.Parse(json.dumps(value), TracesData())


def spans(data: bytes) -> Iterator[Span]:
    for line in data.splitlines():
        traces = parsed(line)
        for resource in traces.resource_spans:
            for scope in resource.scope_spans:
                assert resource.schema_url == scope.schema_url == SCHEMA_URL
                assert [one.key for one in resource.resource.attributes] == ["service.name"]
                yield from scope.spans


def plain(span: Span) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


def check_messages(text: str, *, output: bool) -> None:
    """Check messages by the conventions' schemas of them."""
    wanted = {"text": {"content"}, "reasoning": {"content"}, "tool_call": {"id", "name", "arguments"},
              "tool_call_response": {"id", "response"}}  # fmt: skip
    for message in json.loads(text):
        assert message.keys() == {"role", "parts"} | ({"finish_reason"} if output else set())
        assert message["role"] in (("assistant",) if output else ("system", "user", "tool"))
        for part in message["parts"]:
            assert part.keys() - {"type"} <= wanted[part["type"]]
            assert isinstance(part.get("content", ""), str)
            assert isinstance(part.get("name", ""), str)


def test_the_conventions_are_a_version_there_is() -> None:
    assert SCHEMA_URL in {one.value for one in schemas.Schemas}


@pytest.mark.parametrize("case", ways.CASES)
def test_every_line_is_a_message_of_the_protocol(case: str, tmp_path: Path) -> None:
    store = ways.store_of(case, tmp_path)
    for session in ways.sessions(store):
        try:
            found = list(spans(ways.projected(store, "otlp", session)[0]))
        except DataError as error:
            assert error.code == "TE302"
            continue
        ids = [span.span_id for span in found]
        assert len(set(ids)) == len(ids)
        assert {len(one) for one in ids} == {8}
        assert {len(span.trace_id) for span in found} == {16}
        assert len({span.trace_id for span in found}) == 1
        assert [span.name.split()[0] for span in found if not span.parent_span_id] == ["invoke_agent"]
        for span in found:
            assert not span.parent_span_id or span.parent_span_id in ids
            assert span.start_time_unix_nano <= span.end_time_unix_nano
            given = plain(span)
            assert {name for name in given if not name.startswith("geode_traj.")} <= KNOWN
            assert given["gen_ai.operation.name"] == span.name.split()[0]
            for name, output in (("gen_ai.input.messages", False), ("gen_ai.output.messages", True)):
                if name in given:
                    check_messages(given[name], output=output)


def test_a_session_is_a_trace(tmp_path: Path) -> None:
    start, question, answer, end = pipeline.dialogue("s1", "go", "done")
    lines = [
        start, question,
        {"event": "tool_call", "tool": "t", "call_id": "c1", "input": {"x": 1}, "ts": pipeline.START + 1.5},
        {"event": "tool_result", "tool": "t", "call_id": "c1", "status": "ok", "summary": "of t",
         "ts": pipeline.START + 1.75},
        answer,
        {"event": "cost", "model": "m", "input_tokens": 7, "output_tokens": 0, "cost_usd": 0.5,
         "ts": pipeline.START + 2.5},
        {"event": "error", "error_type": "Timeout", "message": "too late", "ts": pipeline.START + 2.75}, end,
    ]  # fmt: skip
    pipeline.migrate(tmp_path / "s.db", pipeline.write_lines(tmp_path / "s1.jsonl", lines))
    called, tool, spoke, whole = spans(ways.projected(tmp_path / "s.db", "otlp", "s1")[0])
    assert [span.name for span in (called, tool, spoke, whole)] == [
        "chat",
        "execute_tool t",
        "chat m",
        "invoke_agent",
    ]
    assert tool.parent_span_id == called.span_id
    assert {called.parent_span_id, spoke.parent_span_id} == {whole.span_id}
    start_ns = int(pipeline.START) * 10**9
    times = [
        ((span.start_time_unix_nano - start_ns) / 1e9, (span.end_time_unix_nano - start_ns) / 1e9)
        for span in (called, tool, spoke, whole)
    ]
    assert times == [(1.5, 1.5), (1.5, 1.75), (2, 2.5), (0, 3)]
    assert plain(spoke).items() >= {
        "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 0, "geode_traj.usage.cost_usd": 0.5,
    }.items()  # fmt: skip
    assert not any("cache" in name for name in plain(spoke))  # unreported is not zero
    assert json.loads(plain(called)["gen_ai.input.messages"])[0]["parts"][0]["content"] == "go"
    assert json.loads(plain(spoke)["gen_ai.input.messages"]) == [
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "of t"}]}
    ]
    assert plain(tool)["gen_ai.tool.call.arguments"] == '{"x":1}'
    assert [event.name for event in whole.events] == ["exception"]
    assert whole.status.code == Status.STATUS_CODE_UNSET


def test_long_sessions_are_several_lines(tmp_path: Path) -> None:
    texts = [str(number) for number in range(500)]
    pipeline.migrate(
        tmp_path / "s.db", pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", *texts))
    )
    data, _ = ways.projected(tmp_path / "s.db", "otlp", "s1")
    assert len(data.splitlines()) == 3
    assert len(list(spans(data))) == 251

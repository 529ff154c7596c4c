"""Small native transcripts of a talk with tools, in each format where calls and results are records apart.

A talk is steps: `("user", text)`, `("calls", id, …)` for one answer that calls, `("result", id, text)`. The
n-th call of a talk has `arg-n` as its argument.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from . import databases

Step = tuple[str, ...]
Row = dict[str, Any]
START = 1_788_256_800


def _stamp(second: int) -> str:
    return f"2026-09-01T10:{second // 60:02d}:{second % 60:02d}.000Z"


def _numbered(steps: list[Step]) -> Iterator[tuple[int, Step, list[tuple[str, str]]]]:
    """Yield each step with its number and the (id, argument) of the calls it makes."""
    made = 0
    for number, step in enumerate(steps, start=1):
        calls = [(one, f"arg-{made + n}") for n, one in enumerate(step[1:], start=1)]
        calls = calls if step[0] == "calls" else []
        made += len(calls)
        yield number, step, calls


def _lines(rows: list[Row]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _chat(steps: list[Step], **more: Any) -> list[Row]:
    """Return messages as chat interfaces have them."""
    rows: list[Row] = []
    for _, step, calls in _numbered(steps):
        if step[0] == "user":
            row: Row = {"role": "user", "content": step[1]}
        elif step[0] == "calls":
            made = [
                {
                    "id": one,
                    "type": "function",
                    "function": {"name": "f", "arguments": json.dumps({"a": arg})},
                }
                for one, arg in calls
            ]
            row = {"role": "assistant", "content": "", "tool_calls": made}
        else:
            row = {"role": "tool", "content": step[2], "tool_call_id": step[1]}
        rows.append(row | more)
    return rows


def _blocks(steps: list[Step]) -> Iterator[tuple[int, Row]]:
    """Yield messages whose content is blocks: a result stands in the user's message."""
    for number, step, calls in _numbered(steps):
        if step[0] == "user":
            yield number, {"role": "user", "content": [{"type": "text", "text": step[1]}]}
        elif step[0] == "calls":
            made = [{"type": "tool_use", "id": one, "name": "f", "input": {"a": arg}} for one, arg in calls]
            yield number, {"role": "assistant", "content": made}
        else:
            block = {"type": "tool_result", "tool_use_id": step[1], "content": step[2]}
            yield number, {"role": "user", "content": [block]}


def atif(steps: list[Step], session: str) -> bytes:
    made: list[Row] = []
    for number, step, calls in _numbered(steps):
        row: Row = {"step_id": number, "timestamp": _stamp(number), "source": "agent", "message": ""}
        if step[0] == "user":
            row |= {"source": "user", "message": step[1]}
        elif step[0] == "calls":
            row["tool_calls"] = [
                {"tool_call_id": one, "function_name": "f", "arguments": {"a": arg}} for one, arg in calls
            ]
        else:
            row["observation"] = {"results": [{"source_call_id": step[1], "content": step[2]}]}
        made.append(row)
    agent = {"name": "demo", "version": "1", "model_name": "m"}
    return json.dumps(
        {"schema_version": "ATIF-v1.7", "session_id": session, "agent": agent, "steps": made}
    ).encode()


def claude_code(steps: list[Step], session: str) -> bytes:
    rows: list[Row] = []
    for number, message in _blocks(steps):
        row = {
            "parentUuid": f"{session}-{number - 1}" if number > 1 else None,
            "isSidechain": False,
            "uuid": f"{session}-{number}",
        }
        row |= {"sessionId": session, "cwd": "/", "version": "2.0.0", "type": message["role"]}
        rows.append({**row, "message": message, "timestamp": _stamp(number)})
    return _lines(rows)


def claude_code_loglines(steps: list[Step], session: str) -> bytes:
    rows = [
        {"type": message["role"], "timestamp": _stamp(number), "message": message}
        for number, message in _blocks(steps)
    ]
    return json.dumps({"loglines": rows}).encode()


def cursor(steps: list[Step], session: str) -> bytes:
    return _lines([{"role": message["role"], "message": message} for _, message in _blocks(steps)])


def codex(steps: list[Step], session: str) -> bytes:
    meta = {
        "id": session,
        "timestamp": _stamp(0),
        "cwd": "/",
        "originator": "codex_cli_rs",
        "cli_version": "0.1.0",
    }
    rows = [{"timestamp": _stamp(0), "type": "session_meta", "payload": meta}]
    for number, step, calls in _numbered(steps):
        if step[0] == "user":
            text = {"type": "input_text", "text": step[1]}
            items: list[Row] = [{"type": "message", "role": "user", "content": [text]}]
        elif step[0] == "calls":
            items = [
                {"type": "function_call", "name": "f", "arguments": json.dumps({"a": arg}), "call_id": one}
                for one, arg in calls
            ]
        else:
            items = [{"type": "function_call_output", "call_id": step[1], "output": step[2]}]
        rows += [{"timestamp": _stamp(number), "type": "response_item", "payload": item} for item in items]
    return _lines(rows)


def copilot_cli(steps: list[Step], session: str) -> bytes:
    found: list[tuple[str, Row]] = [
        (
            "session.start",
            {"sessionId": session, "version": 1, "producer": "copilot-agent", "startTime": _stamp(0)},
        )
    ]
    for _, step, calls in _numbered(steps):
        if step[0] == "user":
            found.append(("user.message", {"content": step[1]}))
        elif step[0] == "calls":
            asked = [{"toolCallId": one, "name": "f", "arguments": {"a": arg}} for one, arg in calls]
            found.append(("assistant.message", {"content": "", "toolRequests": asked}))
            for one, arg in calls:
                data = {"toolCallId": one, "toolName": "f", "arguments": {"a": arg}}
                found.append(("tool.execution_start", data))
        else:
            data = {"toolCallId": step[1], "success": True, "result": {"content": step[2]}}
            found.append(("tool.execution_complete", data))
    return _lines(
        [
            {
                "type": kind,
                "data": data,
                "id": f"{session}-{n}",
                "timestamp": _stamp(n),
                "parentId": f"{session}-{n - 1}",
            }
            for n, (kind, data) in enumerate(found, start=1)
        ]
    )


def geode_legacy(steps: list[Step], session: str) -> bytes:
    rows: list[Row] = [{"event": "session_start", "session_id": session, "model": "m", "ts": START}]
    for number, step, calls in _numbered(steps):
        if step[0] == "user":
            made: list[Row] = [{"event": "user_message", "text": step[1]}]
        elif step[0] == "calls":
            made = [
                {"event": "tool_call", "tool": "f", "input": {"a": arg}, "call_id": one} for one, arg in calls
            ]
        else:
            made = [
                {"event": "tool_result", "tool": "f", "status": "ok", "summary": step[2], "call_id": step[1]}
            ]
        rows += [{**row, "ts": START + number} for row in made]
    return _lines(rows)


def hermes_export(steps: list[Step], session: str) -> bytes:
    messages = [
        {**row, "id": n, "session_id": session, "timestamp": START + n, "observed": 0, "active": 1}
        for n, row in enumerate(_chat(steps), start=1)
    ]
    head = {"id": session, "source": "cli", "started_at": START}
    return json.dumps({"session": head, "messages": messages}).encode()


def hermes_gateway(steps: list[Step], session: str) -> bytes:
    rows = [{"role": "session_meta", "tools": [], "model": "m"}, *_chat(steps)]
    return _lines([{**row, "timestamp": _stamp(n).removesuffix("Z")} for n, row in enumerate(rows)])


def hermes_session_log(steps: list[Step], session: str) -> bytes:
    head = {"session_id": session, "model": "m", "session_start": "2026-09-01T10:00:00"}
    head |= {"last_updated": "2026-09-01T10:01:00", "message_count": len(steps)}
    return json.dumps({**head, "messages": _chat(steps)}).encode()


def hermes_state(steps: list[Step], session: str, path: Path) -> None:
    messages = (
        "id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT,"
        " tool_calls TEXT, tool_name TEXT, timestamp REAL"
    )
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE schema_version (version INTEGER)")
        db.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL, message_count)")
        db.execute(f"CREATE TABLE messages ({messages})")
        databases.insert(db, "sessions", {"id": session, "source": "cli", "started_at": START})
        for n, row in enumerate(_chat(steps), start=1):
            if "tool_calls" in row:
                row["tool_calls"] = json.dumps(row["tool_calls"])
            databases.insert(db, "messages", {**row, "id": n, "session_id": session, "timestamp": START + n})


def hf_sts(steps: list[Step], session: str) -> bytes:
    rows: list[Row] = [{"type": "session", "harness": "demo", "id": session}]
    for n, row in enumerate(_chat(steps)):
        if "tool_calls" in row:
            row["toolCalls"] = row.pop("tool_calls")
        if "tool_call_id" in row:
            row["toolCallId"] = row.pop("tool_call_id")
        rows.append({"type": "message", "message": {**row, "timestamp": (START + n) * 1000}})
    return _lines(rows)


def mini_swe_agent(steps: list[Step], session: str) -> bytes:
    info = {"mini_version": "1.9.0", "config": {"model": {"model_name": "m"}}}
    whole = {"info": info, "messages": _chat(steps), "trajectory_format": "mini-swe-agent-1.1"}
    return json.dumps(whole).encode()


def openai_messages(steps: list[Step], session: str) -> bytes:
    return _lines([{"messages": _chat(steps)}])


def openhands_sdk(steps: list[Step], session: str) -> bytes:
    items: list[Row] = []
    for _, step, calls in _numbered(steps):
        if step[0] == "user":
            said = {"role": "user", "content": [{"type": "text", "text": step[1]}]}
            items.append({"kind": "MessageEvent", "source": "user", "llm_message": said})
        for one, arg in calls:
            call = {"id": one, "name": "f", "arguments": json.dumps({"a": arg}), "origin": "completion"}
            row = {"kind": "ActionEvent", "source": "agent", "thought": [], "action": {"kind": "A", "x": 1}}
            row |= {"tool_name": "f", "tool_call_id": one, "tool_call": call, "llm_response_id": f"r-{arg}"}
            items.append(row)
        if step[0] == "result":
            seen = {"kind": "O", "content": [{"type": "text", "text": step[2]}], "is_error": False}
            row = {"kind": "ObservationEvent", "source": "environment", "tool_name": "f", "observation": seen}
            items.append({**row, "tool_call_id": step[1]})
    rows = [
        {"id": f"{session}-{n}", "timestamp": _stamp(n).removesuffix("Z"), **row}
        for n, row in enumerate(items)
    ]
    return json.dumps({"conversation_id": session, "items": rows}).encode()


def pi(steps: list[Step], session: str) -> bytes:
    rows: list[Row] = [{"type": "session", "version": 3, "id": session, "timestamp": _stamp(0), "cwd": "/"}]
    for number, step, calls in _numbered(steps):
        if step[0] == "user":
            message: Row = {"role": "user", "content": [{"type": "text", "text": step[1]}]}
        elif step[0] == "calls":
            made = [
                {"type": "toolCall", "id": one, "name": "f", "arguments": {"a": arg}} for one, arg in calls
            ]
            message = {"role": "assistant", "content": made, "provider": "example", "model": "m"}
        else:
            text = [{"type": "text", "text": step[2]}]
            message = {"role": "toolResult", "toolCallId": step[1], "toolName": "f", "content": text}
        row = {
            "type": "message",
            "id": f"{session}-{number}",
            "parentId": f"{session}-{number - 1}" if number > 1 else None,
        }
        rows.append({**row, "timestamp": _stamp(number), "message": message})
    return _lines(rows)


def rind(steps: list[Step], session: str, path: Path) -> None:
    rows: list[Row] = []
    journal: list[Row] = []
    for number, step, calls in _numbered(steps):
        if step[0] == "user":
            row: Row = {"role": "user", "content": step[1]}
        elif step[0] == "calls":
            made = [{"id": one, "name": "f", "raw_args": json.dumps({"a": arg})} for one, arg in calls]
            row = {"role": "assistant", "content": "", "meta": {"tool_calls": made}}
        else:  # the text stands in the journal
            row = {"role": "tool", "content": "", "tool_call_id": step[1], "tool_name": "f"}
            done = {
                "id": step[1],
                "ts_start": _stamp(number),
                "ts_end": _stamp(number),
                "name": "f",
                "ok": True,
            }
            journal.append({**done, "result": {"ok": True, "data": step[2]}, "model_content": step[2]})
        rows.append({"id": f"m{number}", "ts": _stamp(number), **row})
    path.mkdir(parents=True)
    path.joinpath("messages.jsonl").write_bytes(_lines(rows))
    path.joinpath("tool_calls.jsonl").write_bytes(_lines(journal))
    head = {
        "schema_version": "2.0",
        "session_id": session,
        "title": "t",
        "created_at": _stamp(0),
        "model": "m",
    }
    path.joinpath("meta.json").write_text(json.dumps({**head, "provider": "p", "workspace_root": "/"}))


def swe_agent(steps: list[Step], session: str) -> bytes:
    kinds = {"user": "observation", "assistant": "action", "tool": "observation"}
    rows = []
    for row in _chat(steps, agent="main"):
        if "tool_call_id" in row:
            row["tool_call_ids"] = [row.pop("tool_call_id")]
        rows.append({**row, "message_type": kinds[row["role"]]})
    return json.dumps({"environment": "main", "trajectory": [], "history": rows, "info": {}}).encode()


def tau2(steps: list[Step], session: str) -> bytes:
    rows: list[Row] = []
    for number, step, calls in _numbered(steps):
        if step[0] == "user":
            row: Row = {"role": "user", "content": step[1], "tool_calls": None}
        elif step[0] == "calls":
            made = [
                {"id": one, "name": "f", "arguments": {"a": arg}, "requestor": "assistant"}
                for one, arg in calls
            ]
            row = {"role": "assistant", "content": None, "tool_calls": made}
        else:
            row = {
                "role": "tool",
                "id": step[1],
                "content": step[2],
                "requestor": "assistant",
                "error": False,
            }
        rows.append({**row, "turn_idx": number, "timestamp": _stamp(number).removesuffix("Z")})
    head = {
        "id": session,
        "task_id": "7",
        "timestamp": "2026-09-01T10:01:00",
        "start_time": "2026-09-01T10:00:00",
    }
    head |= {"end_time": "2026-09-01T10:01:00", "termination_reason": "user_stop", "reward_info": None}
    return json.dumps({**head, "trial": 0, "messages": rows}).encode()


FILES: dict[str, tuple[str, Callable[[list[Step], str], bytes]]] = {
    "atif": ("{}.json", atif),
    "claude-code": ("{}.jsonl", claude_code),
    "claude-code-loglines": ("{}.json", claude_code_loglines),
    "codex": ("{}.jsonl", codex),
    "copilot-cli": ("{}/events.jsonl", copilot_cli),
    "cursor": ("{}.jsonl", cursor),
    "geode-legacy": ("{}.jsonl", geode_legacy),
    "hermes-export": ("{}.json", hermes_export),
    "hermes-gateway": ("{}.jsonl", hermes_gateway),
    "hermes-session-log": ("session_{}.json", hermes_session_log),
    "hf-sts": ("{}.jsonl", hf_sts),
    "mini-swe-agent": ("{}.traj.json", mini_swe_agent),
    "openai-messages": ("{}.jsonl", openai_messages),
    "openhands": ("{}.json", openhands_sdk),
    "pi": ("{}.jsonl", pi),
    "swe-agent": ("{}.traj", swe_agent),
    "tau2": ("{}.json", tau2),
}
OTHERS: dict[str, tuple[str, Callable[[list[Step], str, Path], None]]] = {
    "hermes-state": ("{}/state.db", hermes_state),
    "rind": ("{}", rind),
}
FORMATS = (*FILES, *OTHERS)


def make(name: str, session: str, steps: list[Step], out: Path) -> Path:
    """Make the transcript of a talk, a session of that name, in a format below `out`; return its path."""
    path = out / (OTHERS[name][0] if name in OTHERS else FILES[name][0]).format(session)
    path.parent.mkdir(parents=True, exist_ok=True)
    if name in OTHERS:
        OTHERS[name][1](steps, session, path)
    else:
        path.write_bytes(FILES[name][1](steps, session))
    return path

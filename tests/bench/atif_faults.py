"""Broken ATIF files: one sound document, and each fault that is made in it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any, Final

Document = dict[str, Any]

SOUND: Final[Document] = {
    "schema_version": "ATIF-v1.7",
    "session_id": "s1",
    "trajectory_id": "t1",
    "agent": {"name": "demo-agent", "version": "1.0", "model_name": "demo-model"},
    "steps": [
        {
            "step_id": 1,
            "timestamp": "2026-06-01T08:00:00Z",
            "source": "user",
            "message": "Count the files, and have someone list them.",
        },
        {
            "step_id": 2,
            "timestamp": "2026-06-01T08:00:02Z",
            "source": "agent",
            "message": "Counting.",
            "reasoning_content": "Two tools will do.",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "count", "arguments": {"path": "."}},
                {"tool_call_id": "c2", "function_name": "delegate", "arguments": {"task": "list"}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c1", "content": "3"},
                    {
                        "source_call_id": "c2",
                        "content": "a, b, c",
                        "subagent_trajectory_ref": [{"trajectory_id": "t2"}],
                    },
                ]
            },
            "metrics": {"prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 10, "cost_usd": 0.5},
        },
        {
            "step_id": 3,
            "timestamp": "2026-06-01T08:00:05Z",
            "source": "agent",
            "message": "There are three: a, b, c.",
            "metrics": {"prompt_tokens": 150, "completion_tokens": 10, "cached_tokens": 90, "cost_usd": 0.25},
        },
    ],
    "final_metrics": {
        "total_prompt_tokens": 250,
        "total_completion_tokens": 30,
        "total_cached_tokens": 100,
        "total_cost_usd": 0.75,
        "total_steps": 3,
    },
    "subagent_trajectories": [
        {
            "schema_version": "ATIF-v1.7",
            "session_id": "s1",
            "trajectory_id": "t2",
            "agent": {"name": "lister", "version": "1.0"},
            "steps": [
                {"step_id": 1, "timestamp": "2026-06-01T08:00:03Z", "source": "user", "message": "List."},
                {
                    "step_id": 2,
                    "timestamp": "2026-06-01T08:00:04Z",
                    "source": "agent",
                    "message": "a, b, c",
                    "metrics": {
                        "prompt_tokens": 30,
                        "completion_tokens": 5,
                        "cached_tokens": 0,
                        "cost_usd": 0.125,
                    },
                },
            ],
        }
    ],
}


def _put(*path: str | int, value: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        holder: Any = document
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = value

    return change


def _drop(*path: str | int) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        holder: Any = document
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]

    return change


_RESULTS: Final = ("steps", 1, "observation", "results")
_CHANGES: Final[dict[str, dict[str, Callable[[Document], None]]]] = {
    "shape": {
        "no schema_version": _drop("schema_version"),
        "a version that does not exist": _put("schema_version", value="ATIF-v9.9"),
        "no agent": _drop("agent"),
        "no version of the agent": _drop("agent", "version"),
        "steps is an object": _put("steps", value={}),
        "a step is a text": _put("steps", 2, value="There are three."),
        "a source that does not exist": _put("steps", 2, "source", value="robot"),
        "no message": _drop("steps", 2, "message"),
        "a member that the format does not have": _put("colour", value="red"),
        "metrics on a user's step": _put("steps", 0, "metrics", value={"prompt_tokens": 1}),
        "calls on a user's step": _put(
            "steps",
            0,
            "tool_calls",
            value=[{"tool_call_id": "c0", "function_name": "count", "arguments": {}}],
        ),
        "arguments as text": _put("steps", 1, "tool_calls", 0, "arguments", value='{"path": "."}'),
        "a call without an id": _drop("steps", 1, "tool_calls", 0, "tool_call_id"),
        "a timestamp in words": _put("steps", 2, "timestamp", value="yesterday"),
        "a day that never was": _put("steps", 2, "timestamp", value="2026-02-30T08:00:00Z"),
    },
    "order and reference": {
        "a gap in the step ids": _put("steps", 2, "step_id", value=4),
        "a repeated step id": _put("steps", 2, "step_id", value=2),
        "step ids from 0": lambda document: [
            step.update(step_id=number) for number, step in enumerate(document["steps"])
        ],  # type: ignore[dict-item]
        "a result of no call": _put(*_RESULTS, 0, "source_call_id", value="c9"),
        "two calls of one id": _put("steps", 1, "tool_calls", 1, "tool_call_id", value="c1"),
        "two results of one call": _put(*_RESULTS, 1, "source_call_id", value="c1"),
        "a call without a result": _drop(*_RESULTS, 0),
        "a sub-agent that is not there": _put(
            *_RESULTS, 1, "subagent_trajectory_ref", 0, "trajectory_id", value="t9"
        ),
        "a sub-agent that nothing refers to by its id": _put(
            "subagent_trajectories", 0, "trajectory_id", value="t1"
        ),
        "two sub-agents of one id": lambda document: document["subagent_trajectories"].append(
            copy.deepcopy(document["subagent_trajectories"][0])
        ),
        "a step earlier than the one before": _put("steps", 2, "timestamp", value="2026-06-01T07:00:00Z"),
    },
    "totals": {
        "fewer prompt tokens than the steps": _put("final_metrics", "total_prompt_tokens", value=150),
        "more completion tokens than the steps": _put("final_metrics", "total_completion_tokens", value=3000),
        "another cost than the steps": _put("final_metrics", "total_cost_usd", value=7.5),
        "more steps than there are": _put("final_metrics", "total_steps", value=30),
        "negative tokens": _put("steps", 1, "metrics", "completion_tokens", value=-20),
        "more cached tokens than prompt tokens": _put("steps", 1, "metrics", "cached_tokens", value=1000),
    },
    "content": {
        "a text that a tool cut, unsaid": _put(
            *_RESULTS, 0, "content", value="x" * 9_000 + "\n... [1234 characters truncated] ..."
        ),
    },
}


def _bytes(document: Document) -> bytes:
    return json.dumps(document, indent=1).encode()


def files() -> Iterator[tuple[str, str, bytes]]:
    """Yield (family, fault, bytes) of every broken file; the faults of bytes come last."""
    for family, changes in _CHANGES.items():
        for fault, change in changes.items():
            document = copy.deepcopy(SOUND)
            change(document)
            yield family, fault, _bytes(document)
    sound = _bytes(SOUND)
    family = "bytes"
    yield family, "cut in the middle", sound[: len(sound) // 2]
    yield family, "a repeated key", sound.replace(b'"session_id"', b'"session_id": "s0",\n "session_id"', 1)
    yield family, "not a number", sound.replace(b'"cost_usd": 0.25', b'"cost_usd": NaN', 1)
    yield family, "bytes that are no UTF-8", sound.replace(b"Counting.", b"Count\xffing.", 1)
    yield family, "half of a character", sound.replace(b"Counting.", b"Counting \\ud83d.", 1)
    yield (
        family,
        "a number beyond 64 bits",
        sound.replace(b'"completion_tokens": 10,', b'"completion_tokens": 100000000000000000000,', 1),
    )

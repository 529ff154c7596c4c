"""What an ATIF trajectory, 1.0 to 1.8, claims of itself, as pure rules.

Real writers differ from the format's own models in places, so that nothing here makes a file unreadable:
every fault is one that a reader of the claims may stumble over.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Set
from typing import Any, Final

from geode_traj.codec.pointer import escape
from geode_traj.contract.faults import Fault, is_number
from geode_traj.contract.times import parse

SHAPE: Final = "GT180"
STEP_IDS: Final = "GT181"
REFERENCES: Final = "GT182"
CALL_IDS: Final = "GT183"
TOTALS: Final = "GT184"

VERSIONS: Final = frozenset(f"ATIF-v1.{minor}" for minor in range(9))
EMBEDDED: Final = "subagent_trajectories"
_SESSION_NEEDED: Final = frozenset(f"ATIF-v1.{minor}" for minor in range(7))
_SOURCES: Final = ("system", "user", "agent")
_OF_AGENTS: Final = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")
_SUMS: Final = {
    "total_prompt_tokens": "prompt_tokens",
    "total_completion_tokens": "completion_tokens",
    "total_cached_tokens": "cached_tokens",
    "total_cost_usd": "cost_usd",
}
_MAX_TRAJECTORIES: Final = 10_000
_MEMBERS: Final = {
    "trajectory": "schema_version session_id trajectory_id agent steps notes final_metrics extra"
    " continued_trajectory_ref subagent_trajectories",
    "agent": "name version model_name tool_definitions extra",
    "step": "step_id timestamp source model_name reasoning_effort message reasoning_content tool_calls"
    " observation metrics llm_call_count is_copied_context extra",
    "call": "tool_call_id function_name arguments extra",
    "observation": "results",
    "result": "source_call_id content subagent_trajectory_ref extra",
    "metrics": "prompt_tokens completion_tokens cached_tokens cost_usd prompt_token_ids completion_token_ids"
    " logprobs extra",
    "final": "total_prompt_tokens total_completion_tokens total_cached_tokens total_cost_usd total_steps"
    " extra",
}
_KNOWN: Final = {name: frozenset(members.split()) for name, members in _MEMBERS.items()}


def faults(document: dict[str, Any]) -> Iterator[Fault]:
    """Yield what is wrong in a document: its head, then its trajectory and each that it embeds."""
    version = document.get("schema_version")
    if version not in VERSIONS:
        yield Fault(SHAPE, "is no version from ATIF-v1.0 to ATIF-v1.8", "/schema_version")
    if version in _SESSION_NEEDED and not isinstance(document.get("session_id"), str):
        yield Fault(SHAPE, "is needed up to ATIF-v1.6", "/session_id")
    waiting = [(document, "")]
    for trajectory, pointer in waiting:
        embedded = [
            (child, f"{pointer}/{EMBEDDED}/{index}")
            for index, child in enumerate(_objects(trajectory.get(EMBEDDED)))
        ]
        waiting += embedded[: _MAX_TRAJECTORIES - len(waiting)]
        yield from _trajectory(trajectory, pointer, [child for child, _ in embedded])


def _trajectory(value: dict[str, Any], pointer: str, embedded: list[dict[str, Any]]) -> Iterator[Fault]:
    agent = value.get("agent")
    yield from _unknown(value, "trajectory", pointer)
    yield from _unknown(agent, "agent", f"{pointer}/agent")
    for key in ("name", "version"):
        if not isinstance(agent, dict) or not isinstance(agent.get(key), str):
            yield Fault(SHAPE, "is not a text", f"{pointer}/agent/{key}")
    ids = [child["trajectory_id"] for child in embedded if isinstance(child.get("trajectory_id"), str)]
    if len(set(ids)) < len(ids):
        yield Fault(REFERENCES, "two embedded trajectories have one id", f"{pointer}/{EMBEDDED}")
    steps = value.get("steps")
    if not isinstance(steps, list):
        yield Fault(SHAPE, "is not a list", f"{pointer}/steps")
        return
    known = {str(child[key]) for child in embedded for key in ("trajectory_id", "session_id") if key in child}
    for index, step in enumerate(steps):
        where = f"{pointer}/steps/{index}"
        if not isinstance(step, dict):
            yield Fault(SHAPE, "is not an object", where)
            continue
        if step.get("step_id") != index + 1:
            yield Fault(STEP_IDS, "step_id is not the step's number", f"{where}/step_id")
        yield from _members(step, where)
        yield from _step(step, where)
        yield from _links(step, where, known)
    yield from _totals(value, pointer, embedded)


def _unknown(value: object, kind: str, where: str) -> Iterator[Fault]:
    for key in value.keys() - _KNOWN[kind] if isinstance(value, dict) else ():
        yield Fault(SHAPE, "the format has no such member", f"{where}/{escape(key)}")


def _members(step: dict[str, Any], where: str) -> Iterator[Fault]:
    """Yield the members that the format does not have; what is its own stands in `extra`."""
    observation = step.get("observation")
    results = observation.get("results") if isinstance(observation, dict) else None
    yield from _unknown(step, "step", where)
    yield from _unknown(step.get("metrics"), "metrics", f"{where}/metrics")
    yield from _unknown(observation, "observation", f"{where}/observation")
    for index, call in enumerate(_objects(step.get("tool_calls"))):
        yield from _unknown(call, "call", f"{where}/tool_calls/{index}")
    for index, result in enumerate(_objects(results)):
        yield from _unknown(result, "result", f"{where}/observation/results/{index}")


def _step(step: dict[str, Any], where: str) -> Iterator[Fault]:
    source = step.get("source")
    if source not in _SOURCES:
        yield Fault(SHAPE, f"is none of {', '.join(_SOURCES)}", f"{where}/source")
    if not isinstance(step.get("message"), str | list):
        yield Fault(SHAPE, "is neither a text nor a list of parts", f"{where}/message")
    if source in ("system", "user"):
        for key in _OF_AGENTS:
            if step.get(key) is not None:
                yield Fault(SHAPE, "only a step of the agent has it", f"{where}/{key}")
    time = step.get("timestamp")
    if time is not None and (not isinstance(time, str) or parse(time) is None):
        yield Fault(SHAPE, "is not an ISO 8601 date-time", f"{where}/timestamp")
    if step.get("llm_call_count") == 0 and step.get("metrics"):
        yield Fault(SHAPE, "no model was called", f"{where}/metrics")
    for key in ("metrics", "observation"):
        if step.get(key) is not None and not isinstance(step[key], dict):
            yield Fault(SHAPE, "is not an object", f"{where}/{key}")
    calls = step.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        yield Fault(SHAPE, "is not a list", f"{where}/tool_calls")
    for index, call in enumerate(calls if isinstance(calls, list) else ()):
        here = f"{where}/tool_calls/{index}"
        if not isinstance(call, dict):
            yield Fault(SHAPE, "is not an object", here)
            continue
        for key, kind, name in (
            ("tool_call_id", str, "a text"),
            ("function_name", str, "a text"),
            ("arguments", dict, "an object"),
        ):
            if not isinstance(call.get(key), kind):
                yield Fault(SHAPE, f"is not {name}", f"{here}/{key}")


def _links(step: dict[str, Any], where: str, embedded: set[str]) -> Iterator[Fault]:
    """Yield what refers to nothing: results to calls of their step, references to trajectories."""
    called = [
        call["tool_call_id"]
        for call in _objects(step.get("tool_calls"))
        if isinstance(call.get("tool_call_id"), str)
    ]
    if len(set(called)) < len(called):
        yield Fault(CALL_IDS, "two calls of the step have one id", f"{where}/tool_calls")
    observation = step.get("observation")
    results = observation.get("results") if isinstance(observation, dict) else None
    answered: set[str] = set()
    for index, result in enumerate(_objects(results)):
        here = f"{where}/observation/results/{index}"
        source = result.get("source_call_id")
        if isinstance(source, str) and source not in called:
            yield Fault(REFERENCES, "no call of the step has this id", f"{here}/source_call_id")
        elif isinstance(source, str) and source in answered:
            yield Fault(CALL_IDS, "two results answer one call", f"{here}/source_call_id")
        answered |= {source} if isinstance(source, str) else set()
        refs = result.get("subagent_trajectory_ref")
        for at, ref in enumerate(_objects([refs] if isinstance(refs, dict) else refs)):
            named = ref.get("trajectory_id")
            outside = isinstance(ref.get("trajectory_path"), str)
            if isinstance(named, str) and named not in embedded and not outside:
                yield Fault(
                    REFERENCES, "no embedded trajectory has this id", f"{here}/subagent_trajectory_ref/{at}"
                )


def _totals(value: dict[str, Any], pointer: str, embedded: list[dict[str, Any]]) -> Iterator[Fault]:
    """Judge final metrics: with copied steps and embedded trajectories or without, as writers do either."""
    final = value.get("final_metrics")
    if final is None:
        return
    if not isinstance(final, dict):
        yield Fault(SHAPE, "is not an object", f"{pointer}/final_metrics")
        return
    yield from _unknown(final, "final", f"{pointer}/final_metrics")
    steps = _objects(value.get("steps"))
    own = [step for step in steps if step.get("is_copied_context") is not True]
    below = [step for child in embedded for step in _objects(child.get("steps"))]
    ways = (own, steps, own + below, steps + below)
    here = {child.get("trajectory_id") for child in embedded}
    outside = any(_refers(step, here) for step in [*steps, *below])
    for total, key in _SUMS.items():
        stated = final.get(total)
        if not is_number(stated):
            continue
        seen = [_seen(way, key) for way in ways]
        if not any(count for _, count, _ in seen):
            continue
        whole = any(_close(stated, amount) for amount, _, _ in seen)
        short = (outside or seen[3][2]) and stated > seen[0][0]
        if not whole and not short:
            yield Fault(TOTALS, f"is not the sum of the steps' {key}", f"{pointer}/final_metrics/{total}")
    counted = final.get("total_steps")
    if is_number(counted) and counted not in {len(way) for way in ways}:
        yield Fault(TOTALS, "is not the number of steps", f"{pointer}/final_metrics/total_steps")


def _refers(step: dict[str, Any], here: Set[object]) -> bool:
    """Tell whether a step refers to a trajectory elsewhere, of which a total may know more than this file."""
    observation = step.get("observation")
    results = observation.get("results") if isinstance(observation, dict) else None
    refs = [result.get("subagent_trajectory_ref") for result in _objects(results)]
    listed = [one for ref in refs for one in _objects([ref] if isinstance(ref, dict) else ref)]
    return any(one.get("trajectory_id") not in here for one in listed)


def _seen(steps: list[dict[str, Any]], key: str) -> tuple[float, int, int]:
    """Return the sum over the agent's steps, how many gave a number and how many did not."""
    amounts = []
    missing = 0
    for step in steps:
        metrics = step.get("metrics")
        amount = metrics.get(key) if isinstance(metrics, dict) else None
        if is_number(amount):
            amounts.append(amount)
        elif step.get("source") == "agent":
            missing += 1
    return math.fsum(amounts), len(amounts), missing


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6)


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []

"""A declared plan: which operations a run may do, and what each of them waits for.

`geode-traj.plan@1`: operations with name, kind (operation, tool, subagent), needs, conditional, background
and actor. A need names another operation, `input`, or one of the plan's `inputs`; inputs are there before
anything runs. A plan comes in a file of its own, as `source.plan` of a trajectory, or as the payload word
`plan` of an event of its session. Steps as SkellySpeak lists them (op, needs, background, condition) are read
as a plan whose needs may name any input; their hydrations and joins are no edges that time could contradict.

Reading is strict where a slip would leave an edge unjudged: a need that nothing declares, a name that stands
twice and a circle are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from geode_traj.codec import schema
from geode_traj.errors import DataError

SCHEMA_ID: Final = "geode-traj.plan@1"
OPERATION, TOOL, SUBAGENT = "operation", "tool", "subagent"
INPUT: Final = "input"
_STEP: Final = frozenset({"op", "needs", "hydrates", "joins", "background", "condition"})


@dataclass(frozen=True, slots=True)
class Operation:
    """One declared operation; `needs` are those of its needs that are operations themselves.

    `number` is its place in the plan from 1. `conditional`: it may stay undone. `background`: it may overlap
    what it needs. `actor` is "" where any may run it.
    """

    name: str
    number: int
    kind: str = OPERATION
    needs: tuple[str, ...] = ()
    conditional: bool = False
    background: bool = False
    actor: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """Declared operations by (kind, name). `named`: its words are the caller's own and may be shown."""

    operations: Mapping[tuple[str, str], Operation]
    named: bool = False

    def needs(self, operation: Operation) -> Iterator[Operation]:
        """Yield the operations that one waits for."""
        for name in operation.needs:
            yield from (
                self.operations[kind, name]
                for kind in (OPERATION, TOOL, SUBAGENT)
                if (kind, name) in self.operations
            )

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of which all that runs must be declared."""
        return frozenset(kind for kind, _ in self.operations)


def is_plan(value: object) -> bool:
    """Tell whether the payload word `plan` holds a declaration; a list of things to do is none."""
    if isinstance(value, dict):
        return value.get("schema_id") == SCHEMA_ID or _are_steps(value.get("steps"))
    return _are_steps(value)


def read(value: object, *, named: bool = False, place: str = "") -> Plan:
    """Return a plan from its JSON value; raise `DataError` TE208 where it is none, without quoting it."""
    try:
        return _read(value, named)
    except _Refused as error:
        raise DataError("TE208", name=SCHEMA_ID, why=str(error), place=place) from None


class _Refused(Exception):
    """Why a value is no plan."""


def _read(value: object, named: bool) -> Plan:
    steps: Any = value.get("steps") if isinstance(value, dict) and "operations" not in value else value
    if _are_steps(steps):
        return _checked([_of_step(step) for step in steps], None, named)
    if isinstance(value, dict):
        value = {"schema_id": SCHEMA_ID, **value}
    for pointer, message in schema.problems(SCHEMA_ID, value, limit=1):
        raise _Refused(f"{message} at {_place(pointer)}")
    plan: Any = value
    return _checked(plan["operations"], frozenset({INPUT, *plan.get("inputs", ())}), named)


def _are_steps(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(step, dict) and isinstance(step.get("op"), str) and step.keys() & (_STEP - {"op"})
            for step in value
        )
    )


def _of_step(step: dict[str, Any]) -> dict[str, Any]:
    needs = step.get("needs")
    return {
        "name": step["op"],
        "needs": [need for need in needs if isinstance(need, str)] if isinstance(needs, list) else [],
        "background": bool(step.get("background")),
        "conditional": bool(step.get("condition")),
    }


def _checked(rows: list[dict[str, Any]], inputs: frozenset[str] | None, named: bool) -> Plan:
    """Return the plan of well-formed rows; `inputs` is None where a need may name anything."""
    names = {row["name"] for row in rows}
    operations: dict[tuple[str, str], Operation] = {}
    for number, row in enumerate(rows, start=1):
        kind = row.get("kind", OPERATION)
        if (kind, row["name"]) in operations:
            raise _Refused(f"operation {number} is declared twice")
        wanted = dict.fromkeys(row.get("needs", ()))
        if inputs is not None and any(need not in names and need not in inputs for need in wanted):
            raise _Refused(f"operation {number} needs what is neither an operation nor an input")
        operations[kind, row["name"]] = Operation(
            row["name"],
            number,
            kind,
            tuple(need for need in wanted if need in names),
            row.get("conditional", False),
            row.get("background", False),
            row.get("actor") or "",
        )
    plan = Plan(operations, named)
    graph = {
        key: {(need.kind, need.name) for need in plan.needs(operation)}
        for key, operation in operations.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        number = operations[error.args[1][0]].number
        raise _Refused(f"operation {number} waits for itself") from None
    return plan


def _place(pointer: str) -> str:
    """Return a pointer's known words: keys of the plan itself are its own text."""
    known = ("", "operations", "inputs", "needs", "name", "kind", "conditional", "background", "actor")
    steps = pointer.split("/")
    return "/".join(step if step in known or step.isdigit() else "…" for step in steps) or "its root"
